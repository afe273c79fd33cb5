import RunBus
import TestSupport

/// A hub and peers that share a bus inside this process.
struct InProcessNodes {
  let hub: Hub
  private let bus: InProcessBus
  private let loop: Loop

  init(store: NodeStore = NodeStore(), speed: BusSpeed = .realTime) throws {
    bus = InProcessBus()
    loop = try Loop()
    hub = Hub(
      configuration: HubConfiguration(deviceID: DeviceID("phone"), debounce: .milliseconds(1), speed: speed),
      listeners: [bus.listener], store: store, loop: loop)
  }

  func peer(_ name: String = "watch", store: NodeStore = NodeStore()) -> Peer {
    Peer(
      configuration: PeerConfiguration(deviceID: DeviceID(name)!, role: .watch), connector: bus.connector, store: store,
      loop: loop)
  }
}

extension Peer {
  /// Waits until the peer has a session with its hub.
  func isConnected() async throws { _ = try await snapshots().first("the state") { $0.order.term > 0 } }
}
