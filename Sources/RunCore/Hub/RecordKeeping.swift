/// What a hub knows of the runs that are over: which are kept, which were removed, and which are still to be made.
struct RecordKeeping: Sendable {
  /// A run whose record is to be made, or made anew.
  struct Expected: Sendable {
    var record: ExpectedRecord
    /// When: at once after the stop, and after what came later once it has been quiet for a while.
    var dueAt: BusTime
    /// Something came since its journal was asked for.
    var hasChanged = false
  }

  /// What comes after the stop makes one new version, not one for each sample: real time without any of it.
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
  /// Since when the runs are over whose journals are kept.
  var journals: [RunID: BusTime] { didSet { edition += 1 } }
  /// The run whose journal was asked for: one at a time, so that many never fill the memory.
  var reading: RunID? { didSet { edition += 1 } }
  /// Counts the changes of all these: what follows from them need not be looked for at every event.
  private(set) var edition = 1
  /// When the first of ``expected`` is due. There may be tens of thousands, and it is asked for at every event.
  private var firstDue: BusTime?
  /// Questions that wait for a record that is due.
  var questions: [(inquiry: Inquiry, number: UInt64, until: BusTime)] = []
  /// What has come of a record from elsewhere.
  var upload: [UInt8] = []
  /// The last change of each record, removed ones included: what peers are behind of.
  private var changes: [RunID: UInt64]
  private var lastChange: UInt64
  /// Numbers that no change here has: above a key, up to its value.
  private var skipped: [UInt64: UInt64]
  /// The last change that is durable: what peers may hear of.
  private(set) var durableChange: UInt64

  init(_ history: HubHistory, term: UInt64, now: BusTime) {
    for record in history.records { kept[record.runID] = record }
    removed = history.removedRecords
    discarded = history.discarded
    journals = history.endedJournals
    changes = history.recordChanges
    // What a damaged store holds leaves no room for the next.
    durableChange = min(changes.values.max() ?? 0, 1 << 62)
    // Above all that an earlier life gave, even one that the store has forgotten: peers know which they have.
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

  /// A record is due that is not made yet.
  func hasDue(at now: BusTime) -> Bool { reading != nil || expected.values.contains { $0.dueAt <= now } }

  /// A record changes: the number of that.
  mutating func change(_ run: RunID) -> UInt64 {
    lastChange += 1
    changes[run] = lastChange
    return lastChange
  }

  /// A change is durable.
  mutating func makeDurable(_ change: UInt64) { durableChange = max(durableChange, change) }

  /// What makes durable which numbers this life leaves out: an older copy of the store may have come in the place of one
  /// that went further.
  var skip: StoreOperation {
    .skipChanges(after: durableChange, through: skipped[durableChange] ?? durableChange)
  }

  /// The last change that this history has in common with one that has come to a number which this one never gave; `nil`
  /// for a number that may be of this history.
  func lastCommon(with change: UInt64) -> UInt64? { skipped.first { $0.key < change && change <= $0.value }?.key }

  /// The record of the first change behind one.
  func next(after change: UInt64) -> (run: RunID, change: UInt64)? {
    changes.filter { $0.value > change }.min { $0.value < $1.value }.map { ($0.key, $0.value) }
  }

  /// The version that the next record of a run has.
  func nextVersion(of run: RunID) -> UInt64 { max(kept[run]?.version ?? 0, removed[run] ?? 0) + 1 }

  /// What came while the journal of a run was read gathers first.
  mutating func putOff(_ run: RunID, to due: BusTime) { expected[run]?.dueAt = due }

  /// The record of a run is due, and not later than was said before. What makes that durable; nothing for a run whose
  /// record was removed: its owner wants none. One that is expected already is said once more: what said it first may
  /// still gather.
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
