import CoreMetrics
import Logging
public import RunCore
import Synchronization

/// Makes a transport of a link that an app has already, such as WatchConnectivity or Bluetooth.
///
/// Each end of the link has a bridge. The app hands what the link receives to ``receive(_:)``, tells the state of the
/// link with ``setReachable(_:)``, and gives a closure that sends. The phone's hub listens at ``listener``, the watch's
/// peer connects with ``connector``:
///
/// ```swift
/// let bridge = FrameBridge(device: watchID) { bytes in
///   session.sendMessageData(Data(bytes), replyHandler: nil)
///   return .sent
/// }
/// // In the delegate of the session:
/// bridge.receive(messageData)
/// bridge.setReachable(session.isReachable)
/// // On the phone, beside other listeners; on the watch, `connector: bridge.connector`:
/// let hub = Hub(configuration: configuration, listeners: [bridge.listener], store: store, loop: loop)
/// ```
///
/// What the link has to do:
///
/// - It carries messages whole and in the order in which they were sent. It may lose some; then the nodes send again. A
///   stream of bytes, such as a socket, needs a framing of its own: <doc:YourOwnTransport> has one.
/// - A message has at most ``messageBytesMax`` bytes. Both ends state the same ``limits``.
/// - The link reaches one counterpart. A hub with two devices has two links, two bridges and two listeners; one bridge
///   serves one hub or one peer at a time.
/// - Who can write to the link can say everything that its ``identity`` may say. A bridge neither encrypts nor
///   authenticates.
///
/// What the bridge does at its limits:
///
/// - The wrong device at the other end: the hub refuses a peer whose device is not that of the ``identity``, and a name
///   that belongs to another identity. The bridges stay connected. The peer does not reach its hub
///   (``RunCore/Reachability/refusal`` says why), and says hello again, in the end every five seconds. With a hub at both ends,
///   or a peer at both ends, no connection comes about, and what the other end sends is dropped and counted.
/// - A message that the link loses, or refuses with `full`, is made up for: the nodes send again what has to arrive,
///   and the next ping tells the present state. `gone` ends the connection, and the peer's end asks for a new one at
///   once.
/// - Up to 256 received messages wait for the node. ``receive(_:)`` does not take another one.
/// - When the link drops, both nodes lose their connection. Commands, readings and queued messages stay in the outbox
///   of their node and are sent when the link is back. Published events that were sent meanwhile are lost, and the hub
///   publishes its present state for each new connection.
/// - Where the counterpart has no node, the peer's end asks for it again every five seconds, or as often as the limits
///   allow a heartbeat, while the link is reachable. A hub's end also announces itself when it begins to listen.
/// - What is no message of a bridge is dropped and counted (``unreadableMessages``).
public final class FrameBridge: Sendable {
  /// What the link carries. Both ends state the same.
  public let limits: ConnectionLimits
  /// Who is at the other end, as a hub at this end sees it.
  public let identity: ConnectionIdentity
  /// The largest message on the link in bytes: the largest frame and two bytes before it.
  public var messageBytesMax: Int { limits.frameBytesMax + BridgeSignal.prefixBytesMax }

  private struct State {
    var isReachable: Bool
    /// Raised when the link drops or refuses a message, so that a drop is seen after the link is back already.
    var drops: UInt64 = 0
    /// Raised when the link comes up.
    var rises: UInt64 = 0
    var lastConnection: UInt64 = 0
    /// What arrives for the node at this end; `nil` without a node.
    var box: InProcessBox<BridgeInput>?
    /// Whether the node has yet to look at a change of the link. There is at most one such note in the queue.
    var isChangeQueued = false
    var unreadable: UInt64 = 0
  }
  private let state: Mutex<State>
  private let link: @Sendable ([UInt8]) -> SendOutcome
  private let readers = Mutex<[Task<Void, Never>]>([])
  private static let garbage = Counter(.bridgeGarbage)
  private let log = Logger(label: "runbus.bridge")

  /// Makes the bridge of one end of a link.
  ///
  /// - Parameters:
  ///   - device: The device at the other end, when the operating system vouches for it, as for a paired watch. A hub
  ///     then lets the other end speak for this device only.
  ///   - identity: Who is at the other end; `nil` stands for ``RunCore/ConnectionIdentity/link(_:)`` with the device,
  ///     and for ``RunCore/ConnectionIdentity/anyone`` without one.
  ///   - limits: What the link carries; everything unless stated.
  ///   - isReachable: Whether the link carries messages now. ``setReachable(_:)`` changes it.
  ///   - send: Hands a message to the link, and returns without waiting: `sent` when the link has taken it, `full`
  ///     when it takes none now, `gone` when the connection is lost. It is called on the node's thread, or within
  ///     ``receive(_:)``.
  public init(
    device: DeviceID? = nil, identity: ConnectionIdentity? = nil, limits: ConnectionLimits = .full,
    isReachable: Bool = false, send: @escaping @Sendable ([UInt8]) -> SendOutcome
  ) {
    self.limits = limits
    self.identity = identity ?? device.map { .link($0) } ?? .anyone
    link = send
    state = Mutex(State(isReachable: isReachable))
  }

  /// Makes the bridge of one end of a link that is read as two streams. The bridge reads them until it is released. The
  /// link counts as unreachable until the second stream says otherwise.
  ///
  /// - Parameters:
  ///   - send: Hands a message to the link; see ``init(device:identity:limits:isReachable:send:)``.
  ///   - receive: The messages from the link. One that arrives while 256 wait for the node is lost.
  ///   - reachable: Whether the link carries messages, whenever that changes.
  ///   - device: The device at the other end, when the operating system vouches for it.
  ///   - identity: Who is at the other end.
  ///   - limits: What the link carries.
  public convenience init(
    send: @escaping @Sendable ([UInt8]) -> SendOutcome,
    receive: some AsyncSequence<[UInt8], Never> & Sendable,
    reachable: some AsyncSequence<Bool, Never> & Sendable,
    device: DeviceID? = nil, identity: ConnectionIdentity? = nil, limits: ConnectionLimits = .full
  ) {
    self.init(device: device, identity: identity, limits: limits, send: send)
    let tasks = [
      Task { [weak self] in for await bytes in receive { self?.receive(bytes) } },
      Task { [weak self] in for await isReachable in reachable { self?.setReachable(isReachable) } },
    ]
    readers.withLock { $0 = tasks }
  }

  deinit { for reader in readers.withLock({ $0 }) { reader.cancel() } }

  /// Where a hub takes the connection of the other end.
  public var listener: some HubListener { BridgeListener(bridge: self) }

  /// How a peer connects to the hub at the other end.
  public var connector: some PeerConnector { BridgeConnector(bridge: self) }

  /// Whether the link carries messages, as the app has said last.
  public var isReachable: Bool { state.withLock { $0.isReachable } }

  /// How many messages from the link were dropped because they were no messages of a bridge: empty, too long, of an
  /// unknown kind or cut off.
  public var unreadableMessages: UInt64 { state.withLock { $0.unreadable } }

  /// Takes a message from the link. Any thread may call it; the order of the calls is that of the messages.
  ///
  /// - Returns: `false` when 256 messages wait for the node already: this one was not taken. A link that can hold it
  ///   back hands it over again later; otherwise it is lost, as on the way. Without a node at this end, messages are
  ///   taken and dropped.
  @discardableResult
  public func receive(_ message: some Sequence<UInt8>) -> Bool {
    let bytes = Array(message)
    guard bytes.count <= messageBytesMax, let signal = BridgeSignal(bytes) else {
      noteUnreadable("a message of \(bytes.count) bytes that no bridge sends")
      return true
    }
    guard let box = state.withLock({ $0.box }) else {
      answerWithoutNode(signal)
      return true
    }
    return box.put(.signal(signal))
  }

  /// Tells whether the link carries messages. Any thread may call it; a repeated call has no effect.
  public func setReachable(_ isReachable: Bool) {
    change { state in
      guard state.isReachable != isReachable else { return false }
      state.isReachable = isReachable
      if isReachable { state.rises += 1 } else { state.drops += 1 }
      return true
    }
  }

  // MARK: For the transports

  /// The state of the link, which the node has looked at now.
  func look() -> BridgeLinkState {
    state.withLock { state in
      state.isChangeQueued = false
      return BridgeLinkState(isReachable: state.isReachable, drops: state.drops, rises: state.rises)
    }
  }

  /// Makes a box the queue of the node at this end; `false` when there is a node already.
  func attach(_ box: InProcessBox<BridgeInput>) -> Bool {
    state.withLock { state in
      guard state.box == nil else { return false }
      state.box = box
      state.isChangeQueued = false
      return true
    }
  }

  /// Ends the delivery to a box that was attached.
  func detach(_ box: InProcessBox<BridgeInput>) {
    box.close()
    state.withLock { if $0.box === box { $0.box = nil } }
  }

  /// A connection that no later one is equal to.
  func nextConnection() -> ConnectionID {
    let number = state.withLock { state in
      state.lastConnection += 1
      return state.lastConnection
    }
    return ConnectionID(route: withUnsafeBytes(of: number.bigEndian) { Array($0) }, isRequest: false)
  }

  /// Hands a message to the link. When the link has lost the connection, the node hears of it in a later turn.
  @discardableResult
  func transmit(_ signal: BridgeSignal) -> SendOutcome {
    guard isReachable else { return .gone }
    // The closure is called without a lock, because it may deliver to the other end within this call.
    let outcome = link(signal.bytes)
    if outcome == .gone {
      change { state in
        state.drops += 1
        return true
      }
    }
    return outcome
  }

  /// Counts what the other end should not have sent, and logs the first of it.
  func noteUnreadable(_ what: @autoclosure () -> String) {
    Self.garbage.increment()
    let isFirst = state.withLock { state in
      state.unreadable += 1
      return state.unreadable == 1
    }
    if isFirst { log.warning("dropped \(what()); more of it is only counted") }
  }

  private func change(_ body: (inout State) -> Bool) {
    // Queued under the lock, so that a message that the link delivers after the change comes after it.
    state.withLock { state in
      guard body(&state), !state.isChangeQueued, let box = state.box else { return }
      state.isChangeQueued = true
      _ = box.put(.linkChanged, isBounded: false)
    }
  }

  /// Tells the other end that there is no connection. A knock waits until a hub is here.
  private func answerWithoutNode(_ signal: BridgeSignal) {
    switch signal {
    case .frame, .subscribe: transmit(.bye)
    case .answer, .reply, .event: transmit(.leave)
    case .knock, .leave, .call, .bye: break
    }
  }
}

/// What waits for the node at one end of a bridge.
enum BridgeInput: Sendable {
  case signal(BridgeSignal)
  /// The link has come up, dropped, or both.
  case linkChanged
}

/// The link of a bridge as a node sees it.
struct BridgeLinkState {
  var isReachable = false
  /// How often it has dropped or refused a message. A connection ends with each of them.
  var drops: UInt64 = 0
  /// How often it has come up. The node then asks for a connection at once; after a refusal it waits.
  var rises: UInt64 = 0
}

/// The endpoints of all bridges. They name the two kinds of connection, not a place.
enum BridgeEndpoint {
  static let control = "bridge:control"
  static let events = "bridge:events"
}
