// What goes into a hub, and what comes out.
extension HubCore {
  /// What can happen to a hub.
  public enum Event: Sendable {
    /// It begins: the first event of all.
    case started
    /// The sockets are open; where events are published.
    case opened(eventsEndpoint: String)
    /// A peer spoke.
    case frame(ConnectionID, PeerFrame)
    /// Somebody sent a command of a kind that this version does not know.
    case unsupported(ConnectionID, UnsupportedCommand)
    /// Somebody sent what is no frame; why, in one line.
    case malformed(ConnectionID, String)
    /// Somebody said hello in another version of the wire, so foreign that the rest cannot be read.
    case foreign(ConnectionID, version: UInt32)
    /// A connection is no more.
    case gone(ConnectionID)
    /// Somebody subscribed to a topic.
    case subscribed(Topic)
    /// Somebody pressed a button on the hub itself.
    case press(Command)
    /// A sensor of the hub itself spoke.
    case sample(Sample)
    /// The app has a message for a device.
    case post(AppMessage, DeliveryClass, to: DeviceID)
    /// The app takes messages from now on, or does not any more.
    case handling(Bool)
    /// The app's handler has returned for the messages of a stream up to here, in the turn in which they were handed over.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64? = nil)
    /// The app's handler has failed for one; why, in one line.
    case failed(StreamID, UInt64, String)
    /// Presses were left in this machine's spool. Whoever drives the machine names all of them again until each has its
    /// verdict: one for which there was no room is taken in then, one that is known changes nothing.
    case spooled([ForwardedCommand])
    /// Somebody asks what this node holds; the number comes back in ``Action/answer(_:_:)``.
    case inquire(Inquiry, UInt64)
    /// Somebody says what is to become of the run that was on when the last life ended.
    case recover(RecoveryAnswer)
    /// What the journal holds of a run, in any order.
    case journal(RunID, [LedgerEntry])
    /// A part of a record was read.
    indirect case recordRead(RecordReading, for: RecordAsker)
    /// What waits to become a record becomes one now; for whoever looks into the store of a hub that does not run.
    case makeDueRecords
    /// A frame could not be handed over: the queue to this connection is full.
    case sendFailed(ConnectionID)
    /// A commit is durable.
    case committed(CommitID)
    /// A commit failed and was rolled back, for a reason that may pass (a full disk).
    case commitFailed(CommitID)
    /// Time has passed: perhaps a deadline has come.
    case deadline
    /// The node ends: what has gathered becomes durable, then ``Action/ended`` comes.
    case ending
  }

  /// What a hub wants done, in order.
  public enum Action: Hashable, Sendable {
    /// Open the sockets, then say ``Event/opened(eventsEndpoint:)``.
    case open
    /// Answer a connection.
    case send(HubFrame, to: ConnectionID)
    /// Answer a connection with bytes that came ready-made in ``UnsupportedCommand/reply``.
    case forward([UInt8], to: ConnectionID)
    /// Publish to all subscribers of the event's topic.
    case publish(BusEvent)
    /// Make these writes durable, all or none, then say ``Event/committed(_:)``.
    case commit(CommitID, [StoreOperation])
    /// One of the hub's own presses reached a stage.
    case receipt(Receipt)
    /// One of this app's messages reached a stage.
    case messageReceipt(MessageReceipt)
    /// One of this app's messages is not taken.
    case refusePost(MessageID, PostRefusal)
    /// Hand a message to the app; with a place, say what became of it.
    case hand(HandlerCall)
    /// A run that arrived whole is kept beside the one that is on.
    indirect case keep(WholeRun)
    /// Read what the journal holds of a run, then say ``Event/journal(_:_:)``.
    case readJournal(RunID)
    /// Read a part of a kept record, from a byte of its body on, then say ``Event/recordRead(_:for:)``.
    case readRecord(RunID, from: Int, RecordAsker)
    /// A record is kept, or was removed; that is durable.
    indirect case record(RecordNews)
    /// The verdict of a spooled press is known: its file can go.
    case spooledCommandJudged(CommandID)
    /// The answer to an inquiry.
    case answer(InquiryAnswer, UInt64)
    /// The state changed: what the hub itself shows.
    indirect case show(Snapshot)
    /// What became of a run that was on when the last life ended; a run that goes on is not worth a word.
    case recovered(RunRecovery)
    /// For the log: something was dropped, and why.
    case note(String)
    /// Everything is durable: the sockets can close.
    case ended
  }
}
