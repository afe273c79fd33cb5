import Foundation
import GRDB
import RunCore

/// The one row of the table `failure_mark`: a peer's failure detection.
enum FailureMarkColumns {
  /// Writes a mark. The wall time of an alarm is for people who inspect the store; the node does not use it.
  static func write(_ mark: HubFailureMark, _ db: Database) throws {
    let lost = mark.lastAlarm
    // Only a new alarm sets the wall time; later marks keep it.
    let isNew = mark.duty == .alarmed
    try db.run(
      """
      INSERT INTO failure_mark (one, duty, run, device, term, revision, tick, silence, wall)
      VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (one) DO UPDATE SET duty = excluded.duty, run = excluded.run, device = excluded.device,
        term = excluded.term, revision = excluded.revision, tick = excluded.tick, silence = excluded.silence,
        wall = COALESCE(excluded.wall, wall)
      """,
      [
        mark.duty.rawValue, lost?.runID?.data, lost?.deviceID?.rawValue, lost.map { Int64(bitPattern: $0.order.term) },
        lost.map { Int64(bitPattern: $0.order.revision) }, lost.map { Int64(bitPattern: $0.order.tick) },
        lost?.silence.nanoseconds, isNew ? Date().timeIntervalSince1970 : nil,
      ])
  }

  /// `nil` for a row that no version of this code has written.
  static func read(_ row: Row) -> HubFailureMark? {
    guard let duty = row.integer("duty").flatMap({ HubFailureMark.Duty(rawValue: Int($0)) }) else { return nil }
    guard let silence = row.integer("silence") else { return HubFailureMark(duty: duty) }
    guard let term = row.integer("term"), let revision = row.integer("revision"), let tick = row.integer("tick") else {
      return nil
    }
    return HubFailureMark(
      duty: duty,
      lastAlarm: HubLost(
        runID: row.identifier("run"), deviceID: row.text("device").flatMap { DeviceID($0) },
        order: SnapshotOrder(
          term: UInt64(bitPattern: term), revision: UInt64(bitPattern: revision), tick: UInt64(bitPattern: tick)),
        silence: BusDuration(nanoseconds: silence)))
  }
}
