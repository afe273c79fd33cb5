import Foundation
import GRDB
import RunCore

/// Records as rows, with summary and body as bytes. The row of a removed record stays, with its version and without
/// summary and body.
enum RecordRows {
  static func write(_ operation: StoreOperation, _ db: StoreWriter) throws {
    switch operation {
    case .expectRecord(let record):
      try db.run(
        "INSERT OR REPLACE INTO expected_records (run, conflicted) VALUES (?, ?)",
        record.runID, record.isConflicted ? 1 : 0)
    case .forgetExpected(let run): try forget(run, db)
    case .keepRecord(let record, let change):
      try forget(record.runID, db)
      try db.run(
        """
        INSERT INTO records (run, version, change, summary, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, change = excluded.change,
          summary = excluded.summary, body = excluded.body
        """,
        record.runID, Int64(bitPattern: record.summary.version), Int64(bitPattern: change),
        record.summary.encoded, record.body.encoded)
    case .editRecord(let summary, let change):
      try db.run(
        "UPDATE records SET version = ?, change = ?, summary = ? WHERE run = ? AND summary IS NOT NULL",
        Int64(bitPattern: summary.version), Int64(bitPattern: change), summary.encoded, summary.runID)
    case .removeRecord(let run, let version, let change):
      try db.run(
        """
        INSERT INTO records (run, version, change) VALUES (?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, change = excluded.change, summary = NULL,
          body = NULL
        """, run, Int64(bitPattern: version), Int64(bitPattern: change))
    case .skipChanges(let after, let through):
      try db.run(
        "INSERT OR REPLACE INTO skipped_changes (after, through) VALUES (?, ?)",
        Int64(bitPattern: after), Int64(bitPattern: through))
      try db.run(
        """
        DELETE FROM skipped_changes
        WHERE after <= (SELECT after FROM skipped_changes ORDER BY after DESC LIMIT 1 OFFSET ?)
        """, Int64(ControlHistory.skipsMax))
    case .setRecordsThrough(let change):
      try db.run(
        "INSERT OR REPLACE INTO meta (key, value) VALUES ('records_through', ?)", Int64(bitPattern: change))
    default: break
    }
  }

  private static func forget(_ run: RunID, _ db: StoreWriter) throws {
    try db.run("DELETE FROM expected_records WHERE run = ?", run)
  }

  static func part(of run: RunID, from: Int, _ db: StoreWriter) throws -> StoredRecord? {
    try db.first(
      """
      SELECT change, summary, LENGTH(body), SUBSTR(body, ?, ?) FROM records WHERE run = ? AND body IS NOT NULL
      """, from + 1, RecordPart.bytesMax, run
    ) { row in
      guard let change = row.integer(0).flatMap({ StoredNumber.own.contains($0) ? UInt64($0) : nil }),
        let summary = row.bytes(1).flatMap({ RecordSummary(encoded: $0) }), let total = row.integer(2),
        let bytes = row.bytes(3)
      else { return nil }
      return StoredRecord(
        change: change, summary: summary,
        part: RecordPart(runID: run, version: summary.version, from: from, bytes: bytes, total: Int(total)))
    }
  }

  /// The last change of the hub's records that a peer has processed.
  static func through(_ db: Database) throws -> UInt64 {
    try StoreNumbers.read("records_through", db) ?? 0
  }
}
