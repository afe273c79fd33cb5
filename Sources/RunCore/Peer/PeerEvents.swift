// The events that a peer core receives, and the actions that it returns.
extension PeerCore {
  /// What can happen to a peer.
  package enum Event: Sendable {
    /// The peer starts: the first event of all.
    case started
    /// The control connection is made.
    case linkUp
    /// The control connection is lost.
    case linkDown
    /// A connection could not be made, for a reason that does not pass by itself: another hub's keys, or no hub at all.
    case linkRefused(String)
    /// The app has disconnected the peer, for example in the background: the connection is gone, and nothing is
    /// received.
    case suspended
    /// The app has reconnected the peer; a connection is being made.
    case resumed
    /// The hub sent a frame to this peer.
    case frame(HubFrame)
    /// The hub published an event.
    case event(BusEvent)
    /// A button was pressed.
    case press(Command)
    /// Sensors produced readings. Those of one event go out together.
    case samples([Sample])
    /// The app posts a message for the hub.
    case post(AppMessage, DeliveryClass)
    /// The app has a message handler from now on, or has none any more.
    case handling(Bool)
    /// The app's handler has returned for the messages of a stream up to this sequence. `handlerGeneration` is that of
    /// the ``HandlerCall`` which handed them over.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64? = nil)
    /// The app's handler has failed for the message with this sequence; the text gives the reason in one line.
    case failed(StreamID, UInt64, String)
    /// Commands are in this machine's spool; the event may repeat known ones.
    case spooled([ForwardedCommand])
    /// A caller on this machine asks what this node holds. The number comes back in ``Action/answer(_:_:)``.
    case inquire(Inquiry, UInt64)
    /// A part of a record was read.
    indirect case recordRead(RecordReading, for: RecordAsker)
    /// The app asks the hub what the hub holds.
    case ask(Inquiry)
    /// Announce to the hub the key that replaces this machine's own when it is first used.
    case announceKey(KeyFingerprint)
    /// A frame could not be sent: the link's queue is full.
    case sendFailed
    /// A commit is durable.
    case committed(CommitID)
    /// A commit failed and was rolled back, for a reason that may pass (a full disk).
    case commitFailed(CommitID)
    /// Time has passed, and a deadline may have come.
    case deadline
    /// The node is to end. What has gathered becomes durable, then ``Action/ended`` follows.
    case ending

    /// One reading of a sensor; see ``samples(_:)``.
    package static func sample(_ sample: Sample) -> Event { .samples([sample]) }
  }

  /// What the driver has to do for a peer, in the order in which the actions are returned.
  package enum Action: Hashable, Sendable {
    /// Send a frame to the hub.
    case send(PeerFrame)
    /// Subscribe to these topics at this endpoint.
    case subscribe(String, [Topic])
    /// Make these writes durable in one transaction, then feed ``Event/committed(_:)``.
    case commit(CommitID, [StoreOperation])
    /// One of this peer's presses reached a stage.
    case receipt(Receipt)
    /// One of this app's messages reached a stage.
    case messageReceipt(MessageReceipt)
    /// One of this app's messages was refused.
    case refusePost(MessageID, PostRefusal)
    /// Hand a message to the app. If the call has a sequence, feed ``Event/handled(_:through:handlerGeneration:)`` or
    /// ``Event/failed(_:_:_:)`` afterwards.
    case hand(HandlerCall)
    /// A command from the spool has its verdict, so its file can be removed.
    case spooledCommandJudged(CommandID)
    /// The answer to an inquiry at this node.
    case answer(InquiryAnswer, UInt64)
    /// Read a part of a kept record, from a byte of its body on, then feed ``Event/recordRead(_:for:)``.
    case readRecord(RunID, from: Int, RecordAsker)
    /// A record of the hub was stored here or removed here, and that is durable.
    indirect case record(RecordNews)
    /// The hub's answer to the oldest question that waits for one.
    case answered(InquiryAnswer)
    /// The state changed: the snapshot to show.
    indirect case show(Snapshot)
    /// What the lock screen shows has changed.
    indirect case showLive(LiveActivity)
    /// The hub published an event, or sent a snapshot that is news.
    case hear(BusEvent)
    /// The hub became reachable or unreachable.
    case reachability(Bool)
    /// The view became stale or fresh, or the hub has said goodbye.
    indirect case view(ViewState)
    /// The hub has been silent for too long while a run is on: the run may have stopped. Told once in a silence.
    case hubLost(HubLost)
    /// A hub that this peer did not know has welcomed it: this machine has joined the bus.
    case met
    /// The hub told this paired device about its bus, and something of it is news. With a key, the hub knows that key
    /// of this machine from now on.
    case enrolled(Enrolment, announced: KeyFingerprint? = nil)
    /// The hub refuses this peer for good.
    case fail(Refusal)
    /// A line for the log.
    case note(String)
    /// Everything is durable: the sockets can close.
    case ended
  }
}
