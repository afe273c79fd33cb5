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

  /// The highest position in a table; 0 when it has none.
  static func lastPosition(in table: String, _ db: Database) throws -> Int64 {
    let sql = "SELECT MAX(position) FROM \(table) WHERE position BETWEEN 1 AND \(StoredNumber.own.upperBound)"
    return try Int64.fetchOne(try db.cachedStatement(sql: sql)) ?? 0
  }
}
