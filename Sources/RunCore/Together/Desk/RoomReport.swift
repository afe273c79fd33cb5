/// What a hub tells of a room that it follows.
package struct RoomReport: Hashable, Sendable {
  /// The room.
  package var room: RoomID
  /// The runner whose hub tells it.
  package var me: MemberID
  /// The room as it stands by the hub's estimate of the log's time.
  package var state: RoomState
  /// Whether the log does not say so yet: time alone has brought the room there.
  package var isProvisional: Bool
  /// Whether the log has lost entries that the hub had read.
  package var isLost: Bool
  /// What was noticed about the log.
  package var warnings: Set<RoomWarning>
  /// How many entries were read, and the digest after them; `nil` before the first.
  package var count: UInt64
  /// See ``count``.
  package var digest: LogHash?
  /// Real time until the start of the run, negative once it is on; `nil` before the countdown.
  package var startsIn: BusDuration?
  /// By how much the hub's estimate of the log's time may be wrong; `nil` while it has none.
  package var clockError: BusDuration?
  /// Why the log cannot be read or written now, in one sentence; `nil` when it can, as far as the hub knows.
  package var trouble: String?

  /// A report from its parts.
  package init(
    room: RoomID, me: MemberID, state: RoomState, isProvisional: Bool, isLost: Bool,
    warnings: Set<RoomWarning> = [], count: UInt64, digest: LogHash?, startsIn: BusDuration?,
    clockError: BusDuration?, trouble: String? = nil
  ) {
    self.room = room
    self.me = me
    self.state = state
    self.isProvisional = isProvisional
    self.isLost = isLost
    self.warnings = warnings
    self.count = count
    self.digest = digest
    self.startsIn = startsIn
    self.clockError = clockError
    self.trouble = trouble
  }
}

/// A question about the rooms of a hub, or what a device asks of it.
package enum RoomInquiry: Hashable, Sendable {
  /// Asks the hub to do something in a room. Asking again with the same id gives the same answer, or a later one.
  case ask(RoomAsk)
  /// Asks how the rooms stand that the hub follows.
  case reports
}

/// The answer to a ``RoomInquiry``.
package enum RoomInquiryAnswer: Hashable, Sendable {
  /// What becomes of an ask.
  case answer(RoomAnswer)
  /// How the rooms stand, the one in which the runner has a place first, then that with the newest entry.
  case reports([RoomReport])
}

extension TogetherDesk {
  /// How the rooms stand that are followed, the active one first, then that with the newest entry.
  package func reports(at now: BusTime) -> [RoomReport] {
    let active = activeRoom
    let others = rooms.values.filter { $0.id != active }.sorted {
      ($0.machine.state.time, $0.id) > ($1.machine.state.time, $1.id)
    }
    return ([active].compactMap { $0 } + others.map(\.id)).compactMap { report(of: $0, at: now) }
  }

  /// How a room stands; `nil` for one that is not followed.
  func report(of id: RoomID, at now: BusTime) -> RoomReport? {
    guard let room = rooms[id], let (state, isProvisional) = self.room(id, at: now) else { return nil }
    let started = state.stage.startsAt.flatMap { local(of: $0, in: room, at: now) }
    return RoomReport(
      room: id, me: settings.member, state: state, isProvisional: isProvisional, isLost: room.isLost,
      warnings: room.warnings, count: room.log.entryCount, digest: room.last?.digest,
      startsIn: started.map { $0 - now }, clockError: clock.estimate(at: now)?.error, trouble: room.trouble)
  }
}

extension RoomStage {
  /// When the run of the room starts or started; `nil` before the countdown and without a run.
  package var startsAt: LogTime? {
    switch self {
    case .countdown(let at), .running(let at), .settling(let at, _), .over(let at): at
    case .none, .recruiting, .gathering, .cancelled: nil
    }
  }
}
