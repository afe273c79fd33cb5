/// One write of a node. The operations of a commit are durable together or not at all, in their order.
public enum StoreOperation: Hashable, Sendable {
  /// The hub's life number; on a peer the highest one it has seen.
  case setTerm(UInt64)
  /// A command was accepted: its row appears.
  case accept(AcceptedCommand, Admission)
  /// One more store has sent an accepted command: its verdict is owed to that one as well.
  case claim(CommandID, StoreID)
  /// An accepted command stands otherwise now.
  case reclassify(CommandID, Admission)
  /// The watermark of a stream moves.
  case setWatermark(StreamID, StreamMark)
  /// A stream has ended and will not be heard of again (a one-shot's, a store that was given up): its watermark goes.
  case forgetStream(StreamID)
  /// A command was judged: its row among the accepted goes with all claims to it, its verdict is kept for the sender and for dedupe.
  indirect case judge(Verdict, AcceptedCommand, judgedAt: BusTime)
  /// Verdicts judged before this moment are too old to be asked for.
  case forgetVerdicts(judgedBefore: BusTime)
  /// An entry is appended to the journal of a run.
  case append(RunID, LedgerEntry)
  /// A run is over, or was changed after that: its record is still to be made.
  case expectRecord(ExpectedRecord)
  /// There is nothing to make a record of.
  case forgetExpected(RunID)
  /// A record is kept, in the place of an older version, by this change of the hub's; it is expected no more.
  indirect case keepRecord(RunRecord, change: UInt64)
  /// A run is over since this moment: from then on its journal is kept as long as readings and presses can change it.
  case endJournal(RunID, at: BusTime)
  /// Deletes the journal of a run except its transitions, and the run's other names. The store works in pieces, so that no
  /// commit waits for all of it.
  case dropJournal(RunID)
  /// A run was on when its hub died, at this moment, and waits for somebody to say what is to become of it; `nil` once
  /// somebody has.
  case setUnanswered(RunID, since: BusTime?)
  /// A run never becomes a record. Its journal stays as long as any other's.
  case discard(RunID)
  /// A kept record is called otherwise: version, title and note change.
  indirect case editRecord(RecordSummary, change: UInt64)
  /// A record goes; that it did stays, with this version.
  case removeRecord(RunID, version: UInt64, change: UInt64)
  /// On a hub: from now on no change of a record gets a number above the first of these, up to the second. Whoever has
  /// taken in one of them has it from a history that this store has lost.
  case skipChanges(after: UInt64, through: UInt64)
  /// On a peer: the changes of the hub's records are taken in up to here.
  case setRecordsThrough(UInt64)
  /// A run's id is another name for a run.
  case setAlias(RunID, of: RunID)
  /// A window that applied something has settled.
  case settle(SettledWindow)
  /// Where bus time stood when the monotonic clock showed `real`; the store adds which boot that was, and wall time.
  case setClock(real: BusTime, bus: BusTime)
  /// This store takes another id: it has lost history, or begins anew with another hub.
  case setStoreID(StoreID)
  /// On a peer: the hub's store that its streams go to, and the device that holds it.
  case setHub(StoreID, DeviceID)
  /// On a peer: the last state that it saw, without its metrics, so that a later life knows what its buttons mean.
  indirect case setView(Snapshot)
  /// On a peer: what the next silence of the hub comes to, and the last alarm.
  case setFailureMark(HubFailureMark)
  /// On a hub: a device was met, or was heard again.
  case meet(KnownDevice)

  /// On a hub: a device is forgotten, with the newest values that it sent and was sent.
  case forgetDevice(DeviceID)

  // What is owed.

  /// A row is owed.
  case enqueue(OutboxRow)
  /// The receiver has durably processed a stream up to here. The rows go, but those of commands, which stay until their
  /// verdict is known.
  case acknowledge(OutboundStreamID, through: UInt64)
  /// One row goes: a command whose verdict is known.
  case remove(OutboundStreamID, sequence: UInt64)
  /// One row becomes a tombstone: it was taken back, has expired, or was set aside.
  case tombstone(OutboundStreamID, sequence: UInt64)
  /// The rows of this range may be sent from now on: each counts one try more.
  case countTries(OutboundStreamID, from: UInt64, through: UInt64)
  /// What is owed by one stream is owed by another one from now on, numbered 1, 2, 3 … in its order, as often
  /// tried as it was.
  case renumber(OutboundStreamID, to: OutboundStreamID)
  /// What is owed by a stream is owed no more; what was acknowledged of it is forgotten.
  case drop(OutboundStreamID)
  /// The clock that `since` is read on has another origin (a reboot): every row moves by this and is uncertain now.
  case shiftRows(by: BusDuration)
  /// A message is set aside; its row is buried by an operation of its own.
  case quarantine(QuarantinedMessage)
  /// A quarantined message is thrown away, or goes out again under a new id.
  case unquarantine(MessageID)
  /// The newest value of a key that is to go out, or that it has arrived.
  case setLatest(LatestRow)
  /// The newest value of a key that came in.
  case receiveLatest(LatestReceived)
}

/// What a clock showed, so that bus time goes on in the next life.
public struct ClockMark: Hashable, Sendable, Codable {
  /// The monotonic clock.
  public let real: BusTime
  /// Bus time at that reading.
  public let bus: BusTime
  /// Which boot of the machine the monotonic clock belongs to; empty when unknown.
  public let bootID: String
  /// Seconds since 1970 at that reading, used only across boots.
  public let wallSeconds: Double

  /// A mark from its parts.
  public init(real: BusTime, bus: BusTime, bootID: String, wallSeconds: Double) {
    self.real = real
    self.bus = bus
    self.bootID = bootID
    self.wallSeconds = wallSeconds
  }
}

/// All that a hub's store holds when it opens.
public struct HubHistory: Sendable {
  /// The last life's number; 0 when there was none.
  public var term: UInt64 = 0
  /// The last transitions of all runs, oldest first: at most ``ControlHistory/transitionsMax`` that made a revision, and as
  /// many that amended a run.
  public var transitions: [PastTransition] = []
  /// The last settled windows, oldest first, at most ``ControlHistory/windowsMax``.
  public var windows: [SettledWindow] = []
  /// Accepted commands without a verdict, in order of acceptance.
  public var accepted: [(press: AcceptedCommand, class: Admission)] = []
  /// The other stores that have sent an accepted command, in the order of their ids.
  public var claims: [CommandID: [StoreID]] = [:]
  /// Kept verdicts, in order of judgement, with the press that each answers and when it was judged.
  public var verdicts: [(verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime)] = []
  /// What was sent and received.
  public var delivery = DeliveryHistory()
  /// The records that are kept, without their bodies.
  public var records: [RecordSummary] = []
  /// The records that were removed, with the version that says so.
  public var removedRecords: [RunID: UInt64] = [:]
  /// The number of the last change of each record, removed ones included.
  public var recordChanges: [RunID: UInt64] = [:]
  /// Numbers that no change of a record has: above the first of each pair, up to the second. The newest
  /// ``ControlHistory/skipsMax`` pairs.
  public var skippedChanges: [UInt64: UInt64] = [:]
  /// The records that are still to be made.
  public var expectedRecords: [ExpectedRecord] = []
  /// The runs that are over and whose journals are kept still, and since when they are over.
  public var endedJournals: [RunID: BusTime] = [:]
  /// The devices that this hub has met.
  public var devices: [KnownDevice] = []
  /// Run ids that are another name for a run.
  public var aliases: [RunID: RunID] = [:]
  /// Runs that wait for somebody to say what is to become of them, and when their hub died.
  public var unanswered: [RunID: BusTime] = [:]
  /// Runs that never become records.
  public var discarded: Set<RunID> = []
  /// The journal of ``presentRun``, in order of position.
  public var journal: [LedgerEntry] = []
  /// The highest journal position ever used.
  public var lastPosition: UInt64 = 0
  /// The last clock mark.
  public var clock: ClockMark?

  /// A history without a past.
  public init() {}

  /// The run that is on, or the last one: that of the last transition that made a revision. What amended a run that was
  /// over, and runs that arrived whole, made none.
  public var presentRun: RunID? {
    transitions.reduce(nil as PastTransition?) { last, next in
      next.revision > last?.revision ?? 0 ? next : last
    }?.runID
  }
}

/// All that a peer's store holds when it opens.
public struct PeerHistory: Sendable {
  /// The highest hub term seen; 0 when there was none.
  public var term: UInt64 = 0
  /// What the clocks showed when the store was last opened: how old its rows are now. `bus` says nothing on a peer.
  public var clock: ClockMark?
  /// The hub's store and device that the streams go to; `nil` before the first welcome.
  public var hub: (storeID: StoreID, deviceID: DeviceID)?
  /// The last state seen, without its metrics.
  public var view: Snapshot?
  /// What the next silence of the hub comes to, and the last alarm.
  public var failureMark = HubFailureMark()
  /// The hub's records that have come, without their bodies.
  public var records: [RecordSummary] = []
  /// The last change of the hub's records that was taken in.
  public var recordsThrough: UInt64 = 0
  /// What was sent and received.
  public var delivery = DeliveryHistory()

  /// A history without a past.
  public init() {}
}
