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
  /// How many rooms with a run are kept.
  package var ranRooms = LogBounds.ranRooms
  /// Options as they are outside of tests.
  package init() {}
}

/// The open file of a log. Used on the thread of its log only.
struct LogFile {
  let id: LogID
  private let queue: DatabaseQueue
  private let path: String
  let identity: FileIdentity
  /// The write-ahead log that belongs to this file.
  let wal: FileIdentity?
  private let options: LogOptions
  /// The log's time less the machine's clock. It does not change within a boot, whatever the file says later.
  private let anchor: LogTime

  /// How many entries of old rooms are looked at or deleted at an opening: the next one goes on.
  private static let sweptMax = 2000

  var isInPlace: Bool { identity.isInPlace }

  func close() { try? queue.close() }

  // MARK: Opening

  /// Opens the file, or makes it if there is none. The caller has the turn to write.
  ///
  /// A file that is none of a log, damaged or of a later version is refused, and not changed.
  init(_ place: LogPlace, _ options: LogOptions) throws(SharedLogError) {
    let path = place.file
    (self.path, self.options) = (path, options)
    try Self.refuseObstacle(path)
    let (opened, id, anchor) = try Self.explaining(path) { () throws -> (DatabaseQueue, LogID, LogTime) in
      try Self.makeIfAbsent(path, options)
      try Self.look(path) { _ in }
      let queue = try Self.openQueue(path, options)
      do {
        let (anchor, id) = try queue.writeWithoutTransaction { db in
          (
            try Self.begin(db, options),
            try Data.fetchOne(db, sql: "SELECT id FROM log").flatMap { LogID(bytes: $0) }
          )
        }
        guard let id else { throw Refusal(sentence: Self.damaged(path, "it has no identity")) }
        return (queue, id, anchor)
      } catch {
        try? queue.close()
        throw error
      }
    }
    guard let identity = FileIdentity(path: path) else {
      try? opened.close()
      throw .unavailable("\(path) is gone")
    }
    (queue, self.id, self.identity, wal) = (opened, id, identity, FileIdentity(path: path + "-wal"))
    self.anchor = anchor
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
      try queue.write { db in try LogSchema.make(db, .random(), wall: wall(options)) }
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
      throw Refusal(sentence: damaged(path, "its tables are not those of a log"))
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

  /// Sets the clock of this boot, and deletes rooms that nobody needs any more. Returns the log's time less the machine's
  /// clock.
  private static func begin(_ db: Database, _ options: LogOptions) throws -> LogTime {
    var anchor = LogTime.zero
    try db.inTransaction(.immediate) {
      let machine = options.machineClock().nanoseconds
      let known = try Int64.fetchOne(db, sql: "SELECT anchor FROM clock WHERE boot = ?", arguments: [options.boot])
      if let known {
        anchor = LogTime(nanoseconds: known)
      } else {
        // What was between the boots is known from the wall clock alone; it may have been set back.
        let row = try Row.fetchOne(db, sql: "SELECT last, wall FROM log")
        let (last, then) = (
          row.flatMap { Int64.fromDatabaseValue($0[0]) } ?? 0, row.flatMap { Int64.fromDatabaseValue($0[1]) } ?? 0
        )
        let away = BusTime(nanoseconds: Self.wall(options)) - BusTime(nanoseconds: then)
        let present = LogTime(nanoseconds: last) + max(.zero, away)
        let next = try Self.last(db) + BusDuration(nanoseconds: 1)
        // After a wall clock that was set back by more than it was away the newest entry alone says how late it is.
        let isFollowed = away < .zero || next <= present + LogBounds.awayError
        anchor = (isFollowed ? max(present, next) : present) - BusDuration(nanoseconds: machine)
        try db.execute(sql: "DELETE FROM clock")
        try db.execute(
          sql: "INSERT INTO clock (boot, anchor) VALUES (?, ?)", arguments: [options.boot, anchor.nanoseconds])
      }
      let now = try Self.now(db, anchor, options)
      try db.execute(
        sql: "UPDATE log SET last = ?, wall = ?", arguments: [now.nanoseconds - 1, Self.wall(options)])
      try sweep(db, at: now, keeping: options.ranRooms)
      return .commit
    }
    return anchor
  }

  /// Deletes whole rooms: a fold of a part of one would differ from that of the whole.
  ///
  /// A room is looked at once, when it is old enough: one without a run goes, one with a run stays until it is among the
  /// oldest of too many or as old as results become. `swept` is the time up to which rooms were looked at.
  private static func sweep(_ db: Database, at now: LogTime, keeping ranRooms: Int) throws {
    let cut = (now - LogBounds.roomAge).nanoseconds
    let looked = try Int64.fetchOne(db, sql: "SELECT swept FROM log") ?? 0
    let rooms = try Row.fetchAll(
      db,
      sql: """
        SELECT room, (SELECT time FROM entry WHERE pos = newest) AS time FROM
        (SELECT room, MAX(pos) AS newest FROM entry INDEXED BY entry_room GROUP BY room) ORDER BY newest
        """
    ).map { (room: $0["room"] as DatabaseValue, newest: Int64.fromDatabaseValue($0["time"]) ?? 0) }
    var excess = rooms.count { $0.newest < looked } - ranRooms
    var (work, through) = (0, looked)
    for (room, newest) in rooms.prefix(while: { $0.newest < cut }) where work < sweptMax {
      if newest < looked {
        defer { excess -= 1 }
        guard excess > 0 || newest < (now - LogBounds.ranAge).nanoseconds else { continue }
      } else {
        through = newest + 1
        let (isOfRun, count) = try looksRun(db, room)
        work += count
        if isOfRun { continue }
      }
      try db.execute(sql: "DELETE FROM entry WHERE room = ?", arguments: [room])
      work += db.changesCount
    }
    let end = work < sweptMax ? cut : through
    if work > 0, end > looked { try db.execute(sql: "UPDATE log SET swept = ?", arguments: [end]) }
    try db.execute(
      sql: "DELETE FROM advert WHERE time < ?", arguments: [(now - LogBounds.advertAge).nanoseconds])
  }

  /// Whether an entry of a room says that there was a run, and how many entries were looked at: the last ones say so.
  private static func looksRun(_ db: Database, _ room: DatabaseValue) throws -> (isOfRun: Bool, looked: Int) {
    let bodies = try Data.fetchCursor(
      db, sql: "SELECT body FROM entry WHERE room = ? ORDER BY pos DESC", arguments: [room])
    var count = 0
    while let body = try bodies.next() {
      count += 1
      if EntrySigning.statesRun([UInt8](body)) { return (true, count) }
    }
    return (false, count)
  }

  // MARK: Time

  private static func wall(_ options: LogOptions) -> Int64 {
    BusDuration(seconds: options.wallSeconds()).nanoseconds
  }

  /// The time of the newest entry that there ever was, at least.
  private static func last(_ db: Database) throws -> LogTime {
    LogTime(
      nanoseconds: try Int64.fetchOne(
        db.cachedStatement(
          sql: "SELECT MAX(last, IFNULL((SELECT time FROM entry ORDER BY pos DESC LIMIT 1), 0)) FROM log")) ?? 0)
  }

  /// The machine's clock since the anchor, and later than the newest entry. An entry that is further ahead than a log can
  /// have stamped it is not followed: it would move the time of all rooms.
  private static func now(_ db: Database, _ anchor: LogTime, _ options: LogOptions) throws -> LogTime {
    let present = anchor + BusDuration(nanoseconds: options.machineClock().nanoseconds)
    let next = try last(db) + BusDuration(nanoseconds: 1)
    return LogStamps.isAhead(next, of: present) ? present : max(present, next)
  }

  /// How the log's clock stands.
  func now() throws(SharedLogError) -> LogTime { try read { db in try Self.now(db, anchor, options) } }

  /// Rows before this time may have been deleted in order, also by another process.
  func swept() throws(SharedLogError) -> LogTime {
    try read { db in LogTime(nanoseconds: try Int64.fetchOne(db, sql: "SELECT swept FROM log") ?? 0) }
  }

  // MARK: Entries

  /// Appends an entry; returns what is to be rung. The caller has the turn to write.
  func append(_ bytes: [UInt8], _ author: MemberID, _ room: RoomID) throws(SharedLogError) -> LogBell.Note {
    try write { db in
      let (room, author) = (Data(room.bytes), Data(author.bytes))
      let count = try Int.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT COUNT(*) FROM (SELECT 1 FROM entry INDEXED BY entry_room WHERE room = ? AND author = ? LIMIT ?)
            """),
        arguments: [room, author, LogBounds.entriesOfAuthor])
      guard count ?? 0 < LogBounds.entriesOfAuthor else { throw SharedLogError.full(.entries) }
      let now = try Self.now(db, anchor, options)
      try db.cachedStatement(sql: "INSERT INTO entry (time, room, author, body) VALUES (?, ?, ?, ?)")
        .execute(arguments: [now.nanoseconds, room, author, Data(bytes)])
      return LogBell.Note(position: UInt64(bitPattern: db.lastInsertedRowID), time: now)
    }
  }

  /// Whether the log has an entry; not when that cannot be read.
  func has(_ note: LogBell.Note) -> Bool {
    let time = try? read { db in
      try Int64.fetchOne(
        db.cachedStatement(sql: "SELECT time FROM entry WHERE pos = ?"),
        arguments: [Int64(bitPattern: note.position)])
    }
    return time == note.time.nanoseconds
  }

  func rows(of room: RoomID, from position: UInt64, count: Int) throws(SharedLogError) -> [LogRow] {
    try read { db in
      let rows = try Row.fetchAll(
        db.cachedStatement(
          sql: "SELECT pos, time, author, body FROM entry WHERE room = ? AND pos >= ? ORDER BY pos LIMIT ?"),
        arguments: [Data(room.bytes), Int64(clamping: position), count])
      return try rows.map { row in
        guard let position = Int64.fromDatabaseValue(row[0]), let time = Int64.fromDatabaseValue(row[1]),
          let author = Data.fromDatabaseValue(row[2]).flatMap({ MemberID($0) }),
          let body = Data.fromDatabaseValue(row[3])
        else { throw Refusal(sentence: Self.damaged(path, "entry \(row[0] as DatabaseValue) is none")) }
        return LogRow(
          position: UInt64(bitPattern: position), time: LogTime(nanoseconds: time), author: author, body: [UInt8](body))
      }
    }
  }

  func rooms() throws(SharedLogError) -> [LogRoom] {
    try read { db in
      let rows = try Row.fetchAll(
        db,
        sql: """
          SELECT room, newest, count, (SELECT time FROM entry WHERE pos = newest) AS time
          FROM (SELECT room, MAX(pos) AS newest, COUNT(*) AS count FROM entry INDEXED BY entry_room GROUP BY room)
          ORDER BY newest DESC
          """)
      return rows.compactMap { row in
        guard let room = Data.fromDatabaseValue(row[0]).flatMap({ RoomID(bytes: $0) }),
          let position = Int64.fromDatabaseValue(row[1]), let count = Int.fromDatabaseValue(row[2]),
          let time = Int64.fromDatabaseValue(row[3])
        else { return nil }
        return LogRoom(
          room: room, position: UInt64(bitPattern: position), time: LogTime(nanoseconds: time), count: count)
      }
    }
  }

  // MARK: Adverts and names

  func announce(_ advert: [UInt8]?, _ name: String, _ author: MemberID) throws(SharedLogError) {
    try write { db in
      let member = Data(author.bytes)
      let now = try Self.now(db, anchor, options)
      try db.execute(
        sql: "DELETE FROM advert WHERE (author = ? AND class = ?) OR time < ?",
        arguments: [member, name, (now - LogBounds.advertAge).nanoseconds])
      guard let advert else { return }
      let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM advert WHERE author = ?", arguments: [member])
      guard count ?? 0 < LogBounds.advertsOfAuthor else { throw SharedLogError.full(.adverts) }
      try db.execute(
        sql: "INSERT INTO advert (author, class, time, body) VALUES (?, ?, ?, ?)",
        arguments: [member, name, now.nanoseconds, Data(advert)])
    }
  }

  func adverts(_ classes: [String]) throws(SharedLogError) -> [LogAdvert] {
    try read { db in
      let since = (try Self.now(db, anchor, options) - LogBounds.advertAge).nanoseconds
      // A statement has a bounded number of arguments, and the table is small.
      let wanted = Set(classes)
      let rows = try Row.fetchAll(
        db, sql: "SELECT class, author, time, body FROM advert WHERE time >= ? ORDER BY time, author, class",
        arguments: [since])
      return rows.compactMap { row in
        guard let name = String.fromDatabaseValue(row[0]), wanted.contains(name),
          let author = Data.fromDatabaseValue(row[1]).flatMap({ MemberID($0) }),
          let time = Int64.fromDatabaseValue(row[2]), let body = Data.fromDatabaseValue(row[3])
        else { return nil }
        return LogAdvert(author: author, time: LogTime(nanoseconds: time), body: [UInt8](body))
      }
    }
  }

  func claim(_ nickname: Nickname, for member: MemberID) throws(SharedLogError) -> Bool {
    try write { db in
      let (key, member) = (nickname.logKey, Data(member.bytes))
      let owner = try Data.fetchOne(db, sql: "SELECT member FROM name WHERE nick = ?", arguments: [key])
      if let owner { return owner == member }
      try db.execute(sql: "INSERT OR REPLACE INTO name (nick, member) VALUES (?, ?)", arguments: [key, member])
      return true
    }
  }

  // MARK: Errors

  private func read<Value>(_ body: (Database) throws -> Value) throws(SharedLogError) -> Value {
    try Self.explaining(path) { try queue.writeWithoutTransaction(body) }
  }

  private func write<Value>(_ body: (Database) throws -> Value) throws(SharedLogError) -> Value {
    try Self.explaining(path) {
      try queue.writeWithoutTransaction { db in
        var code: CInt = 0
        do {
          var value: Value?
          try db.inTransaction(.immediate) {
            do { value = try body(db) } catch {
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
  private static func damaged(_ path: String, _ what: String?) -> String {
    // SQLite's reports have several lines.
    let what = what?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer to a check"
    return "\(path) is damaged (\(what)): put a copy back, or move it away and a new log begins; "
      + "nothing was changed"
  }
}

extension Nickname {
  /// The same for all ways to write a name: letters of either case, and however they are encoded.
  var logKey: String { text.uppercased().lowercased().precomposedStringWithCanonicalMapping }
}
