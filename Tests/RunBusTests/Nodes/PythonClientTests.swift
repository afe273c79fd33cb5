import Foundation
import RunBus
import TestSupport
import Testing

/// The examples in another language, over real sockets. They use only the published wire.
@Suite(
  "A client that uses only the published wire", .timeLimit(.minutes(5)), .enabled(if: Python.isWanted, Python.hint))
struct PythonClientTests {
  @Test("Five lines of Python start a run: the reply of a plain REQ is the verdict")
  func request() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place)
      try await withRunning([bus.hub]) {
        let early = try await Python.run("request.py", "pause", on: bus, place)
        #expect(early == ["pause: rejected (illegal), revision 0"])
        let start = try await Python.run("request.py", "start", on: bus, place)
        #expect(start == ["start: applied, revision 1"])
        #expect(await bus.hub.authoritative.changedBy?.source == .shell)
      }
    }
  }

  @Test("A watch in Python joins a run, pauses and resumes it, follows its snapshots and says goodbye")
  func watch() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place, speed: BusSpeed(factor: 20)!)
      try await withRunning([bus.hub]) {
        let events = await bus.hub.events()
        _ = try await within("start") { try await bus.hub.send(Command(.start, .phone)) }
        let lines = try await Python.run(
          "watch.py", "--device", "py", "--press", "pause", "--press", "resume", "--snapshots", "12", on: bus, place)

        #expect(lines.first == "welcome from phone, speed 20")
        let receipts = lines.filter { $0.hasPrefix("pause") || $0.hasPrefix("resume") }
        #expect(
          receipts == [
            "pause: pending", "pause: applied, revision 2", "resume: pending", "resume: applied, revision 3",
          ])
        let phases = lines.filter { $0.hasPrefix("snapshot") }.map { $0.split(separator: " ")[2] }
        #expect(phases.count >= 12)
        #expect(phases.contains("paused,"))
        #expect(phases.last == "running,")

        let change = try #require(await bus.hub.authoritative.changedBy)
        #expect(change.deviceID == DeviceID("py"))
        #expect(change.source == .watch)
        _ = try await events.first("its goodbye") { event in
          if case .presence(let presence) = event {
            presence.deviceID.rawValue == "py" && !presence.isReachable
          } else {
            false
          }
        }
      }
    }
  }

  // Once broken: When the path is long or `TMPDIR` is relative, the Python client looked for a bus in another directory
  // than the hub, because it used Python's rule for the temporary directory.
  @Test("A client in Python finds the hub's bus in any environment")
  func places() async throws {
    let long = "/tmp/" + String(repeating: "long/", count: 20)
    let environments = [
      ["XDG_RUNTIME_DIR": "/run/user/7"], ["XDG_RUNTIME_DIR": "/run//"],
      ["XDG_RUNTIME_DIR": "run", "TMPDIR": "/var/tmp/"], ["TMPDIR": "tmp"], [:],
      ["XDG_RUNTIME_DIR": long], ["TMPDIR": long],
    ]
    try await withTestBus { place in
      for environment in environments {
        let all = ["XDG_RUNTIME_DIR": "", "TMPDIR": "", "RUNBUS_ADDRESS": "", "RUNBUS_BUS": ""]
          .merging(environment) { $1 }
        let process = Python.spawnPlaces(environment: all, place)
        let ending = try await process.ending()
        #expect(ending == .exited(0), "\(process.view.errors)")
        let location = BusLocation(bus: BusName("default"), environment: all)
        #expect(process.view.lines == [location.controlEndpoint], "\(environment)")
      }
    }
  }

  @Test("A watch in Python gives up without an answer and says so")
  func nobody() async throws {
    try await withTestBus { place in
      let process = Python.spawn(
        ["watch.py", "--timeout", "0.5"], endpoint: "ipc://\(place.runtimeDirectory)/c", place)
      let ending = try await process.ending()
      #expect(ending == .exited(69))
      #expect(process.view.errors == ["gave up: no hub answers"])
    }
  }
}

/// The pinned environment that `scripts/bootstrap --python` makes.
enum Python {
  static let hint: Comment = "scripts/bootstrap --python makes the environment that this needs"

  /// CI must have it.
  static var isWanted: Bool {
    Checkout.hasPython || ProcessInfo.processInfo.environment["CI"] != nil
  }

  static func spawn(_ arguments: [String], endpoint: String, _ place: TestBus) -> NodeProcess {
    let script = Checkout.path("examples/python/" + arguments[0])
    let process = place.spawn(
      executable: Checkout.python, [script] + arguments.dropFirst(),
      environment: ["RUNBUS_ADDRESS": endpoint, "PYTHONDONTWRITEBYTECODE": "1"])
    process.closeInput()
    return process
  }

  /// Prints the control endpoint of the bus called `default`.
  static func spawnPlaces(environment: [String: String], _ place: TestBus) -> NodeProcess {
    let folder = Checkout.path("examples/python")
    let process = place.spawn(
      executable: Checkout.python, ["-c", "import runbus; print(runbus.control_endpoint())"],
      environment: environment.merging(["PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"]) { $1 })
    process.closeInput()
    return process
  }

  /// Runs a script that must succeed and returns its output.
  static func run(_ arguments: String..., on bus: RunningBus, _ place: TestBus) async throws -> [String] {
    let process = spawn(arguments, endpoint: "ipc://\(bus.directory)/c", place)
    let ending = try await process.ending(within: 90)
    try #require(ending == .exited(0), "\(process.view.errors)")
    return process.view.lines
  }
}
