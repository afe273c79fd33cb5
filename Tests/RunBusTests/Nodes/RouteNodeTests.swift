import RunBus
import TestSupport
import Testing

@Suite("A route and a report over the bus", .timeLimit(.minutes(5)))
struct RouteNodeTests {
  private func fix(_ second: Int) -> Sample {
    Sample(
      moment: .runOffset(.seconds(Int64(second))),
      value: .position(Position(latitude: 48, longitude: Double(second) * 4e-5, horizontalAccuracyMeters: 5)))
  }

  /// Assembles the route from a peer's events and answers until it has `count` points and is complete.
  private func follow(_ peer: Peer, _ events: AsyncStream<BusEvent>, until count: Int) async -> RouteView {
    var view = RouteView()
    var actions = view.joined()
    var events = events.makeAsyncIterator()
    while true {
      for case .ask(let from) in actions {
        guard let part = try? await .some(peer.routePart(from: from)) else { return view }
        actions = view.receive(answer: part)
      }
      guard !actions.contains(where: { if case .ask = $0 { true } else { false } }) else { continue }
      if view.points.count >= count, view.isComplete { return view }
      switch await events.next() {
      case .route(let part): actions = view.receive(part)
      case .snapshot(let state): actions = view.receive(state.snapshot)
      case nil: return view
      case .command, .receipt, .presence, .message, .live, .room, .cue: actions = []
      }
    }
  }

  @Test("In one process, a follower from the start and a late joiner have the same route, which the report matches")
  func inProcess() async throws {
    let (transport, loop) = (InProcessBus(), try Loop())
    var settings = MetricsSettings()
    settings.weightKilograms = 70
    let hub = Hub(
      configuration: HubConfiguration(
        deviceID: DeviceID("phone"), debounce: .zero, speed: BusSpeed(factor: 60)!, metrics: settings),
      listeners: [transport.listener], store: NodeStore(), loop: loop)
    func peer(_ name: String) -> Peer {
      Peer(
        configuration: PeerConfiguration(
          deviceID: DeviceID(name)!, role: .widget, topics: [.snapshots, .route]),
        connector: transport.connector, store: NodeStore(), loop: loop)
    }
    let (early, late) = (peer("early"), peer("late"))
    try await withRunning([hub, early]) {
      #expect(try await early.report() == nil)
      #expect(try await early.routePart(from: 0) == nil)
      let events = await early.events()
      let first = Task { await follow(early, events, until: 60) }
      defer { first.cancel() }
      _ = try await within("start") { try await hub.send(Command(.start, .phone)) }
      let snapshots = await hub.snapshots()
      _ = try await snapshots.first("a minute") { $0.metrics.elapsed >= .seconds(61) }
      for second in 0..<60 { try await hub.add(fix(second)) }
      let route = try await within("the route") { await first.value }
      #expect(route.points.map(\.offset) == (0..<60).map { .seconds($0) })
      #expect(route.points.contains { $0.verdict.counts })

      try await withRunning([late]) {
        let second = try await within("the route of a late joiner") {
          await follow(late, await late.events(), until: 60)
        }
        #expect(second.points == route.points && second.runID == route.runID)
        guard let report = try await late.report() else {
          Issue.record("no report")
          return
        }
        #expect(report.metrics.distanceMeters ?? 0 > 100)
        #expect(report.metrics.energyJoules != nil)
        #expect(report.kilometers.count == 1 && report.kilometers.first?.isComplete == false)
        #expect(report.stretches.map(\.source) == [.positions])
      }
    }
  }

  @Test("Hub and peer tell when sensors may be off, the present demand first, then only changes")
  func sensorDemands() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place, debounce: .zero)
      let watch = try bus.peer("watch")
      try await withRunning([bus.hub, watch]) {
        for node in [bus.hub, watch] as [any Node] {
          var demands = await node.sensorDemands().makeAsyncIterator()
          #expect(await demands.next() == .off)
        }
        var onWatch = await watch.sensorDemands().makeAsyncIterator()
        #expect(await onWatch.next() == .off)
        for (kind, demand) in [
          (CommandKind.start, SensorDemand.all), (.pause, .off), (.resume, .all), (.lap, nil), (.stop, .off),
        ] as [(CommandKind, SensorDemand?)] {
          _ = try await within("\(kind)") { try await bus.hub.send(Command(kind, .phone)) }
          // A lap is published and demands nothing else, so the next demand is that of the stop.
          if let demand { #expect(await onWatch.next() == demand) }
        }
      }
    }
  }
}
