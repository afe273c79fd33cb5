package import RunCore

/// What a disk holds of runs that are over, hub's and peer's alike: every operation as its comment says, slow and obvious.
/// What no node should ever write is a fault.
package struct WorldRecordDisk {
  package private(set) var records: [RunID: RunRecord] = [:]
  package private(set) var removed: [RunID: UInt64] = [:]
  package private(set) var changes: [RunID: UInt64] = [:]
  package private(set) var expected: [RunID: ExpectedRecord] = [:]
  package private(set) var lastChange: UInt64 = 0
  package private(set) var through: UInt64 = 0
  private var skipped: [UInt64: UInt64] = [:]
  /// What came once more since a hub began to tell again what it had told: another one, or one that has lost history.
  /// Each record may, once; `nil` while none may.
  private var toldAgain: Set<RunID>?
  package private(set) var faults: [String] = []

  package init() {}

  /// From now on each record may come as it came before, once.
  package mutating func hearsAgain() { toldAgain = [] }

  /// Whether this was an operation of records.
  package mutating func apply(_ operation: StoreOperation) -> Bool {
    switch operation {
    case .expectRecord(let record): expected[record.runID] = record
    case .forgetExpected(let run): expected[run] = nil
    case .keepRecord(let record, let change):
      let run = record.runID
      if records[run]?.summary == record.summary, toldAgain?.insert(run).inserted != true {
        faults.append("\(run) is kept as it was already")
      }
      take(change, of: run)
      expected[run] = nil
      removed[run] = nil
      records[run] = record
    case .editRecord(let summary, let change):
      if records[summary.runID] == nil { faults.append("\(summary.runID) is edited, which is not kept") }
      take(change, of: summary.runID)
      records[summary.runID]?.summary = summary
    case .removeRecord(let run, let version, let change):
      take(change, of: run)
      records[run] = nil
      removed[run] = version
    case .skipChanges(let after, let through): skipped[after] = through
    case .setRecordsThrough(let change):
      through = change
      if change == 0 { hearsAgain() }
    default: return false
    }
    return true
  }

  private mutating func take(_ change: UInt64, of run: RunID) {
    if change <= through { faults.append("change \(change) after \(through)") }
    changes[run] = change
    lastChange = max(lastChange, change)
  }

  package func fill(_ history: inout HubHistory) {
    history.records = summaries
    history.removedRecords = removed
    history.recordChanges = changes
    history.skippedChanges = skipped
    history.expectedRecords = expected.values.sorted { $0.runID < $1.runID }
  }

  package func fill(_ history: inout PeerHistory) {
    history.records = summaries
    history.removedRecords = removed
    history.recordsThrough = through
  }

  private var summaries: [RecordSummary] { records.values.map(\.summary).sorted { $0.runID < $1.runID } }

  /// What a store answers that is asked for a record.
  package func reading(_ run: RunID, from: Int) -> RecordReading {
    guard let record = records[run], let change = changes[run] else { return .missing }
    let bytes = record.body.encoded
    return .found(
      StoredRecord(
        change: change, summary: record.summary,
        part: RecordPart(
          runID: run, version: record.summary.version, from: from,
          bytes: Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax)), total: bytes.count)))
  }
}
