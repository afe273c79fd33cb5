package import RunCore

/// What came out of a room whose run is over.
package struct SettledRoom: Hashable, Sendable {
  /// The room.
  package let room: RoomID
  /// When its run started and was to end, by the log's clock.
  package let (startsAt, endsAt): (LogTime, LogTime)
  /// The position of the room's last entry: a newer version of the result has a greater one.
  package let position: UInt64
  /// What came out, complete or final.
  package let result: RoomResult
}

/// The results of a fleet and the names of its runners, recounted from the entries of its log.
///
/// One room is in memory at a time. What stays is a result for each settled room and a card for each runner.
package struct RoomHistory: Hashable, Sendable {
  /// The results, in the order in which the rooms were read.
  package private(set) var rooms: [SettledRoom] = []
  private var cards: [MemberID: Shown] = [:]

  private struct Shown: Hashable {
    let time: LogTime
    let nickname: Nickname
  }

  /// A history of no log.
  package init() {}

  /// Adds all rooms of a log.
  package mutating func add(_ log: any SharedLog, fleet: FleetID) async throws(SharedLogError) {
    for room in try await log.rooms() {
      var machine = RoomMachine()
      var last: ReadEntry?
      for read in try await RoomFolds.entries(of: room.room, in: log, fleet: fleet) {
        _ = machine.apply(read.folded, digest: read.digest)
        last = read
        note(read.folded)
      }
      guard let last else { continue }
      machine.advance(to: try await log.now())
      add(machine.state, of: room.room, through: last.entry.position)
    }
  }

  /// Adds the room of a fold, unless its result is open.
  ///
  /// - Parameter position: That of the room's last entry.
  package mutating func add(_ state: RoomState, of room: RoomID, through position: UInt64) {
    guard let terms = state.terms, let startsAt = state.stage.startsAt, let result = RoomResult(state),
      result.standing != .provisional
    else { return }
    rooms.append(
      SettledRoom(
        room: room, startsAt: startsAt, endsAt: startsAt + terms.span, position: position, result: result))
  }

  /// Notes what a runner shows: the newest card counts.
  private mutating func note(_ entry: RoomEntry) {
    guard let card = entry.ask.card else { return }
    if let known = cards[entry.author], known.time > entry.time { return }
    cards[entry.author] = Shown(time: entry.time, nickname: card.nickname)
  }

  /// The name of a runner by its newest card; `nil` for one who has shown none.
  package func nickname(of member: MemberID) -> Nickname? { cards[member]?.nickname }

  /// Wins, losses and distances of all runners.
  ///
  /// - Parameter month: The month of a moment of the log's clock; a room without one is left out.
  package func tally(month: (LogTime) -> CalendarMonth?) -> Tally {
    Tally(
      rooms.compactMap { room in
        month(room.startsAt).map {
          TalliedResult(room: room.room, version: room.position, month: $0, result: room.result)
        }
      })
  }

  /// The runners who may be listed.
  package func runners(_ tally: Tally) -> [Ranking.Runner] {
    tally.members.compactMap { member in
      nickname(of: member).map { Ranking.Runner(member: member, nickname: $0, score: tally.score(of: member)) }
    }
  }
}

extension RoomAskKind {
  /// The card that its author shows with it; `nil` with most asks.
  package var card: RoomCard? {
    switch self {
    case .open(_, let card), .enter(let card, _, _): card
    case .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick, .mark, .record,
      .unknown:
      nil
    }
  }
}

/// An entry of a room and what the fold makes of it.
package struct JudgedEntry: Hashable, Sendable {
  /// The entry.
  package let entry: RoomEntry
  /// What became of it.
  package let folded: Folded
  /// The name that its author showed last in this room; `nil` for one who has shown none.
  package let nickname: Nickname?

  /// An entry from its parts.
  package init(entry: RoomEntry, folded: Folded, nickname: Nickname?) {
    (self.entry, self.folded, self.nickname) = (entry, folded, nickname)
  }
}

extension RoomFolds {
  /// The entries of a room, each with what became of it, in their order. Those that every reader leaves out are not among
  /// them.
  package static func judged(
    in room: RoomID, of log: any SharedLog, fleet: FleetID
  ) async throws(SharedLogError) -> [JudgedEntry] {
    var machine = RoomMachine()
    var names: [MemberID: Nickname] = [:]
    return try await entries(of: room, in: log, fleet: fleet).map { read in
      let entry = read.entry
      if let card = entry.ask.card { names[entry.author] = card.nickname }
      return JudgedEntry(
        entry: entry, folded: machine.apply(read.folded, digest: read.digest), nickname: names[entry.author])
    }
  }
}
