import Foundation
import RunBus
import RunRecordings
import Testing
import TestSupport

@Suite("up plays a run with three processes")
struct UpTests {
  @Test("A modelled run ends with exactly the measured numbers, and all nodes agree")
  func synthetic() async throws {
    try await withTestBus { bus in
      let up = try await bus.run(
        "up", "--synthetic", "--seed", "7", "--duration", "60", "--speed", "20", "--json", within: 90)
      #expect(up.ending == .exited(0), "\(up.errors)")
      let summary = try #require(up.json.last)
      #expect(summary["agreed"]?.bool == true)
      #expect(summary["phase"]?.string == "completed")
      let recording = SyntheticRun(seed: 7, duration: .seconds(60)).recording()
      #expect(summary["metrics"]?["distanceMeters"]?.number == measure(recording).distanceMeters)
      #expect(summary["metrics"]?["averageHeartRateBpm"]?.number == measure(recording).averageHeartRateBpm)
      #expect(summary["metrics"]?["elapsedSeconds"]?.number == 60)
    }
  }

  @Test("A child that dies unexpectedly is named, with the way it died")
  func death() async throws {
    try await withTestBus { bus in
      let up = bus.spawn("up", "--synthetic", "--duration", "600", "--json")
      try await up.event("the run") { $0["node"]?.string == "widget" && $0["phase"]?.string == "running" }
      let id = try #require(up.view.processID)
      _ = try await bus.shell("kill -9 $(pgrep -P \(id) -f 'busnode widget')")
      #expect(try await up.ending() == .exited(1))
      let error = up.view.errors.compactMap { JSONValue(text: $0) }.last?["error"]
      #expect(error?["message"]?.string == "the widget died: it was ended by signal 9")
    }
  }

  @Test("Children end when up is killed")
  func orphans() async throws {
    try await withTestBus { bus in
      let up = bus.spawn("up", "--synthetic", "--duration", "600", "--json")
      try await up.event("the run") { $0["phase"]?.string == "running" }
      let id = try #require(up.view.processID)
      let children = try await bus.shell("pgrep -P \(id)").lines
      #expect(children.count == 3)
      up.signal(SIGKILL)
      _ = try await up.ending()
      // A dead child that nobody has reaped yet counts as ended.
      let wait = "while ps -o stat= -p \(children.joined(separator: ",")) | grep -qv Z; do sleep 0.05; done"
      _ = try await bus.shell(wait)
    }
  }

  /// Writes a script into a bus's directory.
  private func script(_ lines: String, _ bus: TestBus) throws -> String {
    let path = bus.directory + "/my.run"
    try lines.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  // Once broken: `up --script` whose last line is a start did not stop the run, and ended with "The nodes did not
  // agree" after 30 s; a script with a start after its stop never ended.
  @Test(
    "A run that the script leaves on is stopped by the phone, and up reports that",
    arguments: [
      "at 0s watch start", "at 0s watch start\nat 2s watch stop\nat 4s widget start",
      "at 0s watch offline 3s\nat 1s watch start",
    ])
  func leftOn(lines: String) async throws {
    try await withTestBus { bus in
      let up = try await bus.run("up", "--script", try script(lines, bus), "--json")
      #expect(up.ending == .exited(0), "\(up.errors)")
      #expect(up.errors == ["busnode: the script leaves a run on: the phone stops it"])
      let summary = try #require(up.json.last)
      #expect(summary["agreed"]?.bool == true && summary["phase"]?.string == "completed")
      #expect(summary["verdicts"]?["rejected"]?.int == 0)
    }
  }

  @Test("A run that the script stops is not stopped again")
  func stopped() async throws {
    try await withTestBus { bus in
      let path = try script("at 0s watch start\nat 3s watch stop", bus)
      let up = try await bus.run("up", "--script", path, "--speed", "2", "--json")
      #expect(up.ending == .exited(0) && up.errors.isEmpty, "\(up.errors)")
      #expect(up.json.last?["verdicts"]?["applied"]?.int == 2)
      #expect(up.json.last?["verdicts"]?["rejected"]?.int == 0)
    }
  }

  // Once broken: `up` whose output was cut short exited 0, whether the nodes agreed or not, because a failed write
  // ended `up` like a success.
  @Test("When its output cannot be written up plays the run to its end, reports that once and exits 74")
  func fullDisk() async throws {
    try await withTestBus { bus in
      let up = try await bus.shell("exec \"$BUSNODE\" up --synthetic --duration 20 --speed 20 --json >/dev/full")
      #expect(up.ending == .exited(74))
      #expect(up.errors.count == 1 && up.errors[0].contains("No space left on device"), "\(up.errors)")
    }
  }
}
