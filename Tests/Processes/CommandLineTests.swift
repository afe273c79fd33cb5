import Foundation
import RunBus
import Testing
import TestSupport

@Suite("The command from a shell")
struct CommandLineTests {
  /// Starts a phone and waits until it can be reached.
  private func phone(_ bus: TestBus, _ arguments: String...) async throws -> NodeProcess {
    let phone = bus.spawn(executable: TestBus.busnode, ["phone", "--json"] + arguments)
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    return phone
  }

  @Test("Without a hub, send and state report that at once and exit 69")
  func noBus() async throws {
    try await withTestBus { bus in
      for arguments in [["send", "start"], ["state"], ["monitor"]] {
        let process = bus.spawn(executable: TestBus.busnode, arguments)
        #expect(try await process.ending() == .exited(69))
        #expect(process.view.errors.first == "busnode: no bus \"default\": start one with: busnode phone")
      }
      let json = try await bus.run("send", "start", "--json")
      #expect(json.lines.isEmpty)
      let error = json.errors.first.flatMap { JSONValue(text: $0) }?["error"]
      #expect(error?["exitCode"]?.int == 69)
      #expect(error?["code"]?.string == "noBus")
    }
  }

  @Test("A whole run from the shell: each verdict has its exit status")
  func wholeRun() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus, "--debounce", "0")
      #expect(try await bus.run("send", "pause").ending == .exited(3))
      let start = try await bus.run("send", "start", "--json")
      #expect(start.ending == .exited(0))
      #expect(start.json.first?["receipt"]?.string == "applied")
      #expect(try await bus.run("send", "pause", "--source", "widget", "--wait", "received").ending == .exited(0))
      #expect(try await bus.run("send", "lap", "--wait", "none").ending == .exited(0))
      let state = try await bus.run("state", "--json")
      #expect(state.json.first?["phase"]?.string == "paused")
      #expect(state.json.first?["changedBy"]?["source"]?.string == "liveActivity")
      let stop = try await bus.run("send", "stop")
      #expect(stop.lines == ["stop was applied; the run is completed (revision 3)"])
      let late = try await bus.run("send", "pause", "--json")
      #expect(late.ending == .exited(3))
      #expect(late.json.first?["message"]?.string == "pause was rejected: the run is already completed")
      #expect(late.errors.isEmpty)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  @Test("A run with a goal: state, monitor, record, and a run without one")
  func goal() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus, "--debounce", "0", "--stdin")
      #expect(try await bus.run("send", "start", "--goal", "30m").ending == .exited(0))
      let running = try #require(try await bus.run("state", "--json").json.first)
      #expect(running["goalSeconds"]?.number == 1800)
      let elapsed = try #require(running["metrics"]?["elapsedSeconds"]?.number)
      #expect(abs((running["remainingSeconds"]?.number ?? 0) + elapsed - 1800) < 1e-6)
      let lines = try await bus.run("state").lines
      #expect(lines.contains { $0.hasPrefix("goal ") && $0.contains("30:00, ") && $0.hasSuffix(" left") }, "\(lines)")
      // A start that repeats the first one changes nothing.
      #expect(try await bus.run("send", "start", "--goal", "10m").ending == .exited(0))
      #expect(try await bus.run("state", "--json").json.first?["goalSeconds"]?.number == 1800)
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      let id = try #require(running["runId"]?.string)
      try await phone.event("its record") { $0["event"]?.string == "record" }
      let record = try await bus.run("records", "show", id, "--json").json.first
      #expect(record?["summary"]?["goalSeconds"]?.number == 1800)
      #expect(try await bus.run("records", "show", id).lines.contains("goal 30:00, not reached"))
      phone.write("start goal 5:00")
      try await phone.event("a run with a goal from standard input") { $0["goalSeconds"]?.number == 300 }
      #expect(try await bus.run("send", "stop").ending == .exited(0))
      #expect(try await bus.run("send", "start").ending == .exited(0))
      let plain = try #require(try await bus.run("state", "--json").json.first)
      #expect(plain["goalSeconds"] == .null && plain["remainingSeconds"] == .null)
      #expect(try await bus.run("state").lines.allSatisfy { !$0.contains("goal") })
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  @Test("Wrong usage exits 64 and a bad file 65; with --json the error is one object")
  func wrong() async throws {
    try await withTestBus { bus in
      #expect(try await bus.run("send", "jump").ending == .exited(64))
      #expect(try await bus.run("send", "start", "--source", "fridge").ending == .exited(64))
      #expect(try await bus.run("send", "start", "--bus", "No Such").ending == .exited(64))
      #expect(try await bus.run("phone", "--synthetic", "--replay", "a.gpx").ending == .exited(64))
      #expect(try await bus.run("phone", "--duration", "5m").ending == .exited(64))
      #expect(try await bus.run("watch", "--hub-lost-after", "5s").ending == .exited(64))
      let usage = try await bus.run("state", "--fast", "--json")
      #expect(usage.ending == .exited(64))
      #expect(usage.errors.count == 1)
      #expect(JSONValue(text: usage.errors.first ?? "")?["error"]?["code"]?.string == "usage")
      let file = try await bus.run("measure", bus.directory + "/none.gpx", "--json")
      #expect(file.ending == .exited(65))
      #expect(JSONValue(text: file.errors.first ?? "")?["error"]?["exitCode"]?.int == 65)
      let script = bus.directory + "/bad.run"
      try "at 1s phone start\nat 2s phone jump\n".write(toFile: script, atomically: true, encoding: .utf8)
      let up = try await bus.run("up", "--script", script)
      #expect(up.ending == .exited(65))
      #expect(up.errors.first?.contains("bad.run:2: \"jump\"") == true)
    }
  }

  // Once broken: `busnode start` answered "Unexpected argument 'start'", and errors that a command finds when it runs
  // came with the usage of `busnode`, because ArgumentParser's own sentences, without the command that runs.
  // Once broken: `--duration 60h` made a modelled run of 24 h, because the model limits its length silently.
  // Once broken: `pair --sources wtach` paired a device that could press nothing, because only `devices sources`
  // checked the words.
  @Test(
    "A wrong argument gets one line in the words of busnode and the usage of its command, and with --json one object")
  func usages() async throws {
    try await withTestBus { bus in
      for (arguments, line, command) in [
        (["start"], "there is no command 'start': did you mean busnode send start?", "busnode"),
        (["help", "nothing"], "there is no command 'nothing'", "busnode"),
        (
          ["outbox", "cancle"], "outbox has no command 'cancle': did you mean busnode outbox cancel?", "busnode outbox"
        ),
        (
          ["send", "jump"], "'jump' is not what <command> takes: give start, pause, resume, stop or lap", "busnode send"
        ),
        (
          ["send", "start", "--goal", "25h"],
          "--goal: '25h' is no goal: a goal is more than 0 and at most 24 hours, to the millisecond", "busnode send"
        ),
        (["send", "start", "--goal", "0"], "--goal: '0' is no goal: a goal is more than 0", "busnode send"),
        (["send", "start", "--goal", "5km"], "--goal: '5km' is no goal: a goal is more than 0", "busnode send"),
        (["send", "lap", "--goal", "5m"], "--goal belongs to start: lap begins no run", "busnode send"),
        // These are checked by the command when it runs.
        (
          ["web", "--http", "x"], "--http x is not an address with a port: write it like 127.0.0.1:8080", "busnode web"
        ),
        (
          ["records", "export"], "give --format gpx, tcx, json or csv, or --output with a name that ends",
          "busnode records export"
        ),
        (
          ["phone", "--synthetic", "--duration", "60h"], "--duration of a modelled run is 10 s to 24 h", "busnode phone"
        ),
        (["phone", "--replay", "-", "--stdin"], "--replay - and --stdin both read standard input", "busnode phone"),
        (["up", "--replay", "-"], "--replay - can be read by one process only", "busnode up"),
        (["devices", "sources", "watch", "wtach"], "'wtach' is not one of phone, watch,", "busnode devices sources"),
        (["pair", "--yes", "--sources", "wtach"], "'wtach' is not one of phone, watch,", "busnode pair"),
        (["join", "--sources", "watch,wtach"], "'wtach' is not one of phone, watch,", "busnode join"),
        (
          ["records", "bests", "--help"], "records has no command 'bests': did you mean busnode records stats --bests?",
          "busnode records"
        ),
        (["phone", "--speed", "fast"], "'fast' is not what --speed takes: a factor is 0.001", "busnode phone"),
        (
          ["records", "export", "--output", "-"], "standard output has no name that says a format: give --format gpx",
          "busnode records export"
        ),
      ] {
        func run(_ arguments: [String]) async throws -> NodeProcess.View {
          let process = bus.spawn(executable: TestBus.busnode, arguments)
          process.closeInput()
          _ = try await process.ending()
          return process.view
        }
        let text = try await run(arguments)
        #expect(text.ending == .exited(64) && text.lines.isEmpty, "\(arguments)")
        #expect(text.errors.first?.hasPrefix("busnode: \(line)") == true, "\(text.errors)")
        #expect(text.errors.dropFirst().first?.hasPrefix("Usage: \(command) ") == true, "\(text.errors)")
        #expect(text.errors.last?.contains("'\(command) --help'") == true, "\(text.errors)")
        let json = try await run(arguments + ["--json"])
        #expect(json.ending == .exited(64) && json.errors.count == 1, "\(json.errors)")
        let message = JSONValue(text: json.errors.first ?? "")?["error"]?["message"]?.string
        // The commands without --json refuse that first.
        #expect(message?.hasPrefix(line) == true || message == "there is no option --json", "\(json.errors)")
      }
    }
  }

  @Test("A dash is standard input and standard output, and an export takes its format from the name of its file")
  func dashes() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus, "--debounce", "0")
      let (gpx, folder) = (RecordProcessTests.synthetic, bus.directory)
      let measured = try await bus.shell("$BUSNODE measure '\(gpx)' > '\(folder)/a' && $BUSNODE measure - < '\(gpx)'")
      #expect(measured.ending == .exited(0))
      #expect(
        measured.lines
          == (try String(contentsOfFile: "\(folder)/a", encoding: .utf8).split(separator: "\n").map(String.init)))
      let empty = try await bus.shell("$BUSNODE measure - < /dev/null")
      #expect(empty.ending == .exited(65))
      #expect(empty.errors == ["busnode: standard input: cannot read this recording: it is empty"])
      let kept = try await bus.shell("cat '\(gpx)' | $BUSNODE records import -")
      #expect(
        kept.ending == .exited(0) && kept.lines.first?.hasPrefix("standard input is kept as ") == true, "\(kept.lines)")
      for format in ["gpx", "tcx", "json", "csv"] {
        let named = try await bus.run("records", "export", "--output", "\(folder)/run.\(format.uppercased())")
        #expect(named.ending == .exited(0), "\(named.errors)")
        let piped = try await bus.shell(
          "$BUSNODE records export --format \(format) --output - | cmp - '\(folder)/run.\(format.uppercased())'")
        #expect(piped.ending == .exited(0), "\(piped.lines) \(piped.errors)")
      }
      // An option wins over the name.
      #expect(
        try await bus.run("records", "export", "--format", "csv", "--output", "\(folder)/x.gpx").ending == .exited(0))
      #expect(try String(contentsOfFile: "\(folder)/x.gpx", encoding: .utf8).hasPrefix("offsetSeconds,"))
      let script = try await bus.shell("printf 'at 0s phone jump\\n' | $BUSNODE up --script -")
      #expect(script.ending == .exited(65))
      #expect(script.errors.first?.hasPrefix("busnode: standard input:1: \"jump\"") == true, "\(script.errors)")
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  @Test("A second hub on a bus names the holder, exits 75 and does not disturb the first")
  func secondHub() async throws {
    try await withTestBus { bus in
      let first = try await phone(bus)
      let second = try await bus.run("phone")
      #expect(second.ending == .exited(75))
      let id = try #require(first.view.processID)
      #expect(second.errors.first?.contains("process \(id) (phone)") == true, "\(second.errors)")
      #expect(try await bus.run("send", "start").ending == .exited(0))
    }
  }

  @Test("Several buses on one machine do not see each other")
  func severalBuses() async throws {
    try await withTestBus { bus in
      let names = ["one", "two", "three"]
      for name in names { _ = try await phone(bus, "--bus", name, "--debounce", "0") }
      #expect(try await bus.run("send", "start", "--bus", "two").ending == .exited(0))
      for name in names {
        let state = try await bus.run("state", "--json", environment: ["RUNBUS_BUS": name])
        #expect(state.json.first?["phase"]?.string == (name == "two" ? "running" : "idle"), "\(name)")
      }
    }
  }

  @Test("Ctrl-C while following exits 130; a node ends in good order and leaves no socket")
  func interrupts() async throws {
    try await withTestBus { bus in
      let phone = try await phone(bus)
      for arguments in [["state", "--follow"], ["monitor", "--json"]] {
        let follower = bus.spawn(executable: TestBus.busnode, arguments)
        try await follower.wait(for: "a line") { $0.lines.first }
        follower.signal(SIGINT)
        #expect(try await follower.ending() == .exited(130))
        #expect(follower.view.errors.isEmpty)
      }
      phone.signal(SIGINT)
      #expect(try await phone.ending() == .exited(0))
      let left = try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory + "/runbus/default")
      #expect(!left.contains { $0.hasSuffix(".sock") }, "\(left)")
    }
  }

  @Test("A closed pipe ends quietly")
  func closedPipe() async throws {
    try await withTestBus { bus in
      _ = try await phone(bus, "--debounce", "0", "--speed", "100")
      #expect(try await bus.run("send", "start").ending == .exited(0))
      for command in ["state --follow", "monitor --json", "help"] {
        let pipe = try await bus.shell("$BUSNODE \(command) | head -n 1; echo ${PIPESTATUS[0]}")
        #expect(pipe.lines.last == "0", "\(command)")
        #expect(pipe.errors.isEmpty, "\(command): \(pipe.errors)")
      }
    }
  }

  @Test("A node obeys its standard input, names a bad line and ends with the input")
  func orders() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--stdin", "--debounce", "0")
      phone.write("jump")
      phone.write("start")
      phone.write("pause")
      try await phone.event("pause applied") {
        $0["event"]?.string == "verdict" && $0["command"]?.string == "pause" && $0["receipt"]?.string == "applied"
      }
      #expect(phone.view.errors.contains { $0.contains("\"jump\" is not one of start") })
      phone.closeInput()
      #expect(try await phone.ending() == .exited(0))
    }
  }
}
