import RunCore

/// A hub's place at one end of a bridge.
struct BridgeListener: HubListener {
  let bridge: FrameBridge
  var limits: ConnectionLimits { bridge.limits }

  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport {
    let hub = BridgeHub(bridge, on: loop, deliver: deliver)
    guard hub.open() else {
      throw RunBusError(.addressInUse, "this bridge has a node already: close it first or use a bridge for each node")
    }
    return hub
  }
}

/// The hub's end of a link: at most one connection at a time.
final class BridgeHub: HubTransport {
  let controlEndpoint = BridgeEndpoint.control
  let eventsEndpoint = BridgeEndpoint.events

  private struct Connection {
    let id: ConnectionID
    let token: UInt64
    var topics: [Topic] = []
  }
  private let bridge: FrameBridge
  private let deliver: @Sendable (HubTransportEvent) -> Void
  private let loop: Loop
  private var box: InProcessBox<BridgeInput>?
  private var connection: Connection?
  private var link = BridgeLinkState()

  init(_ bridge: FrameBridge, on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void) {
    self.bridge = bridge
    self.loop = loop
    self.deliver = deliver
  }

  deinit { close() }

  /// Takes the bridge and calls the peer; `false` when the bridge has a node already.
  func open() -> Bool {
    let box = InProcessBox<BridgeInput>(loop: loop) { [weak self] input in self?.receive(input) }
    guard bridge.attach(box) else { return false }
    self.box = box
    link = bridge.look()
    bridge.transmit(.call)
    return true
  }

  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome {
    guard isOpen(connection), bytes.count <= bridge.limits.frameBytesMax else { return .gone }
    return bridge.transmit(.reply(bytes))
  }

  func publish(_ bytes: [UInt8], on topic: Topic) {
    guard let connection, connection.topics.contains(topic), bytes.count <= bridge.limits.frameBytesMax else { return }
    // A link that takes nothing now loses the event; a pong later tells the peer the present state.
    bridge.transmit(.event(topic, bytes))
  }

  func close() {
    guard let box else { return }
    self.box = nil
    if connection != nil { bridge.transmit(.bye) }
    connection = nil
    bridge.detach(box)
  }

  private func isOpen(_ id: ConnectionID) -> Bool { !id.isRequest && id.route == connection?.id.route }

  private func receive(_ input: BridgeInput) {
    switch input {
    case .linkChanged: lookAtLink()
    case .signal(let signal): receive(signal)
    }
  }

  private func lookAtLink() {
    let last = link
    link = bridge.look()
    if link.drops != last.drops { connection = nil }
    if link.isReachable, link.rises != last.rises { bridge.transmit(.call) }
  }

  private func receive(_ signal: BridgeSignal) {
    switch signal {
    case .knock(let token):
      // A knock that was repeated gets the connection that it has.
      if connection?.token != token { connection = Connection(id: bridge.nextConnection(), token: token) }
      bridge.transmit(.answer(token))
    case .frame(let bytes):
      guard let connection else {
        bridge.transmit(.bye)
        return
      }
      deliver(.frame(connection.id, bytes, by: bridge.identity))
    case .subscribe(let topics):
      guard let connection else {
        bridge.transmit(.bye)
        return
      }
      self.connection?.topics = topics
      // The hub may close while it is told.
      for topic in topics where box != nil && !connection.topics.contains(topic) { deliver(.subscribed(topic)) }
    case .leave: connection = nil
    case .call, .answer, .reply, .event, .bye: bridge.noteUnreadable("a message of another hub's end")
    }
  }
}
