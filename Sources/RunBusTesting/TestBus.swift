public import Foundation
public import RunBus
public import RunCore
import Synchronization

/// A bus inside one process for the unit tests of an app, with a clock that the test advances, links that it cuts, and
/// stores in memory. It uses no sockets and no files, and no test waits in real time.
///
/// The nodes are real: a ``RunBus/Hub`` and any number of ``RunBus/Peer``s, so that the code of an app is tested as it
/// is. Time stands still until the test moves it on:
///
/// ```swift
/// @Test("A pause on the watch shows on the phone")
/// func pause() async throws {
///   try await TestBus.run { bus in
///     let phone = try await bus.hub(phoneID)
///     let watch = try await bus.peer(watchID, role: .watch)
///     _ = try await bus.advance { try await phone.send(Command(.start, source: .phone)) }
///     async let verdict = watch.send(Command(.pause, source: .watch))
///     try await bus.advance(by: .seconds(1))
///     #expect(try await verdict.outcome == .applied)
///     #expect(await phone.authoritative.phase == .paused)
///   }
/// }
/// ```
///
/// ``run(startingAt:_:)`` runs the body on the thread of the nodes, with its child tasks, one job at a time. Time does
/// not move on before all of them wait, so a test has the same outcome each time.
///
/// A test that needs an actor of its own makes a bus with ``init(startingAt:)`` and ends it with ``close()``. A test of
/// a ``RunBusUI/RunModel`` does so on the main actor. Between two moments of time, the tasks of the caller's actor run;
/// work on other threads and other actors is not waited for. So a body of ``run(startingAt:_:)`` does not use a
/// `RunModel`.
///
/// `Task.sleep` and other clocks of the system do not follow the time of the bus.
///
/// Identifiers of commands, messages and runs are random. Everything else follows from the test.
public final class TestBus: Sendable {
  private struct State {
    var nodes: [ObjectIdentifier: RunningNode] = [:]
    var memories: [DeviceID: StoreMemory] = [:]
    var links: [DeviceID: InProcessLink] = [:]
    /// The device of the last hub. Cutting it cuts all links.
    var hubDevice: DeviceID?
    var cut: Set<DeviceID> = []
  }

  /// The loop on which the nodes of this bus run. Its time is ``now``.
  public let loop: Loop
  let executor: LoopTaskExecutor
  private let clock: SteeredClock
  private let inside = InProcessBus()
  private let state = Mutex(State())

  /// A bus without nodes.
  ///
  /// - Parameter date: The time of day at the beginning, from which records take theirs.
  /// - Throws: ``RunBus/RunBusError/Code/transport`` when the system provides no thread.
  public init(startingAt date: Date = TestBus.firstDate) throws(RunBusError) {
    clock = SteeredClock(wallSeconds: date.timeIntervalSince1970, seed: 1)
    loop = try Loop(steeredBy: clock)
    executor = LoopTaskExecutor(loop)
  }

  deinit {
    for node in state.withLock({ Array($0.nodes.values) }) { node.cancel() }
    loop.stop()
  }

  /// The time of day at which a bus begins unless stated: noon on 1 January 2026, UTC.
  public static let firstDate = Date(timeIntervalSince1970: 1_767_268_800)

  /// Runs a test with a bus of its own, on the bus's thread, and ends all of its nodes afterwards. The body must not
  /// block its thread.
  ///
  /// - Parameters:
  ///   - date: The time of day at the beginning.
  ///   - body: The test.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  public static func run<Value: Sendable>(
    startingAt date: Date = TestBus.firstDate, _ body: @concurrent @Sendable (TestBus) async throws -> Value
  ) async throws -> Value {
    let bus = try TestBus(startingAt: date)
    do {
      let value = try await withTaskExecutorPreference(bus.executor) { try await body(bus) }
      await bus.close()
      return value
    } catch {
      await bus.close()
      throw error
    }
  }

  /// Ends all nodes and the loop. Idempotent.
  public func close() async {
    let nodes = state.withLock { state in
      let nodes = Array(state.nodes.values)
      state.nodes = [:]
      return nodes
    }
    for node in nodes { node.cancel() }
    for node in nodes { await node.ended() }
    loop.stop()
  }

  // MARK: Time

  /// The present time on the clock of all nodes of this bus, for example for a reading that a sensor takes now.
  public var now: BusTime { clock.now }

  /// The present time of day. It advances with ``now``. A test passes it where an app on a device passes `Date()`, for
  /// example to ``RunBusUI/RunModel/active(at:)-(Date)``.
  public var date: Date { Date(timeIntervalSince1970: clock.wallSeconds) }

  // MARK: Nodes

  /// Makes a hub and runs it. A bus has one hub at a time.
  ///
  /// - Parameter configuration: How the hub is set up.
  /// - Returns: The running hub, when peers that were there before have connected to it.
  /// - Throws: The error of ``RunBus/Hub/run()`` when it ends at once, for example because there is a hub already.
  public func hub(_ configuration: HubConfiguration) async throws -> Hub {
    let device = configuration.deviceID
    let hub = Hub(configuration: configuration, listeners: [listener], store: store(of: device), loop: loop)
    state.withLock { $0.hubDevice = device }
    updateLinks()
    try await start(hub) { try await $0.hub(configuration) }
    return hub
  }

  /// Makes a hub with the usual configuration and runs it; see ``hub(_:)-(HubConfiguration)``.
  public func hub(_ device: DeviceID) async throws -> Hub { try await hub(HubConfiguration(deviceID: device)) }

  /// Makes a peer and runs it.
  ///
  /// - Parameter configuration: How the peer is set up.
  /// - Returns: The running peer, which has connected to the hub if there is one in reach.
  /// - Throws: The error of ``RunBus/Peer/run()`` when it ends at once.
  public func peer(_ configuration: PeerConfiguration) async throws -> Peer {
    let device = configuration.deviceID
    let peer = Peer(
      configuration: configuration, connector: connector(of: device), store: store(of: device), loop: loop)
    try await start(peer) { try await $0.peer(configuration) }
    return peer
  }

  /// Makes a peer with the usual configuration and runs it; see ``peer(_:)``.
  public func peer(_ device: DeviceID, role: NodeRole) async throws -> Peer {
    try await peer(PeerConfiguration(deviceID: device, role: role))
  }

  /// Ends a node of this bus gracefully. Its store is kept for the next node of its device.
  ///
  /// - Throws: The error with which the node has ended.
  public func end(_ node: some Node) async throws {
    guard let running = state.withLock({ $0.nodes.removeValue(forKey: ObjectIdentifier(node)) }) else { return }
    try await end(running)
  }

  /// Ends a node gracefully and runs another one with its configuration and its store, as when an app is opened again.
  ///
  /// - Parameter node: A node that ``hub(_:)-(HubConfiguration)`` or ``peer(_:)`` has made.
  /// - Returns: The node in its place.
  /// - Throws: ``RunBus/RunBusError/Code/badInput`` for a node that does not run on this bus; the error with which the
  ///   node has ended.
  public func restart<Member: Node>(_ node: Member) async throws -> Member {
    let running = state.withLock { $0.nodes.removeValue(forKey: ObjectIdentifier(node)) }
    guard let running else { throw RunBusError(.badInput, "this node does not run on this bus") }
    try await end(running)
    guard let next = try await running.again(self) as? Member else {
      preconditionFailure("a node is made again as what it was")
    }
    return next
  }

  private func start<Member: Node>(_ node: Member, again: @escaping @Sendable (TestBus) async throws -> Member)
    async throws
  {
    let running = RunningNode(node, on: executor, again: again)
    state.withLock { $0.nodes[ObjectIdentifier(node)] = running }
    try await settle()
  }

  private func end(_ running: RunningNode) async throws {
    running.cancel()
    await running.ended()
    try running.check()
    try await settle()
  }

  /// Throws the error with which a node has ended by itself, once.
  func checkNodes() throws {
    let nodes = state.withLock { $0.nodes }
    for (key, node) in nodes where node.hasFailed {
      _ = state.withLock { $0.nodes.removeValue(forKey: key) }
      try node.check()
    }
  }

  // MARK: Parts

  /// Where a hub takes connections, for an app that makes and runs its nodes itself.
  public var listener: some HubListener { inside.listener }

  /// How the peer of a device connects, for an app that makes and runs its nodes itself. ``cut(_:)`` applies to it.
  public func connector(of device: DeviceID) -> some PeerConnector {
    let link = state.withLock { state in
      let link = state.links[device] ?? InProcessLink()
      state.links[device] = link
      return link
    }
    updateLinks()
    return inside.connector(over: link)
  }

  /// Opens the store of a device, for an app that makes and runs its nodes itself. The next call opens what was written
  /// to it, so that a node can be made again; use one node at a time.
  public func store(of device: DeviceID) -> NodeStore {
    let memory = state.withLock { state in
      let memory = state.memories[device] ?? StoreMemory()
      state.memories[device] = memory
      return memory
    }
    return NodeStore(in: memory)
  }

  // MARK: Links

  /// Takes a device out of reach until it is restored: a peer loses the hub, a hub loses all peers. What was sent
  /// before arrives. A device that has no node yet begins out of reach.
  public func cut(_ device: DeviceID) {
    _ = state.withLock { $0.cut.insert(device) }
    updateLinks()
  }

  /// Brings a device back that was cut. Its node connects when time moves on or the bus settles.
  public func restore(_ device: DeviceID) {
    _ = state.withLock { $0.cut.remove(device) }
    updateLinks()
  }

  private func updateLinks() {
    state.withLock { state in
      let isHubCut = state.hubDevice.map(state.cut.contains) ?? false
      for (device, link) in state.links.sorted(by: { $0.key < $1.key }) {
        if isHubCut || state.cut.contains(device) { inside.cut(link) } else { inside.restore(link) }
      }
    }
  }
}
