/// How long a log keeps rooms. Whoever opens the log deletes what is too old, and whoever follows a room judges by the
/// same rules whether entries that are not there any more were deleted in order.
///
/// A room is as old as the greatest time of its entries, wherever in the room that one is: an entry that somebody adds
/// with an early time makes no room older.
package enum LogKeeping {
  /// How long a room stays after its greatest time: 72 h and a day, in which a member that was away comes back.
  package static let roomAge = BusDuration.seconds(96 * 3600)
  /// How long a room with a run stays: its entries are what results are recounted from, for a year and a month.
  package static let ranAge = BusDuration.seconds(400 * 24 * 3600)
  /// How many rooms with a run stay beyond ``roomAge``, the newest: about 50 MB in rooms of four.
  package static let ranRooms = 2048

  /// Whether entries that were read are missing in order: their room is too old by the log's clock, and was looked at.
  ///
  /// - Parameters:
  ///   - newest: The greatest time of the entries that were read.
  ///   - looked: The time before which rooms were looked at, as the log says. Alone it excuses nothing, because whoever
  ///     can delete entries can write it, too.
  ///   - now: The log's clock.
  package static func mayLack(_ newest: LogTime, looked: LogTime, at now: LogTime) -> Bool {
    newest < looked && newest < now - roomAge
  }
}

/// Which rooms of a log go at an opening, and which are looked at: one without a run goes once it is old enough.
package struct LogSweep<Room: Hashable & Sendable>: Hashable, Sendable {
  /// A room and the greatest time of its entries.
  package struct Dated: Hashable, Sendable {
    /// The room.
    package var room: Room
    /// The greatest time of its entries.
    package var newest: LogTime
    /// A room from its parts.
    package init(room: Room, newest: LogTime) { (self.room, self.newest) = (room, newest) }
  }
  /// Rooms that go, whatever is in them.
  package let expired: [Room]
  /// Rooms that passed for ones with a run and are too many, the newest first. Each is looked at again: one without a run
  /// goes, and of the others those go that come after as many as are kept.
  package let crowd: [Room]
  /// Rooms that are old enough to be looked at for the first time, the oldest first.
  package let due: [Dated]
  /// The time before which all rooms were looked at, once those of ``due`` were.
  package let looked: LogTime

  /// What is to be done at an opening.
  ///
  /// - Parameters:
  ///   - rooms: All rooms of the log.
  ///   - looked: The time before which rooms were looked at.
  ///   - now: The log's clock, or the machine's wall clock if that is behind it: a log whose clock was put ahead deletes
  ///     nothing early.
  ///   - ranRooms: How many rooms with a run are kept.
  package init(_ rooms: [Dated], looked: LogTime, at now: LogTime, keeping ranRooms: Int) {
    let (cut, end) = (now - LogKeeping.roomAge, now - LogKeeping.ranAge)
    let old = rooms.filter { $0.newest < cut }.sorted { $0.newest < $1.newest }
    let known = old.filter { $0.newest < looked }
    expired = known.filter { $0.newest < end }.map(\.room)
    let ran = known.filter { $0.newest >= end }
    crowd = ran.count > ranRooms ? ran.reversed().map(\.room) : []
    due = old.filter { $0.newest >= looked }
    self.looked = max(looked, cut)
  }
}
