import RunBus
import Synchronization

/// A link within this process, with a bridge at either end. It carries at once, or not at all.
final class BridgedLink: Sendable {
  /// A weak reference, because the closures of the two bridges refer to each other.
  private final class End: Sendable {
    private struct Reference: Sendable { weak var bridge: FrameBridge? }
    private let reference = Mutex(Reference())

    func set(_ bridge: FrameBridge) { reference.withLock { $0.bridge = bridge } }
    func receive(_ bytes: [UInt8]) -> SendOutcome {
      guard let bridge = reference.withLock({ $0.bridge }) else { return .gone }
      return bridge.receive(bytes) ? .sent : .full
    }
  }
  let hub: FrameBridge
  let peer: FrameBridge

  init(device: DeviceID? = nil, isReachable: Bool = true) {
    let (hubEnd, peerEnd) = (End(), End())
    hub = FrameBridge(device: device, isReachable: isReachable) { peerEnd.receive($0) }
    peer = FrameBridge(isReachable: isReachable) { hubEnd.receive($0) }
    hubEnd.set(hub)
    peerEnd.set(peer)
  }
}

/// Links between one hub and several peers. Each peer gets a link of its own.
final class BridgeBus: Sendable {
  /// More than the peers of any test.
  private static let linksMax = 24
  let links = (0..<linksMax).map { _ in BridgedLink() }
  private let used = Mutex(0)

  var listener: some HubListener { BridgeBusListener(bus: self) }

  func connector() -> any PeerConnector {
    links[
      used.withLock { used in
        defer { used += 1 }
        return used
      }
    ].peer.connector
  }
}

/// All hub's ends of a ``BridgeBus`` as one listener. The first byte of a route is the number of its link.
private struct BridgeBusListener: HubListener {
  let bus: BridgeBus

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    var ends: [any HubTransport] = []
    for (number, link) in bus.links.enumerated() {
      ends.append(
        try link.hub.listener.listen(on: loop) { event in
          switch event {
          case .frame(let connection, let bytes, let identity):
            let route = [UInt8(number)] + connection.route
            deliver(.frame(ConnectionID(route: route, isRequest: false), bytes, by: identity))
          case .subscribed, .burden: deliver(event)
          }
        })
    }
    return BridgeBusHub(ends)
  }
}

private final class BridgeBusHub: HubTransport {
  private let ends: [any HubTransport]

  init(_ ends: [any HubTransport]) { self.ends = ends }

  var controlEndpoint: String { ends[0].controlEndpoint }
  var eventsEndpoint: String { ends[0].eventsEndpoint }

  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    guard let number = connection.route.first, ends.indices.contains(Int(number)) else { return .gone }
    return ends[Int(number)].send(
      bytes, to: ConnectionID(route: Array(connection.route.dropFirst()), isRequest: connection.isRequest))
  }
  func publish(_ bytes: [UInt8], on topic: Topic) { for end in ends { end.publish(bytes, on: topic) } }
  func close() { for end in ends { end.close() } }
}
