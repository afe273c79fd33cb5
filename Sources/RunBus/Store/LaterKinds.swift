import Foundation
import GRDB
import GRDBSQLite
import RunCore
import RunWire
import SystemC

/// Looks for what a later version has written and what this one would have to work on: a command or an admission of an
/// unknown kind that waits for its verdict, an item of an unknown kind in an outbox, an entry of an unknown kind in the
/// journal of a run that is not over, or a commit in the log that does what is not known.
///
/// A node that left these out would lose what a person pressed or a sensor measured. What is finished is left out when it
/// is read, and stays in the file.
enum LaterKinds {
  /// Refuses the store in a directory. It is only read, so no byte of it changes: not even its log is copied into it.
  ///
  /// - Throws: ``RunBusError/Code/storeMismatch``.
  static func refuse(in directory: String) throws {
    let path = directory + "/" + StoreFile.name
    guard StoreHeader(at: path)?.version == StoreSchema.version else { return }
    for file in [path + "-wal", path + "-shm"] + StoreLog.paths(in: directory) where FileLock.isObstructed(file) {
      throw RunBusError(.store, "\(file) is not a file: move it away")
    }
    do {
      try reading(path) { try refuse($0, directory) }
    } catch let error where !(error is RunBusError) {
      // What opens a damaged file next tells. Any other file that cannot be read may hold what waits.
      guard !StoreFault(error).isDamage, HeaderRepair(of: path) == nil else { return }
      throw RunBusError(
        .store, "the store in \(directory) cannot be read: \(StoreFault(error).description); nothing was changed",
        cause: error)
    }
  }

  /// Refuses an open store.
  ///
  /// - Throws: ``RunBusError/Code/storeMismatch``; errors of the database.
  static func refuse(_ db: Database, _ directory: String) throws { try refuse(db.sqliteConnection, directory) }

  private static func refuse(_ db: OpaquePointer?, _ directory: String) throws {
    guard let what = try find(db) ?? findInLog(db, directory) else { return }
    throw RunBusError(
      .storeMismatch,
      "the store in \(directory) holds \(what) of a newer RunBus: update this one; nothing was changed")
  }

  /// The column of a table whose values may wait for a node of a later version; `nil` for a table without one.
  static func column(in table: String) -> String? {
    switch table {
    case "accepted": "press"
    case "outbox": "item"
    case "journal": "entry"
    default: nil
    }
  }

  /// Whether a value in the ``column(in:)`` of a table is of a kind that is not known.
  static func isLater(_ bytes: [UInt8], in table: String) -> Bool {
    do {
      switch table {
      case "accepted": _ = try Codec.accepted(bytes)
      case "outbox": _ = try Codec.item(bytes)
      default: _ = try Codec.entry(bytes) { _ in DeviceID("any") }
      }
      return false
    } catch {
      if case .unknownKind = error { return true }
      return false
    }
  }

  /// What was found, for people; `nil` when there is nothing.
  private static func find(_ db: OpaquePointer?) throws -> String? {
    try find(db, "SELECT press FROM accepted", "a command that waits for its verdict") { _ = try Codec.accepted($0) }
      ?? find(db, "SELECT item FROM outbox WHERE item IS NOT NULL", "something to send") { _ = try Codec.item($0) }
      ?? find(db, entries, "an entry of a run") { _ = try Codec.entry($0) { _ in nil } }
  }

  private static func findInLog(_ db: OpaquePointer?, _ directory: String) throws -> String? {
    var mark: LogMark?
    _ = try find(db, "SELECT value FROM meta WHERE key = 'log'", "") { mark = LogMark($0) }
    guard let mark else { return nil }
    let tail = LogTail(of: try StoreLog.segments(in: directory), key: mark.key, drained: mark.drained)
    for commit in tail.commits + tail.behindGap {
      do throws(StoredError) { _ = try Codec.loggedCommit(commit.bytes) {} } catch {
        if case .unknownKind = error { return "a commit" }
      }
    }
    return nil
  }

  /// Readings of the first schema have no number of a kind. The last change of a run says which run is the present one,
  /// whether it is over or not.
  private static let entries = """
    SELECT entry FROM journal JOIN runs ON runs.number = journal.run
    WHERE journal.kind IS NOT NULL AND runs.over_at IS NULL AND runs.swept_to IS NULL
    UNION ALL
    SELECT entry FROM (
      SELECT entry FROM journal WHERE kind = \(JournalKind.transition.rawValue) ORDER BY position DESC LIMIT 1)
    """

  private static func find(
    _ db: OpaquePointer?, _ sql: String, _ what: String, _ read: ([UInt8]) throws -> Void
  ) throws -> String? {
    var rows: OpaquePointer?
    defer { sqlite3_finalize(rows) }
    try check(sqlite3_prepare_v2(db, sql, -1, &rows, nil), db)
    while true {
      let result = sqlite3_step(rows)
      if result == SQLITE_DONE { return nil }
      guard result == SQLITE_ROW else {
        try check(result, db)
        return nil
      }
      guard let bytes = rows.flatMap({ bytes($0, 0) }) else { continue }
      do { try read(bytes) } catch StoredError.unknownKind { return what } catch {}
    }
  }

  /// The bytes of a column; `nil` for a value that is no blob.
  static func bytes(_ row: OpaquePointer, _ column: CInt) -> [UInt8]? {
    guard sqlite3_column_type(row, column) == SQLITE_BLOB, let start = sqlite3_column_blob(row, column) else {
      return nil
    }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, column))))
  }

  private static func check(_ result: CInt, _ db: OpaquePointer?) throws {
    guard result & 255 != SQLITE_OK else { return }
    throw DatabaseError(
      resultCode: ResultCode(rawValue: result), message: sqlite3_errmsg(db).map { String(cString: $0) })
  }

  /// Opens a file whose lock the caller holds, reads, and closes it. Without SQLite's own locks its log needs no shared
  /// memory, which a disk that is full has no room for, so that a store can be looked at wherever its node could start.
  private static func reading(_ path: String, _ read: (OpaquePointer?) throws -> Void) throws {
    // Even to read, SQLite makes a log, and leaves it when it may not write.
    let made = ["-wal", "-shm"].map { path + $0 }.filter { !FileManager.default.fileExists(atPath: $0) }
    defer { for file in made { unlink(file) } }
    var db: OpaquePointer?
    defer { sqlite3_close_v2(db) }
    try check(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, "unix-none"), db)
    sqlite3_extended_result_codes(db, 1)
    // Otherwise a log without a commit would be removed.
    var isLogKept: CInt = 1
    sqlite3_file_control(db, "main", SQLITE_FCNTL_PERSIST_WAL, &isLogKept)
    try check(sqlite3_exec(db, "PRAGMA locking_mode = EXCLUSIVE", nil, nil, nil), db)
    try read(db)
  }
}

extension StoreFile {
  /// Reads a file whose lock the caller holds, and changes no byte of the directory.
  static func look<Value>(at path: String, _ read: (Database) throws -> Value) throws -> Value {
    // Even to read, SQLite makes these two files, and it leaves them when it may not write. They are no node's: it would
    // need the lock.
    let made = ["-wal", "-shm"].map { path + $0 }.filter { !FileManager.default.fileExists(atPath: $0) }
    defer { for file in made { unlink(file) } }
    var configuration = Configuration()
    configuration.label = "runbus.store.look"
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read(read)
  }
}
