/// What follows a commit. A part adds it to the turn together with its writes, and the core gives it back to the part
/// once these are durable.
///
/// Hub and peer have one vocabulary, because both owe and receive streams. `Action` is what the core's driver can do.
enum Durable<Action: Sendable>: Sendable {
  /// The driver acts.
  case act(Action)

  // Streams to and from another store.

  /// Rows up to this sequence may be sent.
  case sendable(OutboundStreamID, through: UInt64, durabilityGeneration: UInt64)
  /// A stream is processed up to this mark. These are the newly processed messages, if it carries messages.
  case processed(StreamID, StreamMark, [AppMessage] = [], bindingGeneration: UInt64 = 0)
  /// The sender of a stream is due an acknowledgement.
  case acknowledge(StreamID)

  // The app's messages and newest values for another store. The courier of that store carries this out.

  /// This version of a key may be sent, unless a newer one has replaced it.
  indirect case valueSendable(StoreID, key: String, version: UInt64)
  /// A received value is durable.
  indirect case valueReceived(LatestReceived)

  // Records.

  /// The change of the records with this number is durable; with what the app hears of it, if that is anything.
  indirect case recordChanged(RecordNews?, UInt64)

  // A hub's own.

  /// Tells the command's sender, wherever it is connected by then.
  indirect case answer(Receipt, AcceptedCommand)
  indirect case publishSnapshot(Snapshot)
  /// Restarts the schedule of ticks now that the transition is durable.
  case anchor
  /// Welcomes a peer in the session that said hello only: a later session may wait for further writes.
  case welcome(ConnectionID, session: UInt64)
  /// Makes the records that are due.
  case makeRecords
  /// Tells a peer of a removed record, in the session in which it asked.
  indirect case tellChange(RecordChange, ConnectionID, session: UInt64)
  /// Tells a device that its key is paired.
  case tellPaired(KeyFingerprint, ConnectionID)
  /// Answers a request.
  indirect case reply(HubMessage, ConnectionID)
  /// Answers a peer's inquiry, in the session in which it asked.
  case tell(InquiryAnswer, ConnectionID, session: UInt64)
  /// Ends the hub once everything is durable: peers are told that this is a normal end.
  case farewell

  /// Rows of a room are durable.
  indirect case room(DeskReceipt)

  // A peer's own.

  /// Says hello with the new store id, so that the streams begin anew.
  case greet
  /// Raises the alarm with this number.
  case alarm(UInt64)

  /// The other store of the courier that carries this out; `nil` if none does.
  var courier: StoreID? {
    switch self {
    case .sendable(let stream, _, _): stream.kind == .messages ? stream.receiver : nil
    case .processed(let stream, _, _, _): stream.kind == .messages ? stream.sender : nil
    case .valueSendable(let store, _, _): store
    case .valueReceived(let row): row.store
    case .act, .acknowledge, .recordChanged, .answer, .publishSnapshot, .anchor, .welcome, .makeRecords, .tellChange,
      .tellPaired, .reply, .tell, .farewell, .room, .greet, .alarm:
      nil
    }
  }

  /// The same for the store that follows another store of its device: the newest values that this node sends move with it.
  func moved(from store: StoreID, to heir: StoreID) -> Self {
    if case .valueSendable(store, let key, let version) = self {
      return .valueSendable(heir, key: key, version: version)
    }
    return self
  }
}
