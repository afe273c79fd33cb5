import Foundation
import Testing
import TestSupport

/// The recordings that are played: one of the project, and those in the folder beside the checkout.
enum Recordings {
  static let synthetic = Checkout.path("examples/runs/synthetic.gpx")

  static let missing: Comment = "there are no recordings beside the checkout (shared/runs)"
  /// The names of recordings of real runs; empty where there are none.
  static let real: [String] = {
    let names = Checkout.recordings.flatMap { try? FileManager.default.contentsOfDirectory(atPath: $0.path) } ?? []
    return names.filter { $0.hasSuffix(".gpx") || $0.hasSuffix(".tcx") }.sorted()
  }()
  static func path(_ name: String) -> String? {
    let path = Checkout.recordings?.appending(path: name).path
    return path.flatMap { FileManager.default.fileExists(atPath: $0) ? $0 : nil }
  }
}

// Serialized, because at this speed a replay keeps the machine busy.
@Suite("A replayed run ends as measured", .serialized)
struct ReplayTests {
  /// `make sanitize` plays slower, because its processes are slower.
  private static let speed = ProcessInfo.processInfo.environment["RUNBUS_REPLAY_SPEED"] ?? "1000"

  /// Plays a recording with three processes and returns the summary.
  private func play(
    _ path: String, _ bus: TestBus, environment: [String: String?] = [:]
  ) async throws -> JSONValue {
    let up = try await bus.run(
      "up", "--replay", path, "--speed", Self.speed, "--json", within: 90, environment: environment)
    #expect(up.ending == .exited(0), "\(up.errors.suffix(3))")
    let summary = try #require(up.json.last)
    #expect(summary["agreed"]?.bool == true, "\(summary["disagreements"] ?? .null)")
    #expect(summary["phase"]?.string == "completed")
    let left = FileManager.default.enumerator(atPath: bus.directory)?.compactMap { $0 as? String } ?? []
    #expect(Set(left).isSubset(of: ["run", "run/runbus", "slow-syncs.so"]), "\(left)")
    return summary
  }

  /// Every number of the summary equals the measured one; numbers other than metrics have keys of their own.
  private func expect(_ summary: JSONValue, endsAs measured: JSONValue) throws {
    let metrics = try #require(summary["metrics"]?.object)
    #expect(!metrics.isEmpty)
    for (key, value) in metrics { #expect(measured["metrics"]?[key] == value, "\(key)") }
  }

  @Test("The project's own run gives exactly the measured numbers, and the same ones when it is played again")
  func synthetic() async throws {
    try await withTestBus { bus in
      let measured = try #require(try await bus.run("measure", Recordings.synthetic, "--json").json.last)
      for _ in 1...2 { try expect(try await play(Recordings.synthetic, bus), endsAs: measured) }
    }
  }

  #if os(Linux)
    @Test("On a slow disk it ends as measured, too", arguments: [20, 600])
    func slowDisk(milliseconds: Int) async throws {
      try await withTestBus { bus in
        let (library, source) = (
          bus.directory + "/slow-syncs.so", Checkout.path("Tests/Processes/Clients/slow-syncs.c")
        )
        let build = try await bus.shell("/usr/bin/gcc -shared -fPIC -O1 -o '\(library)' '\(source)' -ldl")
        #expect(build.ending == .exited(0), "\(build.errors)")
        let measured = try #require(try await bus.run("measure", Recordings.synthetic, "--json").json.last)
        let summary = try await play(
          Recordings.synthetic, bus, environment: ["LD_PRELOAD": library, "SYNC_MILLISECONDS": "\(milliseconds)"])
        try expect(summary, endsAs: measured)
      }
    }
  #endif

  @Test(
    "A real run ends as measured, to the last digit; one that cannot be read is refused",
    .enabled(if: !Recordings.real.isEmpty, Recordings.missing), arguments: Recordings.real)
  func real(name: String) async throws {
    let path = try #require(Recordings.path(name))
    try await withTestBus { bus in
      let measured = try await bus.run("measure", path, "--json")
      guard measured.ending == .exited(0) else {
        #expect(name.hasPrefix("malformed"), "\(measured.errors)")
        #expect(measured.ending == .exited(65))
        let up = try await bus.run("up", "--replay", path, "--json")
        #expect(up.ending == .exited(65) && up.lines.isEmpty)
        return
      }
      let summary = try await play(path, bus)
      try expect(summary, endsAs: try #require(measured.json.last))
    }
  }

  @Test("Recorded presses that are due within a millisecond reach the hub in their order")
  func order() async throws {
    try await withTestBus { bus in
      // Faster nodes write more snapshots than a test under a sanitizer can read.
      let phone = bus.spawn("phone", "--speed", "100", "--debounce", "0", "--json")
      _ = try await phone.event("the phone") { $0["event"]?.string == "snapshot" }
      let watch = bus.spawn("watch", "--stdin", "--json")
      _ = try await watch.event("the link") { $0["event"]?.string == "link" && $0["reachable"]?.bool == true }
      // A press every 20 ms of the run, which are 200 µs here.
      let count = 200
      for number in 0..<count {
        watch.write("\(number.isMultiple(of: 2) ? "pause" : "resume") @\(10 + Double(number) / 50)")
      }
      watch.write("start")
      let verdicts = try await watch.wait(for: "every verdict") { view in
        let verdicts = view.json.filter { $0["event"]?.string == "verdict" }
        return verdicts.count > count ? verdicts : nil
      }
      #expect(verdicts.filter { $0["receipt"]?.string != "applied" } == [])
      let state = try #require(try await bus.run("state", "--json").json.last)
      #expect(state["phase"]?.string == "running" && state["revision"]?.int == count + 1)
    }
  }

  @Test("Live, offline and after a restart a run has the same numbers, splits and route")
  func recovered() async throws {
    let path = Recordings.synthetic
    try await withTestBus { bus in
      let measured = try #require(
        try await bus.run("measure", path, "--json", "--route", "--weight", "70", within: 60).json.last)
      let up = try await bus.run(
        "up", "--bus", "later", "--replay", path, "--speed", Self.speed, "--weight", "70", "--json", within: 90)
      #expect(up.ending == .exited(0), "\(up.errors.suffix(3))")
      try expect(try #require(up.json.last), endsAs: measured)

      // A later incarnation that was not given the weight.
      let phone = bus.spawn("phone", "--bus", "later", "--json")
      _ = try await phone.event("the run that was") { $0["phase"]?.string == "completed" }
      let state = try #require(try await bus.run("state", "--bus", "later", "--splits", "--json").json.last)
      #expect(state["metrics"]?.object?.allSatisfy { measured["metrics"]?[$0.key] == $0.value } == true)
      for (key, pieces) in try #require(state["report"]?.object) {
        #expect(measured[key] == pieces, "\(key)")
      }
      let route = try await bus.run("route", "--bus", "later", "--json").json
      let fields = try #require(measured["route"]?.array)
      #expect(route.count == fields.count)
      for (point, expected) in zip(route, fields) {
        guard expected.object?.allSatisfy({ point[$0.key] == $0.value }) == true else {
          Issue.record("point \(point["index"]?.int ?? -1)")
          break
        }
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }
}
