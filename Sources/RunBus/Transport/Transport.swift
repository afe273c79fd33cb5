public import RunCore

/// What a hub's listener and a peer's connector have in common. <doc:YourOwnTransport> has a complete transport.
public protocol TransportEnd: Sendable {
  /// What its connections carry; ``RunCore/ConnectionLimits/full`` unless stated. Both ends of a connection have to
  /// state the same.
  var limits: ConnectionLimits { get }
}

extension TransportEnd {
  /// Everything.
  public var limits: ConnectionLimits { .full }
}

/// Opens one place at which a hub is reached. It is a value; the transport itself is made on the loop that owns it. A
/// hub can have several listeners, for example one on its machine and one on a network.
public protocol HubListener: TransportEnd {
  /// Begins to take connections, and delivers what arrives until ``HubTransport/close()``. Called on the loop's thread.
  ///
  /// - Parameters:
  ///   - loop: The loop of the hub.
  ///   - deliver: Called on the loop's thread, never from within a call of this transport. It may be passed to other
  ///     threads, which reach the loop with ``Loop/submit(_:)``.
  /// - Throws: ``RunBusError/Code/busHeld`` or ``RunBusError/Code/addressInUse`` when another hub listens there,
  ///   ``RunBusError/Code/transport`` otherwise.
  func listen(
    on loop: Loop, deliver: @escaping @Sendable (HubTransportEvent) -> Void
  ) throws(RunBusError) -> any HubTransport
}

/// The hub's side of a transport. Used on its loop's thread only.
///
/// The transport does not report a lost connection. The hub learns of one in four ways: ``send(_:to:)`` returns
/// ``SendOutcome/gone``, the peer says goodbye, the peer joins again on another connection, or the hub hears nothing
/// for three heartbeats. Until then it counts the peer as reachable.
public protocol HubTransport: AnyObject {
  /// Where peers connect, for people and logs: any text.
  var controlEndpoint: String { get }
  /// Names the events of this transport: any text of at most 256 bytes. The welcome contains it, and the peer passes it
  /// to ``PeerTransport/subscribe(to:topics:)``. Empty for a transport without events: its peers learn of a new state
  /// at their next ping.
  var eventsEndpoint: String { get }
  /// Sends a frame to one connection; never blocks. Frames to a connection arrive in the order in which they were sent,
  /// or not at all, and never on a later connection.
  func send(_ bytes: [UInt8], to connection: ConnectionID) -> SendOutcome
  /// Publishes to all subscribers of a topic; never blocks. A subscriber whose queue is full loses the message; a pong
  /// later tells it the present state.
  func publish(_ bytes: [UInt8], on topic: Topic)
  /// Closes all connections and delivers nothing any more. Idempotent.
  func close()
}

/// A transport that lets in the holders of keys only.
package protocol KeyedTransport: HubTransport {
  /// Closes all connections and listens again, because a key is not let in any more.
  func cutConnections()
  /// Closes all connections and listens again with another key of the hub.
  func cutConnections(using own: KeyPair)
}

/// What a hub's transport delivers.
public enum HubTransportEvent: Sendable {
  /// A frame has arrived from a connection. The identity is what the transport knows of the other end; it says
  /// ``RunCore/ConnectionIdentity/anyone`` when it knows nothing. A frame may be lost: its sender sends again what has
  /// to arrive.
  case frame(ConnectionID, [UInt8], by: ConnectionIdentity)
  /// A peer has subscribed to a topic. It has missed everything published before, so the hub publishes its present
  /// state again. This event must not be lost.
  case subscribed(Topic)
  /// A connection takes memory from the transport until it ends. Transports that cannot prevent it deliver this event.
  /// The hub limits such burdens for each key.
  case burden(ConnectionBurden, by: ConnectionIdentity)
}

/// The result of sending a frame.
public enum SendOutcome: Hashable, Sendable {
  /// The transport has accepted the frame. It may still be lost on the way.
  case sent
  /// The connection does not exist any more.
  case gone
  /// The connection's queue is full, and the frame was not taken. The node keeps what has to arrive, and sends it again
  /// after about 200 ms. Nothing reports to a node that there is room again.
  ///
  /// A queue of 256 frames for each direction of a connection is enough for a burst of presses and readings. It takes
  /// at most 16 MiB, because a frame has at most 64 KiB. A longer queue only delays what is sent next.
  case full
}

/// Connects a peer to a hub. It is a value; the transport itself is made on the loop that owns it.
public protocol PeerConnector: TransportEnd {
  /// Starts to connect, and keeps trying until ``PeerTransport/close()``, also after a lost connection. Called on the
  /// loop's thread; returns without waiting for the connection.
  ///
  /// - Parameters:
  ///   - loop: The loop of the peer.
  ///   - deliver: Called on the loop's thread, never from within a call of this transport. It may be passed to other
  ///     threads, which reach the loop with ``Loop/submit(_:)``.
  /// - Throws: ``RunBusError/Code/badInput`` for an invalid address, ``RunBusError/Code/transport`` otherwise.
  func connect(
    on loop: Loop, deliver: @escaping @Sendable (PeerTransportEvent) -> Void
  ) throws(RunBusError) -> any PeerTransport
}

/// The peer's side of a transport. Used on its loop's thread only.
public protocol PeerTransport: AnyObject {
  /// Sends a frame to the hub; never blocks. Frames arrive in the order in which they were sent, or not at all, and
  /// never on a later connection.
  func send(_ bytes: [UInt8]) -> SendOutcome
  /// Subscribes to topics at the ``HubTransport/eventsEndpoint`` of the welcome. The peer calls it after each welcome,
  /// so at least once for each connection, and when the app asks for more. A call replaces the one before; topics that
  /// are subscribed on this connection already stay so, and are not reported to the hub again.
  func subscribe(to endpoint: String, topics: [Topic])
  /// Closes the connection and delivers nothing any more. Idempotent.
  func close()
}

/// What a peer's transport delivers.
///
/// ``linkUp`` and ``linkDown(reason:)`` must not be lost, even if the queue for the peer is full. A peer that misses a
/// `linkUp` never says hello, and one that misses a `linkDown` notices only after three missed heartbeats. Frames and
/// events may be lost. After a `linkUp` the transport delivers no frame of an earlier connection.
public enum PeerTransportEvent: Sendable {
  /// A connection to the hub is established: the peer says hello. It comes once for each connection.
  case linkUp
  /// The connection is gone, or an attempt to connect failed in a way that should be reported. It comes before the
  /// ``linkUp`` of the next connection. The transport tries again by itself.
  case linkDown(reason: String)
  /// A frame for this peer has arrived.
  case frame([UInt8])
  /// A published event has arrived.
  case event(Topic, [UInt8])
}

/// The limits of every transport.
enum TransportLimits {
  /// The largest frame in bytes.
  static let frameBytesMax = ConnectionLimits.frameBytes.upperBound
  /// How many messages one source delivers before the loop's other sources get their turn: more than a burst of
  /// presses, less than a millisecond of work.
  static let messagesPerDrainMax = 64
  /// After how long a source that is not empty gives the others their turn, also with fewer messages: one with hundreds
  /// of readings is more work than a press, and commits and other peers wait for the loop meanwhile.
  static let drainTimeMax = BusDuration.milliseconds(1)
}
