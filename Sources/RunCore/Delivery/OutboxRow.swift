/// The item of an outbox row.
package enum OutboxItem: Hashable, Sendable {
  /// A command.
  case command(Command)
  /// A reading, and the run in which it was taken as far as the sender knows. The zero of its moment's time line is the
  /// row's `since`.
  case sample(Sample, runID: RunID?)
  /// An app's message.
  case message(AppMessage)
  /// The verdict on one of the receiver's commands.
  case verdict(Verdict)

  /// Its id; `nil` for a sample. A verdict has the id of its command.
  package var id: MessageID? {
    switch self {
    case .command(let command): MessageID(high: command.id.high, low: command.id.low)
    case .sample: nil
    case .message(let message): message.id
    case .verdict(let verdict): MessageID(high: verdict.commandID.high, low: verdict.commandID.low)
    }
  }

  /// Roughly how many bytes it has on disk and on the wire.
  package var size: Int {
    switch self {
    case .command(let command): 200 + command.unknown.count
    case .verdict(let verdict): 200 + verdict.unknown.count
    case .sample(let sample, _): 64 + sample.unknown.count
    case .message(let message): 64 + message.name.utf8.count + message.body.count + message.unknown.count
    }
  }
}

/// One row of an outbox: an item that a node has to deliver to another one.
package struct OutboxRow: Hashable, Sendable {
  /// The stream to which it belongs.
  package var stream: OutboundStreamID
  /// Its sequence number in the stream.
  package var sequence: UInt64
  /// The item; `nil` for a tombstone, which keeps the sequence number of an item that is not delivered.
  package var item: OutboxItem?
  /// When the item was pressed, measured or posted, on the node's monotonic clock (not bus time).
  package var since: BusTime
  /// Whether `since` is an estimate by wall time, because the machine rebooted after it.
  package var isUncertain: Bool
  /// How often it may have been sent. With 0 it was certainly never sent and can be cancelled.
  package var tries: UInt32

  /// A row from its parts.
  package init(
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

  /// The sequence number with the item's id.
  package var mark: StreamMark { StreamMark(sequence: sequence, id: item?.id) }
}

/// A message that its sender has put in quarantine, because the receiver's handler kept failing for it.
package struct QuarantinedMessage: Hashable, Sendable {
  /// The message.
  package var message: AppMessage
  /// The receiving store.
  package var receiver: StoreID
  /// The last failure that the receiver reported.
  package var reason: String
  /// When it was put in quarantine, on the node's monotonic clock.
  package var since: BusTime

  /// A quarantined message from its parts.
  package init(message: AppMessage, receiver: StoreID, reason: String, since: BusTime) {
    self.message = message
    self.receiver = receiver
    self.reason = reason
    self.since = since
  }
}

/// The newest value of a key for another device, sent or not.
package struct LatestRow: Hashable, Sendable {
  /// The receiving device; `nil` on a peer, which sends to whatever hub it has.
  package var device: DeviceID?
  /// The key.
  package var key: String
  /// The version of the value; it grows with every value of the key.
  package var version: UInt64
  /// The value.
  package var message: AppMessage
  /// Whether the other device has the value, or has refused it.
  package var isAcknowledged: Bool

  /// A row from its parts.
  package init(device: DeviceID?, key: String, version: UInt64, message: AppMessage, isAcknowledged: Bool = false) {
    self.device = device
    self.key = key
    self.version = version
    self.message = message
    self.isAcknowledged = isAcknowledged
  }
}

/// The newest value of a key that was received from another device.
package struct LatestReceived: Hashable, Sendable {
  /// The device that it came from.
  package var device: DeviceID
  /// The sending store, which numbers the versions.
  package var store: StoreID
  /// The key.
  package var key: String
  /// The version that the sender gave the value.
  package var version: UInt64
  /// The value.
  package var message: AppMessage

  /// A row from its parts.
  package init(device: DeviceID, store: StoreID, key: String, version: UInt64, message: AppMessage) {
    self.device = device
    self.store = store
    self.key = key
    self.version = version
    self.message = message
  }
}

/// A device that a hub has met.
package struct KnownDevice: Hashable, Sendable {
  /// The device.
  package var deviceID: DeviceID
  /// What kind of node it is.
  package var role: NodeRole
  /// The device's store, to which its streams go.
  package var storeID: StoreID
  /// When the hub last heard from it, in bus time.
  package var heardAt: BusTime
  /// The identity that last said hello as this device.
  package var identity: ConnectionIdentity

  /// A device from its parts.
  package init(
    deviceID: DeviceID, role: NodeRole, storeID: StoreID, heardAt: BusTime, identity: ConnectionIdentity = .localOwner
  ) {
    self.identity = identity
    self.deviceID = deviceID
    self.role = role
    self.storeID = storeID
    self.heardAt = heardAt
  }
}

/// Everything that a store holds about sending and receiving, on a hub or a peer.
package struct DeliveryHistory: Sendable {
  /// The rows of the outbox, ordered by stream and sequence.
  package var rows: [OutboxRow] = []
  /// Up to where the receiver of each stream has acknowledged it.
  package var acknowledged: [OutboundStreamID: UInt64] = [:]
  /// Up to where each stream from another store was durably processed.
  package var watermarks: [StreamID: StreamMark] = [:]
  /// The messages in quarantine, oldest first.
  package var quarantine: [QuarantinedMessage] = []
  /// The newest values that this node's app posted.
  package var latestSent: [LatestRow] = []
  /// The newest values that were received.
  package var latestReceived: [LatestReceived] = []

  /// A history without a past.
  package init() {}
}
