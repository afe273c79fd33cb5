/// What a hub does in a room by itself.
enum DeskDuty: Hashable {
  /// Append the entry on its way again.
  case send
  /// Append an own entry again that the log has lost.
  case mend(UInt64)
  /// Wait no more for a member whose entry the log has lost.
  case giveUp
  /// Have the log compared with what was read of it.
  case prove
  /// Say something in the log.
  case say(RoomAskKind)
  /// Press start as of that moment.
  case start(RunID, goal: BusDuration, at: BusTime)
  /// Press stop as of that moment.
  case stop(RunID, at: BusTime)
  /// State how far the run has come at this elapsed time.
  case mark(RunID, elapsed: BusDuration, startedAt: BusTime)
  /// State what the run came to.
  case record(RunID, startedAt: BusTime)
  /// Hear what the others tell of their runs.
  case listen
  /// Tell the others how far the run has come.
  case live(RunID, startedAt: BusTime)
  /// Keep nothing of the room any more.
  case forget
}

extension TogetherDesk {
  /// For how long after its end a room is kept.
  static let keptAfter = BusDuration.seconds(72 * 3600)

  /// The next duty in a room, and when it is due; `nil` if there is none.
  func plan(for room: DeskRoom, at now: BusTime) -> (at: BusTime, duty: DeskDuty)? {
    var next: (at: BusTime, duty: DeskDuty)?
    func offer(_ at: BusTime?, _ duty: DeskDuty) {
      guard let at, next.map({ at < $0.at }) ?? true else { return }
      next = (at, duty)
    }
    if let own = room.own, own.sentAt != nil, let allowed = room.mayAppend(own, me: settings.member, at: now) {
      offer(own.again.map { max($0, allowed) }, .send)
    }
    if let mending = mendingPlan(for: room, at: now) { offer(mending.at, mending.duty) }
    let state = room.machine.state
    guard let terms = state.terms else { return next }
    guard let me = state.member(settings.member), let run = room.run else {
      if room.isCaughtUp { offerForgetting(room, at: now, offer) }
      return next
    }
    if room.isCaughtUp, !room.isLost {
      offerProof(room, at: now, offer)
      offerSearch(room, me, at: now, offer)
      offerBeats(room, me, at: now, offer)
    }
    switch stage(of: room, at: now) {
    case .countdown(let startsAt), .running(let startsAt):
      guard let started = local(of: startsAt, in: room, at: now) else { break }
      // A hub that has just begun reads first whether it was put off.
      if room.isCaughtUp || room.mending != nil, !room.hasStarted {
        offer(started, .start(run, goal: terms.goal, at: started))
      }
      let ends = started + terms.span
      if room.hasStarted, !room.hasStopped {
        // A goal is reached by the run's own start, whatever is known of the log's clock since.
        let stops = (room.startedAt ?? started) + terms.span
        offer(stops, .stop(run, at: stops))
      }
      offerLive(room, run: run, startedAt: started, offer)
      // Also when the stop was pressed before the end, by what was known of the log's clock then.
      offerRecord(room, me, run, from: started, to: ends, offer)
      if room.hasStarted {
        let elapsed = room.markedThrough == .zero ? Self.markFirst : nextMark(after: room.markedThrough)
        if elapsed < terms.goal {
          offer(started + terms.speed.real(fromBus: elapsed), .mark(run, elapsed: elapsed, startedAt: started))
        }
      }
    case .settling(let startsAt, let endedAt):
      guard let started = local(of: startsAt, in: room, at: now), let ended = local(of: endedAt, in: room, at: now)
      else { break }
      // Also after a death in the run: its next life resumes it. A hub that slept through the run has nothing to stop, and
      // the press is rejected.
      if !room.hasStopped, room.hasStarted || me.record == nil {
        let isFull = endedAt == startsAt + terms.span
        let began = room.startedAt ?? started
        // What is known of the log's clock has changed since the start: the stop is never before it.
        let stops = isFull ? began + terms.span : max(ended, began)
        offer(stops, .stop(run, at: stops))
      }
      offerRecord(room, me, run, from: started, to: ended, offer)
    case .over, .cancelled: offerForgetting(room, at: now, offer)
    case .none, .recruiting, .gathering: break
    }
    return next
  }

  private func offerRecord(
    _ room: DeskRoom, _ me: RoomState.Member, _ run: RunID, from started: BusTime, to ended: BusTime,
    _ offer: (BusTime?, DeskDuty) -> Void
  ) {
    guard me.record == nil, room.recordVersion == 0, let terms = room.machine.state.terms else { return }
    offer(ended + terms.speed.real(fromBus: Self.recordAfter), .record(run, startedAt: started))
  }

  /// The stage by the hub's own estimate, so far as nobody can change it any more: the start and the end of a run come
  /// by time alone.
  func stage(of room: DeskRoom, at now: BusTime) -> RoomStage {
    switch room.stage {
    case .countdown, .running:
      guard let time = time(in: room, at: now) else { return room.stage }
      var machine = room.machine
      machine.advance(to: time)
      return machine.state.stage
    case .none, .recruiting, .gathering, .settling, .over, .cancelled: return room.stage
    }
  }

  /// How the log's clock stands by which a room was read: as heard, or by the runner's own run in the room, when nothing
  /// was heard yet or the log is another one now. `nil` while neither is known.
  func time(in room: DeskRoom, at now: BusTime) -> LogTime? {
    let heard = clock.estimate(at: now)?.now
    let run = room.startedAt.flatMap { started in room.stage.startsAt.map { $0 + (now - started) } }
    return room.mending == nil ? heard ?? run : run ?? heard
  }

  /// When the hub's own clock shows a moment of a room.
  func local(of moment: LogTime, in room: DeskRoom, at now: BusTime) -> BusTime? {
    time(in: room, at: now).map { now + (moment - $0) }
  }

  private func nextMark(after elapsed: BusDuration) -> BusDuration {
    BusDuration(
      nanoseconds: (elapsed.nanoseconds / Self.markEvery.nanoseconds + 1) * Self.markEvery.nanoseconds)
  }

  /// What keeps a place and lets the log's time pass.
  private func offerBeats(
    _ room: DeskRoom, _ me: RoomState.Member, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void
  ) {
    guard room.own == nil, room.waiting.isEmpty, !room.stage.isEnd, room.missing(of: settings.member) == nil else {
      return
    }
    offerPlace(room, me, at: now, offer)
    offerSeal(room, at: now, offer)
    // The last numbers are for what matters: who has said so much without a run is gone.
    guard room.machine.nextNumber(of: settings.member) <= Self.beatsMax else { return }
    // A hub that has just begun relates the log's time to its own by an entry of its own.
    guard let error = clock.estimate(at: now)?.error else {
      // A log whose times cannot be true tells nothing however often it is asked.
      let wait = min(Self.stayEvery, BusDuration(nanoseconds: Self.tickEvery.nanoseconds << min(room.ticks, 10)))
      return offer(room.ticks == 0 ? now : (room.lastOwnAt ?? now) + wait, .say(.tick))
    }
    switch room.stage {
    case .recruiting, .gathering:
      if room.machine.state.members.count >= 2 {
        offer(room.lastOwnAt.map { $0 + Self.stayEvery } ?? now, .say(.stay))
      }
    case .countdown:
      // Each own entry narrows the clock.
      if error > Self.errorMax, room.ticks < Self.ticksMax {
        offer(room.lastOwnAt.map { $0 + Self.tickEvery } ?? now, .say(.tick))
      }
      return
    case .none, .running, .settling, .over, .cancelled: break
    }
    // Somebody's entry makes final what time did. Each member waits for another span, so that rarely two do it.
    guard let deadline = room.machine.deadline, let local = local(of: deadline, in: room, at: now) else { return }
    if case .running = room.stage { return }
    offer(local + .milliseconds(500 + Int64(settings.member.prefix % 1000)), .say(.tick))
  }

  /// An entry soon after the start, by each hub: no entry counts as earlier than the one before it, so that nothing undoes
  /// a run that has begun.
  private func offerSeal(_ room: DeskRoom, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void) {
    guard case .countdown(let startsAt) = room.stage, let started = local(of: startsAt, in: room, at: now) else {
      return
    }
    let seal = started + .milliseconds(50 + Int64(settings.member.prefix % 450))
    offer(room.lastOwnAt.map { max(seal, $0 + Self.tickEvery) } ?? seal, .say(.tick))
  }

  /// Whether the runner is at the start, by the last fix: also one that came before the room gathered.
  private func offerPlace(
    _ room: DeskRoom, _ me: RoomState.Member, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void
  ) {
    guard room.stage == .gathering, let start = room.machine.state.terms?.start else { return }
    let metres = fix.flatMap { $0.at + Self.fixLasts > now ? $0.fix.metres(to: start) : nil }
    let isHere = metres.map { $0 <= (me.isHere ? Self.hereUntil : Self.hereWithin) } ?? false
    if isHere != me.isHere {
      offer(now, .say(.here(isHere)))
    } else if isHere {
      offer(fix.map { $0.at + Self.fixLasts }, .say(.here(false)))
    }
  }

  private static let errorMax = BusDuration.milliseconds(20)
  private static let ticksMax = 2
  private static let beatsMax: UInt64 = 400
  private static let tickEvery = BusDuration.milliseconds(300)

  private func offerForgetting(_ room: DeskRoom, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void) {
    guard room.stage.isEnd, let local = local(of: room.machine.state.time, in: room, at: now) else { return }
    offer(local + Self.keptAfter, .forget)
  }
}

extension DeskRoom {
  /// Takes an entry of the log into the fold.
  mutating func take(_ read: ReadEntry, me: MemberID, at now: BusTime) -> Folded {
    var entry = read.folded
    if mending != nil {
      _ = mending?.log.apply(entry, digest: read.digest)
      entry = mended(entry)
    }
    let folded = machine.apply(entry, digest: read.digest)
    last = read
    let isOwn = entry.author == me
    if isOwn { lastOwnAt = now }
    for case .stage(let stage) in machine.events {
      provenAt = nil
      if case .countdown = stage { (ticks, startedAt, standings) = (0, nil, nil) }
    }
    if opened == nil, machine.state.terms != nil {
      opened = Opening(position: read.entry.position, time: read.entry.time)
    }
    if case .verdict(let verdict) = folded {
      copy.take(read.entry, verdict, isOwn: isOwn, nonce: own?.number == entry.number ? own?.nonce : nil)
    }
    return folded
  }

  /// When an own entry with a number was first appended in this life; `nil` for another, and for one that an earlier life
  /// may have appended.
  func sentAt(_ number: UInt64) -> BusTime? {
    if let own, own.number == number { return own.isInherited ? nil : own.sentAt }
    return mending?.sent.flatMap { $0.number == number ? $0.first : nil }
  }

  /// Ends what was on its way, when it was read. Returns the answer to who asked.
  mutating func finish(_ entry: RoomEntry, _ folded: Folded, me: MemberID) -> DeskAction? {
    guard entry.author == me, let own, own.number == entry.number else { return nil }
    guard own.ask == entry.ask else {
      // Another process has used the number with the same key: what was to be said gets the next one.
      if let id = own.id { asks[id] = nil }
      waiting.insert(Waiting(ask: own.ask, nonce: own.nonce, id: own.id), at: 0)
      self.own = nil
      return nil
    }
    self.own = nil
    guard let id = own.id, case .verdict(let verdict) = folded else { return nil }
    untold.insert(id)
    return .answer(id, .judged(self.id, verdict))
  }

  /// Whether an ask is known, and not durable yet.
  func isKeeping(_ ask: Identifier<RoomAskTag>) -> Bool {
    waiting.contains { $0.id == ask } || own?.id == ask && own?.sentAt == nil
  }

  /// The answer to an ask that is durable here; `nil` for another.
  func answer(to ask: Identifier<RoomAskTag>, me: MemberID) -> RoomAnswer? {
    guard let number = asks[ask] else { return nil }
    if untold.contains(ask) { return .pending(id) }
    return machine.verdict(of: me, number: number).map { .judged(id, $0) } ?? .pending(id)
  }

  /// Why the hub does not pass on what waits; `nil` if it does.
  func denial(of ask: RoomAskKind, _ settings: TogetherDesk.Settings) -> RoomDenial? {
    guard case .enter(_, let metres, _) = ask else { return nil }
    guard let terms = machine.state.terms else { return .unknownRoom }
    if terms.rules != RoomTerms.rules { return .update }
    if terms.speed != settings.speed { return .otherSpeed }
    if terms.start != nil, metres.map({ $0 > RoomMachine.metresMax }) ?? true { return .tooFar(metres: metres) }
    return nil
  }

  /// Takes up a row of an earlier life.
  mutating func restore(_ row: RoomRow, me: MemberID) {
    switch row {
    case .followed(let run, _): self.run = run
    case .entry(let read):
      let folded = take(read, me: me, at: .zero)
      _ = finish(read.entry, folded, me: me)
      (lastOwnAt, untold) = (nil, [])
    case .lost:
      mending = RoomMending()
      last = nil
    case .own(let number, let ask, let nonce, let seen, let id):
      if let id { asks[id] = number }
      if case .record(let record) = ask, record.version > recordVersion {
        (recordVersion, said) = (record.version, record)
      }
      guard number >= machine.nextNumber(of: me) else { return }
      own = Own(
        number: number, ask: ask, nonce: nonce, seen: seen, id: id, receipt: 0, isDurable: true, isInherited: true)
    }
  }
}
