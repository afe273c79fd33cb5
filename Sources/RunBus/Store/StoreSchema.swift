import Foundation
import GRDB
import RunCore

/// The tables of a store, and the migrations of older ones. A released migration never changes.
///
/// Every commit writes each page that it has touched, so there are few indexes and pages are small. Unsigned numbers
/// are stored by their bit pattern, identifiers as 16 bytes, times in nanoseconds.
enum StoreSchema {
  /// In bytes; a row has about 200. The size takes effect when a file is created.
  static let pageSize = 2048

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(sql: version1)
      let insert = "INSERT INTO meta (key, value) VALUES (?, ?)"
      try db.execute(sql: insert, arguments: ["node", NodeID.random().data])
      try db.execute(sql: insert, arguments: ["store", StoreID.random().data])
      try db.execute(sql: insert, arguments: ["term", 0])
    }
    migrator.registerMigration("2") { db in
      try db.execute(sql: version2)
      try setAmendmentsApart(db)
    }
    migrator.registerMigration("3") { db in try db.execute(sql: version3) }
    migrator.registerMigration("4") { db in try db.execute(sql: version4) }
    migrator.registerMigration("5") { db in try db.execute(sql: version5) }
    migrator.registerMigration("6") { db in try db.execute(sql: version6) }
    migrator.registerMigration("7") { db in try db.execute(sql: version7) }
    migrator.registerMigration("8") { db in try db.execute(sql: version8) }
    migrator.registerMigration("9") { db in try db.execute(sql: version9) }
    return migrator
  }

  /// Gives amendments (transitions without a revision) a kind of their own, so that the last ones of both kinds are
  /// found without a scan of the journal.
  private static func setAmendmentsApart(_ db: Database) throws {
    var highest: UInt64 = 0
    var amendments: [Int64] = []
    let rows = try Row.fetchCursor(db, sql: "SELECT position, payload FROM journal WHERE kind = 1 ORDER BY position")
    while let row = try rows.next() {
      guard let position = row.integer("position"), let payload = row.data("payload"),
        case .transition(let transition)? = JournalCoding.decode(kind: .transition, payload: payload)
      else { continue }
      if transition.revision > highest { highest = transition.revision } else { amendments.append(position) }
    }
    for position in amendments {
      try db.execute(sql: "UPDATE journal SET kind = 10 WHERE position = ?", arguments: [position])
    }
  }

  /// The columns of an accepted command except its id; the same in `accepted` and `verdicts`.
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

  /// Runs that were on when their hub died: what the recovery waits for and what was decided. One row for each run that
  /// was asked about or discarded.
  private static let version4 = """
    CREATE TABLE recovery (run BLOB PRIMARY KEY NOT NULL, silent_since INTEGER, discarded INTEGER NOT NULL DEFAULT 0)
    WITHOUT ROWID;
    """

  /// Outbox rows have the keys of ``OutboxKey``. With one integer as its key a table grows at its end, and a commit
  /// of one row writes one page.
  private static let version2 = """
    ALTER TABLE watermarks ADD COLUMN id BLOB;
    CREATE TABLE streams (
      number INTEGER PRIMARY KEY, receiver BLOB NOT NULL, kind INTEGER NOT NULL, acknowledged INTEGER,
      UNIQUE (receiver, kind));
    CREATE TABLE outbox (
      position INTEGER PRIMARY KEY, kind INTEGER, item BLOB, since INTEGER NOT NULL, flags INTEGER NOT NULL,
      tries INTEGER NOT NULL);
    CREATE TABLE quarantine (
      position INTEGER PRIMARY KEY, id BLOB NOT NULL, receiver BLOB NOT NULL, reason BLOB NOT NULL,
      since INTEGER NOT NULL, message BLOB NOT NULL);
    CREATE TABLE latest_sent (
      device TEXT NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL, flags INTEGER NOT NULL, value BLOB NOT NULL,
      PRIMARY KEY (device, key)) WITHOUT ROWID;
    CREATE TABLE latest_received (
      device TEXT NOT NULL, key BLOB NOT NULL, store BLOB NOT NULL, version INTEGER NOT NULL, value BLOB NOT NULL,
      PRIMARY KEY (device, key)) WITHOUT ROWID;
    CREATE TABLE devices (
      device TEXT PRIMARY KEY NOT NULL, role BLOB NOT NULL, store BLOB NOT NULL, heard_at INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE records (
      run BLOB PRIMARY KEY NOT NULL, device TEXT NOT NULL, started_at INTEGER NOT NULL, stopped_at INTEGER NOT NULL,
      conflicted INTEGER NOT NULL);
    CREATE TABLE hub (one INTEGER PRIMARY KEY CHECK (one = 1), store BLOB NOT NULL, device TEXT NOT NULL);
    CREATE TABLE view (one INTEGER PRIMARY KEY CHECK (one = 1), snapshot BLOB NOT NULL);
    CREATE INDEX journal_amendments ON journal (position) WHERE kind = 10;
    """

  /// `vigil`: a peer's failure detection, that is, the effect of the hub's next silence, and the last alarm with its
  /// wall time.
  private static let version3 = """
    CREATE TABLE vigil (
      one INTEGER PRIMARY KEY CHECK (one = 1), duty INTEGER NOT NULL, run BLOB, hub TEXT, term INTEGER,
      revision INTEGER, tick INTEGER, silence INTEGER, wall REAL);
    """

  /// The hub makes all records anew from the journal at its next start. It expects a record of each run, and forgets
  /// that again for runs that are not over. The body is the last column, so that a list need not read it.
  private static let version5 = """
    CREATE TABLE expected_records (run BLOB PRIMARY KEY NOT NULL, conflicted INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO expected_records (run, conflicted)
      SELECT runs.run, COALESCE(records.conflicted, 0) FROM runs LEFT JOIN records ON records.run = runs.run;
    DROP TABLE records;
    CREATE TABLE records (
      number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, version INTEGER NOT NULL, change INTEGER NOT NULL,
      summary BLOB, body BLOB);
    """

  /// Other stores that have sent a command that was already accepted.
  private static let version7 = """
    CREATE TABLE claims (command BLOB NOT NULL, store BLOB NOT NULL, PRIMARY KEY (command, store)) WITHOUT ROWID;
    """

  /// Ranges of change numbers that no record has.
  private static let version8 = """
    CREATE TABLE skipped_changes (after INTEGER PRIMARY KEY, through INTEGER NOT NULL);
    """

  /// The identity that last said hello as each device, and the one that each store belongs to.
  private static let version9 = """
    ALTER TABLE devices ADD COLUMN identity TEXT NOT NULL DEFAULT 'localOwner';
    CREATE TABLE store_owners (store BLOB PRIMARY KEY NOT NULL, identity TEXT NOT NULL) WITHOUT ROWID;
    """

  /// Retention of journals: when a run ended, and how far the sweep of a dropped journal has come (`swept_to` is -1
  /// when it is done). For runs from before this migration the time of the last entry stands for their end.
  private static let version6 = """
    ALTER TABLE runs ADD COLUMN over_at INTEGER;
    ALTER TABLE runs ADD COLUMN swept_to INTEGER;
    ALTER TABLE runs ADD COLUMN sweep_until INTEGER;
    UPDATE runs SET over_at = last.time FROM (SELECT run, MAX(time) AS time FROM journal GROUP BY run) AS last
      WHERE last.run = runs.number;
    """
}
