// The events that a hub core receives, and the actions that it returns.
extension HubCore {
  /// What can happen to a hub.
  package enum Event: Sendable {
    /// The hub starts: the first event of all.
    case started
    /// A listener's sockets are open. It publishes events at this endpoint, empty if it publishes none, and its
    /// connections have these limits. Listeners are counted from 0.
    case opened(eventsEndpoint: String, listener: Int = 0, limits: ConnectionLimits = .full)
    /// A peer sent a frame. The identity is what the transport knows of the connection; the frame does not state it.
    case frame(ConnectionID, PeerFrame, by: ConnectionIdentity = .localOwner)
    /// A connection sent a command of a kind that this version does not know.
    case unsupported(ConnectionID, UnsupportedCommand, by: ConnectionIdentity = .localOwner)
    /// A connection sent bytes that are no frame; the text gives the reason in one line.
    case malformed(ConnectionID, String)
    /// A connection sent a frame of a kind that this version does not know.
    case unknown(ConnectionID)
    /// A connection said hello or made a request in another wire version, so the rest of the frame cannot be read.
    case foreign(ConnectionID, version: UInt32)
    /// A connection was closed or lost.
    case gone(ConnectionID)
    /// A subscription to a topic began.
    case subscribed(Topic)
    /// A connection with this identity takes memory from the transport.
    case burden(ConnectionBurden, by: ConnectionIdentity)
    /// A button was pressed on the hub itself.
    case press(Command)
    /// A sensor of the hub itself produced a reading.
    case sample(Sample)
    /// The app posts a message for a device.
    case post(AppMessage, DeliveryClass, to: DeviceID)
    /// The app has a message handler from now on, or has none any more.
    case handling(Bool)
    /// The app's handler has returned for the messages of a stream up to this sequence. `handlerGeneration` is that of
    /// the ``HandlerCall`` which handed them over.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64? = nil)
    /// The app's handler has failed for the message with this sequence; the text gives the reason in one line.
    case failed(StreamID, UInt64, String)
    /// Commands are in this machine's spool. The driver repeats the event with all of them until each has its verdict:
    /// one that was refused for lack of room is accepted then, and a known one changes nothing.
    case spooled([ForwardedCommand])
    /// A caller on this machine asks what this node holds. The number comes back in ``Action/answer(_:_:)``.
    case inquire(Inquiry, UInt64)
    /// Pairing opens for this token, which the driver has drawn from the system's random numbers. A caller on this
    /// machine asked for it with the numbered inquiry.
    case offerPairing(token: [UInt8], UInt64)
    /// The sockets for pairing requests cannot be opened.
    case pairingUnavailable
    /// The hub has another next key, or with `now` another key, as a caller on this machine asked with the numbered
    /// inquiry. With `now` all devices have to be paired again.
    case rotated(BusIdentity, now: Bool, UInt64)
    /// The hub's keys or addresses changed.
    case identified(BusIdentity)
    /// The app decides what becomes of the run that was on when the last incarnation ended.
    case recover(RecoveryAnswer)
    /// The journal entries of a run, in any order.
    case journal(RunID, [LedgerEntry])
    /// A part of a record was read.
    indirect case recordRead(RecordReading, for: RecordAsker)
    /// Something about rooms.
    indirect case room(RoomNews)
    /// All expected records are to be made now. Used to look into the store of a hub that does not run.
    case makeDueRecords
    /// A frame could not be sent: the queue to this connection is full.
    case sendFailed(ConnectionID)
    /// A commit is durable.
    case committed(CommitID)
    /// A commit failed and was rolled back, for a reason that may pass (a full disk).
    case commitFailed(CommitID)
    /// Time has passed, and a deadline may have come.
    case deadline
    /// The node is to end. What has gathered becomes durable, then ``Action/ended`` follows.
    case ending
  }

  /// What the driver has to do for a hub, in the order in which the actions are returned.
  package enum Action: Hashable, Sendable {
    /// Open the sockets of all listeners, then feed ``Event/opened(eventsEndpoint:listener:limits:)`` for each.
    case open
    /// Answer a connection.
    case send(HubFrame, to: ConnectionID)
    /// Answer a connection with the ready-made bytes of ``UnsupportedCommand/reply``.
    case forward([UInt8], to: ConnectionID)
    /// Publish to all subscribers of the event's topic.
    case publish(BusEvent)
    /// Make these writes durable in one transaction, then feed ``Event/committed(_:)``.
    case commit(CommitID, [StoreOperation])
    /// One of the hub's own presses reached a stage.
    case receipt(Receipt)
    /// One of this app's messages reached a stage.
    case messageReceipt(MessageReceipt)
    /// One of this app's messages was refused.
    case refusePost(MessageID, PostRefusal)
    /// Hand a message to the app. If the call has a sequence, feed ``Event/handled(_:through:handlerGeneration:)`` or
    /// ``Event/failed(_:_:_:)`` afterwards.
    case hand(HandlerCall)
    /// Tell the app that a run arrived whole and is kept beside the one that is on.
    indirect case keep(WholeRun)
    /// Read a run's journal, then feed ``Event/journal(_:_:)``.
    case readJournal(RunID)
    /// Read a part of a kept record, from a byte of its body on, then feed ``Event/recordRead(_:for:)``.
    case readRecord(RunID, from: Int, RecordAsker)
    /// A record was kept or removed, and that is durable.
    indirect case record(RecordNews)
    /// A command from the spool has its verdict, so its file can be removed.
    case spooledCommandJudged(CommandID)
    /// The answer to an inquiry.
    case answer(InquiryAnswer, UInt64)
    /// The state changed: the snapshot that the hub itself shows.
    indirect case show(Snapshot)
    /// What a lock screen of the hub itself shows.
    indirect case showLive(LiveActivity)
    /// What was decided about a run that was on when the last incarnation ended. A run that simply goes on causes no
    /// such action.
    case recovered(RunRecovery)
    /// A line for the log: something was dropped, and why.
    case note(String)
    /// Let in these keys from now on, and no others.
    case admit(Set<KeyFingerprint>)
    /// Cut all connections with keys, because a key is not let in any more. Devices with other keys connect again.
    case cutConnections
    /// Use the next key of the hub from now on: cut all connections with keys, then feed
    /// ``Event/identified(_:)``.
    case useNextKey
    /// Take pairing requests, or stop taking them.
    case listenForPairing(Bool)
    /// Something was refused that an identity may not do.
    case forbade(ConnectionIdentity, String)
    /// Something is to be done for rooms.
    indirect case room(RoomAct)
    /// Everything is durable: the sockets can close.
    case ended
  }
}
