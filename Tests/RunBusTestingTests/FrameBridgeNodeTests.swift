import RunBus
import RunBusTesting
import Testing

/// A phone and a watch over a link that the test cuts.
func makeNodes(on bus: TestBus, over link: BridgePair) -> (phone: Hub, watch: Peer) {
  let phone = Hub(
    configuration: HubConfiguration(deviceID: "phone"), listeners: [link.hubEnd.listener],
    store: bus.store(of: "phone"), loop: bus.loop)
  let watch = Peer(
    configuration: PeerConfiguration(deviceID: "watch", role: .watch), connector: link.peerEnd.connector,
    store: bus.store(of: "watch"), loop: bus.loop)
  return (phone, watch)
}

@Suite("Nodes on a bridge", .timeLimit(.minutes(1)))
struct FrameBridgeNodeTests {
  private static let limits = ConnectionLimits(frameBytesMax: 60_000, heartbeatMin: .seconds(15))

  /// A phone that a widget reaches on its own machine and a watch over a link.
  private static func withNodes(
    _ body: @escaping @Sendable @concurrent (TestBus, BridgePair, Hub, Peer) async throws -> Void
  ) async throws {
    try await TestBus.run { bus in
      let link = FrameBridge.pair(device: Device.watch, limits: limits)
      let phone = Hub(
        configuration: HubConfiguration(deviceID: Device.phone), listeners: [bus.listener, link.hubEnd.listener],
        store: bus.store(of: Device.phone), loop: bus.loop)
      let watch = Peer(
        configuration: PeerConfiguration(deviceID: Device.watch, role: .watch), connector: link.peerEnd.connector,
        store: bus.store(of: Device.watch), loop: bus.loop)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await phone.run() }
        group.addTask { try await watch.run() }
        try await bus.settle()
        try await body(bus, link, phone, watch)
        group.cancelAll()
        try await group.waitForAll()
      }
    }
  }

  @Test("A hub and a peer share a run over a bridge, beside a peer on another listener")
  func sharedRun() async throws {
    try await Self.withNodes { bus, link, phone, watch in
      let widget = try await bus.peer(Device.widget, role: .widget)
      let start = try await bus.advance { try await watch.send(Command(.start, source: .watch)) }
      #expect(start.outcome == .applied)
      try await bus.advance(by: .seconds(30))
      for node: any Node in [phone, watch, widget] { #expect(await node.authoritative.phase == .running) }
      // Published snapshots reach the watch between its pings.
      let first = await watch.authoritative
      try await bus.advance(by: .seconds(3))
      #expect(await watch.authoritative.order.tick == first.order.tick + 1)
      _ = try await bus.advance { try await widget.send(Command(.pause, source: .liveActivity)) }
      #expect(await watch.authoritative.phase == .paused)
      #expect(link.largestMessageBytes <= Self.limits.frameBytesMax + 2)
    }
  }

  @Test(
    "A press that is made while the link is down arrives when it is back, whether the app hears of it or not",
    arguments: [true, false])
  func cut(_ isTold: Bool) async throws {
    try await Self.withNodes { bus, link, phone, watch in
      _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
      try await bus.advance(by: .seconds(20))
      link.cut(isTold: isTold)
      let pressedAt = try #require(await phone.busNow)
      async let pause = watch.send(Command(.pause, source: .watch))
      try await bus.advance(by: .seconds(90))
      #expect(await phone.authoritative.phase == .running)
      #expect(await watch.reachability.isReachable == false)
      link.restore(isTold: isTold)
      try await bus.advance(by: .seconds(60))
      let verdict = try await pause
      #expect(verdict.outcome == .applied)
      #expect(verdict.effectiveAt == pressedAt)
      #expect(await watch.authoritative.phase == .paused)
      #expect(await watch.reachability.isReachable)
    }
  }

  @Test("The watch's end speaks for the watch only, and the app there hears why its node is not let in")
  func identity() async throws {
    try await TestBus.run { bus in
      let link = FrameBridge.pair(device: Device.watch)
      let phone = Hub(
        configuration: HubConfiguration(deviceID: Device.phone), listeners: [link.hubEnd.listener],
        store: bus.store(of: Device.phone), loop: bus.loop)
      let other = Peer(
        configuration: PeerConfiguration(deviceID: Device.widget, role: .widget), connector: link.peerEnd.connector,
        store: bus.store(of: Device.widget), loop: bus.loop)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await phone.run() }
        group.addTask { try? await other.run() }
        try? await bus.advance(by: .seconds(10))
        let reachability = await other.reachability
        #expect(!reachability.isReachable && reachability.refusal?.contains("widget") == true)
        #expect(await phone.authoritative.phase == .idle)
        group.cancelAll()
      }
    }
  }

  @Test("A link that is cut for a moment loses no press")
  func momentaryCut() async throws {
    try await TestBus.run { bus in
      let link = FrameBridge.pair(device: "watch")
      let (phone, watch) = makeNodes(on: bus, over: link)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await phone.run() }
        group.addTask { try await watch.run() }
        try await bus.settle()
        link.cut()
        async let start = watch.send(Command(.start, source: .watch))
        try await bus.advance(by: .seconds(1))
        #expect(await phone.authoritative.phase == .idle)
        link.restore()
        try await bus.advance(by: .seconds(2))
        #expect(try await start.outcome == .applied)
        group.cancelAll()
        try await group.waitForAll()
      }
    }
  }
}
