// What a hub tells of a room while it goes on: how far its run has come, how the others say that theirs have, and the
// view for the runner's devices.
extension TogetherDesk {
  /// How often the hub says how far its run has come, in real time.
  static let liveEvery = BusDuration.seconds(3)
  /// Within what time a start is worth a cue: a hub that was dead is late.
  private static let startCuedWithin = BusDuration.seconds(5)
  /// How long after one a runner is told of no other that has overtaken it.
  private static let overtakenCuedAfter = BusDuration.seconds(15)
  /// How long after its end a room is still shown.
  static let shownAfter = BusDuration.seconds(600)

  // MARK: Standings

  /// The duties of a run that is on, by the hub's own estimate.
  func offerLive(_ room: DeskRoom, run: RunID, startedAt: BusTime, _ offer: (BusTime?, DeskDuty) -> Void) {
    if !room.isListening { return offer(startedAt - Self.liveEvery, .listen) }
    guard room.hasStarted, !room.hasStopped else { return }
    let next = room.liveAt.map { $0 + Self.liveEvery } ?? startedAt + Self.liveEvery
    offer(next, .live(run, startedAt: startedAt))
  }

  /// The own run was measured: it is told to the others.
  mutating func tell(_ standing: RunStanding?, in id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let standing, let stamp = clock.estimate(at: now)?.now else { return [.show] }
    // The log's time grows over restarts of the hub, too.
    let live = RoomLive(
      fleet: settings.fleet, room: id, author: settings.member,
      number: UInt64(clamping: stamp.nanoseconds / 1_000_000) + 1, kind: .standing(standing.live))
    return take(live, at: now) + [.shout(live), .show]
  }

  /// A member has told how far its run has come.
  ///
  /// - Parameter now: When it was told, on the hub's monotonic clock.
  package mutating func heard(_ live: RoomLive, at now: BusTime) -> [DeskAction] {
    live.author == settings.member ? [] : take(live, at: now)
  }

  private mutating func take(_ live: RoomLive, at now: BusTime) -> [DeskAction] {
    guard var room = rooms[live.room], room.isListening, case .standing(let told) = live.kind else { return [] }
    var table = room.table
    let before = table.ahead(of: settings.member)
    let standing = LiveStanding(
      member: live.author, number: live.number, elapsed: told.elapsed, decimetres: told.decimetres,
      paceSecondsPerKilometre: told.paceSecondsPerKilometre, phase: told.phase)
    guard table.take(standing, at: now) == .taken else { return [] }
    room.standings = table
    rooms[live.room] = room
    guard let before, let after = table.ahead(of: settings.member) else { return [] }
    guard let who = after.subtracting(before).min(),
      room.overtakenAt.map({ now - $0 > Self.overtakenCuedAfter }) ?? true
    else { return [] }
    rooms[live.room]!.overtakenAt = now
    let nickname = room.machine.state.member(who)?.card.nickname.text
    return [.cue(RoomCue(room: "\(live.room)", kind: .overtaken, nickname: nickname))]
  }

  // MARK: Cues

  /// The room's run has begun. An earlier life may have told it, when that was before this one.
  func startCues(in id: RoomID, at start: BusTime, now: BusTime) -> [DeskAction] {
    guard let known = rooms[id]?.caughtUpAt, known <= start, now - start < Self.startCuedWithin else { return [] }
    return [.cue(RoomCue(room: "\(id)", kind: .started))]
  }

  /// What a runner should notice of what an entry has changed.
  func cues(in room: DeskRoom, before: RoomResult?) -> [DeskAction] {
    guard room.run != nil else { return [] }
    func cue(_ kind: RoomCue.Kind) -> DeskAction { .cue(RoomCue(room: "\(room.id)", kind: kind)) }
    var cues: [DeskAction] = []
    for event in room.machine.events {
      switch event {
      case .stage(.cancelled): if room.machine.state.member(settings.member) != nil { cues.append(cue(.cancelled)) }
      case .departed(settings.member, .removed), .departed(settings.member, .gone): cues.append(cue(.cancelled))
      case .entered, .ready, .here, .departed, .owner, .stage, .recorded, .disputed: break
      }
    }
    func outcome(_ result: RoomResult?) -> RoomResult.Outcome? {
      result?.rows.first { $0.member == settings.member }?.outcome
    }
    if outcome(before) == nil, let outcome = outcome(room.machine.result) {
      switch outcome {
      case .won: cues.append(cue(.won))
      case .drawn: cues.append(cue(.drawn))
      case .lost: cues.append(cue(.lost))
      }
    }
    return cues
  }

  // MARK: The view

  /// The room that the runner's devices are shown: the one in which it has a place, else the last one, for a while.
  func shownRoom(at now: BusTime) -> RoomID? {
    if let active = activeRoom, rooms[active]?.stage != RoomStage.none { return active }
    let ended = rooms.values.filter { $0.run != nil && $0.stage != .none && isShown($0, at: now) }
    return ended.max { ($0.machine.state.time, $0.id) < ($1.machine.state.time, $1.id) }?.id
  }

  /// The run that the hub starts in the room that is shown; `nil` for none.
  func shownRun(at now: BusTime) -> RunID? { shownRoom(at: now).flatMap { rooms[$0]?.run } }

  private func isShown(_ room: DeskRoom, at now: BusTime) -> Bool {
    if case .settling = room.stage { return true }
    return clock.local(of: room.machine.state.time, at: now).map { now - $0 < Self.shownAfter } ?? false
  }

  /// The room that the runner's devices are shown, as it stands now; `nil` for none.
  package func view(_ order: RoomView.Order, at now: BusTime) -> RoomView? {
    guard let id = shownRoom(at: now), let room = rooms[id], let report = report(of: id, at: now) else { return nil }
    let metres = fix.flatMap { fix in
      now - fix.at <= Self.fixLasts ? room.machine.state.terms?.start.map { fix.fix.metres(to: $0) } : nil
    }
    let table = room.table
    return RoomView(report, order: order, standings: (table, now), metersToStart: metres)
  }
}

extension RunStanding {
  /// As it is told to the others. The run of a room has whole milliseconds there.
  var live: RoomLive.Standing {
    RoomLive.Standing(
      elapsed: .milliseconds(elapsed.nanoseconds / 1_000_000), decimetres: decimetres,
      paceSecondsPerKilometre: paceSecondsPerKilometre, phase: phase)
  }
}

extension DeskRoom {
  /// Who is ahead in the run, as far as standings were heard.
  fileprivate var table: StandingsTable {
    standings
      ?? StandingsTable(
        roster: machine.state.members.map(\.id), goal: machine.state.terms?.goal ?? RoomTerms.goalBounds.upperBound)
  }
}

extension StandingsTable {
  /// Who is ahead of a member; `nil` while the member's distance is not known.
  func ahead(of member: MemberID) -> Set<MemberID>? {
    let rows = rows(at: .zero)
    guard let own = rows.first(where: { $0.member == member })?.place else { return nil }
    return Set(rows.filter { ($0.place ?? .max) < own }.map(\.member))
  }
}
