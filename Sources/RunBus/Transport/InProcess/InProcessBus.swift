import RunCore
import Synchronization

/// A bus inside one process, without sockets and with the same guarantees: for tests, and for embedders without ZeroMQ.
///
/// ```swift
/// let bus = InProcessBus()
/// let hub = Hub(configuration: hubConfiguration, listeners: [bus.listener], store: NodeStore(), loop: loop)
/// let peer = Peer(configuration: peerConfiguration, connector: bus.connector, store: NodeStore(), loop: loop)
/// ```
///
/// Each side is called on its own loop and always in a later turn, never from within a send. Queues are bounded like
/// those of sockets.
public final class InProcessBus: Sendable {
  private let exchange = InProcessExchange()

  /// A bus without a hub.
  public init() {}

  /// Opens the bus for a hub; one hub at a time.
  public var listener: some HubListener { InProcessListener(exchange: exchange) }

  /// Connects peers to the bus's hub, now or when there is one. Any number of peers may use it.
  public var connector: some PeerConnector { InProcessConnector(exchange: exchange, link: nil) }

  /// Connects peers over a link that can be cut.
  package func connector(over link: InProcessLink) -> some PeerConnector {
    InProcessConnector(exchange: exchange, link: link)
  }

  /// Cuts a link until it is restored. Its peers and the hub lose their connections; what was sent before arrives.
  package func cut(_ link: InProcessLink) { exchange.cut(link) }

  /// Restores a link that was cut: its peers get new connections.
  package func restore(_ link: InProcessLink) { exchange.restore(link) }
}

/// A link of an in-process bus that can be cut. It is named by its identity.
package final class InProcessLink: Sendable {
  /// A link that carries.
  package init() {}
}

private struct InProcessListener: HubListener {
  let exchange: InProcessExchange

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    let box = InProcessBox<HubTransportEvent>(loop: loop, deliver: deliver)
    guard exchange.open(box) else {
      throw RunBusError(.busHeld, "this bus has a hub already: close it first or use a bus of its own")
    }
    return InProcessHub(exchange: exchange, box: box)
  }
}

private struct InProcessConnector: PeerConnector {
  let exchange: InProcessExchange
  let link: InProcessLink?

  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport {
    let box = InProcessBox<PeerTransportEvent>(loop: loop, deliver: deliver)
    return InProcessPeer(exchange: exchange, route: exchange.join(box, over: link), box: box)
  }
}

private final class InProcessHub: HubTransport {
  private let exchange: InProcessExchange
  private let box: InProcessBox<HubTransportEvent>

  init(exchange: InProcessExchange, box: InProcessBox<HubTransportEvent>) {
    self.exchange = exchange
    self.box = box
  }

  var controlEndpoint: String { InProcessExchange.controlEndpoint }
  var eventsEndpoint: String { InProcessExchange.eventsEndpoint }

  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    exchange.send(bytes, from: box, to: connection)
  }
  func publish(_ bytes: [UInt8], on topic: Topic) { exchange.publish(bytes, on: topic, from: box) }
  func close() { exchange.close(box) }
  deinit { close() }
}

private final class InProcessPeer: PeerTransport {
  private let exchange: InProcessExchange
  private let route: UInt64
  private let box: InProcessBox<PeerTransportEvent>

  init(exchange: InProcessExchange, route: UInt64, box: InProcessBox<PeerTransportEvent>) {
    self.exchange = exchange
    self.route = route
    self.box = box
  }

  func send(_ bytes: [UInt8]) -> SendOutcome { exchange.send(bytes, from: route) }
  func subscribe(to endpoint: String, topics: [Topic]) {
    exchange.subscribe(route, to: endpoint, topics: topics)
  }
  func close() {
    box.close()
    exchange.leave(route)
  }
  deinit { close() }
}
