import Foundation
import GRDB
import RunCore

/// The clock of a log on one machine: the machine's monotonic clock and a span, the *anchor*, which the file has for each
/// boot.
///
/// A process reads the anchor once. What is written into the file later moves its clock by at most
/// ``LogStamps/aheadMax``.
struct LogFileClock: Sendable {
  private let anchor: BusDuration
  private let options: LogOptions

  /// The wall clock, as a time of the log's clock.
  static func wall(_ options: LogOptions) -> LogTime {
    LogTime.zero + BusDuration(seconds: options.wallSeconds())
  }

  private static func present(_ anchor: BusDuration, _ options: LogOptions) -> LogTime {
    LogTime(nanoseconds: options.machineClock().nanoseconds) + anchor
  }

  /// Reads the anchor of this boot, or makes it, and notes when that was.
  static func begin(_ db: Database, _ options: LogOptions) throws -> LogFileClock {
    let row = try Row.fetchOne(db, sql: "SELECT last, wall FROM log")
    let (last, wall) = (time(row), row.flatMap { Int64.fromDatabaseValue($0[1]) } ?? 0)
    let kept = try Row.fetchOne(db, sql: "SELECT anchor FROM clock WHERE boot = ?", arguments: [options.boot])
    var anchor = kept.flatMap { Int64.fromDatabaseValue($0[0]) }.map { BusDuration(nanoseconds: $0) }
    // The anchor of a boot is exact. It is wrong when the clock has been later than it says: at the last opening, and for
    // an entry. Either of them alone may have been put ahead.
    if let kept = anchor, present(kept, options) + LogStamps.aheadMax < min(last, try newest(db)) { anchor = nil }
    if anchor == nil {
      // What was between the boots is known from the wall clock alone; it may have been set back.
      let away = Self.wall(options) - LogTime(nanoseconds: wall)
      let step = BusDuration(nanoseconds: 1)
      let (then, next) = (last + max(step, away), try newest(db) + step)
      // After a wall clock that was set back by more than it was away the newest entry alone says how late it is.
      let now = away < .zero || next <= then + LogBounds.awayError ? max(then, next) : then
      let made = now - LogTime(nanoseconds: options.machineClock().nanoseconds)
      try db.execute(sql: "DELETE FROM clock")
      try db.execute(
        sql: "INSERT INTO clock (boot, anchor) VALUES (?, ?)", arguments: [options.boot, made.nanoseconds])
      anchor = made
    }
    let clock = LogFileClock(anchor: anchor ?? .zero, options: options)
    try db.execute(
      sql: "UPDATE log SET last = ?, wall = ?",
      arguments: [try clock.now(db).nanoseconds - 1, Self.wall(options).nanoseconds])
    return clock
  }

  /// How the log's clock stands: later than every entry that is not stamped far ahead of the machine's clock, as none is
  /// that a log has stamped.
  func now(_ db: Database) throws -> LogTime {
    let present = Self.present(anchor, options)
    let last = Self.time(try Row.fetchOne(db.cachedStatement(sql: "SELECT last FROM log")))
    return [last, try Self.newest(db)].filter { $0 <= present + LogStamps.aheadMax }
      .reduce(present) { max($0, $1 + BusDuration(nanoseconds: 1)) }
  }

  /// The time of the newest entry.
  private static func newest(_ db: Database) throws -> LogTime {
    let statement = try db.cachedStatement(
      sql: "SELECT time FROM entry WHERE \(LogRow.condition) ORDER BY pos DESC LIMIT 1")
    return time(try Row.fetchOne(statement))
  }

  /// A time that is the first value of a row; the log's origin for what is none.
  private static func time(_ row: Row?) -> LogTime {
    guard let nanoseconds = row.flatMap({ Int64.fromDatabaseValue($0[0]) }),
      (0...LogBounds.timeMax.nanoseconds).contains(nanoseconds)
    else { return .zero }
    return LogTime(nanoseconds: nanoseconds)
  }
}
