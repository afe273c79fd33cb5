/// The version of the wire. A hub and a peer of different versions refuse each other with a clear word.
public let wireVersion: UInt32 = 1

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

  /// A hello from its parts.
  public init(
    version: UInt32 = wireVersion, deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID,
    nonce: UInt64, termSeen: UInt64, isOneShot: Bool
  ) {
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

/// A command on its way, with its place in the sender's stream and its age restated.
public struct Transmission: Hashable, Sendable {
  /// The command.
  public var command: Command
  /// Its place in the sender's stream of commands: 1, 2, 3 …
  public var sequence: UInt64
  /// How long ago the person pressed, in real time, at the moment of sending.
  public var age: BusDuration
  /// The age was measured by wall time, across a reboot.
  public var isUncertain: Bool
  /// The stop of its run lies behind it in the sender's queue.
  public var stopFollows: Bool

  /// A transmission from its parts.
  public init(
    command: Command, sequence: UInt64, age: BusDuration, isUncertain: Bool = false, stopFollows: Bool = false
  ) {
    self.command = command
    self.sequence = sequence
    self.age = age
    self.isUncertain = isUncertain
    self.stopFollows = stopFollows
  }
}

/// A sample on its way.
public struct SampleTransmission: Hashable, Sendable {
  /// When it was taken: its age in real time at the moment of sending, or its place in the run.
  public enum Moment: Hashable, Sendable {
    /// Taken this long ago, in real time.
    case age(BusDuration)
    /// Taken at this offset on the run's own time line.
    case runOffset(BusDuration)
  }
  /// Its place in the sender's stream of samples: 1, 2, 3 …
  public var sequence: UInt64
  /// When it was taken.
  public var moment: Moment
  /// The reading.
  public var value: SampleValue
  /// The run it was measured in, as the sender knows it.
  public var runID: RunID?

  /// A sample transmission from its parts.
  public init(sequence: UInt64, moment: Moment, value: SampleValue, runID: RunID?) {
    self.sequence = sequence
    self.moment = moment
    self.value = value
    self.runID = runID
  }
}

/// A command without a connection of its own: what a plain REQ sends. Its reply is the verdict.
public struct Request: Hashable, Sendable {
  /// The command.
  public var command: Command
  /// The device it speaks for.
  public var deviceID: DeviceID
  /// How long ago the person pressed, in real time.
  public var age: BusDuration

  /// A request from its parts.
  public init(command: Command, deviceID: DeviceID, age: BusDuration) {
    self.command = command
    self.deviceID = deviceID
    self.age = age
  }
}

/// What a peer says to the hub.
public enum PeerMessage: Hashable, Sendable {
  /// Opens a session.
  case hello(Hello)
  /// A command.
  case command(Transmission)
  /// Samples, in order.
  case samples([SampleTransmission])
  /// Are you there; the number comes back in the pong.
  case ping(UInt64)
  /// Send me the newest snapshot.
  case query
  /// The session ends.
  case goodbye
  /// A plain REQ's command.
  case request(Request)
}

/// What a peer's frame carries around its message.
public struct PeerFrame: Hashable, Sendable {
  /// The session that the welcome gave; 0 before it.
  public var session: UInt64
  /// The sender's own monotonic reading at the moment of sending, in nanoseconds.
  public var sentAt: BusTime
  /// The message.
  public var message: PeerMessage

  /// A frame from its parts.
  public init(session: UInt64, sentAt: BusTime, message: PeerMessage) {
    self.session = session
    self.sentAt = sentAt
    self.message = message
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
  /// The last command sequence of this sender that is durably processed.
  public var commandWatermark: UInt64
  /// The last sample sequence of this sender that is durably processed.
  public var sampleWatermark: UInt64
  /// The state now.
  public var state: StateMessage

  /// A welcome from its parts.
  public init(
    nonce: UInt64, nodeID: NodeID, storeID: StoreID, deviceID: DeviceID, eventsEndpoint: String, speed: BusSpeed,
    debounce: BusDuration, commandWatermark: UInt64, sampleWatermark: UInt64, state: StateMessage
  ) {
    self.nonce = nonce
    self.nodeID = nodeID
    self.storeID = storeID
    self.deviceID = deviceID
    self.eventsEndpoint = eventsEndpoint
    self.speed = speed
    self.debounce = debounce
    self.commandWatermark = commandWatermark
    self.sampleWatermark = sampleWatermark
    self.state = state
  }
}

/// A snapshot on its way, with its age restated.
public struct StateMessage: Hashable, Sendable {
  /// The snapshot.
  public var snapshot: Snapshot
  /// Bus time since it was captured, at the moment of sending.
  public var age: BusDuration

  /// A state message from its parts.
  public init(snapshot: Snapshot, age: BusDuration) {
    self.snapshot = snapshot
    self.age = age
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
    /// The hub's table of sessions is full.
    case busy
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

/// What the hub says to one peer.
public enum HubMessage: Hashable, Sendable {
  /// The session is open.
  case welcome(Welcome)
  /// The peer is not taken, or its frame was not.
  case refused(Refusal)
  /// A stage of one of its commands.
  case receipt(Receipt)
  /// Samples up to this sequence are durably processed.
  case samplesAcked(UInt64)
  /// The answer to a ping: its number, and the newest publication.
  case pong(UInt64, SnapshotOrder)
  /// The answer to a query.
  case state(StateMessage)
}

/// What the hub's frame carries around its message.
public struct HubFrame: Hashable, Sendable {
  /// The session it belongs to.
  public var session: UInt64
  /// The message.
  public var message: HubMessage

  /// A frame from its parts.
  public init(session: UInt64, message: HubMessage) {
    self.session = session
    self.message = message
  }
}

/// A device came or went.
public struct Presence: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// It answers.
  public var isReachable: Bool

  /// A presence from its parts.
  public init(deviceID: DeviceID, role: NodeRole, isReachable: Bool) {
    self.deviceID = deviceID
    self.role = role
    self.isReachable = isReachable
  }
}

/// What the hub publishes to all.
public enum BusEvent: Hashable, Sendable {
  /// A snapshot, on the topic of snapshots.
  case snapshot(StateMessage)
  /// A command was accepted, with the device it came from.
  case command(Command, DeviceID)
  /// A command reached a stage.
  case receipt(Receipt, DeviceID)
  /// A device came or went.
  case presence(Presence)

  /// The topic that it is published on.
  public var topic: Topic {
    switch self {
    case .snapshot: .snapshots
    case .command, .receipt, .presence: .feed
    }
  }
}

/// What a peer can subscribe to. Topics are one byte: few and short.
public enum Topic: String, Hashable, Sendable, CaseIterable {
  /// Snapshots.
  case snapshots = "s"
  /// Everything else that happens.
  case feed = "f"
}
