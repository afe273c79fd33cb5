import Foundation
import GRDB
import RunCore

/// The one row of `vigil`: a peer's watch over its hub.
enum FailureMarkColumns {
  /// The wall time of an alarm is for whoever looks into the store; nothing is decided by it.
  static func write(_ mark: HubFailureMark, _ db: Database) throws {
    let lost = mark.lastAlarm
    // What follows an alarm is no alarm: that one keeps the time at which it was raised.
    let isNew = mark.duty == .alarmed
    try db.run(
      """
      INSERT INTO vigil (one, duty, run, hub, term, revision, tick, silence, wall) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (one) DO UPDATE SET duty = excluded.duty, run = excluded.run, hub = excluded.hub,
        term = excluded.term, revision = excluded.revision, tick = excluded.tick, silence = excluded.silence,
        wall = COALESCE(excluded.wall, wall)
      """,
      [
        mark.duty.rawValue, lost?.runID?.data, lost?.deviceID?.rawValue, lost.map { Int64(bitPattern: $0.order.term) },
        lost.map { Int64(bitPattern: $0.order.revision) }, lost.map { Int64(bitPattern: $0.order.tick) },
        lost?.silence.nanoseconds, isNew ? Date().timeIntervalSince1970 : nil,
      ])
  }

  /// `nil` for a row that no version of this file wrote.
  static func read(_ row: Row) -> HubFailureMark? {
    guard let duty = row.integer("duty").flatMap({ HubFailureMark.Duty(rawValue: Int($0)) }) else { return nil }
    guard let silence = row.integer("silence") else { return HubFailureMark(duty: duty) }
    guard let term = row.integer("term"), let revision = row.integer("revision"), let tick = row.integer("tick") else {
      return nil
    }
    return HubFailureMark(
      duty: duty,
      lastAlarm: HubLost(
        runID: row.identifier("run"), deviceID: row.text("hub").flatMap { DeviceID($0) },
        order: SnapshotOrder(
          term: UInt64(bitPattern: term), revision: UInt64(bitPattern: revision), tick: UInt64(bitPattern: tick)),
        silence: BusDuration(nanoseconds: silence)))
  }
}
