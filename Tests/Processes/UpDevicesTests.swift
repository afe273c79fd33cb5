import Foundation
import RunBus
import RunScripts
import Testing
import TestSupport

@Suite("up with any set of devices")
struct UpDevicesTests {
  /// Writes a file into a bus's directory.
  private func file(_ name: String, _ lines: String, _ bus: TestBus) throws -> String {
    let path = bus.directory + "/" + name
    try lines.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  /// A script that a device of each kind takes part in.
  private static let script = """
    watch-2: start
    until phase == running
    at 2s shell-1 pause
    until phase == paused
    widget-1: resume
    until phase == running
    """

  @Test("Twelve devices with faults agree in the end, and the seed is named")
  func faults() async throws {
    try await withTestBus { bus in
      // Who presses is spared: a device that is dead at the moment of its line presses nothing.
      let spared: Set = ["shell-1", "watch-2", "widget-1"]
      let others = (1...7).map { "watch-\($0) watch" } + (1...3).map { "widget-\($0) widget" }
      let devices = (["phone phone", "shell-1 shell"] + others).map { line in
        spared.contains(String(line.prefix { $0 != " " })) ? line + " faults=none" : line
      }.joined(separator: "\n")
      let up = try await bus.run(
        "up", "--devices", try file("twelve", devices, bus), "--script", try file("my.run", Self.script, bus),
        "--faults", "6", "--seed", "42", "--json", within: 150)
      #expect(up.ending == .exited(0), "\(up.errors)")
      #expect(up.errors.contains("busnode: 6 faults are drawn from seed 42 (--seed)"), "\(up.errors)")
      let told = up.errors.filter { $0.hasPrefix("busnode: fault: ") }
      let kinds = /busnode: fault: (phone|watch-\d|widget-\d) (loses its link|is killed|stands still) for \d\.\d s/
      #expect(told.count == 6 && told.allSatisfy { $0.wholeMatch(of: kinds) != nil }, "\(up.errors)")
      let summary = try #require(up.json.last)
      #expect(summary["agreed"]?.bool == true && summary["phase"]?.string == "completed")
      #expect(summary["nodes"]?.array?.count == 12 && summary["faults"]?["seed"]?.int == 42)
      #expect((summary["presses"]?.int ?? 0) >= 3)
    }
  }

  @Test("Two hundred devices in one process agree, and another command finds their bus")
  func inProcess() async throws {
    try await withTestBus { bus in
      let script = """
        watch-150: start
        until phase == running
        shell "$BUSNODE" send pause --source watch
        until phase == paused && changedBy.source == watch
        phone: stop
        until phase == completed
        """
      let up = try await bus.run(
        "up", "--watches", "150", "--widgets", "48", "--shells", "1", "--in-process", "--script",
        try file("my.run", script, bus), "--faults", "10", "--seed", "3", "--json", within: 150)
      #expect(up.ending == .exited(0), "\(up.errors)")
      let summary = try #require(up.json.last)
      #expect(summary["agreed"]?.bool == true && summary["phase"]?.string == "completed")
      let nodes = try #require(summary["nodes"]?.array)
      #expect(nodes.count == 200 && Set(nodes.compactMap { $0["lastRevision"]?.int }).count == 1)
      #expect(try FileManager.default.contentsOfDirectory(atPath: bus.runtimeDirectory + "/runbus").isEmpty)
    }
  }

  @Test("A line of a script that does not come true is named, and up ends with status 1")
  func untrue() async throws {
    try await withTestBus { bus in
      for (line, message) in [
        ("expect phase == running", "my.run:2: it was expected otherwise: phase is idle"),
        ("until phase == paused within 100ms", "my.run:2: until waited in vain: phase is idle"),
        ("shell exit 3", "my.run:2: shell exit 3: it ended with exit status 3"),
      ] {
        let path = try file("my.run", "# nothing is pressed\n\(line)\n", bus)
        let up = try await bus.run("up", "--watches", "0", "--widgets", "0", "--script", path, "--json")
        #expect(up.ending == .exited(1))
        let error = up.errors.compactMap { JSONValue(text: $0) }.last?["error"]
        #expect(error?["message"]?.string?.hasSuffix(message) == true, "\(up.errors)")
      }
    }
  }

  @Test("A bad file of devices and a limit that is too low are told before a process is started")
  func refusals() async throws {
    try await withTestBus { bus in
      let path = try file("bad", "phone phone\nw  tablet\n", bus)
      let up = try await bus.run("up", "--devices", path)
      #expect(up.ending == .exited(65))
      #expect(up.errors == ["busnode: \(path):2:4: \"tablet\" is not one of phone, watch, widget, shell"])
      let limited = try await bus.shell("ulimit -n 200; exec \"$BUSNODE\" up --watches 98")
      #expect(limited.ending == .exited(1))
      let what = "open files (ulimit -n) is 200, and 100 nodes need 464"
      #expect(limited.errors.count == 1 && limited.errors[0].contains(what), "\(limited.errors)")
      let many = try await bus.run("up", "--watches", "120")
      #expect(many.ending == .exited(64))
      #expect(many.errors.first?.contains("at most 100 processes: give --in-process") == true, "\(many.errors)")
    }
  }
}
