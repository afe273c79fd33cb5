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
  /// What are the numbers of the present run, or else of the last one, with their pieces?
  case report
  /// Where did it go? At most ``RoutePart/pointsMax`` points from an index on.
  case route(from: Int)
  /// This is to become of the run that was on when the hub died.
  case recover(RecoveryAnswer)
  /// Which runs are kept? Their summaries, oldest first, from an index on.
  case records(from: Int)
  /// The body of a kept record, from a byte on.
  case record(RunID, from: Int)
  /// Call a record otherwise; `nil` leaves what is there.
  case editRecord(RunID, title: String?, note: String?)
  /// Remove a record.
  case removeRecord(RunID)
  /// Keep a record that came from elsewhere, piece by piece; see ``RecordUpload``.
  case putRecord(RecordUpload)
  /// Deliver this message, as the node's own app would have it: every one, in order. A peer's goes to its hub.
  case post(AppMessage, to: DeviceID?)
}

/// The answer to an inquiry.
public enum InquiryAnswer: Hashable, Sendable {
  /// The devices that the hub knows.
  case peers([PeerReport])
  /// What waits, oldest first; samples of one receiver are one line.
  case outbox([OutboxReport])
  /// What is set aside, oldest first.
  case quarantine([QuarantineReport])
  /// It was done. A retry names the new id, a post the message's.
  case done(MessageID?)
  /// It was not, and why, in one line.
  case failed(String)
  /// The numbers of the run; `nil` while there was none.
  indirect case report(RunReport?)
  /// A part of its route; `nil` while there was none.
  case route(RoutePart?)
  /// Kept records, as many as an answer holds, and how many there are in all.
  case records([RecordSummary], total: Int)
  /// A part of a record's body.
  indirect case record(RecordPart)
  /// A record came in whole and is kept, or a part of it was taken; or it is known already, and nothing was changed.
  case taken(isKnown: Bool)
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
