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
  /// The age was measured by wall time, across a reboot.
  public var isUncertain: Bool

  /// A request from its parts.
  public init(command: Command, deviceID: DeviceID, age: BusDuration, isUncertain: Bool = false) {
    self.command = command
    self.deviceID = deviceID
    self.age = age
    self.isUncertain = isUncertain
  }
}

/// An app's message on its way, with its place in the sender's stream.
public struct MessageTransmission: Hashable, Sendable {
  /// Its place in the sender's stream of messages: 1, 2, 3 …
  public var sequence: UInt64
  /// The message.
  public var message: AppMessage

  /// A transmission from its parts.
  public init(sequence: UInt64, message: AppMessage) {
    self.sequence = sequence
    self.message = message
  }
}

/// A verdict on its way, with its place in the hub's stream to the sender.
public struct VerdictTransmission: Hashable, Sendable {
  /// Its place in the hub's stream of verdicts: 1, 2, 3 …
  public var sequence: UInt64
  /// The receipt that holds the verdict.
  public var receipt: Receipt

  /// A transmission from its parts.
  public init(sequence: UInt64, receipt: Receipt) {
    self.sequence = sequence
    self.receipt = receipt
  }
}

/// What both sides say to deliver what they owe each other.
public enum DeliveryMessage: Hashable, Sendable {
  /// Messages of the sender's numbered stream, in order.
  case messages([MessageTransmission])
  /// What became of the receiver's commands, in order.
  case verdicts([VerdictTransmission])
  /// These places of the sender's stream hold nothing any more.
  case tombstones(StreamID.Kind, from: UInt64, through: UInt64)
  /// The receiver's stream is durably processed up to here.
  case acknowledge(StreamID.Kind, through: UInt64)
  /// The receiver's messages up to here are with their handler, and not durable.
  case delivered(through: UInt64)
  /// Send the stream again from here; with a reason when this message's handler has failed.
  case goBack(StreamID.Kind, to: UInt64, failure: String?)
  /// The newest value of a key.
  case latest(key: String, version: UInt64, AppMessage)
  /// The value of a key has arrived and is durable.
  case acknowledgeLatest(key: String, version: UInt64)
  /// A message that is for now or never.
  case live(AppMessage)
}

/// A question about what a node holds, or what is to become of it.
public enum Inquiry: Hashable, Sendable {
  /// Whom does the hub know?
  case peers
  /// What waits here, for whom?
  case outbox
  /// Take this back, if it was never sent.
  case cancel(MessageID)
  /// What is set aside here?
  case quarantine
  /// Send this again, under a new id.
  case retry(MessageID)
  /// Throw this away.
  case discard(MessageID)
}

/// The answer to an inquiry.
public enum InquiryAnswer: Hashable, Sendable {
  /// The devices that the hub knows.
  case peers([PeerReport])
  /// What waits, oldest first; samples of one receiver are one line.
  case outbox([OutboxReport])
  /// What is set aside, oldest first.
  case quarantine([QuarantineReport])
  /// It was done. A retry names the new id.
  case done(MessageID?)
  /// It was not, and why, in one line.
  case failed(String)
}

/// What a hub knows of a device.
public struct PeerReport: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// It answers.
  public var isReachable: Bool
  /// Real time since it was last heard; `nil` if it never was.
  public var heardAge: BusDuration?
  /// The last round trip that it measured; `nil` if it measured none.
  public var roundTrip: BusDuration?
  /// How much waits for it at the hub.
  public var waiting: UInt64
  /// How many of its commands the hub has durably processed.
  public var commandWatermark: UInt64

  /// A report from its parts.
  public init(
    deviceID: DeviceID, role: NodeRole, isReachable: Bool, heardAge: BusDuration?, roundTrip: BusDuration?,
    waiting: UInt64, commandWatermark: UInt64
  ) {
    self.deviceID = deviceID
    self.role = role
    self.isReachable = isReachable
    self.heardAge = heardAge
    self.roundTrip = roundTrip
    self.waiting = waiting
    self.commandWatermark = commandWatermark
  }
}

/// One thing that waits in an outbox.
public struct OutboxReport: Hashable, Sendable {
  /// What kind of thing.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A press.
    case command
    /// Readings, all of one receiver.
    case samples
    /// An app's message.
    case message
    /// What became of one of the receiver's presses.
    case verdict
    /// The newest value of a key.
    case latest
  }
  /// What kind of thing.
  public var kind: Kind
  /// What it is known by; `nil` for samples.
  public var id: MessageID?
  /// The command, the message's name, or the key.
  public var what: String
  /// The device that it is for; `nil` when it is not known yet.
  public var receiver: DeviceID?
  /// Real time since it began to wait.
  public var age: BusDuration
  /// How often it may have been sent; at 0 it can be cancelled.
  public var tries: UInt32
  /// How many rows it is.
  public var count: UInt64
  /// The receiver has it durably, and it waits for its verdict.
  public var isAccepted: Bool

  /// A report from its parts.
  public init(
    kind: Kind, id: MessageID?, what: String, receiver: DeviceID?, age: BusDuration, tries: UInt32, count: UInt64 = 1,
    isAccepted: Bool = false
  ) {
    self.kind = kind
    self.id = id
    self.what = what
    self.receiver = receiver
    self.age = age
    self.tries = tries
    self.count = count
    self.isAccepted = isAccepted
  }
}

/// One message that was set aside.
public struct QuarantineReport: Hashable, Sendable {
  /// What it is known by.
  public var id: MessageID
  /// Its name.
  public var name: String
  /// How many bytes its body has.
  public var bytes: UInt64
  /// The device that it was for; `nil` when it is not known any more.
  public var receiver: DeviceID?
  /// What the receiver said last.
  public var reason: String
  /// Real time since it was set aside.
  public var age: BusDuration

  /// A report from its parts.
  public init(id: MessageID, name: String, bytes: UInt64, receiver: DeviceID?, reason: String, age: BusDuration) {
    self.id = id
    self.name = name
    self.bytes = bytes
    self.receiver = receiver
    self.reason = reason
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
  /// Are you there; the number comes back in the pong. With it, the last round trip that the peer measured.
  case ping(UInt64, roundTrip: BusDuration? = nil)
  /// Send me the newest snapshot.
  case query
  /// The session ends.
  case goodbye
  /// A plain REQ's command; within a session, one that a one-shot sender left in its spool.
  case request(Request)
  /// What is owed, either way.
  case delivery(DeliveryMessage)
  /// A question about what the hub holds.
  case inquire(Inquiry)
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
  /// What is durably processed of this sender's streams.
  public var received: [StreamID.Kind: StreamMark]
  /// The state now.
  public var state: StateMessage

  /// A welcome from its parts.
  public init(
    nonce: UInt64, nodeID: NodeID, storeID: StoreID, deviceID: DeviceID, eventsEndpoint: String, speed: BusSpeed,
    debounce: BusDuration, received: [StreamID.Kind: StreamMark], state: StateMessage
  ) {
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

/// What the hub says to one peer.
public enum HubMessage: Hashable, Sendable {
  /// The session is open.
  case welcome(Welcome)
  /// The peer is not taken, or its frame was not.
  case refused(Refusal)
  /// A stage of a command that was sent by no stream: a one-shot's, a plain REQ's, one from a spool.
  case receipt(Receipt)
  /// What is owed, either way.
  case delivery(DeliveryMessage)
  /// The answer to a ping: its number, and the newest publication.
  case pong(UInt64, SnapshotOrder)
  /// The answer to a query.
  case state(StateMessage)
  /// The answer to an inquiry.
  case answer(InquiryAnswer)
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
