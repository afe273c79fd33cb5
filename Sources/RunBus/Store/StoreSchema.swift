import Foundation
import GRDB
import RunCore

/// The tables of a store and how older ones become the present ones. A migration that was released never changes.
///
/// Every commit writes each page that it touched: so there are few indexes, and pages are small.
/// Unsigned numbers are kept by their bit pattern, identifiers as 16 bytes, times in nanoseconds.
enum StoreSchema {
  /// Bytes; rows are about 200. It counts when the file is made.
  static let pageSize = 2048

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: version1)
      var generator = SystemRandomNumberGenerator()
      let insert = "INSERT INTO meta (key, value) VALUES (?, ?)"
      try db.execute(sql: insert, arguments: ["node", NodeID(using: &generator).data])
      try db.execute(sql: insert, arguments: ["store", StoreID(using: &generator).data])
      try db.execute(sql: insert, arguments: ["term", 0])
    }
    return migrator
  }

  /// The columns of a press but its command's id, the same in `accepted` and `verdicts`.
  private static let press = """
    kind TEXT NOT NULL, source BLOB NOT NULL, run BLOB, base_revision INTEGER,
    base_command BLOB, run_offset INTEGER, device TEXT NOT NULL, sender BLOB NOT NULL, stream TEXT NOT NULL,
    sequence INTEGER NOT NULL, pressed_at INTEGER NOT NULL, arrived_at INTEGER NOT NULL, flags INTEGER NOT NULL
    """

  private static let version1 = """
    CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
    CREATE TABLE clock (
      one INTEGER PRIMARY KEY CHECK (one = 1), real INTEGER NOT NULL, bus INTEGER NOT NULL, boot TEXT NOT NULL,
      wall REAL NOT NULL);
    CREATE TABLE accepted (
      command BLOB PRIMARY KEY NOT NULL, position INTEGER NOT NULL, \(press), class TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE verdicts (
      position INTEGER PRIMARY KEY, command BLOB NOT NULL, \(press), outcome TEXT NOT NULL, other_command BLOB, reason TEXT, phase TEXT,
      verdict_run BLOB, term INTEGER NOT NULL, revision INTEGER NOT NULL, effective_at INTEGER,
      judged_at INTEGER NOT NULL);
    CREATE INDEX verdicts_judged_at ON verdicts (judged_at);
    CREATE TABLE watermarks (
      sender BLOB NOT NULL, stream TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (sender, stream)
    ) WITHOUT ROWID;
    CREATE TABLE runs (number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, first_position INTEGER NOT NULL);
    CREATE TABLE journal (
      position INTEGER PRIMARY KEY, run INTEGER NOT NULL, time INTEGER NOT NULL, kind INTEGER NOT NULL,
      payload BLOB NOT NULL);
    CREATE INDEX journal_transitions ON journal (position) WHERE kind = 1;
    CREATE TABLE aliases (run BLOB PRIMARY KEY NOT NULL, of BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE windows (
      position INTEGER PRIMARY KEY, first INTEGER NOT NULL, deadline INTEGER NOT NULL, applied BLOB NOT NULL);
    """
}
