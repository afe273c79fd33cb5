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

  var kept: [RunID: RecordSummary] = [:]
  var removed: [RunID: UInt64] = [:]
  var expected: [RunID: Expected] = [:]
  /// The run whose journal was asked for: one at a time, so that many never fill the memory.
  var reading: RunID?
  /// What has come of a record from elsewhere.
  var upload: [UInt8] = []

  init(_ history: HubHistory, now: BusTime) {
    for record in history.records { kept[record.runID] = record }
    removed = history.removedRecords
    for record in history.expectedRecords { expected[record.runID] = Expected(record: record, dueAt: now) }
  }

  /// When the next record is to be made.
  var deadline: BusTime? {
    reading == nil ? expected.values.lazy.map(\.dueAt).min() : nil
  }

  /// The version that the next record of a run has.
  func nextVersion(of run: RunID) -> UInt64 { max(kept[run]?.version ?? 0, removed[run] ?? 0) + 1 }

  /// The record of a run is due. What makes that durable, unless it is already; nothing for a run whose record was
  /// removed: its owner wants none.
  mutating func expect(
    _ run: RunID, isConflicted: Bool = false, dueAt: BusTime
  ) -> StoreOperation? {
    guard removed[run] == nil else { return nil }
    if var known = expected[run] {
      known.dueAt = dueAt
      known.hasChanged = true
      expected[run] = known
      return nil
    }
    let record = ExpectedRecord(runID: run, isConflicted: isConflicted || kept[run]?.isConflicted ?? false)
    expected[run] = Expected(record: record, dueAt: dueAt, hasChanged: true)
    return .expectRecord(record)
  }
}
