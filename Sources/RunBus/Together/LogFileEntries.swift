import Foundation
import GRDB
import RunCore

extension LogRow {
  /// What makes a row of the table an entry. Another one is no entry for any reader, whatever it says: its positions are
  /// gaps.
  static let condition = """
    pos BETWEEN 1 AND \(LogBounds.positionMax)
    AND typeof(time) = 'integer' AND time BETWEEN 0 AND \(LogBounds.timeMax.nanoseconds)
    AND typeof(author) = 'blob' AND length(author) = \(MemberID.byteCount)
    AND typeof(body) = 'blob' AND length(body) <= \(LogBounds.bytes)
    """

  /// An entry from the columns `pos`, `time`, `author` and `body`; `nil` for a row that is none.
  fileprivate init?(_ row: Row) {
    guard let position = Int64.fromDatabaseValue(row[0]), let time = Int64.fromDatabaseValue(row[1]),
      let author = Data.fromDatabaseValue(row[2]).flatMap({ MemberID($0) }),
      let body = Data.fromDatabaseValue(row[3])
    else { return nil }
    self.init(
      position: UInt64(bitPattern: position), time: LogTime(nanoseconds: time), author: author, body: [UInt8](body))
  }
}

// The entries of a log's file.
extension LogFile {
  /// Appends an entry; returns what is to be rung. The caller has the turn to write.
  func append(_ bytes: [UInt8], _ author: MemberID, _ room: RoomID) throws(SharedLogError) -> LogBell.Note {
    try write { db in
      guard try hasRoom(db, for: author, in: room) else { throw SharedLogError.full(.entries) }
      let last = try Self.lastPosition(db)
      guard last < LogBounds.positionMax else {
        throw SharedLogError.unavailable(Self.positionsUsedUp(path))
      }
      let now = try self.now(db)
      try db.cachedStatement(sql: "INSERT INTO entry (pos, time, room, author, body) VALUES (?, ?, ?, ?, ?)")
        .execute(arguments: [last + 1, now.nanoseconds, Data(room.bytes), Data(author.bytes), Data(bytes)])
      return LogBell.Note(position: UInt64(bitPattern: last + 1), time: now)
    }
  }

  /// The greatest position that there ever was. SQLite itself gives none after one beyond ``LogBounds/positionMax``.
  static func lastPosition(_ db: Database) throws -> Int64 {
    let positions = try db.cachedStatement(
      sql: """
        SELECT seq FROM sqlite_sequence WHERE name = 'entry' AND typeof(seq) = 'integer' AND seq BETWEEN 0 AND ?1
        UNION ALL
        SELECT pos FROM (SELECT pos FROM entry WHERE pos BETWEEN 1 AND ?1 ORDER BY pos DESC LIMIT 1)
        """)
    return try Int64.fetchAll(positions, arguments: [LogBounds.positionMax]).max() ?? 0
  }

  /// Whether the log takes another entry of a member in a room.
  private func hasRoom(_ db: Database, for author: MemberID, in room: RoomID) throws -> Bool {
    let (member, id) = (Data(author.bytes), Data(room.bytes))
    let count = try Int.fetchOne(
      db.cachedStatement(
        sql: """
          SELECT COUNT(*) FROM (SELECT 1 FROM entry INDEXED BY entry_room WHERE room = ? AND author = ? LIMIT ?)
          """),
      arguments: [id, member, capacity.entriesOfAuthor])
    guard count ?? 0 >= capacity.entriesOfAuthor else { return true }
    var own = AuthorEntries(of: author, in: room, max: capacity.entriesOfAuthor)
    let bodies = try Data.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT body FROM entry INDEXED BY entry_room
          WHERE room = ? AND author = ? AND \(LogRow.condition) ORDER BY pos LIMIT ?
          """),
      arguments: [id, member, own.rowsMax])
    while !own.isFull, let body = try bodies.next() { own.take([UInt8](body)) }
    return !own.isFull
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

  /// At most `count` entries of a room in order, the one at a position included. There are no more if there are fewer.
  func rows(of room: RoomID, from position: UInt64, count: Int) throws(SharedLogError) -> [LogRow] {
    try read { db in
      let rows = try db.cachedStatement(
        sql: """
          SELECT pos, time, author, body FROM entry
          WHERE room = ? AND pos >= ? AND \(LogRow.condition) ORDER BY pos LIMIT ?
          """)
      return try Row.fetchAll(rows, arguments: [Data(room.bytes), Int64(clamping: position), count])
        .compactMap { LogRow($0) }
    }
  }

  /// The rooms that have entries; the room with the newest entry first.
  func rooms() throws(SharedLogError) -> [LogRoom] {
    try read { db in
      let rows = try Row.fetchAll(
        db,
        sql: """
          SELECT room, MAX(pos) AS newest, COUNT(*), MAX(time) FROM entry INDEXED BY entry_room
          WHERE \(LogRow.condition) GROUP BY room ORDER BY newest DESC
          """)
      return rows.compactMap { row in
        guard let room = Self.room(row[0]), let position = Int64.fromDatabaseValue(row[1]),
          let count = Int.fromDatabaseValue(row[2]), let time = Int64.fromDatabaseValue(row[3])
        else { return nil }
        return LogRoom(
          room: room, position: UInt64(bitPattern: position), time: LogTime(nanoseconds: time), count: count)
      }
    }
  }

  /// A room as a row names it; `nil` for what names none, also for a text of as many bytes.
  static func room(_ value: DatabaseValue) -> RoomID? {
    guard case .blob(let bytes) = value.storage else { return nil }
    return RoomID(bytes: bytes)
  }
}
