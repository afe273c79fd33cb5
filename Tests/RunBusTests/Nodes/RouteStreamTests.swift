import RunBus
import TestSupport
import Testing

@Suite("Streams of the route and of splits", .timeLimit(.minutes(5)))
struct RouteStreamTests {
  private func fix(_ second: Int) -> Sample {
    Sample(
      moment: .runOffset(.seconds(Int64(second))),
      value: .position(Position(latitude: 48, longitude: Double(second) * 4e-5, horizontalAccuracyMeters: 5)))
  }

  /// A hub that plays 60 seconds in one, and peers that have not asked for the route in their configuration.
  private struct Bus {
    let transport = InProcessBus()
    let loop: Loop
    let hub: Hub

    init() throws {
      loop = try Loop()
      hub = Hub(
        configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .zero, speed: BusSpeed(factor: 60)!),
        listeners: [transport.listener], store: NodeStore(), loop: loop)
    }

    func peer(_ name: String) -> Peer {
      Peer(
        configuration: PeerConfiguration(deviceID: DeviceID(name)!, role: .widget), connector: transport.connector,
        store: NodeStore(), loop: loop)
    }

    /// Starts a run and waits until it is old enough for fixes of its first minutes.
    func start() async throws {
      _ = try await within("start") { try await hub.send(Command(.start, .phone)) }
      _ = try await hub.snapshots().first("three minutes") { $0.metrics.elapsed >= .seconds(181) }
    }
  }

  /// Reads a stream into a copy of the route until the copy is complete and has these offsets.
  private func copy(_ updates: AsyncStream<RouteUpdate>, until seconds: [Int]) async throws -> [RoutePoint] {
    try await within("a route of \(seconds.count) points") {
      var route: [RoutePoint] = []
      for await update in updates {
        update.apply(to: &route)
        if update.isComplete, route.map(\.offset) == seconds.map({ .seconds(Int64($0)) }) { return route }
      }
      throw DeadlineMissed(what: "the end of the stream")
    }
  }

  @Test("An early reader, a late one and the hub's own app have the same points, those that came late in their place")
  func replaced() async throws {
    let bus = try Bus()
    let (early, late) = (bus.peer("early"), bus.peer("late"))
    try await withRunning([bus.hub, early]) {
      let own = await bus.hub.route()
      let followed = await early.route()
      try await bus.start()
      for second in 0..<60 where second != 30 { try await bus.hub.add(fix(second)) }
      _ = try await copy(await bus.hub.route(), until: (0..<60).filter { $0 != 30 })
      // This one changes the points behind it.
      try await bus.hub.add(fix(30))
      let all = Array(0..<60)
      let route = try await copy(own, until: all)
      let first = try await copy(followed, until: all)
      #expect(first == route)
      try await withRunning([late]) {
        let second = try await copy(await late.route(), until: all)
        #expect(second == route)
      }
    }
  }

  @Test("A reader whose peer was out of reach goes on with what it has missed, and then with a new run")
  func outOfReach() async throws {
    let bus = try Bus()
    let watch = bus.peer("watch")
    try await withRunning([bus.hub, watch]) {
      let copies = EventLog<[RoutePoint]>()
      try await withThrowingTaskGroup(of: Void.self) { group in
        let updates = await watch.route()
        group.addTask {
          var route: [RoutePoint] = []
          for await update in updates {
            update.apply(to: &route)
            if update.isComplete { copies.append(route) }
          }
        }
        try await bus.start()
        for second in 0..<10 { try await bus.hub.add(fix(second)) }
        try await copies.wait(for: "ten points") { $0.contains { $0.count == 10 } }
        await watch.disconnect()
        for second in 10..<40 { try await bus.hub.add(fix(second)) }
        let whole = try await copy(await bus.hub.route(), until: Array(0..<40))
        #expect(copies.events.allSatisfy { $0.count <= 10 })
        await watch.reconnect()
        try await copies.wait(for: "the missed points") { $0.last == whole }
        _ = try await within("stop") { try await bus.hub.send(Command(.stop, .phone)) }
        try await bus.start()
        try await bus.hub.add(fix(5))
        try await copies.wait(for: "the new run") { $0.last?.map(\.offset) == [.seconds(5)] }
        group.cancelAll()
      }
    }
  }

  @Test("A slow reader gets one update with all that it has missed")
  func slowReader() async throws {
    let bus = try Bus()
    let watch = bus.peer("watch")
    try await withRunning([bus.hub, watch]) {
      let slow = await watch.route()
      try await bus.start()
      for second in 0..<120 { try await bus.hub.add(fix(second)) }
      let route = try await copy(await watch.route(), until: Array(0..<120))
      let second = try await copy(slow, until: Array(0..<120))
      #expect(second == route)
    }
  }

  @Test("Splits are told as they grow, at the hub and at a peer, and after a time out of reach")
  func splits() async throws {
    let bus = try Bus()
    let watch = bus.peer("watch")
    try await withRunning([bus.hub, watch]) {
      let (own, followed) = (await bus.hub.splits(), await watch.splits())
      try await bus.start()
      for second in 0..<60 { try await bus.hub.add(fix(second)) }
      for stream in [own, followed] {
        _ = try await stream.first("an open kilometre") { ($0.kilometers.last?.distanceMeters ?? 0) > 100 }
      }
      await watch.disconnect()
      _ = try await within("lap") { try await bus.hub.send(Command(.lap, .phone)) }
      await watch.reconnect()
      let laps = try await watch.splits().first("the lap") { $0.laps.count == 2 }
      #expect(laps.laps.first?.isComplete == true && laps.splits(per: .mile).count == 1)
    }
  }

  @Test("The streams end with their node")
  func end() async throws {
    let bus = try Bus()
    let watch = bus.peer("watch")
    let (route, splits) = (await watch.route(), await watch.splits())
    try await withRunning([watch]) {}
    try await within("the ends") {
      for await _ in route {}
      for await _ in splits {}
    }
  }
}
