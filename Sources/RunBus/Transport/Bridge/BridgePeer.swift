import RunCore

/// A peer's way over a bridge.
struct BridgeConnector: PeerConnector {
  let bridge: FrameBridge
  var limits: ConnectionLimits { bridge.limits }

  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport {
    let peer = BridgePeer(bridge, on: loop, deliver: deliver)
    guard peer.open() else {
      throw RunBusError(.addressInUse, "this bridge has a node already: close it first or use a bridge for each node")
    }
    return peer
  }
}

/// The peer's end of a link.
final class BridgePeer: PeerTransport {
  private enum State: Hashable {
    /// The link is not reachable. Can go to: knocking.
    case down
    /// The hub has not answered yet. Can go to: down, up.
    case knocking(token: UInt64)
    /// Can go to: down, knocking.
    case up
  }

  /// How often the peer knocks where nobody answers: rarely enough for a battery, and soon enough for a link that lost
  /// the knock or its answer.
  private static let knockEvery = BusDuration.seconds(5)

  private let bridge: FrameBridge
  private let deliver: @Sendable (PeerTransportEvent) -> Void
  private let loop: Loop
  private var box: InProcessBox<BridgeInput>?
  private var timer: LoopTimer?
  private var state = State.down
  private var link = BridgeLinkState()
  private var topics: [Topic] = []
  /// Whether the hub does not know the topics yet, because the link was full.
  private var owesTopics = false

  init(_ bridge: FrameBridge, on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void) {
    self.bridge = bridge
    self.loop = loop
    self.deliver = deliver
  }

  deinit { close() }

  /// Takes the bridge and knocks; `false` when the bridge has a node already.
  func open() -> Bool {
    let box = InProcessBox<BridgeInput>(loop: loop) { [weak self] input in self?.receive(input) }
    guard bridge.attach(box) else { return false }
    self.box = box
    timer = loop.makeTimer { [weak self] in self?.knock() }
    link = bridge.look()
    knock()
    return true
  }

  func send(_ bytes: [UInt8]) -> SendOutcome {
    guard state == .up, bytes.count <= bridge.limits.frameBytesMax else { return .gone }
    if owesTopics { sendTopics() }
    return bridge.transmit(.frame(bytes))
  }

  func subscribe(to endpoint: String, topics: [Topic]) {
    let topics = endpoint == BridgeEndpoint.events ? topics : []
    guard topics != self.topics else { return }
    self.topics = topics
    owesTopics = true
    if state == .up { sendTopics() }
  }

  func close() {
    guard let box else { return }
    self.box = nil
    if state != .down { bridge.transmit(.leave) }
    state = .down
    timer = nil
    bridge.detach(box)
  }

  private func sendTopics() { owesTopics = bridge.transmit(.subscribe(topics)) != .sent }

  private func knock() {
    // A peer that is told of the lost link may have closed.
    guard box != nil, bridge.isReachable else { return }
    let token: UInt64 = if case .knocking(let present) = state { present } else { .random(in: .min ... .max) }
    state = .knocking(token: token)
    timer?.deadline = loop.now + max(Self.knockEvery, bridge.limits.heartbeatMin)
    bridge.transmit(.knock(token))
  }

  private func lose(_ reason: String) {
    let wasUp = state == .up
    state = .down
    timer?.deadline = nil
    if wasUp { deliver(.linkDown(reason: reason)) }
  }

  private func receive(_ input: BridgeInput) {
    switch input {
    case .linkChanged: lookAtLink()
    case .signal(let signal): receive(signal)
    }
  }

  private func lookAtLink() {
    let last = link
    link = bridge.look()
    let wasUp = state == .up
    if !link.isReachable || wasUp && link.drops != last.drops { lose("the link was lost") }
    // A knock that the link has refused is repeated by the timer and not at once.
    if wasUp || link.rises != last.rises { knock() }
  }

  private func receive(_ signal: BridgeSignal) {
    switch signal {
    case .call:
      if state == .up { lose("another hub listens") }
      knock()
    case .answer(let token):
      guard state == .knocking(token: token) else { break }
      state = .up
      timer?.deadline = nil
      owesTopics = !topics.isEmpty
      if owesTopics { sendTopics() }
      deliver(.linkUp)
    // What arrives before the answer belongs to an earlier connection.
    case .reply(let bytes): if state == .up { deliver(.frame(bytes)) }
    case .event(let topic, let bytes): if state == .up, topics.contains(topic) { deliver(.event(topic, bytes)) }
    case .bye:
      guard state == .up else { break }
      lose("the hub closed the connection")
      knock()
    case .knock, .frame, .subscribe, .leave: bridge.noteUnreadable("a message of another peer's end")
    }
  }
}
