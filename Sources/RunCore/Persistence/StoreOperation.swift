/// One write of a node. The store applies the operations of a commit in order, in one transaction.
package enum StoreOperation: Hashable, Sendable {
  /// Sets the hub's term; on a peer the highest one that it has seen.
  case setTerm(UInt64)
  /// Adds a command to the accepted ones, which wait for a verdict.
  case accept(AcceptedCommand, Admission)
  /// Another store has sent the same command, so the hub will send the verdict to that store as well.
  case claim(CommandID, StoreID)
  /// Changes how an accepted command waits.
  case reclassify(CommandID, Admission)
  /// Moves the watermark of a stream.
  case setWatermark(StreamID, StreamMark)
  /// Deletes the watermark of a stream that has ended: that of a store that was given up.
  case forgetStream(StreamID)
  /// Keeps the verdict of a command, for senders that ask again and to recognize a repeated command. The command's row
  /// among the accepted ones is deleted with its claims.
  indirect case judge(Verdict, AcceptedCommand, judgedAt: BusTime)
  /// Deletes verdicts that were judged before a moment.
  case forgetVerdicts(judgedBefore: BusTime)
  /// Appends an entry to the journal of a run.
  case append(RunID, LedgerEntry)
  /// Marks a run whose record must be made, because the run is over or was amended.
  case expectRecord(ExpectedRecord)
  /// Removes that mark, because the run gets no record.
  case forgetExpected(RunID)
  /// Keeps a record instead of an older version, and removes the mark that it must be made. `change` is its number
  /// among the hub's record changes.
  indirect case keepRecord(RunRecord, change: UInt64)
  /// Notes when a run ended. The hub deletes its journal when no reading or press can change the run any more.
  case endJournal(RunID, at: BusTime)
  /// Notes the wall-clock time at which a run began, in seconds since 1970, so that its record has it whatever the
  /// clock is set to later. The run's journal has an entry.
  case dateRun(RunID, wallSeconds: Double)
  /// Deletes the journal of a run, except its time line, and the run's aliases. The store deletes the entries in
  /// small steps, so that no commit waits for all of them.
  case dropJournal(RunID)
  /// Notes that a run was on when the hub died, at `since`, and waits for a recovery decision; `nil` after the
  /// decision.
  case setUnanswered(RunID, since: BusTime?)
  /// Notes that a run never gets a record. Its journal is kept as long as any other.
  case discard(RunID)
  /// Changes title, note and version of a kept record.
  indirect case editRecord(RecordSummary, change: UInt64)
  /// Deletes a record and keeps the fact, with the version of the removal.
  case removeRecord(RunID, version: UInt64, change: UInt64)
  /// On a hub: no record change has a number above `after` and up to `through`. A peer that has such a number got it
  /// from a history that this store has lost.
  case skipChanges(after: UInt64, through: UInt64)
  /// On a peer: sets the number of the last record change that it has stored.
  case setRecordsThrough(UInt64)
  /// Makes a run id an alias of a run.
  case setAlias(RunID, of: RunID)
  /// Adds a settled window that applied something.
  case settle(SettledWindow)
  /// Sets the clock mark: bus time at the moment `real` of the monotonic clock. The store adds boot id and wall time.
  case setClock(real: BusTime, bus: BusTime)
  /// Gives this store another id, because it has lost history or begins anew with another hub.
  case setStoreID(StoreID)
  /// On a peer: sets the hub's store, to which the peer's streams go, and the hub's device.
  case setHub(StoreID, DeviceID)
  /// On a peer: keeps the last snapshot, so that a restart shows nothing older, and presses refer to the right state.
  indirect case setView(Snapshot)
  /// On a peer: sets what the hub's next silence leads to, and the last alarm.
  case setFailureMark(HubFailureMark)
  /// On a hub: adds or updates a known device.
  case meet(KnownDevice)
  /// On a hub: deletes a known device, with the newest values from it and for it.
  case forgetDevice(DeviceID)
  /// On a hub: sets the identity that a device's store belongs to.
  case own(StoreID, ConnectionIdentity)
  /// On a hub: deletes the owner of a store.
  case disown(StoreID)
  /// On a hub: adds or updates a paired device, by its key.
  indirect case pair(PairedDevice)
  /// On a hub: removes a key from the list of paired devices.
  case unpair(KeyFingerprint)
  /// On a hub: sets the version of the list of paired devices, and the highest one that a device has stated.
  case setMemberVersion(UInt64, heard: UInt64)

  /// On a hub: adds rows to what is kept of a room.
  indirect case keepRoom(RoomID, [RoomRow])
  /// On a hub: deletes what is kept of a room.
  case forgetRoom(RoomID)

  // The outbox, and the newest values.

  /// Adds a row to the outbox.
  case enqueue(OutboxRow)
  /// The receiver has durably processed a stream up to here. The store deletes the rows, except those of commands,
  /// which stay until their verdict is known.
  case acknowledge(OutboundStreamID, through: UInt64)
  /// Deletes the row of a command whose verdict is known.
  case remove(OutboundStreamID, sequence: UInt64)
  /// Turns a row into a tombstone, because its item was cancelled, has expired, or was put in quarantine.
  case tombstone(OutboundStreamID, sequence: UInt64)
  /// Counts one more try for the rows of a range, which may be sent from now on.
  case countTries(OutboundStreamID, from: UInt64, through: UInt64)
  /// Moves the rows of a stream to another one and numbers them 1, 2, 3 … in their order. Their tries stay.
  case renumber(OutboundStreamID, to: OutboundStreamID)
  /// Deletes the rows of a stream and its acknowledgement.
  case drop(OutboundStreamID)
  /// Moves `since` of every row by a span and marks it as uncertain, because the clock has a new origin after a reboot.
  case shiftRows(by: BusDuration)
  /// Puts a message in quarantine. Another operation turns its row into a tombstone.
  case quarantine(QuarantinedMessage)
  /// Removes a message from quarantine, because it was deleted or is sent again under a new id.
  case unquarantine(MessageID)
  /// Sets the newest value of a key for another device, or that it was acknowledged.
  case setLatest(LatestRow)
  /// Sets the newest value of a key from another device.
  case receiveLatest(LatestReceived)
}

/// A reading of all clocks at one moment, from which the next incarnation continues bus time.
package struct ClockMark: Hashable, Sendable {
  /// The reading of the monotonic clock.
  package let real: BusTime
  /// Bus time at that moment.
  package let bus: BusTime
  /// The boot of the machine to which the monotonic clock belongs; empty when unknown.
  package let bootID: String
  /// Seconds since 1970 at that moment, used only across boots.
  package let wallSeconds: Double

  /// A mark from its parts.
  package init(real: BusTime, bus: BusTime, bootID: String, wallSeconds: Double) {
    self.real = real
    self.bus = bus
    self.bootID = bootID
    self.wallSeconds = wallSeconds
  }
}

/// Everything that a hub reads from its store when it starts.
package struct HubHistory: Sendable {
  /// The last term; 0 before the first start.
  package var term: UInt64 = 0
  /// The last transitions of all runs, oldest first: at most ``ControlHistory/transitionsMax`` that made a revision,
  /// and at most as many amendments.
  package var transitions: [PastTransition] = []
  /// The last settled windows, oldest first, at most ``ControlHistory/windowsMax``.
  package var windows: [SettledWindow] = []
  /// Accepted commands without a verdict, in order of acceptance.
  package var accepted: [(press: AcceptedCommand, class: Admission)] = []
  /// The further stores that have sent an accepted command, ordered by their ids.
  package var claims: [CommandID: [StoreID]] = [:]
  /// Kept verdicts, in order of judgement, with the press that each answers and when it was judged.
  package var verdicts: [(verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime)] = []
  /// Outbox, watermarks, quarantine and newest values.
  package var delivery = DeliveryHistory()
  /// The summaries of the kept records.
  package var records: [RecordSummary] = []
  /// The records that were removed, with the version of the removal.
  package var removedRecords: [RunID: UInt64] = [:]
  /// The number of the last change of each record, removed ones included.
  package var recordChanges: [RunID: UInt64] = [:]
  /// Ranges of numbers that no record change has: above each key, up to its value. The newest
  /// ``ControlHistory/skipsMax`` ranges.
  package var skippedChanges: [UInt64: UInt64] = [:]
  /// The records that must still be made.
  package var expectedRecords: [ExpectedRecord] = []
  /// The runs that are over and whose journals are still kept, with their end.
  package var endedJournals: [RunID: BusTime] = [:]
  /// When runs whose journals are kept began, by the wall clock of then, in seconds since 1970.
  package var runDates: [RunID: Double] = [:]
  /// The devices that this hub has met.
  package var devices: [KnownDevice] = []
  /// The identity that each device's store belongs to.
  package var storeOwners: [StoreID: ConnectionIdentity] = [:]
  /// The paired devices.
  package var members = MemberHistory()
  /// Aliases, with the runs that they name.
  package var aliases: [RunID: RunID] = [:]
  /// Runs that wait for a recovery decision, with the moment at which the hub died.
  package var unanswered: [RunID: BusTime] = [:]
  /// Runs that never get a record.
  package var discarded: Set<RunID> = []
  /// The journal of ``presentRun``, in order of position.
  package var journal: [LedgerEntry] = []
  /// The highest journal position ever used.
  package var lastPosition: UInt64 = 0
  /// What is kept of rooms, in the order in which it was kept.
  package var rooms: [RoomID: [RoomRow]] = [:]
  /// The last clock mark.
  package var clock: ClockMark?

  /// A history without a past.
  package init() {}

  /// The run of the last transition that made a revision; it is on or over. Amendments and whole runs make none.
  package var presentRun: RunID? {
    transitions.reduce(nil as PastTransition?) { last, next in
      next.revision > last?.revision ?? 0 ? next : last
    }?.runID
  }
}

/// Everything that a peer reads from its store when it starts.
package struct PeerHistory: Sendable {
  /// The highest hub term seen; 0 when there was none.
  package var term: UInt64 = 0
  /// The clocks when the store was last opened, to find the age of its rows. `bus` has no meaning on a peer.
  package var clock: ClockMark?
  /// The hub's store, to which the streams go, and its device; `nil` before the first welcome.
  package var hub: (storeID: StoreID, deviceID: DeviceID)?
  /// The last snapshot.
  package var view: Snapshot?
  /// What the hub's next silence leads to, and the last alarm.
  package var failureMark = HubFailureMark()
  /// The summaries of the hub's records that are kept here.
  package var records: [RecordSummary] = []
  /// The runs whose copies were removed here, with the versions of the removals.
  package var removedRecords: [RunID: UInt64] = [:]
  /// The number of the last record change that is stored here.
  package var recordsThrough: UInt64 = 0
  /// Outbox, watermarks, quarantine and newest values.
  package var delivery = DeliveryHistory()

  /// A history without a past.
  package init() {}
}

/// A list of paired devices as a store keeps it.
package struct MemberHistory: Hashable, Sendable {
  /// The devices, the revoked ones included.
  package var devices: [PairedDevice] = []
  /// How often the list was changed.
  package var version: UInt64 = 0
  /// The highest version that a paired device has stated.
  package var versionHeard: UInt64 = 0

  /// A list without devices.
  package init() {}
}
