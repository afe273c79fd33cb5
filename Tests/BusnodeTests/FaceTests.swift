import Foundation
import RunBus
import RunBusTesting
import RunBusUI
import RunScripts
import Testing

@testable import RunBusWeb
@testable import busnode

/// Every screen of a run shows the same moment in the same way.
@Suite("The faces of one board", .timeLimit(.minutes(5)))
@MainActor struct FaceTests {
  /// What a face says of a moment.
  private struct Face: Hashable {
    var phase: RunPhase
    var order: SnapshotOrder
    var predicted: RunPhase
    var elapsed: Int64
    var active: Int64
    var meters: Double?
    var isStale: Bool
    var staleSeconds: Double?
    var isHubLost: Bool
    var isReachable: Bool
    var devices: [Device]
  }
  private struct Device: Hashable, Comparable {
    var name: String
    var isHere: Bool
    var ageSeconds: Double?
    static func < (first: Self, second: Self) -> Bool { first.name < second.name }
  }

  private static func milliseconds(_ span: BusDuration?) -> Int64 { (span?.nanoseconds ?? -1) / 1_000_000 }
  private static func rounded(_ seconds: Double?) -> Double? { seconds.map { ($0 * 1000).rounded() / 1000 } }

  private static func face(_ model: RunModel, at bus: TestBus) -> Face {
    let (board, now) = (model.board, model.node.moment)
    return Face(
      phase: model.phase, order: model.snapshot.order, predicted: model.predictedPhase,
      elapsed: milliseconds(model.elapsed(at: bus.date)), active: milliseconds(model.active(at: bus.date)),
      meters: model.metrics.distanceMeters, isStale: model.isStale,
      staleSeconds: model.isStale ? rounded(board.viewAge(at: now)?.seconds) : nil, isHubLost: board.isHubLost,
      isReachable: model.isReachable,
      devices: (board.devices ?? []).map {
        Device(
          name: $0.report.deviceID.rawValue, isHere: $0.report.isReachable,
          ageSeconds: rounded(board.heardAge(of: $0, at: now)?.seconds))
      }.sorted())
  }

  private static func face(_ view: ViewJSON) -> Face {
    let snapshot = view.state.snapshot
    let moment = snapshot.capturedAt + BusDuration(seconds: view.state.ageSeconds)
    return Face(
      phase: snapshot.phase, order: snapshot.order, predicted: view.predicted,
      elapsed: milliseconds(snapshot.elapsed(at: moment)), active: milliseconds(snapshot.active(at: moment)),
      meters: snapshot.metrics.distanceMeters, isStale: view.stale, staleSeconds: rounded(view.staleForSeconds),
      isHubLost: view.hubLost, isReachable: view.link.reachable,
      devices: view.devices.map {
        Device(name: $0.deviceId.rawValue, isHere: $0.reachable, ageSeconds: rounded($0.heardAgeSeconds))
      }.sorted())
  }

  private static func face(_ state: ScreenState) -> Face {
    Face(
      phase: state.snapshot.phase, order: state.snapshot.order, predicted: state.predicted,
      elapsed: milliseconds(state.elapsed), active: milliseconds(state.active),
      meters: state.snapshot.metrics.distanceMeters, isStale: state.isStale,
      staleSeconds: rounded(state.staleSeconds), isHubLost: state.isHubLost, isReachable: state.isReachable,
      devices: (state.devices ?? []).map {
        Device(name: $0.name, isHere: $0.isHere, ageSeconds: rounded($0.ageSeconds))
      }.sorted())
  }

  /// The screen of `top`, drawn from a board of its own.
  private final class Top {
    var (board, state): (RunBoard, ScreenState)
    var told: [(NodeNews, BusTime)] = []
    let peer: Peer

    init(_ peer: Peer) {
      self.peer = peer
      board = RunBoard(own: peer.deviceID)
      state = ScreenState(bus: "test", source: .watch)
    }

    @MainActor func follow() async {
      for await news in await peer.news(asking: [.devices, .route, .splits]) {
        board.receive(news, at: peer.moment)
        told.append((news, peer.moment))
        if case .snapshot = news { state.add(board.snapshot) }
      }
    }

    @MainActor func face(at bus: TestBus) -> Face {
      state.show(board, at: peer.moment, clock: peer.clock.map { $0.busTime(of: bus.date) }) { _ in "" }
      return FaceTests.face(state)
    }
  }

  /// The devices on the screen of `up`, whose nodes show the snapshots and whose own peer learns the rest.
  private static func devicesOfUp(_ top: Top) -> [Device] {
    var screen = UpScreen(bus: "test", units: .metric, hasUnicode: true)
    screen.take(.view(top.board.view), at: top.peer.moment)
    for (news, moment) in top.told { screen.take(news, at: moment) }
    let rows = [SpawnedNode.watch, .widget].map { (node: $0, row: UpRow()) }
    _ = screen.draw(
      rows, speed: .realTime, on: Screen(columns: 80, rows: 24), now: .now, moment: top.peer.moment)
    return (screen.state.devices ?? []).map {
      Device(name: $0.name, isHere: true, ageSeconds: rounded($0.ageSeconds))
    }
  }

  // Once broken: `top` and the page aged devices differently, and each of four screens folded events by rules of its own.
  @Test("Page, top and RunModel show the same phase, clock, numbers and device ages, also while the hub is gone")
  func sameMoment() async throws {
    let bus = try TestBus()
    let phone = try await bus.hub("phone")
    let watch = try await bus.peer(PeerConfiguration(deviceID: "watch", role: .watch, topics: Topic.allCases))
    let widget = try await bus.peer("widget", role: .widget)
    let (model, top) = (RunModel(watch, source: .watch), Top(watch))
    let feed = ViewFeed(watch)
    let work = [
      Task { await model.run() }, Task { await top.follow() },
      Task(executorPreference: watch.steeredExecutor) { await feed.run() },
    ]
    defer { for task in work { task.cancel() } }
    // A viewer, without whom the page asks for no devices.
    let view = try #require(await feed.look())
    defer { withExtendedLifetime(view) {} }

    func compare(_ what: String, _ holds: @escaping @MainActor (Face) -> Bool) async throws {
      // The readers wake on threads of their own: the moment stands still until they have read.
      try await lookForFaces(what, bus) {
        let faces = [Self.face(model, at: bus), Self.face(await feed.view()), top.face(at: bus)]
        let ages = faces[2].devices.map(\.ageSeconds)
        return (Set(faces).count == 1 && holds(faces[0]) && Self.devicesOfUp(top).map(\.ageSeconds) == ages, faces)
      }
    }

    try await bus.settle()
    try await compare("idle") { $0.phase == .idle && $0.devices.count == 2 }
    _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
    for second in 0..<10 {
      let position = Position(latitude: 50 + 0.00003 * Double(second), longitude: 8, horizontalAccuracyMeters: 5)
      try await phone.add(Sample(moment: .at(bus.now), value: .position(position)))
      try await bus.advance(by: .seconds(1))
    }
    try await compare("running") { $0.phase == .running && $0.elapsed > 9000 && ($0.meters ?? 0) > 0 }
    try await bus.end(widget)
    try await bus.advance(by: .seconds(4))
    try await compare("widget gone") { face in face.devices.contains { $0.name == "widget" && !$0.isHere } }
    bus.cut("phone")
    try await bus.advance(by: .seconds(8))
    try await compare("hub gone") { $0.isStale && !$0.isReachable && $0.phase == .running && $0.elapsed > 21_000 }
    model.press(.pause)
    try await bus.advance(by: .seconds(5))
    try await compare("pressed") { $0.predicted == .paused && $0.phase == .running }
    bus.restore("phone")
    try await bus.advance(by: .seconds(5))
    try await compare("back") { $0.phase == .paused && !$0.isStale && $0.isReachable }
    try await bus.end(watch)
    try await bus.end(phone)
  }

  /// Looks until faces agree; says how they differ when they do not in time.
  private func lookForFaces(
    _ what: String, _ bus: TestBus, _ look: @MainActor () async throws -> (Bool, [Face])
  ) async throws {
    var last: [Face] = []
    let deadline = ContinuousClock.now + .seconds(30)
    while .now < deadline {
      let (agree, faces) = try await look()
      if agree { return }
      last = faces
      // A face that began to look later asks for the devices in its turn.
      try await bus.settle()
    }
    Issue.record("\(what): \(last.map { "\n  \($0)" }.joined())")
  }
}
