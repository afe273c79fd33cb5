package import RunCore

/// Folds rooms from a log, for those who look without taking part.
package enum RoomFolds {
  /// How many rooms are folded at most, the newest first.
  static let roomsMax = 256

  /// The rooms of a fleet as its log has them, the one with the newest entry first.
  package static func all(of log: any SharedLog, fleet: FleetID) async throws(SharedLogError) -> [RoomReport] {
    var reports: [RoomReport] = []
    for room in try await log.rooms().prefix(roomsMax) {
      if let report = try await fold(room.room, of: log, fleet: fleet) { reports.append(report) }
    }
    return reports
  }

  /// One room as the log has it; `nil` when nobody has opened it.
  package static func fold(
    _ room: RoomID, of log: any SharedLog, fleet: FleetID
  ) async throws(SharedLogError) -> RoomReport? {
    var reader = RoomReader(room: room, fleet: fleet, tail: nil)
    var machine = RoomMachine()
    var last: ReadEntry?
    var position: UInt64 = 0
    while true {
      let rows = try await log.rows(of: room, from: position, count: LogBounds.batch)
      for read in reader.read(rows) ?? [] {
        _ = machine.apply(read.entry, digest: read.digest)
        last = read
      }
      guard rows.count == LogBounds.batch, let end = rows.last else { break }
      position = end.position + 1
    }
    let time = try await log.now()
    let isProvisional = machine.deadline.map { $0 <= time } ?? false
    machine.advance(to: time)
    guard machine.state.stage != .none, let owner = last?.entry.author else { return nil }
    return RoomReport(
      room: room, me: machine.state.owner ?? owner, state: machine.state, isProvisional: isProvisional, isLost: false,
      count: machine.entryCount, digest: last?.digest, startsIn: nil, clockError: nil)
  }
}
