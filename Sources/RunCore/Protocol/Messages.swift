/// The content of a frame from a peer to the hub.
package enum PeerMessage: Hashable, Sendable {
  /// Asks for a session.
  case hello(Hello)
  /// A command.
  case command(CommandTransmission)
  /// Samples, in order.
  case samples([SampleTransmission])
  /// Asks for a sign of life, and states within what time the next ping comes, in real time (``Heartbeat/intervals``).
  /// The pong repeats the number; the round trip is the last one that the peer measured.
  case ping(UInt64, nextWithin: BusDuration, roundTrip: BusDuration? = nil)
  /// Asks for the newest snapshot.
  case query
  /// Ends the session.
  case goodbye
  /// Asks for one thing without a session. Within a session it carries a command from the spool of the peer's machine.
  case request(Request)
  /// Items of numbered streams, newest values, and their acknowledgements.
  case delivery(DeliveryMessage)
  /// A question about what the hub holds.
  case inquire(Inquiry)
  /// Asks for the next change of the hub's records.
  case fetchRecord(RecordFetch)
  /// Asks to be paired, or whether the sender's key is paired. It needs no session.
  case pair(PairingRequest)
  /// Announces the key that will replace the sender's own when it is first used. It needs no session.
  case announceKey(KeyFingerprint)
  /// Asks something of the hub about rooms; each stage of the answer comes as ``HubMessage/room(_:_:)``.
  indirect case room(RoomAsk)
}

/// A frame from a peer to the hub.
package struct PeerFrame: Hashable, Sendable {
  /// The session's number from the welcome; 0 before it, and in a request without a session.
  package var session: UInt64
  /// The peer's monotonic clock at the moment of sending, in nanoseconds.
  package var sentAt: BusTime
  /// The message.
  package var message: PeerMessage

  /// A frame from its parts.
  package init(session: UInt64, sentAt: BusTime, message: PeerMessage) {
    self.session = session
    self.sentAt = sentAt
    self.message = message
  }
}

/// The content of a frame from the hub to one peer.
package enum HubMessage: Hashable, Sendable {
  /// Opens a session.
  indirect case welcome(Welcome)
  /// The hub did not accept the peer or its frame.
  case refused(Refusal)
  /// A stage of a command that was sent in a request.
  indirect case receipt(Receipt)
  /// Items of numbered streams, newest values, and their acknowledgements.
  case delivery(DeliveryMessage)
  /// The answer to a ping: its number, the order of the newest snapshot, and the number of the last record change. With
  /// number 0 it answers no ping: the hub sends it to tell the last record change.
  case pong(UInt64, SnapshotOrder, recordsThrough: UInt64 = 0)
  /// The answer to a query.
  indirect case state(StateMessage)
  /// The answer to an inquiry.
  case answer(InquiryAnswer)
  /// A change of the hub's records, or a part of one.
  indirect case recordChange(RecordChange)
  /// The answer to a pairing request, or to an announced key.
  indirect case pairing(PairingAnswer)
  /// What becomes of an ask about rooms.
  indirect case room(Identifier<RoomAskTag>, RoomAnswer)
  /// The hub stops in good order, so the peer must not raise an alarm about its silence.
  case goodbye
}

/// A frame from the hub to one peer.
package struct HubFrame: Hashable, Sendable {
  /// The number of the session to which it belongs.
  package var session: UInt64
  /// The message.
  package var message: HubMessage

  /// A frame from its parts.
  package init(session: UInt64, message: HubMessage) {
    self.session = session
    self.message = message
  }
}
