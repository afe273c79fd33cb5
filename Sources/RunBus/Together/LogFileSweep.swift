import Foundation
import GRDB
import RunCore

/// What a look at the entries of a room has shown.
private enum RoomLook {
  /// One of its author's own entries says that there was a run.
  case run
  /// None says so.
  case noRun
  /// It has too many entries to look at all.
  case undecided
}

// The end of rooms in a log's file.
extension LogFile {
  /// How many entries of old rooms are looked at or deleted at an opening: the next one goes on.
  private static let sweptMax = 2000
  /// How many entries of a room are looked at: more than all members and strangers have whom the rules follow.
  private static let lookedMax = 40_000
  /// How many signatures of a room are checked in a look, so that it takes a tenth of a second.
  private static let signaturesMax = 1000

  /// The time before which rooms were looked at: those that are left have a run. One that has not come yet is none.
  static func looked(_ db: Database, at now: LogTime) throws -> LogTime {
    let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT swept FROM log"))
    let looked = LogTime(nanoseconds: row.flatMap { Int64.fromDatabaseValue($0[0]) } ?? 0)
    return looked <= now ? looked : .zero
  }

  /// Deletes whole rooms: a fold of a part of one would differ from that of the whole.
  ///
  /// A room is looked at once, when it is old enough: one without a run goes, one with a run stays until it is among the
  /// oldest of too many or as old as results become.
  static func sweep(_ db: Database, at now: LogTime, wall: LogTime, keeping ranRooms: Int) throws {
    let looked = try Self.looked(db, at: now)
    let sweep = LogSweep(try dated(db, at: now), looked: looked, at: min(now, wall), keeping: ranRooms)
    var work = 0
    func delete(_ room: RoomID) throws {
      try db.execute(sql: "DELETE FROM entry WHERE room = ?", arguments: [Data(room.bytes)])
      work += db.changesCount
    }
    for room in sweep.expired where work < sweptMax { try delete(room) }
    // Of a room with a run one of the last entries says so.
    var (kept, looks) = (0, 0)
    for room in sweep.crowd where work < sweptMax && looks < 8 * ranRooms + sweptMax {
      let (look, count) = try Self.look(at: room, db)
      looks += count
      switch look {
      case .run:
        kept += 1
        if kept > ranRooms { try delete(room) }
      case .noRun: try delete(room)
      case .undecided: break
      }
    }
    var through = looked
    for dated in sweep.due where work < sweptMax {
      through = dated.newest + BusDuration(nanoseconds: 1)
      let (look, count) = try Self.look(at: dated.room, db)
      work += count
      switch look {
      case .noRun: try delete(dated.room)
      case .run, .undecided: break
      }
    }
    let end = work < sweptMax ? sweep.looked : through
    if work > 0, end > looked { try db.execute(sql: "UPDATE log SET swept = ?", arguments: [end.nanoseconds]) }
    // What is no entry for anybody is missed by nobody.
    try db.execute(
      sql: "DELETE FROM entry WHERE pos IN (SELECT pos FROM entry WHERE NOT (\(LogRow.condition)) LIMIT ?)",
      arguments: [sweptMax])
    try forgetAdverts(db, at: now)
  }

  /// The rooms with their greatest times, as far as those have come: what is stamped later holds no room.
  private static func dated(_ db: Database, at now: LogTime) throws -> [LogSweep<RoomID>.Dated] {
    try Row.fetchAll(
      db,
      sql: """
        SELECT room, MAX(time) FROM entry INDEXED BY entry_room WHERE time <= ? AND \(LogRow.condition) GROUP BY room
        """, arguments: [now.nanoseconds]
    ).compactMap { row in
      guard let room = Self.room(row[0]), let time = Int64.fromDatabaseValue(row[1]) else { return nil }
      return LogSweep.Dated(room: room, newest: LogTime(nanoseconds: time))
    }
  }

  /// Looks whether an entry of a room says that there was a run; the last ones do. Returns how many it has looked at.
  private static func look(at room: RoomID, _ db: Database) throws -> (RoomLook, looked: Int) {
    let rows = try Row.fetchCursor(
      db, sql: "SELECT author, body FROM entry WHERE room = ? AND \(LogRow.condition) ORDER BY pos DESC",
      arguments: [Data(room.bytes)])
    var (count, checked) = (0, 0)
    while let row = try rows.next() {
      count += 1
      guard let author = Data.fromDatabaseValue(row[0]).flatMap({ MemberID($0) }),
        let body = Data.fromDatabaseValue(row[1]).map({ [UInt8]($0) }), EntrySigning.statesRun(body)
      else {
        if count >= lookedMax { return (.undecided, count) }
        continue
      }
      checked += 1
      if EntrySigning.content(of: body, room: room, author: author) != nil { return (.run, count) }
      if checked >= signaturesMax || count >= lookedMax { return (.undecided, count) }
    }
    return (.noRun, count)
  }
}
