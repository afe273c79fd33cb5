/// What a store holds of records, hub's and peer's alike.
package struct StoredRecords: Sendable {
  /// The kept records.
  package private(set) var kept: [RunID: RunRecord] = [:]
  /// The runs whose records were removed, with the versions of the removals.
  package private(set) var removed: [RunID: UInt64] = [:]
  /// The number of the last change of each record, removed ones included.
  package private(set) var changes: [RunID: UInt64] = [:]
  /// The records that must still be made.
  package private(set) var expected: [RunID: ExpectedRecord] = [:]
  /// On a peer: the number of the last change that it has stored.
  package private(set) var through: UInt64 = 0
  private var skipped: [UInt64: UInt64] = [:]

  /// A part of a record's body; `nil` when there is no record of the run.
  package func part(of run: RunID, from: Int) -> StoredRecord? {
    guard let record = kept[run] else { return nil }
    let bytes = record.body.encoded
    return StoredRecord(
      change: changes[run] ?? 0, summary: record.summary,
      part: RecordPart(
        runID: run, version: record.summary.version, from: from,
        bytes: Array(bytes.dropFirst(from).prefix(RecordPart.bytesMax)), total: bytes.count))
  }

  mutating func expect(_ record: ExpectedRecord) { expected[record.runID] = record }
  mutating func forgetExpected(_ run: RunID) { expected[run] = nil }

  mutating func keep(_ record: RunRecord, change: UInt64) {
    kept[record.runID] = record
    changes[record.runID] = change
    (removed[record.runID], expected[record.runID]) = (nil, nil)
  }

  /// A record that is not kept stays unknown.
  mutating func edit(_ summary: RecordSummary, change: UInt64) {
    guard kept[summary.runID] != nil else { return }
    kept[summary.runID]?.summary = summary
    changes[summary.runID] = change
  }

  mutating func remove(_ run: RunID, version: UInt64, change: UInt64) {
    kept[run] = nil
    removed[run] = version
    changes[run] = change
  }

  mutating func skip(after: UInt64, through: UInt64) {
    skipped[after] = through
    if skipped.count > ControlHistory.skipsMax, let lowest = skipped.keys.min() { skipped[lowest] = nil }
  }

  mutating func setThrough(_ change: UInt64) { through = change }

  func fill(_ history: inout HubHistory) {
    history.records = summaries
    history.removedRecords = removed
    history.recordChanges = changes
    history.skippedChanges = skipped
    history.expectedRecords = expected.values.sorted { $0.runID < $1.runID }
  }

  func fill(_ history: inout PeerHistory) {
    history.records = summaries
    history.removedRecords = removed
    history.recordsThrough = through
  }

  private var summaries: [RecordSummary] { kept.values.map(\.summary).sorted { $0.runID < $1.runID } }
}
