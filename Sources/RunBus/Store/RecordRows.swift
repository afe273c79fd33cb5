import Foundation
import GRDB
import RunCore

/// Records as rows, with summary and body as bytes. The row of a removed record stays, with its version and without
/// summary and body.
enum RecordRows {
  static func write(_ operation: StoreOperation, _ db: Database) throws {
    switch operation {
    case .expectRecord(let record):
      try db.run(
        "INSERT OR REPLACE INTO expected_records (run, conflicted) VALUES (?, ?)",
        [record.runID.data, record.isConflicted ? 1 : 0])
    case .forgetExpected(let run): try forget(run, db)
    case .keepRecord(let record, let change):
      try forget(record.runID, db)
      try db.run(
        """
        INSERT INTO records (run, version, change, summary, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, change = excluded.change,
          summary = excluded.summary, body = excluded.body
        """,
        [
          record.runID.data, Int64(bitPattern: record.summary.version), Int64(bitPattern: change),
          Data(record.summary.encoded), Data(record.body.encoded),
        ])
    case .editRecord(let summary, let change):
      try db.run(
        "UPDATE records SET version = ?, change = ?, summary = ? WHERE run = ? AND summary IS NOT NULL",
        [
          Int64(bitPattern: summary.version), Int64(bitPattern: change), Data(summary.encoded), summary.runID.data,
        ])
    case .removeRecord(let run, let version, let change):
      try db.run(
        """
        INSERT INTO records (run, version, change) VALUES (?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, change = excluded.change, summary = NULL,
          body = NULL
        """, [run.data, Int64(bitPattern: version), Int64(bitPattern: change)])
    case .skipChanges(let after, let through):
      try db.run(
        "INSERT OR REPLACE INTO skipped_changes (after, through) VALUES (?, ?)",
        [Int64(bitPattern: after), Int64(bitPattern: through)])
      try db.run(
        """
        DELETE FROM skipped_changes
        WHERE after <= (SELECT after FROM skipped_changes ORDER BY after DESC LIMIT 1 OFFSET ?)
        """, [ControlHistory.skipsMax])
    case .setRecordsThrough(let change):
      try db.run(
        "INSERT OR REPLACE INTO meta (key, value) VALUES ('records_through', ?)", [Int64(bitPattern: change)])
    default: break
    }
  }

  private static func forget(_ run: RunID, _ db: Database) throws {
    try db.run("DELETE FROM expected_records WHERE run = ?", [run.data])
  }

  static func part(of run: RunID, from: Int, _ db: Database) throws -> StoredRecord? {
    let sql = """
      SELECT change, summary, LENGTH(body) AS total, SUBSTR(body, ?, ?) AS part FROM records
      WHERE run = ? AND body IS NOT NULL
      """
    let arguments: StatementArguments = [from + 1, RecordPart.bytesMax, run.data]
    guard let row = try Row.fetchOne(db, sql: sql, arguments: arguments),
      let change = row.counter("change", in: StoredNumber.own),
      let summary = row.data("summary").flatMap({ RecordSummary(encoded: Array($0)) }),
      let total = row.integer("total"), let bytes = row.data("part")
    else { return nil }
    return StoredRecord(
      change: change, summary: summary,
      part: RecordPart(runID: run, version: summary.version, from: from, bytes: Array(bytes), total: Int(total)))
  }

  /// The last change of the hub's records that a peer has processed.
  static func through(_ db: Database) throws -> UInt64 {
    try StoreNumbers.read("records_through", db) ?? 0
  }
}
