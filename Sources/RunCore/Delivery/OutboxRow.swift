/// What an outbox holds.
public enum OutboxItem: Hashable, Sendable {
  /// A press.
  case command(Command)
  /// A reading; with `runOffset` it was taken at that place of the run's own time line, else at the row's `since`.
  case sample(SampleValue, runOffset: BusDuration?, runID: RunID?)
  /// An app's message.
  case message(AppMessage)
  /// What became of one of the receiver's presses.
  case verdict(Verdict)

  /// What it is known by; `nil` for a sample, which nobody asks for.
  public var id: MessageID? {
    switch self {
    case .command(let command): MessageID(high: command.id.high, low: command.id.low)
    case .sample: nil
    case .message(let message): message.id
    case .verdict(let verdict): MessageID(high: verdict.commandID.high, low: verdict.commandID.low)
    }
  }

  /// About how many bytes it takes, on disk as on the wire.
  public var size: Int {
    switch self {
    case .command, .verdict: 200
    case .sample: 64
    case .message(let message): 64 + message.name.utf8.count + message.body.count
    }
  }
}

/// One row of an outbox: what a node owes to another one.
public struct OutboxRow: Hashable, Sendable {
  /// The stream that it stands in.
  public var stream: OutboundStreamID
  /// Its place there.
  public var sequence: UInt64
  /// What is owed; `nil` for a tombstone, which keeps the place of what was taken back.
  public var item: OutboxItem?
  /// When it was pressed, measured or given, on the node's monotonic clock (not bus time).
  public var since: BusTime
  /// `since` was estimated by wall time, across a reboot.
  public var isUncertain: Bool
  /// How often it may have been sent. At 0 it surely never was, and can be cancelled.
  public var tries: UInt32

  /// A row from its parts.
  public init(
    stream: OutboundStreamID, sequence: UInt64, item: OutboxItem?, since: BusTime, isUncertain: Bool = false,
    tries: UInt32 = 0
  ) {
    self.stream = stream
    self.sequence = sequence
    self.item = item
    self.since = since
    self.isUncertain = isUncertain
    self.tries = tries
  }

  /// The place with what stands there.
  public var mark: StreamMark { StreamMark(sequence: sequence, id: item?.id) }
}

/// A message that kept failing, set aside by its sender.
public struct QuarantinedMessage: Hashable, Sendable {
  /// The message.
  public var message: AppMessage
  /// The store that it was for.
  public var receiver: StoreID
  /// What the receiver said last.
  public var reason: String
  /// When it was set aside, on the node's monotonic clock.
  public var since: BusTime

  /// A quarantined message from its parts.
  public init(message: AppMessage, receiver: StoreID, reason: String, since: BusTime) {
    self.message = message
    self.receiver = receiver
    self.reason = reason
    self.since = since
  }
}

/// The newest value of a key that is to go, or has gone, to another device.
public struct LatestRow: Hashable, Sendable {
  /// The other device; on a peer `nil`: its hub, whichever that is.
  public var device: DeviceID?
  /// The key.
  public var key: String
  /// Grows with every value of the key.
  public var version: UInt64
  /// The value.
  public var message: AppMessage
  /// The other device has it.
  public var isAcknowledged: Bool

  /// A row from its parts.
  public init(device: DeviceID?, key: String, version: UInt64, message: AppMessage, isAcknowledged: Bool = false) {
    self.device = device
    self.key = key
    self.version = version
    self.message = message
    self.isAcknowledged = isAcknowledged
  }
}

/// The newest value of a key that came from another device.
public struct LatestReceived: Hashable, Sendable {
  /// The device that it came from.
  public var device: DeviceID
  /// That device's store: versions are its own count.
  public var store: StoreID
  /// The key.
  public var key: String
  /// The sender's count.
  public var version: UInt64
  /// The value.
  public var message: AppMessage

  /// A row from its parts.
  public init(device: DeviceID, store: StoreID, key: String, version: UInt64, message: AppMessage) {
    self.device = device
    self.store = store
    self.key = key
    self.version = version
    self.message = message
  }
}

/// A device that a hub has met.
public struct KnownDevice: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// Its store: where what is owed to it goes.
  public var storeID: StoreID
  /// When it was last heard, on the hub's bus time line.
  public var heardAt: BusTime

  /// A device from its parts.
  public init(deviceID: DeviceID, role: NodeRole, storeID: StoreID, heardAt: BusTime) {
    self.deviceID = deviceID
    self.role = role
    self.storeID = storeID
    self.heardAt = heardAt
  }
}

/// All that a store holds of what was sent and received, hub's and peer's alike.
public struct DeliveryHistory: Sendable {
  /// What is owed, in order of stream and sequence.
  public var rows: [OutboxRow] = []
  /// How far each stream was acknowledged by its receiver.
  public var acknowledged: [OutboundStreamID: UInt64] = [:]
  /// What each stream from another store has durably processed.
  public var watermarks: [StreamID: StreamMark] = [:]
  /// What was set aside, oldest first.
  public var quarantine: [QuarantinedMessage] = []
  /// The newest values that were given here.
  public var latestSent: [LatestRow] = []
  /// The newest values that came in.
  public var latestReceived: [LatestReceived] = []

  /// A history without a past.
  public init() {}
}
