/// The version of the wire format. A hub refuses a hello and a request of another version
/// (``Refusal/Code/versionMismatch``).
package let wireVersion: UInt32 = 3

/// What kind of node a peer is. The set is open: a node may use any name.
public struct NodeRole: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The role's name on the wire.
  public let rawValue: String
  /// A role by its wire name. Control characters are left out, more than 64 bytes are cut, and an empty name becomes
  /// `unknown`: a hub refuses a hello whose role is not a name, however often it is sent.
  public init(rawValue: String) {
    let name = rawValue.carried(bytesMax: 64)
    self.rawValue = name.isEmpty ? "unknown" : name
  }
  /// The hub.
  public static let phone = NodeRole(rawValue: "phone")
  /// A watch.
  public static let watch = NodeRole(rawValue: "watch")
  /// A live activity.
  public static let widget = NodeRole(rawValue: "widget")
  /// A shell or a script.
  public static let shell = NodeRole(rawValue: "shell")
  /// The wire name.
  public var description: String { rawValue }
}

/// A connection as the hub sees it, to which answers are sent. The transport chooses the route. It is another one for
/// each connection and does not identify the peer.
public struct ConnectionID: Hashable, Sendable {
  /// What the transport needs to address the peer: any bytes, such as a number that it counts up for each connection.
  public let route: [UInt8]
  /// Whether the other end waits for exactly one reply and has no session, as a plain REQ socket of ZeroMQ. A transport
  /// without such clients always states `false`.
  public let isRequest: Bool
  /// The hub's listener at which the connection arrived, counted from 0. Routes of two listeners can be alike. The hub
  /// sets it: a transport leaves it at 0, and finds a connection by its ``route``.
  public let listener: Int

  /// A connection from its parts.
  public init(route: [UInt8], isRequest: Bool, listener: Int = 0) {
    self.route = route
    self.isRequest = isRequest
    self.listener = listener
  }

  /// Hashes the route as one block of bytes, because the hub looks up the session of every frame.
  public func hash(into hasher: inout Hasher) {
    route.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(isRequest)
    hasher.combine(listener)
  }
}

/// A peer's first frame on a connection. It asks the hub for a session.
package struct Hello: Hashable, Sendable {
  /// The sender's wire version.
  package var version: UInt32
  /// The peer's device.
  package var deviceID: DeviceID
  /// What kind of node it is.
  package var role: NodeRole
  /// The peer's node.
  package var nodeID: NodeID
  /// The peer's store, whose id names the peer's streams.
  package var storeID: StoreID
  /// The welcome repeats it, so that the peer can tell it from the answer to an earlier hello.
  package var nonce: UInt64
  /// The highest hub term that the peer has seen.
  package var termSeen: UInt64
  /// The hub's store to which the peer's streams go; `nil` before the first welcome.
  package var hub: StoreID?
  /// Up to where that store has acknowledged the peer's streams. If it has less now, it has lost history.
  package var acknowledged: [StreamID.Kind: UInt64]
  /// Up to where the peer has durably processed that store's streams.
  package var received: [StreamID.Kind: StreamMark]
  /// The highest version of the hub's list of paired devices that the peer was told; 0 for a peer without a key.
  package var listVersion: UInt64
  /// The hub's proof that it has handed out that version; `nil` if the peer was told none.
  package var listProof: ListProof?
  /// The key of the hub that the peer keeps for later; `nil` if none was announced to it.
  package var nextHubKey: KeyFingerprint?
  /// Whether the peer keeps its store in memory: once it has ended, no node comes back with that store.
  package var isEphemeral: Bool

  /// A hello from its parts.
  package init(
    version: UInt32 = wireVersion, deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID,
    nonce: UInt64, termSeen: UInt64, hub: StoreID? = nil,
    acknowledged: [StreamID.Kind: UInt64] = [:], received: [StreamID.Kind: StreamMark] = [:],
    listVersion: UInt64 = 0, listProof: ListProof? = nil, nextHubKey: KeyFingerprint? = nil, isEphemeral: Bool = false
  ) {
    self.listProof = listProof
    self.listVersion = listVersion
    self.nextHubKey = nextHubKey
    self.isEphemeral = isEphemeral
    self.hub = hub
    self.acknowledged = acknowledged
    self.received = received
    self.version = version
    self.deviceID = deviceID
    self.role = role
    self.nodeID = nodeID
    self.storeID = storeID
    self.nonce = nonce
    self.termSeen = termSeen
  }
}

/// The hub's answer to a hello, which opens a session.
package struct Welcome: Hashable, Sendable {
  /// The nonce of the hello.
  package var nonce: UInt64
  /// The hub's node.
  package var nodeID: NodeID
  /// The hub's store.
  package var storeID: StoreID
  /// The hub's device.
  package var deviceID: DeviceID
  /// The endpoint at which the hub publishes events.
  package var eventsEndpoint: String
  /// How fast the bus clock runs.
  package var speed: BusSpeed
  /// The length of a window, in bus time.
  package var debounce: BusDuration
  /// Up to where the hub has durably processed the peer's streams.
  package var received: [StreamID.Kind: StreamMark]
  /// The present snapshot.
  package var state: StateMessage
  /// The number of the last durable change of the hub's records; 0 before the first.
  package var recordsThrough: UInt64
  /// What the holder of a key is told about its bus; `nil` for a peer without a key.
  package var enrolment: Enrolment?

  /// A welcome from its parts.
  package init(
    nonce: UInt64, nodeID: NodeID, storeID: StoreID, deviceID: DeviceID, eventsEndpoint: String, speed: BusSpeed,
    debounce: BusDuration, received: [StreamID.Kind: StreamMark], state: StateMessage,
    recordsThrough: UInt64 = 0, enrolment: Enrolment? = nil
  ) {
    self.recordsThrough = recordsThrough
    self.enrolment = enrolment
    self.nonce = nonce
    self.nodeID = nodeID
    self.storeID = storeID
    self.deviceID = deviceID
    self.eventsEndpoint = eventsEndpoint
    self.speed = speed
    self.debounce = debounce
    self.received = received
    self.state = state
  }
}

/// The hub's answer when it does not accept a peer or a frame.
package struct Refusal: Hashable, Sendable {
  /// The reason, for a program.
  package enum Code: String, Hashable, Sendable {
    /// The wire versions differ.
    case versionMismatch
    /// The hub does not know the session: the peer has to send a hello.
    case unknownSession
    /// The hub cannot decode the frame, or it contains an impossible value.
    case malformed
    /// The hub has no room for another session, or for more from this sender now.
    case busy
    /// The peer's store has lost history, or belongs to another identity: the peer has to give it a new id and send a
    /// hello again.
    case storeRegressed
    /// The connection's identity may not do this, for example use the name of another identity's device, or its key was
    /// taken back.
    case forbidden
    /// A code of a later version, which this version does not know. The peer logs the refusal and goes on.
    case unknown
  }
  /// The reason, for a program.
  package var code: Code
  /// The reason, for a person.
  package var message: String
  /// The wire version of the hub.
  package var version: UInt32

  /// A refusal from its parts.
  package init(code: Code, message: String, version: UInt32 = wireVersion) {
    self.code = code
    self.message = message
    self.version = version
  }
}
