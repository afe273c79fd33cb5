/// What a peer says to the hub.
public enum PeerMessage: Hashable, Sendable {
  /// Opens a session.
  case hello(Hello)
  /// A command.
  case command(CommandTransmission)
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
  /// The next change of the hub's records, please.
  case fetchRecord(RecordFetch)
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

/// What the hub says to one peer.
public enum HubMessage: Hashable, Sendable {
  /// The session is open.
  indirect case welcome(Welcome)
  /// The peer is not taken, or its frame was not.
  case refused(Refusal)
  /// A stage of a command that was sent by no stream: a one-shot's, a plain REQ's, one from a spool.
  indirect case receipt(Receipt)
  /// What is owed, either way.
  case delivery(DeliveryMessage)
  /// The answer to a ping: its number, the newest publication, and the last change of the hub's records. With 0 for the
  /// number nobody has asked, and there is something new.
  case pong(UInt64, SnapshotOrder, recordsThrough: UInt64 = 0)
  /// The answer to a query.
  indirect case state(StateMessage)
  /// The answer to an inquiry.
  case answer(InquiryAnswer)
  /// A change of the hub's records, or a part of one.
  indirect case recordChange(RecordChange)
  /// The hub ends in good order: what follows is no silence.
  case goodbye
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
