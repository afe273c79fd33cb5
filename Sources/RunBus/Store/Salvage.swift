import Foundation
import GRDB
import GRDBSQLite
import RunCore
import RunWire

/// Copies what can be read of a damaged store, row by row, into a new one.
///
/// The new store has a new id, as every store does that has lost history. So watermarks and acknowledgements are left
/// out, and what waits to be sent is numbered from 1. Rows that do not decode are copied; the readers leave them out.
struct Salvage {
  /// The tables that are copied as they are, with a name of their contents for people.
  private static let contents: [(table: String, what: String)] = [
    ("clock", "the clock"), ("accepted", "presses that were not judged yet"), ("verdicts", "verdicts"),
    ("runs", "the present run"), ("journal", "the present run"), ("journal_devices", "the present run"),
    ("aliases", "the present run"),
    ("windows", "the present run"), ("recovery", "the present run"), ("records", "records of runs"),
    ("expected_records", "records of runs"), ("skipped_changes", "records of runs"),
    ("streams", "what waited to be sent"),
    ("outbox", "what waited to be sent"), ("quarantine", "what waited to be sent"),
    ("latest_sent", "newest values"), ("latest_received", "newest values"), ("devices", "the devices that it knew"),
    ("store_owners", "the devices that it knew"),
    ("view", "what it saw last"), ("failure_mark", "what it saw last"),
  ]
  /// More rows than any table of an intact store has; the pages of a damaged tree may form a cycle.
  private static let rowsMax = 8_000_000

  /// How many rows were copied.
  private var count = 0
  /// What could not be read completely, as it is named for people.
  private var lost: [String] = []
  /// What waits for a node of a later version: it would be lost with a node that does not know it.
  private var later: Set<[UInt8]> = []
  /// The store of the hub to which a peer's streams went; `nil` on a hub.
  private var hub: Data?
  /// What the tables know about the log; `nil` when they cannot tell.
  private var mark: LogMark?

  /// Copies everything that can be read of a closed file, in one transaction.
  ///
  /// - Throws: Errors of the new store only; errors of the old one end the reading of a table.
  init(from path: String, into queue: DatabaseQueue) throws {
    try add(from: path, into: queue)
  }

  /// Whether all rows of all tables could be read.
  var isComplete: Bool { count > 0 && lost.isEmpty }

  /// Reads another file of the same store, and adds what the earlier ones did not have.
  mutating func add(from path: String, into queue: DatabaseQueue) throws {
    let source = Self.source(path)
    lost = []
    try queue.write { db in
      // Not even the header can be read.
      guard let source else { return lost = ["its tables"] }
      try source.writeWithoutTransaction { old in
        // A file without any mark is not of this version, and its columns may mean something else.
        if (try? Int32.fetchOne(old, sql: "PRAGMA user_version")) == 0 { return lost = ["its tables"] }
        var hasDevices = true
        for (table, what) in Self.contents {
          let isWhole = try copy(table, from: old, to: db)
          if !isWhole, !lost.contains(what) { lost.append(what) }
          if !isWhole, table == "journal_devices" { hasDevices = false }
        }
        try copyNumbers(from: old, to: db)
        if !hasDevices { try JournalDevices.beginAbove(db) }
        hub = Self.hub(old) ?? hub
        mark = (try? LogMark(storedIn: old)) ?? mark
      }
    }
    try? source?.close()
  }

  /// Adds what is whole in the log of the damaged store, and numbers what waits to be sent anew.
  mutating func finish(withLogIn directory: String, into queue: DatabaseQueue) throws {
    let segments = try StoreLog.segments(in: directory)
    let tail = LogTail(of: segments, key: mark?.key, drained: mark?.drained)
    var commits: [LoggedCommit] = []
    for commit in tail.commits + tail.behindGap {
      do throws(StoredError) {
        var logged = try Codec.loggedCommit(commit.bytes) {}
        // As with the tables: these belong to the store's old id.
        logged.operations.removeAll {
          switch $0 {
          case .setWatermark, .claim: true
          default: false
          }
        }
        commits.append(logged)
      } catch {
        if case .unknownKind = error { later.insert(commit.bytes) }
      }
    }
    let isMissing = mark?.isOpen == true && (tail.segmentCount == 0 || !StoreLog.hasWhole(segments))
    let failed = try SQLiteStore(queue).salvage(commits)
    count += commits.reduce(0) { $0 + $1.operations.count } - failed
    if isMissing || failed > 0 || !tail.behindGap.isEmpty { lost.append("commits of its log") }
    try queue.write { [hub] db in try Self.renumber(hub: hub, db) }
  }

  /// The result, for people.
  var sentence: String {
    later.isEmpty ? rows : "\(rows); \(later.count) row(s) of a newer RunBus that wait stay in the file set aside"
  }

  private var rows: String {
    if count == 0 { return "nothing could be read back" }
    if lost.isEmpty { return "all of its \(count) rows could be read back" }
    return "\(count) rows could be read back; lost, in whole or in part: \(lost.joined(separator: ", "))"
  }

  private static func source(_ path: String) -> DatabaseQueue? {
    var configuration = Configuration()
    configuration.label = "runbus.store.damaged"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      // With this, SQLite opens the file although the schema of one table cannot be parsed.
      try db.execute(sql: "PRAGMA writable_schema = ON")
    }
    return try? DatabaseQueue(path: path, configuration: configuration)
  }

  // MARK: Rows

  /// Copies a table from its beginning and, if that meets damage, from its end. Returns whether all of it could be
  /// read.
  private mutating func copy(_ table: String, from old: Database, to db: Database) throws -> Bool {
    let columns = try db.columns(in: table).map(\.name)
    let oldColumns = ((try? Row.fetchAll(old, sql: "PRAGMA table_info(\(table))")) ?? []).compactMap { $0.text("name") }
    // Columns are matched by position when their number is the same, because damage may have changed a name.
    let pairs =
      oldColumns.count == columns.count
      ? Array(zip(columns, oldColumns)) : columns.filter(oldColumns.contains).map { ($0, $0) }
    guard !pairs.isEmpty else { return false }
    let key = try db.primaryKey(table).columns
    let order = pairs.filter { key.contains($0.0) }.map { "\(Self.quoted($0.1)) DESC" }.joined(separator: ", ")
    let insert = try db.makeStatement(
      sql: """
        INSERT OR IGNORE INTO \(table) (\(pairs.map(\.0).joined(separator: ", ")))
        VALUES (\(pairs.map { _ in "?" }.joined(separator: ", ")))
        """)
    let select = "SELECT \(pairs.map { Self.quoted($0.1) }.joined(separator: ", ")) FROM \(table)"
    let place = LaterKinds.column(in: table).flatMap { name in pairs.firstIndex { $0.0 == name } }
    let checked = place.map { (table, CInt($0)) }
    if try copy(select, from: old, insert, checked, db) { return true }
    _ = try copy("\(select) ORDER BY \(order)", from: old, insert, checked, db)
    return false
  }

  /// Inserts the rows of a query until it ends or fails; returns whether it has ended. Values are copied without
  /// conversion.
  ///
  /// - Parameter checked: A table and the column whose values stay behind when they are of a later version.
  private mutating func copy(
    _ select: String, from old: Database, _ insert: Statement, _ checked: (table: String, column: CInt)?,
    _ db: Database
  ) throws -> Bool {
    guard let statement = try? old.makeStatement(sql: select) else { return false }
    let (rows, target) = (statement.sqliteStatement, insert.sqliteStatement)
    defer { sqlite3_reset(rows) }
    for _ in 0..<Self.rowsMax {
      switch sqlite3_step(rows) {
      case SQLITE_ROW: break
      case SQLITE_DONE: return true
      default: return false
      }
      if let checked, let bytes = LaterKinds.bytes(rows, checked.column),
        LaterKinds.isLater(bytes, in: checked.table)
      {
        later.insert(bytes)
        continue
      }
      for column in 0..<sqlite3_column_count(rows) {
        sqlite3_bind_value(target, column + 1, sqlite3_column_value(rows, column))
      }
      let result = sqlite3_step(target)
      sqlite3_reset(target)
      switch result & 255 {
      case SQLITE_DONE: count += Int(sqlite3_changes(db.sqliteConnection))
      // Not a row that a store could contain: leave it out.
      case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG: continue
      default: throw DatabaseError(resultCode: ResultCode(rawValue: result), message: db.lastErrorMessage)
      }
    }
    return false
  }

  private static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

  // MARK: Ids and numbers of the old store

  /// Copies the role, and the last term and the highest journal position, which must not be used again.
  private mutating func copyNumbers(from old: Database, to db: Database) throws {
    if let role = try? StoreRole(storedIn: old) { try role.write(db) }
    for key in ["term", "last_position", JournalDevices.lastKey] {
      let sql = "SELECT value FROM meta WHERE key = ? AND TYPEOF(value) = 'integer'"
      guard let value = try? Int64.fetchOne(old, sql: sql, arguments: [key]) else { continue }
      try db.execute(sql: "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", arguments: [key, value])
    }
  }

  /// The store of the hub to which a peer's streams went; `nil` on a hub.
  private static func hub(_ old: Database) -> Data? { try? Data.fetchOne(old, sql: "SELECT store FROM hub") }

  /// A peer's streams get no receiver until it meets its hub again, and every stream is renumbered from 1 without gaps.
  private static func renumber(hub: Data?, _ db: Database) throws {
    try db.execute(
      sql: "UPDATE OR REPLACE streams SET receiver = ? WHERE kind IN (?, ?) OR receiver = ?",
      arguments: [
        StoreID.none.data, StreamID.Kind.commands.code, StreamID.Kind.samples.code, hub ?? StoreID.none.data,
      ])
    try db.execute(sql: "UPDATE streams SET acknowledged = NULL")
    // A number that no stream can have would be followed by others.
    try db.execute(sql: "DELETE FROM streams WHERE number NOT BETWEEN 1 AND ?", arguments: [OutboxKey.numberMax])
    let numbers = try Int64.fetchSet(db, sql: "SELECT number FROM streams")
    var last: [Int64: UInt64] = [:]
    let update = try db.makeStatement(sql: "UPDATE outbox SET position = ? WHERE position = ?")
    let delete = try db.makeStatement(sql: "DELETE FROM outbox WHERE position = ?")
    for position in try Int64.fetchAll(db, sql: "SELECT position FROM outbox ORDER BY position") {
      let number = OutboxKey.number(position)
      // A row without a stream or with a sequence out of range would appear in another stream.
      guard numbers.contains(number), OutboxKey.sequence(position) > 0 else {
        try delete.execute(arguments: [position])
        continue
      }
      let sequence = (last[number] ?? 0) + 1
      last[number] = sequence
      let place = OutboxKey.position(number, sequence)
      if place != position { try update.execute(arguments: [place, position]) }
    }
  }
}
