public import RunCore

/// How a hub opens its two sockets. A value: the transport itself is made on the loop that owns it.
public protocol HubListener: Sendable {
  /// Opens on the loop's thread and delivers what happens there, until ``HubTransport/close()``.
  ///
  /// Throws ``RunBusError/Code/busHeld`` when another hub is there, ``RunBusError/Code/transport`` otherwise.
  func listen(
    on loop: Loop, deliver: @escaping (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport
}

/// A hub's end of the wire. Used on its loop's thread only.
public protocol HubTransport: AnyObject {
  /// Where peers connect for control: what to tell people.
  var controlEndpoint: String { get }
  /// Where peers subscribe; goes out in the welcome.
  var eventsEndpoint: String { get }
  /// Sends to one connection, or says that it is gone or full; never blocks.
  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome
  /// Publishes to all subscribers of a topic; what a subscriber cannot take is dropped, counted and healed by a pong.
  func publish(_ bytes: [UInt8], on topic: Topic)
  /// Closes both sockets and leaves nothing behind. Idempotent.
  func close()
}

/// What happens at a hub's end of the wire.
public enum HubTransportEvent: Sendable {
  /// A frame came in.
  case frame(ConnectionID, [UInt8])
  /// Somebody subscribed to a topic: what was published until now has passed it by.
  case subscribed(Topic)
}

/// What became of a frame.
public enum SendOutcome: Hashable, Sendable {
  /// Handed to the transport.
  case sent
  /// Nobody is there any more.
  case gone
  /// The queue to it is full.
  case full
}

/// How a peer reaches a hub. A value: the transport itself is made on the loop that owns it.
public protocol PeerConnector: Sendable {
  /// Starts connecting on the loop's thread and keeps trying, until ``PeerTransport/close()``.
  ///
  /// Throws ``RunBusError/Code/transport``, or ``RunBusError/Code/badInput`` for an address that cannot be one.
  func connect(
    on loop: Loop, deliver: @escaping (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport
}

/// A peer's end of the wire. Used on its loop's thread only.
public protocol PeerTransport: AnyObject {
  /// Sends to the hub; never blocks.
  func send(_ bytes: [UInt8]) -> SendOutcome
  /// Subscribes at the endpoint that the welcome named; a second call with the same arguments changes nothing, with
  /// other ones it replaces the first.
  func subscribe(to endpoint: String, topics: [Topic])
  /// Closes every socket and leaves nothing behind. Idempotent.
  func close()
}

/// What happens at a peer's end of the wire.
public enum PeerTransportEvent: Sendable {
  /// The control connection stands: a hello can be sent.
  case linkUp
  /// The control connection is gone, or a try to make one failed for a reason worth telling; the transport tries again
  /// by itself.
  case linkDown(reason: String)
  /// The hub spoke to this peer.
  case frame([UInt8])
  /// The hub published.
  case event(Topic, [UInt8])
}
