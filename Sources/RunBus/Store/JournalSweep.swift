import Foundation
import GRDB
import RunCore

/// Deletes journals that are not needed any more. Their time lines stay, because the control rules need the last
/// transitions, and the present run's clock needs its gaps. The rest is deleted in pieces, so that no commit waits long.
enum JournalSweep {
  /// How many journal positions one piece covers; it takes a few milliseconds.
  private static let pieceSize: Int64 = 4096
  /// The kinds of entries that stay in a dropped journal and are read, as an SQL list.
  static let keptKinds: String = {
    let kinds: [JournalKind] = [.transition, .amendment, .gap]
    return "(" + kinds.map { String($0.rawValue) }.joined(separator: ", ") + ")"
  }()
  /// The condition for entries that go with a dropped journal. Those of a kind that this version does not know may be of
  /// the time line, and stay.
  private static let goes = "(kind IS NULL OR kind IN (\(JournalKind.lap.rawValue), \(JournalKind.setup.rawValue)))"

  static func end(_ run: RunID, at moment: BusTime, _ db: Database) throws {
    try db.run(
      "UPDATE runs SET over_at = ? WHERE run = ? AND swept_to IS NULL", [moment.nanoseconds, run.data])
  }

  static func date(_ run: RunID, wallSeconds: Double, _ db: Database) throws {
    try db.run("UPDATE runs SET began = ? WHERE run = ? AND swept_to IS NULL", [wallSeconds, run.data])
  }

  /// Marks a journal as dropped: from now on only its time line is read, and the aliases of its run are gone.
  static func drop(_ run: RunID, _ db: Database) throws {
    // The sweep may delete the row with the highest position. That position must not be used again, so it is stored.
    try db.run(
      "INSERT OR REPLACE INTO meta (key, value) SELECT 'last_position', MAX(position) FROM journal HAVING COUNT(*) > 0",
      [])
    try db.run(
      """
      UPDATE runs SET over_at = NULL, began = NULL, swept_to = first_position, sweep_until = (SELECT MAX(position) FROM journal)
      WHERE run = ?
      """, [run.data])
    try db.run("DELETE FROM aliases WHERE of = ?", [run.data])
  }

  /// Deletes one piece; returns whether there may be more.
  static func piece(_ db: Database) throws -> Bool {
    let next = "SELECT number, swept_to, sweep_until FROM runs WHERE swept_to >= 0 LIMIT 1"
    guard let row = try Row.fetchOne(db, sql: next), let number = row.integer("number"),
      let from = row.integer("swept_to"), let until = row.integer("sweep_until")
    else { return false }
    let to = min(from + pieceSize, until + 1)
    try db.run(
      "DELETE FROM journal WHERE position >= ? AND position < ? AND run = ? AND \(goes)",
      [from, to, number])
    try db.run("UPDATE runs SET swept_to = ? WHERE number = ?", [to > until ? -1 : to, number])
    return true
  }

  static func readEnded(_ db: Database, into history: inout HubHistory) throws {
    let rows = try Row.fetchCursor(
      db, sql: "SELECT run, over_at, began FROM runs WHERE over_at IS NOT NULL OR began IS NOT NULL")
    while let row = try rows.next() {
      guard let run: RunID = row.identifier("run") else { continue }
      if let moment = row.integer("over_at") { history.endedJournals[run] = BusTime(nanoseconds: moment) }
      if let began = row.real("began"), RecordSummary.startUnixSeconds.contains(began) { history.runDates[run] = began }
    }
  }

  /// The highest position that was ever used.
  static func lastPosition(_ db: Database) throws -> UInt64 {
    let swept = try Int64.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'last_position'") ?? 0
    let present = try Int64.fetchOne(db, sql: "SELECT MAX(position) FROM journal") ?? 0
    return UInt64(bitPattern: max(swept, present))
  }
}
