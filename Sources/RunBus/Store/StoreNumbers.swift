import GRDB
import RunCore

/// The numbers in `meta`, and the positions of rows. A number out of range (``StoredNumber``) counts as none.
enum StoreNumbers {
  /// The condition for the numbers that cannot be read.
  static let areDamaged = """
    key IN ('term', 'last_position', 'records_through', 'last_device') AND
    (TYPEOF(value) <> 'integer' OR value NOT BETWEEN 0 AND \(StoredNumber.own.upperBound)
      OR key = 'last_device' AND value > \(StoredNumber.devices.upperBound))
    """

  static func read(_ key: String, _ db: Database) throws -> UInt64? {
    try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])?
      .counter("value", in: StoredNumber.own)
  }

  /// The highest position in the journal; 0 when it is empty.
  static func lastJournalPosition(_ db: Database) throws -> Int64 {
    try Int64.fetchOne(
      db, sql: "SELECT MAX(position) FROM journal WHERE position BETWEEN 1 AND ?",
      arguments: [StoredNumber.own.upperBound]) ?? 0
  }
}
