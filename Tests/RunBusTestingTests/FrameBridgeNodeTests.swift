import RunBus
import RunBusTesting
import Synchronization
import Testing

/// A link of an app, such as to a watch: carries messages while it is reachable, and loses those of a dropped link.
private final class Link: Sendable {
  private struct State {
    weak var phone: FrameBridge?
    weak var watch: FrameBridge?
    var isUp = true
    var largest = 0
  }
  private let state = Mutex(State())

  var largest: Int { state.withLock { $0.largest } }

  func join(phone: FrameBridge, watch: FrameBridge) {
    state.withLock { state in
      state.phone = phone
      state.watch = watch
    }
    for bridge in [phone, watch] { bridge.setReachable(true) }
  }

  func replaceWatch(by watch: FrameBridge) { state.withLock { $0.watch = watch } }

  func carry(_ bytes: [UInt8], toPhone: Bool) -> SendOutcome {
    let end = state.withLock { state in
      state.largest = max(state.largest, bytes.count)
      return state.isUp ? (toPhone ? state.phone : state.watch) : nil
    }
    return end.map { $0.receive(bytes) ? .sent : .full } ?? .gone
  }

  /// Drops the link, or brings it back; `isTold` says whether the operating system tells the app.
  func set(isUp: Bool, isTold: Bool = true) {
    let ends = state.withLock { state in
      state.isUp = isUp
      return [state.phone, state.watch]
    }
    if isTold { for end in ends { end?.setReachable(isUp) } }
  }
}

@Suite("Nodes on a bridge", .timeLimit(.minutes(1)))
struct FrameBridgeNodeTests {
  private static let limits = ConnectionLimits(frameBytesMax: 60_000, heartbeatMin: .seconds(15))

  /// A phone that a widget reaches on its own machine and a watch over a link.
  private static func withNodes(
    _ body: @escaping @Sendable @concurrent (TestBus, Link, Hub, Peer) async throws -> Void
  ) async throws {
    try await TestBus.run { bus in
      let link = Link()
      let phoneEnd = FrameBridge(device: Device.watch, limits: limits) { link.carry($0, toPhone: false) }
      let watchEnd = FrameBridge(limits: limits) { link.carry($0, toPhone: true) }
      link.join(phone: phoneEnd, watch: watchEnd)
      let phone = Hub(
        configuration: HubConfiguration(deviceID: Device.phone), listeners: [bus.listener, phoneEnd.listener],
        store: bus.store(of: Device.phone), loop: bus.loop)
      let watch = Peer(
        configuration: PeerConfiguration(deviceID: Device.watch, role: .watch), connector: watchEnd.connector,
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
      #expect(link.largest <= Self.limits.frameBytesMax + 2)
    }
  }

  @Test("An app hears why the hub does not let its node in")
  func wrongDevice() async throws {
    try await Self.withNodes { bus, link, phone, _ in
      // The hub's end of this bridge belongs to the watch.
      let other = FrameBridge(limits: Self.limits) { link.carry($0, toPhone: true) }
      link.set(isUp: false)
      try await bus.advance(by: .seconds(10))
      link.replaceWatch(by: other)
      let widget = Peer(
        configuration: PeerConfiguration(deviceID: Device.widget, role: .widget), connector: other.connector,
        store: bus.store(of: Device.widget), loop: bus.loop)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await widget.run() }
        try await bus.settle()
        link.set(isUp: true)
        try await bus.advance(by: .seconds(2))
        let reachability = await widget.reachability
        #expect(!reachability.isReachable && reachability.refusal?.contains("widget") == true)
        group.cancelAll()
        try await group.waitForAll()
      }
      #expect(await phone.authoritative.phase == .idle)
    }
  }

  @Test(
    "A press that is made while the link is down arrives when it is back, whether the app hears of it or not",
    arguments: [true, false])
  func cut(_ isTold: Bool) async throws {
    try await Self.withNodes { bus, link, phone, watch in
      _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
      try await bus.advance(by: .seconds(20))
      link.set(isUp: false, isTold: isTold)
      let pressedAt = try #require(await phone.busNow)
      async let pause = watch.send(Command(.pause, source: .watch))
      try await bus.advance(by: .seconds(90))
      #expect(await phone.authoritative.phase == .running)
      #expect(await watch.reachability.isReachable == false)
      link.set(isUp: true, isTold: isTold)
      try await bus.advance(by: .seconds(60))
      let verdict = try await pause
      #expect(verdict.outcome == .applied)
      #expect(verdict.effectiveAt == pressedAt)
      #expect(await watch.authoritative.phase == .paused)
      #expect(await watch.reachability.isReachable)
    }
  }

  @Test("The watch's end speaks for the watch only")
  func identity() async throws {
    try await TestBus.run { bus in
      let link = Link()
      let phoneEnd = FrameBridge(device: Device.watch) { link.carry($0, toPhone: false) }
      let otherEnd = FrameBridge { link.carry($0, toPhone: true) }
      link.join(phone: phoneEnd, watch: otherEnd)
      let phone = Hub(
        configuration: HubConfiguration(deviceID: Device.phone), listeners: [phoneEnd.listener],
        store: bus.store(of: Device.phone), loop: bus.loop)
      let other = Peer(
        configuration: PeerConfiguration(deviceID: Device.widget, role: .widget), connector: otherEnd.connector,
        store: bus.store(of: Device.widget), loop: bus.loop)
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await phone.run() }
        group.addTask { try? await other.run() }
        try? await bus.advance(by: .seconds(10))
        #expect(await other.reachability.isReachable == false)
        group.cancelAll()
      }
    }
  }
}
