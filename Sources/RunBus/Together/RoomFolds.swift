package import RunCore

/// Folds rooms from a log, for those who look without taking part.
package enum RoomFolds {
  /// How many rooms are listed at most, the newest first.
  static let roomsMax = 256
  /// Of how many of the newest rooms these are: what nobody has opened is among them.
  static let lookedMax = 2048
  /// How many entries are read for a list at most: a few seconds, most of them for signatures.
  static let entriesMax = 16_384

  /// The rooms of a fleet as its log has them, the one with the newest entry first.
  ///
  /// - Parameter isFresh: Leaves out rooms without an entry for ``LogKeeping/roomAge``, in which nothing happens any more.
  /// - Returns: The rooms, and those that were not read because that would take long.
  package static func all(
    of log: any SharedLog, fleet: FleetID, isFresh: Bool = false
  ) async throws(SharedLogError) -> (reports: [RoomReport], unread: [RoomID]) {
    var reports: [RoomReport] = []
    let since = isFresh ? try await log.now() - LogKeeping.roomAge : .zero
    let rooms = try await log.rooms().filter { $0.time >= since }
    let listed = listed(rooms)
    // What nobody has opened is no room and takes the place of none.
    for room in rooms where listed.contains(room.room) && reports.count < roomsMax {
      if let report = try await fold(room.room, of: log, fleet: fleet) { reports.append(report) }
    }
    return (reports, rooms.map(\.room).filter { !listed.contains($0) })
  }

  /// The rooms that are read for a list: of the newest ones those with fewer entries before the others, so that one that
  /// somebody fills takes no other's place.
  static func listed(_ rooms: [LogRoom], entriesMax: Int = entriesMax) -> Set<RoomID> {
    var left = entriesMax
    let chosen = rooms.prefix(lookedMax).sorted { $0.count < $1.count }.prefix {
      left -= $0.count
      return left >= 0
    }
    return Set(chosen.map(\.room))
  }

  /// One room as the log has it; `nil` for a room that is not open.
  package static func fold(
    _ room: RoomID, of log: any SharedLog, fleet: FleetID
  ) async throws(SharedLogError) -> RoomReport? {
    var machine = RoomMachine()
    var last: ReadEntry?
    var warnings: Set<RoomWarning> = []
    for read in try await entries(of: room, in: log, fleet: fleet) {
      _ = machine.apply(read.folded, digest: read.digest)
      if read.taken != nil { warnings = [.misdated] }
      last = read
    }
    let time = try await log.now()
    let isProvisional = machine.deadline.map { $0 <= time } ?? false
    machine.advance(to: time)
    guard machine.state.stage != .none, let owner = last?.entry.author else { return nil }
    return RoomReport(
      room: room, me: machine.state.owner ?? owner, state: machine.state, isProvisional: isProvisional, isLost: false,
      warnings: warnings, count: machine.entryCount, digest: last?.digest, startsIn: nil, clockError: nil)
  }

  /// What became of the asks of each member by the log, in the order of its numbers; not of what a hub says by itself.
  package static func verdicts(
    in room: RoomID, of log: any SharedLog, fleet: FleetID
  ) async throws(SharedLogError) -> [MemberID: [RoomVerdict]] {
    var machine = RoomMachine()
    var verdicts: [MemberID: [RoomVerdict]] = [:]
    for read in try await entries(of: room, in: log, fleet: fleet) {
      guard case .verdict(let verdict) = machine.apply(read.folded, digest: read.digest) else { continue }
      switch read.entry.ask {
      case .open, .enter, .ready, .leave, .close, .begin, .proceed, .hold, .cancel, .remove:
        verdicts[read.entry.author, default: []].append(verdict)
      case .here, .stay, .tick, .mark, .record, .unknown: break
      }
    }
    return verdicts
  }

  /// The entries of a room in their order, without those that every reader leaves out. What says a time ahead of the
  /// log's clock has one at which it can have been written.
  package static func entries(
    of room: RoomID, in log: any SharedLog, fleet: FleetID
  ) async throws(SharedLogError) -> [ReadEntry] {
    var reader = RoomReader(room: room, fleet: fleet)
    var entries: [ReadEntry] = []
    var position: UInt64 = 0
    while true {
      let rows = try await log.rows(of: room, from: position, count: LogBounds.batch)
      entries += reader.read(rows)
      guard rows.count == LogBounds.batch, let end = rows.last else {
        return LogStamps.believed(entries, by: try await log.now())
      }
      position = end.position + 1
    }
  }
}
