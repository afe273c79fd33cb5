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

  static func end(_ run: RunID, at moment: BusTime, _ db: StoreWriter) throws {
    try db.run(
      "UPDATE runs SET over_at = ? WHERE run = ? AND swept_to IS NULL", StoredNumber.nanoseconds(moment), run)
  }

  static func date(_ run: RunID, wallSeconds: Double, _ db: StoreWriter) throws {
    try db.run("UPDATE runs SET began = ? WHERE run = ? AND swept_to IS NULL", wallSeconds, run)
  }

  /// Marks a journal as dropped: from now on only its time line is read, and the aliases of its run are gone.
  static func drop(_ run: RunID, _ db: StoreWriter) throws {
    // The sweep may delete the row with the highest position. That position must not be used again, so it is stored.
    try db.run(
      """
      INSERT OR REPLACE INTO meta (key, value) SELECT 'last_position', MAX(position) FROM journal
      WHERE position BETWEEN 0 AND ? HAVING COUNT(*) > 0
      """, StoredNumber.own.upperBound)
    try db.run(
      """
      UPDATE runs SET over_at = NULL, began = NULL, swept_to = first_position, sweep_until = (SELECT MAX(position) FROM journal)
      WHERE run = ?
      """, run)
    try db.run("DELETE FROM aliases WHERE of = ?", run)
  }

  /// Deletes one piece; returns whether there may be more.
  ///
  /// A dropped run gets no more entries, so that its sweep ends at the last position of all, whatever the row says. It
  /// leaps over positions without an entry: it takes no more pieces than the journal has rows.
  static func piece(_ db: Database) throws -> Bool {
    let next = "SELECT number, swept_to, sweep_until FROM runs WHERE swept_to >= 0 LIMIT 1"
    guard let row = try Row.fetchOne(db, sql: next), let number = row.integer("number") else { return false }
    let last = try StoreNumbers.lastJournalPosition(db)
    let until = min(row.integer("sweep_until", in: StoredNumber.own) ?? last, last)
    let begin = row.integer("swept_to", in: StoredNumber.own) ?? 0
    let from =
      try Int64.fetchOne(
        db, sql: "SELECT position FROM journal WHERE position >= ? ORDER BY position LIMIT 1", arguments: [begin])
      ?? last
    let to = from > until ? until + 1 : min(from + pieceSize, until + 1)
    try db.execute(
      sql: "DELETE FROM journal WHERE position >= ? AND position < ? AND run = ? AND \(goes)",
      arguments: [from, to, number])
    try db.execute(
      sql: "UPDATE runs SET swept_to = ? WHERE number = ?", arguments: [to > until ? -1 : to, number])
    return true
  }

  /// The highest position that was ever used.
  static func lastPosition(_ db: Database) throws -> UInt64 {
    max(try StoreNumbers.read("last_position", db) ?? 0, UInt64(try StoreNumbers.lastJournalPosition(db)))
  }
}

extension HistoryReader {
  /// Reads when the journals of runs ended, and when runs began by the wall clock.
  mutating func readEnded(into history: inout HubHistory) throws {
    try each("runs", "SELECT * FROM runs") { row in
      guard let run: RunID = row.identifier("run"), row.integer("first_position", in: StoredNumber.own) != nil,
        let over = row.optionalMoment("over_at"),
        ["swept_to", "sweep_until"].allSatisfy({ name in
          row.isNull(name) || row.integer(name, in: -1...StoredNumber.own.upperBound) != nil
        })
      else { return false }
      if let over { history.endedJournals[run] = over }
      if let began = row.real("began"), RecordSummary.startUnixSeconds.contains(began) { history.runDates[run] = began }
      return true
    }
  }
}
