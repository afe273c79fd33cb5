import Foundation
import RunBus
import RunScripts
import Synchronization
import Testing
import TestSupport

/// The phones of a fleet, each a process that may be killed and started again at any moment, and what they have told.
final class RoomPhones: Sendable {
  private struct State {
    /// All processes of each phone; the present one is last.
    var lives: [[NodeProcess]]
    var told: [[RunnerView.Told]]
    /// Where all runners are; `nil` while nobody says so.
    var isAtStart = false
  }
  static let speed = BusSpeed(factor: 30)!
  private static let hub = DeviceID("phone")
  private static let names = ["Anna", "Ben", "Cleo", "Dan"]

  let fleet = FleetID.made(name: "crew")
  let log: SQLiteLog
  private let bus: TestBus
  private let buses: [BusName] = ["b1", "b2", "b3", "b4"]
  private let locations: [BusLocation]
  private let state: Mutex<State>

  var indices: Range<Int> { Self.names.indices }

  init(_ bus: TestBus) {
    self.bus = bus
    let environment = bus.environment.compactMapValues(\.self)
    locations = buses.map { BusLocation(bus: $0, environment: environment) }
    log = SQLiteLog(LogPlace("crew", environment: environment))
    state = Mutex(State(lives: Self.names.map { _ in [] }, told: Self.names.map { _ in [] }))
  }

  // MARK: Processes

  func spawn(_ index: Int) {
    let process = bus.spawn(
      "phone", "--bus", buses[index].rawValue, "--together", "crew", "--nick", Self.names[index], "--synthetic",
      "--seed", "\(index + 1)", "--pace", "\(300 + 20 * index)", "--duration", "1h", "--speed",
      "\(Self.speed.factor)", "--recover", "resume", "--json", "--stdin", environment: ["SWIFT_BACKTRACE": "enable=no"])
    state.withLock { $0.lives[index].append(process) }
  }

  private func process(_ index: Int) -> NodeProcess { state.withLock { $0.lives[index][$0.lives[index].count - 1] } }

  /// Waits for the first line of a phone.
  func isUp(_ index: Int) async throws {
    try await process(index).wait(for: "the first line of a phone") { $0.json.first }
  }

  /// Kills a phone with kill -9, and starts it again at once.
  func kill(_ index: Int) async throws {
    let process = process(index)
    try await process.wait(for: "its process") { $0.processID }
    process.signal(SIGKILL)
    #expect(try await process.ending() == .signaled(SIGKILL), "it ended by itself: \(process.view.errors)")
    spawn(index)
  }

  /// Ends all phones properly, and returns the runs of their records.
  func end() async throws -> [[String]] {
    for index in indices {
      process(index).signal(SIGTERM)
      #expect(try await process(index).ending() == .exited(0), "\(process(index).view.errors)")
    }
    await log.close()
    var runs: [[String]] = []
    for index in indices {
      let list = try await bus.run("records", "--bus", buses[index].rawValue, "--json")
      runs.append(list.json.compactMap { $0["runId"]?.string })
    }
    return runs
  }

  /// Tells the phones that their runners are at the start, or nothing of where they are any more.
  func place(atStart: Bool) { state.withLock { $0.isAtStart = atStart } }

  /// Says again and again where the runners are, also to phones that have just begun, until it is cancelled.
  func sayWhere() async {
    let start = RunnersPlan.start
    let order = NodeOrder.place(latitude: Double(start.latitude) / 1000, longitude: Double(start.longitude) / 1000)
    while !Task.isCancelled {
      let processes = state.withLock { state in state.isAtStart ? state.lives.compactMap(\.last) : [] }
      for process in processes { process.write(order.line) }
      try? await Task.sleep(for: .milliseconds(300))
    }
  }

  // MARK: Asking

  /// Asks a phone until there is a verdict, across its deaths. An ask that the phone itself refuses for now is made anew.
  @discardableResult
  func ask(_ index: Int, _ wish: RoomAsk.Wish) async throws -> (room: RoomID, verdict: RoomVerdict) {
    var ask = RoomAsk(id: .random(), wish: wish)
    let deadline = ContinuousClock.now + .seconds(120)
    var last: RoomAnswer?
    while ContinuousClock.now < deadline {
      last = try? await AdminClient.ask(.room(ask), of: Self.hub, on: locations[index], within: .seconds(2))
      switch last {
      case .judged(let room, let verdict)?:
        let name = String("\(wish)".prefix { $0 != "(" })
        state.withLock { $0.told[index].append(RunnerView.Told(ask: name, verdict: verdict)) }
        return (room, verdict)
      case .refused(.tooFar(nil))?, .refused(.runIsOn)?, .refused(.unknownRoom)?, .refused(.outOfReach)?:
        ask.id = .random()
      case .refused(let denial)?:
        throw DeadlineMissed(what: "a verdict of \(wish) of \(Self.names[index]), which is refused: \(denial);")
      case .pending?, .seeking?, .matched?, .unmatched?, nil: break
      }
      try await Task.sleep(for: .milliseconds(30))
    }
    let answer = last.map { "\($0)" } ?? "none"
    throw DeadlineMissed(what: "a verdict of \(wish) of \(Self.names[index]) (last answer: \(answer))")
  }

  /// Asks several phones at once.
  func ask(_ indices: some Sequence<Int>, _ wish: RoomAsk.Wish) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in indices { group.addTask { try await self.ask(index, wish) } }
      try await group.waitForAll()
    }
  }

  /// What the phones have told since the last call, and how they see a room.
  func views(of room: RoomID) async -> [RunnerView] {
    var views: [RunnerView] = []
    for index in indices {
      let reports = try? await AdminClient.ask(.rooms, of: Self.hub, on: locations[index], within: .seconds(2))
      views.append(
        RunnerView(
          nickname: Self.names[index], report: reports?.first { $0.room == room },
          // Whether it has kept a run is seen at the end, in the records.
          told: state.withLock { $0.told[index] }, startedAt: 0))
    }
    return views
  }

  func forgetTold() { state.withLock { state in state.told = state.told.map { _ in [] } } }
}
