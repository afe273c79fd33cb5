import Foundation
import Observation
import RunBus
import RunBusUI
import TestSupport
import Testing

@Suite("The model of a screen", .timeLimit(.minutes(5)))
@MainActor struct RunModelTests {
  /// A hub and a watch in this process, without sockets.
  private struct Bus {
    let hub: Hub
    let watch: Peer

    init(debounce: BusDuration = .zero, speed: BusSpeed = .realTime) throws {
      let (transport, loop) = (InProcessBus(), try Loop())
      hub = Hub(
        configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: debounce, speed: speed),
        listeners: [transport.listener], store: NodeStore(), loop: loop)
      watch = Peer(
        configuration: PeerConfiguration(deviceID: DeviceID("watch"), role: .watch), connector: transport.connector,
        store: NodeStore(), loop: loop)
    }
  }

  /// Runs nodes and models while a body uses them, and ends them all.
  private func running(
    _ nodes: [any Node], _ models: [RunModel], _ body: @MainActor () async throws -> Void
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for node in nodes { group.addTask { try await node.run() } }
      for model in models { group.addTask { await model.run() } }
      try await body()
      group.cancelAll()
      try await group.waitForAll()
    }
  }

  /// Waits until a model satisfies a condition, by its observation: a property that told no change would be missed.
  private func wait(
    for what: String, in model: RunModel, _ holds: @escaping @MainActor (RunModel) -> Bool
  ) async throws {
    try await within(what) { @MainActor in
      while true {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        if withObservationTracking({ holds(model) }, onChange: { continuation.finish() }) { return }
        for await _ in changes {}
        try Task.checkCancellation()
        // The change is announced before it is made.
        await Task.yield()
      }
    }
  }

  @Test("A press changes the buttons at once, is judged once, and both screens show the run")
  func press() async throws {
    let bus = try Bus()
    let (phone, watch) = (RunModel(bus.hub, source: .phone), RunModel(bus.watch, source: .watch))
    #expect(phone.isReachable && !watch.isReachable)
    #expect(watch.elapsed() == nil && watch.allows(.start) && !watch.allows(.pause))
    try await running([bus.hub, bus.watch], [phone, watch]) {
      try await wait(for: "the hub", in: watch) { $0.isReachable && !$0.isStale }
      watch.start(goal: RunGoal(time: .seconds(1800)))
      #expect(watch.predictedPhase == .running && watch.phase == .idle && watch.pendingPresses.count == 1)
      try await wait(for: "the verdict", in: watch) { $0.presses.first?.stage == .judged(.applied) }
      #expect(watch.presses.first?.message == "start was applied" && watch.pendingPresses.isEmpty)
      for model in [phone, watch] {
        try await wait(for: "a running run", in: model) { $0.phase == .running && $0.predictedPhase == .running }
        let date = Date()
        let (now, later) = (try #require(model.active(at: date)), try #require(model.active(at: date + 10)))
        #expect(later - now > .seconds(9) && model.elapsed(at: date + 10) ?? .zero > .seconds(9))
        // The node reads its clocks for each call, and rounds to a nanosecond.
        let whole = try #require(model.remaining(at: date)) + (try #require(model.elapsed(at: date)))
        #expect(abs(whole.nanoseconds - 1_800_000_000_000) < 1000)
        let instant = ContinuousClock.now
        #expect(try #require(model.remaining(at: instant)) < .seconds(1800))
        for clock in [model.elapsed(at:), model.active(at:)] as [(ContinuousClock.Instant) -> BusDuration?] {
          let span = try #require(clock(instant + .seconds(5))) - (try #require(clock(instant)))
          #expect(abs(span.nanoseconds - 5_000_000_000) < 1000)
        }
      }
      phone.press(.resume)
      try await wait(for: "the verdict", in: phone) { $0.presses.first?.stage != .pending && $0.pendingPresses.isEmpty }
      #expect(phone.presses.first?.message == "resume was already asked for: it counts once")
      phone.press(.stop)
      try await wait(for: "a completed run", in: watch) { $0.phase == .completed && $0.predictedPhase == .completed }
      watch.press(.pause)
      try await wait(for: "a rejection", in: watch) { $0.presses.last?.isRefused ?? false }
      #expect(watch.presses.last?.message == "pause was rejected: the run is already completed")
      #expect(watch.predictedPhase == .completed)
    }
  }

  @Test("Presses in quick succession reach the node in their order")
  func order() async throws {
    let bus = try Bus()
    let model = RunModel(bus.hub, source: .phone)
    try await running([bus.hub], [model]) {
      let kinds: [CommandKind] = [.start, .pause, .resume, .lap, .pause, .resume, .stop]
      for kind in kinds { model.press(kind) }
      #expect(model.predictedPhase == .completed)
      try await wait(for: "all verdicts", in: model) { $0.pendingPresses.isEmpty }
      #expect(model.presses.map(\.kind) == kinds)
      #expect(model.presses.allSatisfy { $0.stage == .judged(.applied) })
    }
  }

  @Test("A press out of reach waits, survives the end of the model's run, and gets its verdict in the next one")
  func outOfReach() async throws {
    let bus = try Bus()
    let model = RunModel(bus.watch, source: .watch)
    try await running([bus.watch], []) {
      try await running([], [model]) {
        model.press(.start)
        try await wait(for: "the outbox", in: model) { $0.presses.first?.stage == .queued }
        #expect(model.predictedPhase == .running && model.phase == .idle && !model.isReachable)
      }
      try await running([bus.hub], [model]) {
        try await wait(for: "the verdict", in: model) { $0.presses.first?.stage == .judged(.applied) }
        try await wait(for: "the run", in: model) { $0.phase == .running }
        let report = try #require(await bus.hub.authoritative.runID)
        #expect(await bus.watch.authoritative.runID == report)
      }
    }
  }

  @Test("Route and splits follow the run")
  func route() async throws {
    let bus = try Bus(speed: BusSpeed(factor: 60)!)
    let model = RunModel(bus.watch, source: .watch)
    let still = RunModel(bus.watch, source: .watch, followsRoute: false, followsSplits: false)
    try await running([bus.hub, bus.watch], [model, still]) {
      model.press(.start)
      try await wait(for: "a minute", in: model) { $0.metrics.elapsed >= .seconds(61) }
      for second in 0..<60 {
        try await bus.hub.add(
          Sample(
            moment: .runOffset(.seconds(Int64(second))),
            value: .position(Position(latitude: 48, longitude: Double(second) * 4e-5, horizontalAccuracyMeters: 5))))
      }
      try await wait(for: "the route", in: model) { $0.route.count == 60 && $0.isRouteComplete }
      try await wait(for: "an open kilometre", in: model) { $0.splits.kilometers.last?.distanceMeters ?? 0 > 100 }
      #expect(model.route.map(\.offset) == (0..<60).map { .seconds($0) })
      #expect(still.route.isEmpty && still.splits == RunSplits())
    }
  }

  // Once broken: A peer did not notice that its hub had ended in good order, and would have raised the alarm in a run,
  // because an inquiry that came while the hub was ending was answered after the goodbye, and the peer took the answer
  // for a sign of life.
  @Test("A screen says when the hub is gone, and the model stops following when its node has ended")
  func ending() async throws {
    let bus = try Bus()
    let model = RunModel(bus.watch, source: .watch)
    try await running([bus.watch], [model]) {
      try await running([bus.hub], []) {
        try await wait(for: "the hub", in: model) { $0.isReachable && !$0.isStale }
      }
      try await wait(for: "its goodbye", in: model) { $0.isStale && $0.viewState.isHubOffDuty }
    }
    // The node has ended, and with it the streams: the model's run returns.
    model.press(.start)
    try await within("the end") { await model.run() }
    #expect(model.presses.count == 1)
  }

  @Test("A person who presses without end is refused at the bound, and decided presses make room for new ones")
  func bounds() async throws {
    let bus = try Bus()
    let model = RunModel(bus.hub, source: .phone)
    for _ in 0..<80 { model.press(.lap) }
    #expect(model.pendingPresses.count == 64)
    #expect(model.presses.count == 80 && model.presses.last?.isRefused == true)
    #expect(model.presses.last?.message == "lap was not taken: 64 presses wait for the hub already")
    try await running([bus.hub], [model]) {
      try await wait(for: "all verdicts", in: model) { $0.pendingPresses.isEmpty }
      #expect(model.presses.count == 16)
    }
  }
}
