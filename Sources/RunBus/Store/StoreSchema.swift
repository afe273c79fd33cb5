import Foundation
import GRDB
import RunCore

/// The number of the schema of this version's stores, for people who compare versions.
package let storeSchema = StoreSchema.schema

/// The tables of a store.
///
/// A table has the columns by which it is searched, and what is told of a row is one value in the form of the wire, with
/// a checksum (`Codec`, "What is stored" in the schema). What a row has besides is bookkeeping of the store, or a number
/// that SQL changes in many rows at once.
///
/// There is one schema and no migration yet: a file with another version mark is refused and left as it is. A change of
/// the tables, or of what their columns mean, raises ``schema``; a field or a kind that is added to a stored value does
/// not. CONTRIBUTING.md says how.
///
/// Every commit writes each page that it has touched, so there are few indexes and pages are small. Unsigned numbers
/// are stored by their bit pattern, identifiers as 16 bytes, times in nanoseconds.
enum StoreSchema {
  static let schema: UInt16 = 1
  /// The version in the mark. Those below 256 are of stores from before values were stored in the form of the wire.
  static let version: UInt16 = 256 + schema
  /// In bytes; a row has about 200. The size takes effect when a file is created.
  static let pageSize = 2048

  /// Makes the tables and the identity of a new store, in one transaction.
  static func make(_ db: Database) throws {
    try db.execute(sql: own + control + runs + records + delivery + peer)
    let insert = "INSERT INTO meta (key, value) VALUES (?, ?)"
    try db.execute(sql: insert, arguments: ["node", NodeID.random().data])
    try db.execute(sql: insert, arguments: ["store", StoreID.random().data])
    try db.execute(sql: insert, arguments: ["term", 0])
  }

  /// Whether a store has exactly the tables of this version.
  static func isMade(_ db: Database) throws -> Bool {
    let sql = "SELECT type, name, sql FROM sqlite_master WHERE name <> 'room_rows' ORDER BY type, name"
    let own = try DatabaseQueue().write { db in
      try make(db)
      return try Row.fetchAll(db, sql: sql)
    }
    return try Row.fetchAll(db, sql: sql) == own
  }

  /// What is kept of rooms, in the order in which it was kept. A hub makes this table with its first room: the stores of all
  /// others stay as they are.
  static let rooms: StaticString =
    "CREATE TABLE IF NOT EXISTS room_rows (position INTEGER PRIMARY KEY, room BLOB NOT NULL, row BLOB NOT NULL)"

  /// `meta` has the keys `node`, `store`, `term`, and from their first write on `role` (``StoreRole``), `last_position`
  /// (the highest position of the journal when a journal was dropped), `records_through` (a peer's last change of the
  /// hub's records) and `told` (what the last start has said about rows that cannot be read, a sentence a line).
  private static let own = """
    CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
    CREATE TABLE clock (
      one INTEGER PRIMARY KEY CHECK (one = 1), real INTEGER NOT NULL, bus INTEGER NOT NULL, boot TEXT NOT NULL,
      wall REAL NOT NULL);

    """

  /// `claims`: other stores that have sent a command that was already accepted.
  private static let control = """
    CREATE TABLE accepted (
      command BLOB PRIMARY KEY NOT NULL, position INTEGER NOT NULL, press BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE claims (command BLOB NOT NULL, store BLOB NOT NULL, PRIMARY KEY (command, store)) WITHOUT ROWID;
    CREATE TABLE verdicts (
      position INTEGER PRIMARY KEY, command BLOB NOT NULL, judged_at INTEGER NOT NULL, verdict BLOB NOT NULL);
    CREATE INDEX verdicts_judged_at ON verdicts (judged_at);
    CREATE TABLE windows (position INTEGER PRIMARY KEY, settled BLOB NOT NULL);

    """

  /// `runs`: when a run began by the wall clock of then, when it ended, and how far the sweep of its dropped journal has come (`swept_to` is -1 at its end).
  /// `recovery`: runs that were on when their hub died, with what the recovery waits for and what was decided; one row
  /// for each run that was asked about or discarded.
  ///
  /// `kind` is NULL for a reading; the index finds the last transitions, the last amendments, and kinds of a later version
  /// without a scan of the journal. `journal_devices` has the numbers by which entries name the devices of readings.
  private static let runs = """
    CREATE TABLE runs (
      number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, first_position INTEGER NOT NULL, began REAL,
      over_at INTEGER, swept_to INTEGER, sweep_until INTEGER);
    CREATE TABLE journal (
      position INTEGER PRIMARY KEY, run INTEGER NOT NULL, kind INTEGER, entry BLOB NOT NULL);
    CREATE INDEX journal_kinds ON journal (kind) WHERE kind IS NOT NULL;
    CREATE TABLE journal_devices (number INTEGER PRIMARY KEY, device BLOB NOT NULL);
    CREATE TABLE aliases (run BLOB PRIMARY KEY NOT NULL, of BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE recovery (
      run BLOB PRIMARY KEY NOT NULL, silent_since INTEGER, discarded INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;

    """

  /// The body of a record is the last column, so that a list need not read it. `skipped_changes`: ranges of change
  /// numbers that no record has.
  private static let records = """
    CREATE TABLE records (
      number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, version INTEGER NOT NULL, change INTEGER NOT NULL,
      summary BLOB, body BLOB);
    CREATE TABLE expected_records (run BLOB PRIMARY KEY NOT NULL, conflicted INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE skipped_changes (after INTEGER PRIMARY KEY, through INTEGER NOT NULL);

    """

  /// Outbox rows have the keys of ``OutboxKey``. With one integer as its key a table grows at its end, and a commit
  /// of one row writes one page. `since`, `flags` and `tries` are columns, because SQL changes them in many rows at once.
  /// `paired` has the paired devices by their keys. `devices` has the identity that last said hello as the device, `store_owners` the one
  /// that each store belongs to.
  private static let delivery = """
    CREATE TABLE streams (
      number INTEGER PRIMARY KEY, receiver BLOB NOT NULL, kind INTEGER NOT NULL, acknowledged INTEGER,
      UNIQUE (receiver, kind));
    CREATE TABLE outbox (
      position INTEGER PRIMARY KEY, item BLOB, since INTEGER NOT NULL, flags INTEGER NOT NULL,
      tries INTEGER NOT NULL);
    CREATE TABLE watermarks (
      sender BLOB NOT NULL, stream TEXT NOT NULL, sequence INTEGER NOT NULL, id BLOB, PRIMARY KEY (sender, stream)
    ) WITHOUT ROWID;
    CREATE TABLE quarantine (
      position INTEGER PRIMARY KEY, id BLOB NOT NULL, since INTEGER NOT NULL, message BLOB NOT NULL);
    CREATE TABLE latest_sent (
      device TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (device, key)) WITHOUT ROWID;
    CREATE TABLE latest_received (
      device TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (device, key)) WITHOUT ROWID;
    CREATE TABLE devices (
      device TEXT PRIMARY KEY NOT NULL, role BLOB NOT NULL, store BLOB NOT NULL, heard_at INTEGER NOT NULL,
      identity TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE store_owners (store BLOB PRIMARY KEY NOT NULL, identity TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE paired (
      key BLOB PRIMARY KEY NOT NULL, revoked INTEGER NOT NULL, device BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE paired_version (
      one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, heard INTEGER NOT NULL);

    """

  /// What only a peer stores. `failure_mark`: the effect of the hub's next silence and the last alarm, and beside it the
  /// wall time of that, for people who inspect the store.
  private static let peer = """
    CREATE TABLE hub (one INTEGER PRIMARY KEY CHECK (one = 1), store BLOB NOT NULL, device TEXT NOT NULL);
    CREATE TABLE view (one INTEGER PRIMARY KEY CHECK (one = 1), snapshot BLOB NOT NULL);
    CREATE TABLE failure_mark (one INTEGER PRIMARY KEY CHECK (one = 1), mark BLOB NOT NULL, wall REAL);
    """
}
