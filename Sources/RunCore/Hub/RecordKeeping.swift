/// What a hub knows of runs that are over: whose records are kept, were removed, or are still to be made.
struct RecordKeeping: Sendable {
  /// A run whose record is to be made, or made anew.
  struct Expected: Sendable {
    var record: ExpectedRecord
    /// When to make it: at once after the stop, and some time after a part of the run that came later.
    var dueAt: BusTime
    /// Whether a part of the run came since its journal was requested.
    var hasChanged = false
  }

  /// How long, in real time, parts that come after the stop gather, so that they make one new version and not one each.
  static let quiet = BusDuration.seconds(60)

  var kept: [RunID: RecordSummary] = [:] { didSet { edition += 1 } }
  var removed: [RunID: UInt64] = [:] { didSet { edition += 1 } }
  var expected: [RunID: Expected] = [:] {
    didSet {
      edition += 1
      firstDue = expected.values.lazy.map(\.dueAt).min()
    }
  }
  /// Runs that never become records.
  var discarded: Set<RunID> { didSet { edition += 1 } }
  /// The runs whose journals are kept, and when each ended.
  var journals: [RunID: BusTime] { didSet { edition += 1 } }
  /// The run whose journal was requested. One is read at a time, to bound the memory.
  var reading: RunID? { didSet { edition += 1 } }
  /// Counts the changes of the tables above, so that values derived from them are recomputed after changes only.
  private(set) var edition = 1
  /// When the next journal can be dropped, and the inputs from which that was computed.
  private var journalDue: (edition: Int, present: RunID?, at: BusTime?) = (0, nil, nil)
  /// When the first of ``expected`` is due. Cached, because every event asks for it and there may be tens of thousands.
  private var firstDue: BusTime?
  /// Questions that wait for a due record to be made.
  var questions: [(inquiry: Inquiry, number: UInt64, until: BusTime)] = []
  /// The bytes received so far of a record that is being uploaded.
  var upload: [UInt8] = []
  /// The number of the last change of each record, removed ones included. Peers ask for changes by these numbers.
  private var changes: [RunID: UInt64]
  private var lastChange: UInt64
  /// Ranges of numbers that no change in this store has: above a key, up to its value.
  private var skipped: [UInt64: UInt64]
  /// The last change that is durable, and so may be told to peers.
  private(set) var durableChange: UInt64

  init(_ history: HubHistory, term: UInt64, now: BusTime) {
    for record in history.records { kept[record.runID] = record }
    removed = history.removedRecords
    discarded = history.discarded
    journals = history.endedJournals
    changes = history.recordChanges
    // A number in a damaged store may be so high that none is left for the next change.
    durableChange = min(changes.values.max() ?? 0, 1 << 62)
    // Numbers begin above those of every earlier incarnation, lost ones included, because peers remember how far they
    // have come.
    lastChange = max(durableChange, HubTerm.numbers(in: term))
    skipped = history.skippedChanges
    skipped[durableChange] = lastChange
    for record in history.expectedRecords {
      expected[record.runID] = Expected(record: record, dueAt: now)
      firstDue = now
    }
  }

  /// Whether there is a record of a run, was one, or is to be one.
  func knows(_ run: RunID) -> Bool {
    kept[run] != nil || removed[run] != nil || expected[run] != nil || discarded.contains(run) || journals[run] != nil
  }

  /// When the next record is to be made, or a question has waited for long enough.
  var deadline: BusTime? { BusTime.earliest(reading == nil ? firstDue : nil, questions.first?.until) }

  /// The record that has been due for longest.
  func nextDue(at now: BusTime) -> (run: RunID, expected: Expected)? {
    expected.lazy.filter { $0.value.dueAt <= now }.min { ($0.value.dueAt, $0.key) < ($1.value.dueAt, $1.key) }
      .map { ($0.key, $0.value) }
  }

  /// Whether a record is due that is not made yet.
  func hasDue(at now: BusTime) -> Bool { reading != nil || expected.values.contains { $0.dueAt <= now } }

  /// Gives the next change number to a record.
  mutating func change(_ run: RunID) -> UInt64 {
    lastChange += 1
    changes[run] = lastChange
    return lastChange
  }

  /// Notes that a change is durable.
  mutating func makeDurable(_ change: UInt64) { durableChange = max(durableChange, change) }

  /// The write that stores which numbers this incarnation skips. This store may be an older copy that replaced one with
  /// higher numbers.
  var skip: StoreOperation {
    .skipChanges(after: durableChange, through: skipped[durableChange] ?? durableChange)
  }

  /// The last change that this store has in common with a peer whose last change has a number that was skipped here;
  /// `nil` if the number may be one of this store's.
  func lastCommon(with change: UInt64) -> UInt64? { skipped.first { $0.key < change && change <= $0.value }?.key }

  /// The record with the first change after a number, and that change's number.
  func next(after change: UInt64) -> (run: RunID, change: UInt64)? {
    changes.filter { $0.value > change }.min { $0.value < $1.value }.map { ($0.key, $0.value) }
  }

  // MARK: Journals

  /// When the next journal can be dropped. There may be many journals, so this is recomputed only after a change.
  mutating func journalDeadline(present: RunID?) -> BusTime? {
    if journalDue.edition != edition || journalDue.present != present {
      var first: BusTime?
      for (run, endedAt) in journals where isJournalComplete(run, present: present) {
        first = BusTime.earliest(first, endedAt)
      }
      journalDue = (edition, present, first.map { $0 + ControlHistory.age + BusDuration(nanoseconds: 1) })
    }
    return journalDue.at
  }

  /// Removes and returns the runs that have been over for more than a day, whose journals can be dropped.
  mutating func takeJournals(present: RunID?, at now: BusTime) -> [RunID] {
    let due = journals.filter {
      isJournalComplete($0.key, present: present) && now - $0.value > ControlHistory.age
    }.keys.sorted()
    for run in due { journals[run] = nil }
    return due
  }

  /// Whether a run's journal is no longer needed: the run has a record, was removed or was discarded. The last run's
  /// journal is needed until the next run begins, because the state is computed from it.
  private func isJournalComplete(_ run: RunID, present: RunID?) -> Bool {
    run != present && expected[run] == nil && reading != run
      && (kept[run] != nil || removed[run] != nil || discarded.contains(run))
  }

  /// The version number of a run's next record.
  func nextVersion(of run: RunID) -> UInt64 { max(kept[run]?.version ?? 0, removed[run] ?? 0) + 1 }

  /// Postpones a record, so that what came while its journal was read can gather.
  mutating func putOff(_ run: RunID, to due: BusTime) { expected[run]?.dueAt = due }

  /// Expects the record of a run at a moment, or earlier if it is expected earlier already.
  ///
  /// - Returns: the write that makes this durable; `nil` if the run's owner has removed its record. It is returned
  ///   again for a run that is expected already, because the earlier one may not be committed yet.
  mutating func expect(
    _ run: RunID, isConflicted: Bool = false, dueAt: BusTime
  ) -> StoreOperation? {
    guard removed[run] == nil else { return nil }
    if var known = expected[run] {
      known.dueAt = min(known.dueAt, dueAt)
      known.hasChanged = true
      expected[run] = known
      return .expectRecord(known.record)
    }
    let record = ExpectedRecord(runID: run, isConflicted: isConflicted || kept[run]?.isConflicted ?? false)
    expected[run] = Expected(record: record, dueAt: dueAt, hasChanged: true)
    return .expectRecord(record)
  }
}
