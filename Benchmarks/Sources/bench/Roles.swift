import ArgumentParser
import Foundation
import RunBus

/// Ends a process whose parent is gone, after longer than any measurement takes.
func limitLife() { alarm(300) }

struct HubRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "hub", shouldDisplay: false)
  @Argument var directory: String

  func run() async throws {
    limitLife()
    let place = Place(directory: directory)
    let device = DeviceID("phone")
    let store = try NodeStore(directory: directory + "/phone", device: device)
    let hub = Hub(
      configuration: HubConfiguration(deviceID: device, debounce: .zero),
      listeners: [ZeroMQListener(control: place.control, events: place.events)], store: store, loop: try Loop())
    try await hub.run()
  }
}

struct ObserverRole: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "observer", shouldDisplay: false)
  @Argument var directory: String
  @Option var caller = Caller.pool

  func run() async throws {
    limitLife()
    let place = Place(directory: directory)
    let loop = try Loop()
    let peer = Peer(
      configuration: PeerConfiguration(deviceID: DeviceID("widget"), role: .widget),
      connector: ZeroMQConnector(control: place.control), store: NodeStore(), loop: loop)
    let observed = try Observed(place)
    async let running: Void = peer.run()
    switch caller {
    case .pool: await PoolObserver().watch(peer, observed)
    case .loop: await LoopObserver(loop).watch(peer, observed)
    }
    try await running
  }
}

/// Where the code that uses a node runs.
enum Caller: String, ExpressibleByArgument, CaseIterable {
  /// In the global pool, where Swift runs code that is not pinned.
  case pool
  /// On the node's loop, as an actor pinned to it.
  case loop
}

actor PoolObserver {
  func watch(_ peer: Peer, _ observed: Observed) async { await note(peer, observed) }
}

actor LoopObserver {
  nonisolated let loop: Loop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  init(_ loop: Loop) { self.loop = loop }
  func watch(_ peer: Peer, _ observed: Observed) async { await note(peer, observed) }
}

private func note(_ peer: Peer, _ observed: Observed, isolation: isolated (any Actor)? = #isolation) async {
  var next: UInt64 = 0
  for await snapshot in await peer.snapshots() {
    let time = monotonic()
    guard snapshot.order.revision >= next else { continue }
    next = snapshot.order.revision + 1
    observed.set(snapshot.order.revision, time)
  }
}
