// What goes into a peer, and what comes out.
extension PeerCore {
  /// What can happen to a peer.
  public enum Event: Sendable {
    /// It begins: the first event of all.
    case started
    /// The control connection stands.
    case linkUp
    /// The control connection is gone.
    case linkDown
    /// The peer has gone off the air by itself (an app in the background): the connection is gone, and nobody listens.
    case suspended
    /// It is on the air again; a connection is being made.
    case resumed
    /// The hub spoke to this peer.
    case frame(HubFrame)
    /// The hub published.
    case event(BusEvent)
    /// Somebody pressed a button.
    case press(Command)
    /// A sensor spoke.
    case sample(Sample)
    /// The app has a message for the hub.
    case post(AppMessage, DeliveryClass)
    /// The app takes messages from now on, or does not any more.
    case handling(Bool)
    /// The app's handler has returned for the messages of a stream up to here, in the turn in which they were handed over.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64? = nil)
    /// The app's handler has failed for one; why, in one line.
    case failed(StreamID, UInt64, String)
    /// Presses were left in this machine's spool; those that are known already are named again.
    case spooled([ForwardedCommand])
    /// Somebody asks what this node holds; the number comes back in ``Action/answer(_:_:)``.
    case inquire(Inquiry, UInt64)
    /// A part of a record was read.
    indirect case recordRead(RecordReading, for: RecordAsker)
    /// The app asks the hub what it holds.
    case ask(Inquiry)
    /// A frame could not be handed over: the link's queue is full.
    case sendFailed
    /// A commit is durable.
    case committed(CommitID)
    /// A commit failed and was rolled back, for a reason that may pass (a full disk).
    case commitFailed(CommitID)
    /// Time has passed: perhaps a deadline has come.
    case deadline
    /// The node ends: what has gathered becomes durable, then ``Action/ended`` comes.
    case ending
  }

  /// What a peer wants done, in order.
  public enum Action: Hashable, Sendable {
    /// Send to the hub.
    case send(PeerFrame)
    /// Subscribe to these topics at this endpoint.
    case subscribe(String, [Topic])
    /// Make these writes durable, all or none, then say ``Event/committed(_:)``.
    case commit(CommitID, [StoreOperation])
    /// One of this peer's presses reached a stage.
    case receipt(Receipt)
    /// One of this app's messages reached a stage.
    case messageReceipt(MessageReceipt)
    /// One of this app's messages is not taken.
    case refusePost(MessageID, PostRefusal)
    /// Hand a message to the app; with a place, say what became of it.
    case hand(HandlerCall)
    /// The verdict of a spooled press is known: its file can go.
    case spooledCommandJudged(CommandID)
    /// The answer to an inquiry at this node.
    case answer(InquiryAnswer, UInt64)
    /// Read a part of a kept record, from a byte of its body on, then say ``Event/recordRead(_:for:)``.
    case readRecord(RunID, from: Int, RecordAsker)
    /// A record of the hub's is kept here, too, or was removed; that is durable.
    indirect case record(RecordNews)
    /// The hub's answer to the oldest question that waits for one.
    case answered(InquiryAnswer)
    /// The state changed.
    indirect case show(Snapshot)
    /// Something was heard on the bus.
    case hear(BusEvent)
    /// The hub became reachable or unreachable.
    case reachability(Bool)
    /// The view became stale or is fresh again, or the hub has gone off duty.
    indirect case view(ViewState)
    /// The hub has been silent for too long while a run is on: the run may have stopped. Once in a silence.
    case hubLost(HubLost)
    /// The first welcome of a hub has come: this machine has met the bus.
    case met
    /// The hub does not take this peer, ever.
    case fail(Refusal)
    /// For the log.
    case note(String)
    /// Everything is durable: the sockets can close.
    case ended
  }
}
