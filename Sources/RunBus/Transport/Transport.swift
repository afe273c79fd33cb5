public import RunCore

/// What a hub's listener and a peer's connector have in common.
public protocol TransportEnd: Sendable {
  /// What its connections carry; ``RunCore/ConnectionLimits/full`` unless stated. Both ends of a connection have to state
  /// the same.
  var limits: ConnectionLimits { get }
}

extension TransportEnd {
  /// Everything.
  public var limits: ConnectionLimits { .full }
}

/// Opens the two sockets of one place at which a hub is reached. It is a value; the transport itself is made on the
/// loop that owns it. A hub can have several listeners, for example one on its machine and one on a network.
public protocol HubListener: TransportEnd {
  /// Opens the sockets on the loop's thread and delivers their events until ``HubTransport/close()``.
  ///
  /// - Parameters:
  ///   - loop: The loop that polls the sockets.
  ///   - deliver: Called on the loop's thread, never from within a `send`. It may be passed to other threads.
  /// - Throws: ``RunBusError/Code/busHeld`` or ``RunBusError/Code/addressInUse`` when another hub listens there,
  ///   ``RunBusError/Code/transport`` otherwise.
  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport
}

/// The hub's side of a transport. Used on its loop's thread only.
public protocol HubTransport: AnyObject {
  /// The endpoint to which peers connect for control.
  var controlEndpoint: String { get }
  /// The endpoint at which peers subscribe; the welcome contains it. Empty for a transport without events: its peers
  /// learn of a new state at their next ping.
  var eventsEndpoint: String { get }
  /// Sends a frame to one connection; never blocks.
  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome
  /// Publishes to all subscribers of a topic; never blocks. A subscriber whose queue is full loses the message; a pong
  /// later tells it the present state.
  func publish(_ bytes: [UInt8], on topic: Topic)
  /// Closes both sockets and removes their files. Idempotent.
  func close()
}

/// What a hub's transport delivers.
public enum HubTransportEvent: Sendable {
  /// A frame has arrived from a connection. The identity is what the transport knows of the other end; it says
  /// ``RunCore/ConnectionIdentity/anyone`` when it knows nothing.
  case frame(ConnectionID, [UInt8], by: ConnectionIdentity)
  /// A peer has subscribed to a topic. It has missed everything published before.
  case subscribed(Topic)
}

/// The result of sending a frame.
public enum SendOutcome: Hashable, Sendable {
  /// The transport has accepted the frame.
  case sent
  /// The connection does not exist any more.
  case gone
  /// The connection's queue is full.
  case full
}

/// Connects a peer to a hub. It is a value; the transport itself is made on the loop that owns it.
public protocol PeerConnector: TransportEnd {
  /// Starts to connect on the loop's thread and keeps trying until ``PeerTransport/close()``.
  ///
  /// - Parameters:
  ///   - loop: The loop that polls the sockets.
  ///   - deliver: Called on the loop's thread, never from within a `send`. It may be passed to other threads.
  /// - Throws: ``RunBusError/Code/badInput`` for an invalid address, ``RunBusError/Code/transport`` otherwise.
  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport
}

/// The peer's side of a transport. Used on its loop's thread only.
public protocol PeerTransport: AnyObject {
  /// Sends a frame to the hub; never blocks.
  func send(_ bytes: [UInt8]) -> SendOutcome
  /// Subscribes at the endpoint of the welcome. A second call replaces the first; with the same arguments it has no
  /// effect.
  func subscribe(to endpoint: String, topics: [Topic])
  /// Closes all sockets. Idempotent.
  func close()
}

/// What a peer's transport delivers.
public enum PeerTransportEvent: Sendable {
  /// The control connection is established: a hello can be sent.
  case linkUp
  /// The control connection is gone, or an attempt to connect failed in a way that should be reported. The transport
  /// tries again by itself.
  case linkDown(reason: String)
  /// A frame for this peer has arrived.
  case frame([UInt8])
  /// A published event has arrived.
  case event(Topic, [UInt8])
}
