/// A question about what a node holds, or an order to change it.
package enum Inquiry: Hashable, Sendable {
  /// Asks for the devices that the hub knows.
  case peers
  /// Asks what waits in the node's outbox.
  case outbox
  /// Cancels a message that was never sent.
  case cancel(MessageID)
  /// Asks for the messages in quarantine.
  case quarantine
  /// Sends a quarantined message again, under a new id.
  case retry(MessageID)
  /// Deletes a quarantined message.
  case discard(MessageID)
  /// Asks for the numbers of the present run, with their parts.
  case report
  /// Asks for the route of the present run: at most ``RoutePart/pointsMax`` points from an index on.
  case route(from: Int)
  /// Asks for the numbers of the present run over time.
  case series
  /// Decides what becomes of the run that was on when the hub died.
  case recover(RecoveryAnswer)
  /// Asks for the summaries of kept records, oldest first, and then for the runs that were removed, from an index on.
  case records(from: Int)
  /// Asks for the body of a kept record, from a byte on.
  case record(RunID, from: Int)
  /// Changes title and note of a record; `nil` leaves the present text.
  case editRecord(RunID, title: String?, note: String?)
  /// Removes a record.
  case removeRecord(RunID)
  /// Sends one part of a record that the hub is to keep; see ``RecordUpload``.
  case putRecord(RecordUpload)
  /// Posts a message as the node's own app would, in the numbered stream. A peer's message goes to its hub.
  case post(AppMessage, to: DeviceID?)
  /// Asks for the paired devices.
  case devices
  /// Changes the paired device of a key.
  case orderDevice(KeyFingerprint, DeviceOrder)
  /// Confirms the list of paired devices, after a device has stated a higher version of it.
  case confirmDevices
  /// Asks about the pairing of a device, or changes it.
  case pairing(PairingOrder)
  /// Announces a new key of the hub, or with `now` uses it at once, which takes back all keys of devices.
  case rotateKey(now: Bool)
  /// Copies the node's store into a new file at a path of its machine.
  case backUp(to: String)
  /// Asks about rooms, or asks the hub to do something in one.
  indirect case room(RoomInquiry)
  /// What a shell does with messages in the place of the node's app.
  indirect case messages(MessageInquiry)
  /// A question or an order of a later version, which this version does not know. Its answer is
  /// ``InquiryFailure/unknown``.
  case unknown
}

/// The answer to an inquiry.
package enum InquiryAnswer: Hashable, Sendable {
  /// The devices that the hub knows.
  case peers([PeerReport])
  /// What waits in the outbox, oldest first; the samples for one receiver are one entry.
  case outbox([OutboxReport])
  /// The messages in quarantine, oldest first.
  case quarantine([QuarantineReport])
  /// The order was carried out. After a retry the id is the new one, after a post that of the message.
  case done(MessageID?)
  /// The inquiry was refused.
  case failed(InquiryFailure)
  /// The numbers of the run; `nil` before the first run.
  indirect case report(RunReport?)
  /// A part of the route; `nil` before the first run.
  case route(RoutePart?)
  /// The numbers of the run over time; `nil` before the first run.
  case series(RunSeries?)
  /// Summaries of kept records and then removed runs, as many as fit an answer, and the number of both in all.
  case records([RecordSummary], removed: [RecordRemoval] = [], total: Int)
  /// A part of a record's body.
  indirect case record(RecordPart)
  /// The paired devices.
  indirect case devices(DeviceList)
  /// How far the pairing of a device has come.
  indirect case pairing(PairingReport)
  /// What becomes of an ask about rooms, or how they stand.
  indirect case room(RoomInquiryAnswer)
  /// The answer to what a shell does with messages.
  indirect case messages(MessageAnswer)
  /// The hub received a part of a record and, with the last part, keeps the record. With `isKnown` it had the record
  /// already and changed nothing.
  case taken(isKnown: Bool)
}

/// What a hub knows about a device.
public struct PeerReport: Hashable, Sendable {
  /// The device.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// Whether it answers the hub.
  public var isReachable: Bool
  /// Real time since the hub last heard from it; `nil` if it never did.
  public var heardAge: BusDuration?
  /// The last round trip that the device measured, in real time; `nil` if it measured none.
  public var roundTrip: BusDuration?
  /// How many items wait for it in the hub's outbox.
  public var waiting: UInt64
  /// The sequence number of its last command that the hub has durably processed.
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

/// One entry of an outbox.
public struct OutboxReport: Hashable, Sendable {
  /// What an entry of an outbox is.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A command.
    case command
    /// All readings for one receiver.
    case samples
    /// An app's message.
    case message
    /// The verdict on one of the receiver's commands.
    case verdict
    /// The newest value of a key.
    case latest
    /// A kind of a later version, which this version does not know.
    case unknown
  }
  /// What the entry is.
  public var kind: Kind
  /// Its id; `nil` for samples.
  public var id: MessageID?
  /// The kind of the command, the name of the message, or the key.
  public var what: String
  /// The receiving device; `nil` while it is not known.
  public var receiver: DeviceID?
  /// Real time since it began to wait.
  public var age: BusDuration
  /// How often it may have been sent; with 0 it can be cancelled.
  public var tries: UInt32
  /// How many rows of the outbox it stands for.
  public var count: UInt64
  /// Whether the hub has acknowledged the command, which now waits for its verdict.
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

/// One message in quarantine.
public struct QuarantineReport: Hashable, Sendable {
  /// The id of the message.
  public var id: MessageID
  /// The name of the message.
  public var name: String
  /// How many bytes its body has.
  public var bytes: UInt64
  /// The receiving device; `nil` when it is not known any more.
  public var receiver: DeviceID?
  /// The last failure that the receiver reported.
  public var reason: String
  /// Real time since it was put in quarantine.
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
