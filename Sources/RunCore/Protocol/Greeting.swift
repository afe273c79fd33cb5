/// The version of the wire. A hub and a peer of different versions refuse each other with a clear word.
public let wireVersion: UInt32 = 2

/// What kind of node a peer is. Open on the wire.
public struct NodeRole: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
  /// The role as it stands on the wire.
  public let rawValue: String
  /// A role by its wire name; longer than 64 bytes is cut.
  public init(rawValue: String) {
    self.rawValue = rawValue.utf8.count <= 64 ? rawValue : String(rawValue.prefix(16))
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

/// A connection as the hub sees it: where an answer goes. It is random per connection and says nothing about who speaks.
public struct ConnectionID: Hashable, Sendable {
  /// What the transport needs to find the way back.
  public let route: [UInt8]
  /// A plain REQ, which waits for exactly one reply and has no session.
  public let isRequest: Bool

  /// A connection from its parts.
  public init(route: [UInt8], isRequest: Bool) {
    self.route = route
    self.isRequest = isRequest
  }

  /// All of the route at once: sessions are looked up by it with every frame.
  public func hash(into hasher: inout Hasher) {
    route.withUnsafeBytes { hasher.combine(bytes: $0) }
    hasher.combine(isRequest)
  }
}

/// The first word of a peer on a connection.
public struct Hello: Hashable, Sendable {
  /// The sender's wire version.
  public var version: UInt32
  /// The device that speaks.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// The node.
  public var nodeID: NodeID
  /// Its store, which names its streams.
  public var storeID: StoreID
  /// Echoed in the welcome, so that an answer to an earlier hello is not taken for this one's.
  public var nonce: UInt64
  /// The highest hub term it has seen.
  public var termSeen: UInt64
  /// A sender of one command, which is no member of the bus: presence does not speak of it.
  public var isOneShot: Bool
  /// The hub's store that its streams go to; `nil` before the first welcome.
  public var hub: StoreID?
  /// Its streams to that store: what was acknowledged of them. Who has less than that has lost history.
  public var acknowledged: [StreamID.Kind: UInt64]
  /// That store's streams to it: what it has durably processed.
  public var received: [StreamID.Kind: StreamMark]

  /// A hello from its parts.
  public init(
    version: UInt32 = wireVersion, deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID,
    nonce: UInt64, termSeen: UInt64, isOneShot: Bool, hub: StoreID? = nil,
    acknowledged: [StreamID.Kind: UInt64] = [:], received: [StreamID.Kind: StreamMark] = [:]
  ) {
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
    self.isOneShot = isOneShot
  }
}

/// The hub's answer to a hello.
public struct Welcome: Hashable, Sendable {
  /// Echoes the hello's.
  public var nonce: UInt64
  /// The hub's node.
  public var nodeID: NodeID
  /// The hub's store.
  public var storeID: StoreID
  /// The hub's device.
  public var deviceID: DeviceID
  /// Where the events are published.
  public var eventsEndpoint: String
  /// How fast the bus clock runs.
  public var speed: BusSpeed
  /// The window.
  public var debounce: BusDuration
  /// What is durably processed of this sender's streams.
  public var received: [StreamID.Kind: StreamMark]
  /// The state now.
  public var state: StateMessage
  /// The last change of the hub's records; 0 before the first.
  public var recordsThrough: UInt64

  /// A welcome from its parts.
  public init(
    nonce: UInt64, nodeID: NodeID, storeID: StoreID, deviceID: DeviceID, eventsEndpoint: String, speed: BusSpeed,
    debounce: BusDuration, received: [StreamID.Kind: StreamMark], state: StateMessage,
    recordsThrough: UInt64 = 0
  ) {
    self.recordsThrough = recordsThrough
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

/// Why a hub does not take a peer.
public struct Refusal: Hashable, Sendable {
  /// Why, for a program.
  public enum Code: String, Hashable, Sendable {
    /// The wire versions differ.
    case versionMismatch
    /// The session is not known: say hello.
    case unknownSession
    /// The frame was not understood.
    case malformed
    /// The hub's table of sessions is full, or it takes nothing more from this sender now.
    case busy
    /// The sender's store has lost history: it takes a new id and says hello again.
    case storeRegressed
  }
  /// Why, for a program.
  public var code: Code
  /// Why, for a person.
  public var message: String
  /// The version that the hub speaks.
  public var version: UInt32

  /// A refusal from its parts.
  public init(code: Code, message: String, version: UInt32 = wireVersion) {
    self.code = code
    self.message = message
    self.version = version
  }
}
