package import RunCore

/// What a disk of a test or a simulated world holds, hub's or peer's alike. What no node should ever write is a fault.
package struct WorldDisk {
  package private(set) var state = StoredState()
  package private(set) var faults: [String] = []
  /// What came once more since a hub began to tell again what it had told: another one, or one that has lost history.
  /// Each record may, once; `nil` while none may.
  private var toldAgain: Set<RunID>?

  /// In half of the worlds.
  private var log: WorldLog?

  package init(hasLog: Bool = false) { if hasLog { log = WorldLog() } }

  /// Writes a commit, durably. What its operations do was applied already.
  mutating func note(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    log?.append(operations, bootID: bootID, wallSeconds: wallSeconds)
  }

  /// A crash meets the write of a commit, of which only a part came through. Returns whether the commit is durable.
  mutating func tear(at part: Double) -> Bool { log?.tear(at: part) ?? (part > 0.5) }

  /// What the next start reads is what the tables and the log have.
  mutating func restart() {
    guard let found = log?.restart() else { return }
    state = found.state
    if let fault = found.fault { faults.append(fault) }
  }

  /// From now on each record may come as it came before, once.
  package mutating func hearsAgain() { toldAgain = [] }

  package mutating func apply(_ operation: StoreOperation, bootID: String = "boot", wallSeconds: Double = 0) {
    check(operation)
    state.apply(operation, bootID: bootID, wallSeconds: wallSeconds)
  }

  /// Checks an operation before it is applied.
  private mutating func check(_ operation: StoreOperation) {
    switch operation {
    case .setWatermark(let stream, let mark):
      if let known = state.delivery.watermarks[stream], mark.sequence < known.sequence {
        faults.append("\(stream.kind) watermark \(mark.sequence) after \(known.sequence)")
      }
    case .enqueue(let row): check(row)
    case .append(let run, let entry):
      // The file store reads a run's journal from the position of its first entry on.
      if let first = state.runs.journals[run]?.first, entry.position < first.position {
        faults.append("position \(entry.position) of \(run) lies below the run's first, \(first.position)")
      }
    case .keepRecord(let record, let change):
      let run = record.runID
      if state.records.kept[run]?.summary == record.summary, toldAgain?.insert(run).inserted != true {
        faults.append("\(run) is kept as it was already")
      }
      check(change)
    case .editRecord(let summary, let change):
      if state.records.kept[summary.runID] == nil { faults.append("\(summary.runID) is edited, which is not kept") }
      check(change)
    case .removeRecord(_, _, let change): check(change)
    case .setRecordsThrough(let change): if change == 0 { hearsAgain() }
    default: break
    }
  }

  private mutating func check(_ change: UInt64) {
    let through = state.records.through
    if change <= through { faults.append("change \(change) after \(through)") }
  }

  private mutating func check(_ row: OutboxRow) {
    let known = state.delivery.row(row.stream, row.sequence)
    if let old = known?.item, old != row.item { faults.append("a row takes another's place") }
    let count = (state.delivery.rows[row.stream]?.count ?? 0) + (known == nil ? 1 : 0)
    if count > Self.rowsMax(row.stream.kind) { faults.append("\(count) \(row.stream.kind) are owed") }
  }

  /// Bounds that docs/guarantees.md promises; reserved sequence numbers of samples are extra tombstones.
  private static func rowsMax(_ kind: StreamID.Kind) -> Int {
    switch kind {
    case .commands, .verdicts: 1024
    case .samples: 36_000 + 16
    case .messages: 16_384
    }
  }
}

extension StoredRecords {
  /// What a store answers that is asked for a record.
  package func reading(_ run: RunID, from: Int) -> RecordReading {
    part(of: run, from: from).map(RecordReading.found) ?? .missing
  }

  /// The highest number of a change.
  var lastChange: UInt64 { changes.values.max() ?? 0 }
}

extension StoredDelivery {
  /// The row of the item with an id.
  func row(of id: MessageID) -> OutboxRow? {
    for rows in rows.values {
      if let row = rows.first(where: { $0.item?.id == id }) { return row }
    }
    return nil
  }

  /// How many rows of a kind hold an item; tombstones do not count.
  func owed(_ kind: StreamID.Kind) -> Int {
    rows.filter { $0.key.kind == kind }.values.reduce(0) { sum, rows in sum + rows.count { $0.item != nil } }
  }

  /// How many rows of a kind are owed to a store, tombstones included.
  func owed(to store: StoreID, _ kind: StreamID.Kind) -> Int {
    rows[OutboundStreamID(receiver: store, kind: kind)]?.count ?? 0
  }
}
