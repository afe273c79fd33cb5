import Foundation
import RunBus
import Testing
import TestSupport

@Suite("A node whose output cannot be written")
struct NodeOutputTests {
  /// Waits until a node has reported that its output cannot be written.
  private func saysSo(_ node: NodeProcess) async throws {
    try await node.wait(for: "its word that its output cannot be written") { view in
      view.errors.first { $0.contains("standard output cannot be written") }
    }
  }

  @Test(
    "A phone and a watch keep running with a closed output, a full disk or no reader, and report it once",
    arguments: [">&-", ">/dev/full", "> >(head -n 1 >/dev/null)"])
  func goesOn(output: String) async throws {
    try await withTestBus { bus in
      // A witness, which sees whether the phone says goodbye.
      let witness = bus.spawn("watch", "--device", "witness", "--json")
      let nodes = ["phone --synthetic --speed 60", "watch --synthetic"].map { arguments in
        bus.spawn(executable: "/bin/bash", ["-c", "exec \"$BUSNODE\" \(arguments) --json \(output)"])
      }
      try await witness.event("the phone") { $0["event"]?.string == "snapshot" }
      #expect(try await bus.run("send", "start").ending == .exited(0))
      // Long after the first lines, and after many lines that could not be written.
      try await witness.snapshot("the run a minute later") {
        ($0["metrics"]?["elapsedSeconds"]?.number ?? 0) > 60 && $0["metrics"]?["heartRateBpm"]?.number != nil
      }
      for node in nodes { try await saysSo(node) }
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      #expect(!witness.view.json.contains { $0["event"]?.string == "view" && $0["stale"]?.bool == true })
      for node in nodes.reversed() {
        #expect(node.view.ending == nil)
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0), "\(node.view.errors)")
        #expect(node.view.errors.count == 1, "\(node.view.errors)")
      }
    }
  }

  // Once broken: A phone whose output or log was a pipe that nobody read stopped, sensors and signals included.
  @Test("A phone whose output nobody reads keeps running, and ends when it is told to")
  func standingReader() async throws {
    try await withTestBus { bus in
      let pipe = bus.directory + "/pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      let reader = open(pipe, O_RDWR)
      defer { close(reader) }
      let line = "exec \"$BUSNODE\" phone --synthetic --speed 1000 --json --log-level trace >\"$PIPE\" 2>&1"
      let phone = bus.spawn(executable: "/bin/bash", ["-c", line], environment: ["PIPE": pipe])
      let watch = bus.spawn("watch", "--json")
      try await watch.event("the phone") { $0["event"]?.string == "snapshot" }
      #expect(try await bus.run("send", "start").ending == .exited(0))
      // A megabyte of lines, while a pipe holds 64 KiB.
      try await watch.snapshot("four kilometres, whose lines are more than a pipe holds") {
        ($0["metrics"]?["distanceMeters"]?.number ?? 0) > 4000
      }
      #expect(try await bus.run("state", "--json").ending == .exited(0))
      for node in [watch, phone] {
        node.signal(SIGTERM)
        #expect(try await node.ending() == .exited(0))
      }
    }
  }

  #if os(Linux)
    // Once broken: With a closed standard output (`>&-`) the first opened file or socket got its descriptor number, and
    // the node's lines went into it, because the closed descriptors were not replaced.
    @Test("The descriptor number of a closed standard output is used by no file and no socket")
    func closedNumber() async throws {
      try await withTestBus { bus in
        let phone = bus.spawn(executable: "/bin/bash", ["-c", "exec \"$BUSNODE\" phone <&- >&- 2>&-"])
        let watch = bus.spawn("watch", "--json")
        try await watch.event("the phone") { $0["event"]?.string == "snapshot" }
        let id = try #require(phone.view.processID)
        for number in 0...2 {
          let file = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/fd/\(number)")
          #expect(file == "/dev/null")
        }
        phone.signal(SIGTERM)
        #expect(try await phone.ending() == .exited(0))
      }
    }
  #endif

  // Once broken: A `monitor` whose reader was gone ran until the next event; one on a full disk exited 0, because only
  // a write noticed that the reader was gone, and every failed write counted as a closed pipe.
  @Test("monitor ends when its reader is gone, even if nothing happens, and exits 74 when it cannot write")
  func monitor() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      let quiet = try await bus.shell("\"$BUSNODE\" monitor | head -n 1; exit ${PIPESTATUS[0]}")
      #expect(quiet.ending == .exited(0) && quiet.errors.isEmpty && quiet.lines.count == 1, "\(quiet.errors)")
      let full = try await bus.shell("exec \"$BUSNODE\" monitor >/dev/full")
      #expect(full.ending == .exited(74) && full.errors.count == 1, "\(full.errors)")
    }
  }

  @Test("A log that cannot be written does not end a node")
  func log() async throws {
    try await withTestBus { bus in
      let line = "exec \"$BUSNODE\" phone --json --stdin --log-level trace 2>/dev/full"
      let phone = bus.spawn(executable: "/bin/bash", ["-c", line])
      phone.write("start")
      try await phone.shows("running", revision: 1)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  // Once broken: The end of a recording was not announced; `--log-level trace` showed nothing about joins and commands,
  // because no code reported these.
  @Test("A log reports who joins and leaves, presses, verdicts and refusals")
  func words() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--log-level", "debug")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      let watch = bus.spawn("watch", "--json", "--stdin", "--log-level", "debug")
      watch.write("start")
      try await watch.shows("running", revision: 1)
      // The verdict and the snapshot arrive separately.
      for words in ["the hub answers", "of watch: start was applied"] {
        try await watch.wait(for: "\"\(words)\" in its log") { view in view.errors.first { $0.contains(words) } }
      }
      watch.signal(SIGTERM)
      #expect(try await watch.ending() == .exited(0))
      for words in ["watch has joined", "watch pressed start (", "of watch: start was applied", "watch has left"] {
        try await phone.wait(for: "\"\(words)\" in its log") { view in view.errors.first { $0.contains(words) } }
      }
    }
  }

  @Test("With --log-format json each line of standard error is an object, with the keys that docs/operating.md lists")
  func jsonLog() async throws {
    let page = try String(contentsOfFile: Checkout.path("docs/operating.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.filter { $0 == "|" }.count == 5 }
    let keys = rows.reduce(into: [String: Set<String>]()) { keys, row in
      let cells = row.split(separator: "|", omittingEmptySubsequences: false).map { cell in
        cell.split { " `,".contains($0) }.map(String.init)
      }
      keys[cells[1].joined()] = Set(cells[4])
    }
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--log-level", "info", "--log-format", "json")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      let watch = bus.spawn("watch", "--json", "--stdin")
      watch.write("start")
      try await watch.shows("running", revision: 1)
      watch.signal(SIGTERM)
      #expect(try await watch.ending() == .exited(0))
      let left = try await phone.wait(for: "the watch to leave") { view in
        view.errors.lazy.compactMap { JSONValue(text: $0) }.first { $0["event"]?.string == "leave" }
      }
      #expect(left["device"]?.string == "watch" && left["level"]?.string == "info")
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
      let lines = try phone.view.errors.map { try #require(JSONValue(text: $0), "\($0)") }
      let begin = try #require(lines.first { $0["event"]?.string == "begin" })
      #expect(begin["term"]?.string == "1" && begin["bus"]?.string?.hasSuffix("/control.sock") == true, "\(begin)")
      for event in ["begin", "join", "verdict", "leave", "end"] {
        let line = try #require(lines.first { $0["event"]?.string == event }, "\(event) is not in the log")
        let stated = Set(line.object?.keys.map { $0 } ?? [])
        let usual: Set = ["time", "level", "logger", "message", "event"]
        #expect(stated == usual.union(try #require(keys[event])), "\(event): \(stated.sorted())")
      }
      let verdicts = lines.filter { $0["event"]?.string == "verdict" }
      #expect(verdicts.count == 1 && verdicts.first?["outcome"]?.string == "applied", "each once")
    }
  }
}
