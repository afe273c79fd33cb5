import Foundation
import GRDB
import RunCore

/// The tables of a log on one machine. Processes of different versions share the file, so a change of it is another
/// version, which older programs refuse.
enum LogSchema {
  /// "RBtl".
  static let application: Int32 = 0x5242_746C
  static let version: Int32 = 1

  /// `log` has one row: which log it is; the time below which no entry comes any more; when that was on the wall clock,
  /// for the next boot; and the time before which rooms were looked at: those that are left have a run. `clock` has the
  /// row of the present boot: the log's time less the machine's monotonic clock.
  ///
  /// SQLite keeps these texts in the file, where they show that its tables are these.
  static let statements = [
    """
    CREATE TABLE log (
      one INTEGER PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, last INTEGER NOT NULL, wall INTEGER NOT NULL,
      swept INTEGER NOT NULL)
    """,
    "CREATE TABLE clock (boot TEXT PRIMARY KEY NOT NULL, anchor INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE entry (
      pos INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, room BLOB NOT NULL, author BLOB NOT NULL,
      body BLOB NOT NULL)
    """,
    "CREATE INDEX entry_room ON entry (room, pos, author)",
    """
    CREATE TABLE advert (
      author BLOB NOT NULL, class TEXT NOT NULL, time INTEGER NOT NULL, body BLOB NOT NULL,
      PRIMARY KEY (author, class)) WITHOUT ROWID
    """,
    "CREATE TABLE name (nick TEXT PRIMARY KEY NOT NULL, member BLOB NOT NULL UNIQUE) WITHOUT ROWID",
  ]

  /// Makes the tables of a new log, whose clock begins with the wall clock.
  static func make(_ db: Database, _ id: LogID, wall: Int64) throws {
    try db.execute(sql: "PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
    for statement in statements { try db.execute(sql: statement) }
    try db.execute(
      sql: "INSERT INTO log (one, id, last, wall, swept) VALUES (1, ?, ?, ?, 0)",
      arguments: [Data(id.bytes), wall, wall])
  }

  /// Whether a file has these tables and nothing else, as no trigger.
  static func isMade(_ db: Database) throws -> Bool {
    let found = try String.fetchAll(
      db.cachedStatement(sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL"))
    return found.sorted() == made
  }
  private static let made = (statements + ["CREATE TABLE sqlite_sequence(name,seq)"]).sorted()
}
