import Foundation
import GRDB
import RunCore

/// Kept records as rows: the summary and the body of each as bytes. A removed one keeps its row, with its version and
/// without both.
enum RecordRows {
  static func write(_ operation: StoreOperation, _ db: Database) throws {
    switch operation {
    case .expectRecord(let record):
      try db.run(
        "INSERT OR REPLACE INTO expected_records (run, conflicted) VALUES (?, ?)",
        [record.runID.data, record.isConflicted ? 1 : 0])
    case .forgetExpected(let run): try forget(run, db)
    case .keepRecord(let record):
      try forget(record.runID, db)
      try db.run(
        """
        INSERT INTO records (run, version, summary, body) VALUES (?, ?, ?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, summary = excluded.summary, body = excluded.body
        """,
        [
          record.runID.data, Int64(bitPattern: record.summary.version), Data(record.summary.encoded),
          Data(record.body.encoded),
        ])
    case .editRecord(let summary):
      try db.run(
        "UPDATE records SET version = ?, summary = ? WHERE run = ? AND summary IS NOT NULL",
        [Int64(bitPattern: summary.version), Data(summary.encoded), summary.runID.data])
    case .removeRecord(let run, let version):
      try db.run(
        """
        INSERT INTO records (run, version) VALUES (?, ?)
        ON CONFLICT (run) DO UPDATE SET version = excluded.version, summary = NULL, body = NULL
        """, [run.data, Int64(bitPattern: version)])
    default: break
    }
  }

  private static func forget(_ run: RunID, _ db: Database) throws {
    try db.run("DELETE FROM expected_records WHERE run = ?", [run.data])
  }

  static func part(of run: RunID, from: Int, _ db: Database) throws -> RecordPart? {
    let sql = """
      SELECT version, LENGTH(body) AS total, SUBSTR(body, ?, ?) AS part FROM records WHERE run = ? AND body IS NOT NULL
      """
    let arguments: StatementArguments = [from + 1, RecordPart.bytesMax, run.data]
    guard let row = try Row.fetchOne(db, sql: sql, arguments: arguments), let version = row.integer("version"),
      let total = row.integer("total"), let bytes = row.data("part")
    else { return nil }
    return RecordPart(
      runID: run, version: UInt64(bitPattern: version), from: from, bytes: Array(bytes), total: Int(total))
  }
}
