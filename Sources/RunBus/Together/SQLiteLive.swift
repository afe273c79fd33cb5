import Foundation
import GRDB
import RunCore
import SystemC

/// Live messages of the rooms of one machine: a SQLite file in the runtime directory that is never synced, and made anew
/// when it cannot be read. Used on the thread of its log only.
final class SQLiteLive {
  private struct Listener {
    let room: RoomID
    /// The messages that it was given have numbers up to this one.
    var number: Int64 = 0
    var pull: Pull<[LiveRow]>?
  }
  /// A live message is not worth waiting longer for.
  private static let patience = BusDuration.milliseconds(50)
  /// Messages of a room: the members that there may be, of each kind, and as many strangers.
  private static let rowsMax = 128
  private static let version: Int32 = 1
  /// The kinds that there are, for SQL.
  private static let kinds = LiveKind.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
  private static let schema = """
    CREATE TABLE live (
      number INTEGER PRIMARY KEY AUTOINCREMENT, room BLOB NOT NULL, author BLOB NOT NULL, kind TEXT NOT NULL,
      time INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (room, author, kind));
    CREATE INDEX live_room ON live (room, number);
    CREATE TABLE pace (
      room BLOB NOT NULL, author BLOB NOT NULL, before INTEGER NOT NULL, last INTEGER NOT NULL,
      PRIMARY KEY (room, author)) WITHOUT ROWID;
    """

  private let place: LogPlace
  private let options: LogOptions
  private var file: (queue: DatabaseQueue, identity: FileIdentity)?
  private var turn: LogTurn?
  /// The file takes no more: the disk is full, or its numbers are used up.
  private var isFull = false
  private var listeners: [Int: Listener] = [:]
  var isWatched = false

  init(_ place: LogPlace, _ options: LogOptions) { (self.place, self.options) = (place, options) }

  func close() {
    for listener in listeners.values { _ = listener.pull?.give(nil) }
    listeners = [:]
    leaveFile()
  }

  // MARK: The file

  private func leaveFile() {
    try? file?.queue.close()
    (file, turn) = (nil, nil)
  }

  private func connection() throws -> DatabaseQueue {
    if let file, file.identity.isInPlace { return file.queue }
    leaveFile()
    try place.prepareLive()
    let path = place.liveFile
    let turn = try LogTurn(path: place.liveDirectory + "/live.lock")
    guard turn.take(within: options.patience) else { throw SharedLogError.busy }
    defer { turn.giveBack() }
    // Nothing in it is older than a minute.
    func unlinkFiles() { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
    if isFull { unlinkFiles() }
    isFull = false
    let queue: DatabaseQueue
    do { queue = try Self.open(path) } catch  where StoreFault(error).isDamage {
      unlinkFiles()
      queue = try Self.open(path)
    }
    guard let identity = FileIdentity(path: path) else { throw SharedLogError.unavailable("\(path) is gone") }
    file = (queue, identity)
    self.turn = turn
    // Numbers begin anew in a new file.
    for number in listeners.keys { listeners[number]?.number = 0 }
    return queue
  }

  private static func open(_ path: String) throws -> DatabaseQueue {
    let descriptor = SystemC.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { SystemC.close(descriptor) }
    var configuration = Configuration()
    configuration.label = "runbus.live"
    configuration.busyMode = .timeout(1)
    configuration.prepareDatabase { db in
      _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL")
      try db.execute(sql: "PRAGMA synchronous = OFF")
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    do {
      try queue.write { db in
        switch try Int32.fetchOne(db, sql: "PRAGMA user_version") {
        case version: return
        case 0: try db.execute(sql: schema + "PRAGMA user_version = \(version)")
        default: throw SharedLogError.unavailable("\(path) is of another version")
        }
      }
      return queue
    } catch {
      try? queue.close()
      throw error
    }
  }

  // MARK: Sending

  func shout(_ bytes: [UInt8], _ kind: LiveKind, _ room: RoomID, _ author: MemberID) {
    let isTaken = try? attempt { queue in
      guard turn?.take(within: Self.patience) ?? false else { return false }
      defer { turn?.giveBack() }
      return try queue.write { db in try self.keep(bytes, kind, room, author, db) }
    }
    if isTaken ?? false {
      place.liveBell.ring(
        LogBell.Note(position: 0, time: LogTime(nanoseconds: options.machineClock().nanoseconds)))
    }
  }

  /// - Returns: `false` when its author sends too fast.
  private func keep(
    _ bytes: [UInt8], _ kind: LiveKind, _ room: RoomID, _ author: MemberID, _ db: Database
  ) throws -> Bool {
    let (room, author) = (Data(room.bytes), Data(author.bytes))
    let now = options.machineClock().nanoseconds
    let second = BusDuration.seconds(1).nanoseconds
    let pace = try Row.fetchOne(
      db.cachedStatement(sql: "SELECT before, last FROM pace WHERE room = ? AND author = ?"), arguments: [room, author])
    // Moments after now are those of another boot.
    if let before = pace.flatMap({ Int64.fromDatabaseValue($0[0]) }), (0..<second).contains(now &- before) {
      return false
    }
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO pace (room, author, before, last) VALUES (?, ?, ?, ?)")
      .execute(arguments: [room, author, pace.flatMap { Int64.fromDatabaseValue($0[1]) } ?? now - 2 * second, now])
    try db.cachedStatement(sql: "INSERT OR REPLACE INTO live (room, author, kind, time, body) VALUES (?, ?, ?, ?, ?)")
      .execute(arguments: [room, author, kind.rawValue, now, Data(bytes)])
    let stale = now - LogBounds.liveAge.nanoseconds
    try db.cachedStatement(sql: "DELETE FROM live WHERE time NOT BETWEEN ? AND ?").execute(arguments: [stale, now])
    try db.cachedStatement(sql: "DELETE FROM pace WHERE last NOT BETWEEN ? AND ?").execute(arguments: [stale, now])
    try db.cachedStatement(
      sql:
        "DELETE FROM live WHERE number IN (SELECT number FROM live WHERE room = ? ORDER BY number DESC LIMIT -1 OFFSET ?)"
    ).execute(arguments: [room, Self.rowsMax])
    return true
  }

  /// Does it once more with the file opened anew after a failure.
  private func attempt<Value>(_ body: (DatabaseQueue) throws -> Value) throws -> Value {
    do { return try body(try connection()) } catch let error as DatabaseError {
      leaveFile()
      isFull = error.resultCode == .SQLITE_FULL
      return try body(try connection())
    }
  }

  // MARK: Listening

  func listen(_ room: RoomID, _ number: Int) { listeners[number] = Listener(room: room) }
  func unlisten(_ number: Int) { listeners[number] = nil }

  func want(_ number: Int, _ pull: Pull<[LiveRow]>) {
    guard listeners[number] != nil else { return _ = pull.give(nil) }
    if let former = listeners[number]?.pull, !former.isOver { _ = former.give(nil) }
    listeners[number]?.pull = pull
    serve(number)
  }

  func serveAll() { for number in listeners.keys.sorted() { serve(number) } }

  private func serve(_ number: Int) {
    guard let listener = listeners[number], let pull = listener.pull else { return }
    if pull.isOver {
      listeners[number]?.pull = nil
      return
    }
    // What cannot be read now is live no more when it can be.
    guard let rows = try? attempt({ queue in try read(listener.room, after: listeners[number]?.number ?? 0, queue) }),
      let newest = rows.last?.number
    else { return }
    if pull.give(rows.map(\.row)) { listeners[number]?.number = newest }
    if pull.isOver { listeners[number]?.pull = nil }
  }

  private func read(
    _ room: RoomID, after number: Int64, _ queue: DatabaseQueue
  ) throws -> [(number: Int64, row: LiveRow)] {
    let (now, own) = (options.machineClock(), options.ownClock())
    return try queue.writeWithoutTransaction { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT number, author, kind, time, body FROM live WHERE room = ? AND number > ?
            AND typeof(time) = 'integer' AND time >= ? AND typeof(author) = 'blob'
            AND length(author) = \(MemberID.byteCount) AND kind IN (\(Self.kinds))
            AND typeof(body) = 'blob' AND length(body) <= \(LogBounds.bytes)
            ORDER BY number LIMIT \(Self.rowsMax)
            """),
        arguments: [Data(room.bytes), number, (now - LogBounds.liveAge).nanoseconds]
      ).compactMap { row in
        // What is no message is no row for anybody.
        guard let author = Data.fromDatabaseValue(row[1]).flatMap({ MemberID($0) }),
          let kind = String.fromDatabaseValue(row[2]).flatMap({ LiveKind(rawValue: $0) }),
          let time = Int64.fromDatabaseValue(row[3]), let body = Data.fromDatabaseValue(row[4])
        else { return nil }
        let age = max(.zero, now - BusTime(nanoseconds: time))
        return (row[0], LiveRow(author: author, kind: kind, body: [UInt8](body), sent: own - age))
      }
    }
  }
}
