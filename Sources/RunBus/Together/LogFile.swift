import Foundation
import GRDB
import RunCore
import SystemC

/// What of a log on one machine a test can set.
package struct LogOptions: Sendable {
  /// The monotonic clock of this process, on which moments are told.
  package var ownClock: @Sendable () -> BusTime = { Loop.now }
  /// The monotonic clock of the machine, from which the log's clock is made.
  package var machineClock: @Sendable () -> BusTime = { readMachineClock() }
  /// The wall clock; decides how much time has passed on the log's clock from one boot to the next, and nothing else.
  package var wallSeconds: @Sendable () -> Double = { Date().timeIntervalSince1970 }
  /// The present boot of the machine.
  package var boot = MachineBoot.id
  /// How long an append waits for another writer.
  package var patience = BusDuration.seconds(5)
  /// How much of one author it takes.
  package var capacity = LogCapacity()
  /// How many rooms with a run are kept.
  package var ranRooms = LogKeeping.ranRooms
  /// Options as they are outside of tests.
  package init() {}
}

/// The open file of a log. Used on the thread of its log only.
struct LogFile {
  let id: LogID
  private let queue: DatabaseQueue
  let path: String
  let identity: FileIdentity
  /// The write-ahead log that belongs to this file.
  let wal: FileIdentity?
  private let clock: LogFileClock
  let capacity: LogCapacity

  var isInPlace: Bool { identity.isInPlace }

  func close() { try? queue.close() }

  // MARK: Opening

  /// Opens the file, or makes it if there is none. The caller has the turn to write.
  ///
  /// A file that is none of a log, damaged or of a later version is refused, and not changed.
  init(_ place: LogPlace, _ options: LogOptions) throws(SharedLogError) {
    let path = place.file
    (self.path, capacity) = (path, options.capacity)
    try Self.refuseObstacle(path)
    let (opened, id, clock) = try Self.explaining(path) { () throws -> (DatabaseQueue, LogID, LogFileClock) in
      try Self.makeIfAbsent(path, options)
      try Self.look(path) { _ in }
      let queue = try Self.openQueue(path, options)
      do {
        let (id, clock) = try queue.writeWithoutTransaction { db in
          let clock = try Self.begin(db, options)
          return (try Data.fetchOne(db, sql: "SELECT id FROM log").flatMap { LogID(bytes: $0) }, clock)
        }
        guard let id else { throw Refusal(sentence: Self.damaged(path, "it has no identity")) }
        return (queue, id, clock)
      } catch {
        try? queue.close()
        throw error
      }
    }
    guard let identity = FileIdentity(path: path) else {
      try? opened.close()
      throw .unavailable("\(path) is gone")
    }
    (queue, self.id, self.identity, self.clock) = (opened, id, identity, clock)
    wal = FileIdentity(path: path + "-wal")
  }

  /// Why a file is not opened.
  private struct Refusal: Error { let sentence: String }

  static func refuseObstacle(_ path: String) throws(SharedLogError) {
    if FileLock.isObstructed(path) { throw .unavailable("\(path) is not a file: move it away") }
    var info = stat()
    if lstat(path, &info) == 0 {
      if info.st_size == 0 {
        throw .unavailable("\(path) is empty: put a copy back, or move it away and a new log begins")
      }
      if access(path, R_OK | W_OK) != 0 { throw .unavailable("\(path) cannot be opened: \(systemReason(errno))") }
    } else if errno == ENOENT {
      // SQLite would delete the write-ahead log of a file that is gone.
      if lstat(path + "-wal", &info) == 0, info.st_size > 0 {
        throw .unavailable("\(path) is gone and \(path)-wal is there: put the file back, or move that away, too")
      }
    } else {
      throw .unavailable("\(path) cannot be opened: \(systemReason(errno))")
    }
  }

  /// Makes a new file under another name, and moves it to its path when it is complete.
  private static func makeIfAbsent(_ path: String, _ options: LogOptions) throws {
    var info = stat()
    guard lstat(path, &info) != 0, errno == ENOENT else { return }
    let new = path + ".new"
    func unlinkNew() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(new + suffix) } }
    unlinkNew()
    do {
      // SQLite gives its other files the mode of this one.
      let descriptor = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw Refusal(sentence: "\(path) cannot be made: \(systemReason(errno))") }
      SystemC.close(descriptor)
      let queue = try openQueue(new, options)
      try queue.write { db in try LogSchema.make(db, .random(), wall: LogFileClock.wall(options).nanoseconds) }
      try StoreFile.closeWhole(queue)
    } catch {
      unlinkNew()
      throw error
    }
    // An empty log of a former file would be taken for this one's.
    for suffix in ["-wal", "-shm"] { unlink(path + suffix) }
    guard rename(new, path) == 0 else { throw Refusal(sentence: "\(path) cannot be made: \(systemReason(errno))") }
    let directory = (path as NSString).deletingLastPathComponent
    PrivateDirectory.sync(directory)
    PrivateDirectory.sync((directory as NSString).deletingLastPathComponent)
  }

  /// Checks a file, and reads from it, through a connection that cannot change it. SQLite opens it, because closing a file
  /// that another connection of this process has open would release that connection's locks.
  static func look<Value>(_ path: String, _ read: (Database) throws -> Value) throws(SharedLogError) -> Value {
    try explaining(path) {
      var configuration = Configuration()
      configuration.readonly = true
      configuration.busyMode = .timeout(5)
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      return try queue.writeWithoutTransaction { db in
        try check(db, path)
        return try read(db)
      }
    }
  }

  private static func check(_ db: Database, _ path: String) throws {
    guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == LogSchema.application else {
      throw Refusal(sentence: foreign(path))
    }
    let version = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard version <= LogSchema.version else {
      throw Refusal(sentence: "\(path) was written by a newer RunBus: update this one; nothing was changed")
    }
    let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)")
    guard found == "ok" else {
      throw Refusal(sentence: damaged(path, found))
    }
    guard version == LogSchema.version, try LogSchema.isMade(db) else {
      throw Refusal(sentence: otherTables(path))
    }
  }

  /// Whether no process has a file open. A file that cannot be read is nobody's. The caller has the turn, so that nobody
  /// opens it meanwhile.
  static func isUnused(_ path: String) -> Bool {
    var configuration = Configuration()
    configuration.busyMode = .immediateError
    // Whoever has the file open holds a lock that this one excludes.
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      defer { try? queue.close() }
      try queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE; ROLLBACK") }
      return true
    } catch let error as DatabaseError {
      return error.resultCode != .SQLITE_BUSY && error.resultCode != .SQLITE_LOCKED
    } catch {
      return true
    }
  }

  private static func openQueue(_ path: String, _ options: LogOptions) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.label = "runbus.log"
    // Writers have turns. What is left to wait for is another process that puts the file right after a death.
    configuration.busyMode = .timeout(5)
    configuration.prepareDatabase { db in
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw Refusal(sentence: "\(path) cannot have a write-ahead log: put it on a local disk")
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      #if canImport(Darwin)
        try db.execute(sql: "PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
      #endif
    }
    return try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Sets the clock of this boot, and deletes rooms that nobody needs any more.
  private static func begin(_ db: Database, _ options: LogOptions) throws -> LogFileClock {
    var clock: LogFileClock?
    try db.inTransaction(.immediate) {
      let begun = try LogFileClock.begin(db, options)
      try sweep(db, at: try begun.now(db), wall: LogFileClock.wall(options), keeping: options.ranRooms)
      clock = begun
      return .commit
    }
    guard let clock else { throw StoreFault.broken("no clock") }
    return clock
  }

  // MARK: Time

  /// How the log's clock stands.
  func now() throws(SharedLogError) -> LogTime { try read { db in try clock.now(db) } }
  /// The same, within a transaction.
  func now(_ db: Database) throws -> LogTime { try clock.now(db) }

  /// Whether an entry that was read may be missing in order: any process may have deleted its room as too old.
  func mayLack(_ row: LogRow) throws(SharedLogError) -> Bool {
    try read { db in
      let now = try clock.now(db)
      return LogKeeping.mayLack(row.time, looked: try Self.looked(db, at: now), at: now)
    }
  }

  // MARK: Errors

  func read<Value>(_ body: (Database) throws -> Value) throws(SharedLogError) -> Value {
    try Self.explaining(path) { try queue.writeWithoutTransaction(body) }
  }

  /// Changes the file in a transaction, if its tables are still those of a log: a trigger in it would change what is
  /// written, for some readers and not for others.
  func write<Value>(_ body: (Database) throws -> Value) throws(SharedLogError) -> Value {
    try Self.explaining(path) {
      try queue.writeWithoutTransaction { db in
        var code: CInt = 0
        do {
          var value: Value?
          try db.inTransaction(.immediate) {
            do {
              guard try LogSchema.isMade(db) else { throw SharedLogError.unavailable(Self.otherTables(path)) }
              value = try body(db)
            } catch {
              code = db.lastSystemCode
              throw error
            }
            return .commit
          }
          guard let value else { throw StoreFault.broken("no value") }
          return value
        } catch let error as DatabaseError where error.resultCode != .SQLITE_BUSY {
          throw StoreFault(error, systemCode: code == 0 ? db.lastSystemCode : code)
        }
      }
    }
  }

  private static func explaining<Value>(
    _ path: String, _ body: () throws -> Value
  ) throws(SharedLogError) -> Value {
    do { return try body() } catch {
      switch error {
      case let error as SharedLogError: throw error
      case let refusal as Refusal: throw .unavailable(refusal.sentence)
      case let error as DatabaseError where error.resultCode == .SQLITE_BUSY: throw .busy
      case let error as DatabaseError where error.resultCode == .SQLITE_NOTADB: throw .unavailable(foreign(path))
      case let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN:
        throw .unavailable("\(path) cannot be opened: check the owner and mode of its directory and its files")
      default: throw .unavailable(sentence(StoreFault(error), path))
      }
    }
  }

  private static func sentence(_ fault: StoreFault, _ path: String) -> String {
    if fault == .full { return "the disk of \(path) is full: make room" }
    if fault == .readOnly { return "\(path) cannot be written: check the owner and mode of its directory" }
    if fault.isDamage { return damaged(path, fault.reason) }
    return "\(path) cannot be used: \(fault.reason)"
  }

  private static func foreign(_ path: String) -> String {
    "\(path) is no log of rooms, or a damaged one: put a copy back, or move it away and a new log begins; "
      + "nothing was changed"
  }
  private static func otherTables(_ path: String) -> String { damaged(path, "its tables are not those of a log") }
  static func positionsUsedUp(_ path: String) -> String { damaged(path, "its positions are used up") }
  static func damaged(_ path: String, _ what: String?) -> String {
    // SQLite's reports have several lines.
    let what = what?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer to a check"
    return "\(path) is damaged (\(what)): put a copy back, or move it away and a new log begins; "
      + "nothing was changed"
  }
}
