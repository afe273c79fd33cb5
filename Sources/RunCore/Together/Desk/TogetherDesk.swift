/// What a hub does in rooms: it follows their logs, passes on what its runner asks, and does by itself what a room expects
/// of a member (docs/together.md).
///
/// The desk's time is the hub's monotonic clock at real speed. A call changes the desk and returns what it wants done, in
/// order. Nothing is appended before it is durable here, and nobody hears of a verdict before it is.
package struct TogetherDesk: Hashable, Sendable {
  /// Who the runner is.
  package struct Settings: Hashable, Sendable {
    /// The fleet.
    package var fleet: FleetID
    /// The runner's key.
    package var member: MemberID
    /// What the others see.
    package var card: RoomCard
    /// How fast the hub's bus time passes.
    package var speed: BusSpeed
    /// Settings from their parts.
    package init(fleet: FleetID, member: MemberID, card: RoomCard, speed: BusSpeed = .realTime) {
      self.fleet = fleet
      self.member = member
      self.card = card
      self.speed = speed
    }
  }
  /// Where the runner is, by a good fix.
  package struct Fix: Hashable, Sendable {
    /// The worst accuracy of a fix that counts, metres.
    package static let accuracyMax = 15.0
    /// Degrees north.
    package var latitude: Double
    /// Degrees east.
    package var longitude: Double
    /// A fix from its parts.
    package init(latitude: Double, longitude: Double) { (self.latitude, self.longitude) = (latitude, longitude) }

    /// The distance to a place, whole metres.
    func metres(to start: RoomStart) -> Int {
      let metres = Geodesic.distanceMeters(
        fromLatitude: latitude, longitude: longitude, toLatitude: Double(start.latitude) / 1000,
        longitude: Double(start.longitude) / 1000)
      return Int(exactly: metres.rounded()) ?? .max
    }
  }
  /// How many rooms a hub follows.
  package static let roomsMax = 16
  /// How often a member says that it is still there.
  static let stayEvery = BusDuration.seconds(240)
  /// How long after the end the record is stated, in bus time: late readings of the watch have come by then.
  static let recordAfter = BusDuration.seconds(60)
  /// How much before the goal the room's own stop may be, besides the errors of the log's clock at the presses and at
  /// the record: what is known of it changes in between.
  static let stopWithin = BusDuration.milliseconds(500)
  /// How often the run's distance is stated while it is on, in bus time, and when for the first time.
  static let (markFirst, markEvery) = (BusDuration.seconds(60), BusDuration.seconds(300))
  /// Within how many metres of the start a runner is there, and beyond how many not any more.
  static let (hereWithin, hereUntil) = (100, 120)
  /// How often the wait before an entry is appended again is doubled: from 1 to 2 s it grows to 8 to 16 s.
  static let doublingsMax = 3
  /// How long a fix says where the runner is.
  static let fixLasts = BusDuration.seconds(30)

  package let settings: Settings
  package private(set) var clock = LogClock()
  var rooms: [RoomID: DeskRoom] = [:]
  /// How many entries of its own the desk has numbered.
  private var numbered: UInt64 = 0
  /// How many readings of logs have begun.
  var readings: UInt64 = 0
  /// The search that is on, or the last one; `nil` before the first.
  var search: DeskSearch?
  /// The last good fix.
  var fix: (at: BusTime, fix: Fix)? { place.map { ($0.at, $0.fix) } }
  private var place: Place?
  private struct Place: Hashable {
    let at: BusTime
    let fix: Fix
  }

  /// A desk that goes on from what an earlier life has kept: the rows of each room, in the order in which they were kept.
  /// The rooms of another fleet wait until the hub is in that one again.
  package init(_ settings: Settings, rows: [RoomID: [RoomRow]] = [:]) {
    self.settings = settings
    for (id, rows) in rows where rows.allSatisfy({ $0.fleet.map { $0 == settings.fleet } ?? true }) {
      var room = DeskRoom(id)
      room.isInherited = true
      for row in rows { room.restore(row, me: settings.member) }
      rooms[id] = room
    }
  }

  /// What to do first: read the logs of the rooms that are followed.
  package mutating func start() -> [DeskAction] {
    rooms.keys.sorted().map { follow($0) } + withdrawInherited()
  }

  // MARK: Looking

  /// The room in which the runner has a place, or asks for one; `nil` if there is none.
  package var activeRoom: RoomID? {
    rooms.values.filter { $0.isActive(settings.member) }.map(\.id).min()
  }
  /// The rooms that are followed.
  package var followed: [RoomID] { rooms.keys.sorted() }

  /// A room as it stands now by the hub's own estimate of the log's time, and whether the log says so already;
  /// `nil` for one that is not followed.
  package func room(_ id: RoomID, at now: BusTime) -> (state: RoomState, isProvisional: Bool)? {
    guard let room = rooms[id] else { return nil }
    guard let time = time(in: room, at: now), let deadline = room.machine.deadline, deadline <= time else {
      return (room.machine.state, false)
    }
    var machine = room.machine
    machine.advance(to: time)
    return (machine.state, true)
  }

  /// The fold of a room's log as far as it was read.
  package func machine(of id: RoomID) -> RoomMachine? { rooms[id]?.machine }
  /// What came out of a room's run; `nil` before it.
  package func result(of id: RoomID) -> RoomResult? { rooms[id]?.machine.result }
  /// The digest of a room's log as far as it was read, and how many entries that are.
  package func digest(of id: RoomID) -> (count: UInt64, digest: LogHash)? {
    rooms[id].flatMap { room in room.last.map { (room.log.entryCount, $0.digest) } }
  }
  /// Whether a room's log has lost entries, so that the room is void.
  package func isVoid(_ id: RoomID) -> Bool { rooms[id]?.isLost == true }
  /// Whether a room's log has lost entries, and the room stands all the same.
  package func isMended(_ id: RoomID) -> Bool { rooms[id]?.mending != nil }

  /// What always holds; `nil` when it does.
  package func check() -> String? {
    for id in followed { if let wrong = rooms[id]?.machine.check() ?? rooms[id]?.log.check() { return wrong } }
    return clock.check()
  }

  // MARK: Asks

  /// A device of the runner asks.
  ///
  /// - Parameters:
  ///   - keys: For an ask to open or to enter.
  ///   - isRunOn: Whether a run of the runner is on.
  package mutating func ask(_ ask: RoomAsk, keys: RoomKeys?, isRunOn: Bool, at now: BusTime) -> [DeskAction] {
    for room in rooms.values.sorted(by: { $0.id < $1.id }) {
      // What is not durable yet is answered when it is.
      if room.isKeeping(ask.id) { return [] }
      if let answer = room.answer(to: ask.id, me: settings.member) { return [.answer(ask.id, answer)] }
    }
    if ask.isExpired { return [.answer(ask.id, .refused(.expired))] }
    if let search, search.asks.contains(ask.id) { return [.answer(ask.id, search.answer)] }
    if let denial = denialInSearch(of: ask.wish) { return [.answer(ask.id, .refused(denial))] }
    switch ask.wish {
    case .match(let order): return match(order, ask.id, isRunOn: isRunOn, at: now)
    case .unmatch: return unmatch(ask.id, at: now)
    case .open(let terms):
      guard let keys else { return [] }
      if let denial = mayEnter(keys.room) ?? (terms.speed == settings.speed ? nil : .otherSpeed) {
        return [.answer(ask.id, .refused(denial))]
      }
      return take(
        part: keys, DeskRoom.Waiting(ask: .open(terms, settings.card), nonce: keys.nonce, id: ask.id), at: now)
    case .enter(let id, let seek):
      guard let keys, keys.room == id else { return [] }
      if let denial = mayEnter(id) { return [.answer(ask.id, .refused(denial))] }
      let entry = DeskRoom.Waiting(ask: .enter(settings.card, metres: nil, seek: seek), nonce: nil, id: ask.id)
      return take(part: keys, entry, at: now)
    case .ready(let isReady):
      if isReady, isRunOn { return [.answer(ask.id, .refused(.runIsOn))] }
      return pass(.ready(isReady), ask.id, at: now)
    case .leave: return pass(.leave, ask.id, at: now)
    case .begin: return pass(.begin, ask.id, at: now)
    case .proceed: return pass(.proceed, ask.id, at: now)
    case .hold: return pass(.hold, ask.id, at: now)
    case .cancel: return pass(.cancel, ask.id, at: now)
    case .close: return pass(.close, ask.id, at: now)
    case .remove(let who): return pass(.remove(who), ask.id, at: now)
    }
  }

  private func mayEnter(_ id: RoomID) -> RoomDenial? {
    if let active = activeRoom, active != id { return .inRoom(active) }
    return rooms[id] == nil && isFull ? .busy : nil
  }

  /// Whether no further room can be followed.
  var isFull: Bool { rooms.count >= Self.roomsMax && spareRoom == nil }
  /// A room in which nothing happens any more, or nothing to the runner, for which another one may be followed.
  private var spareRoom: RoomID? {
    rooms.values.filter { $0.isLost || $0.stage.isEnd || $0.isStrange(to: settings.member) }.map(\.id).min()
  }

  mutating func take(part keys: RoomKeys, _ entry: DeskRoom.Waiting, at now: BusTime) -> [DeskAction] {
    let (id, run) = (keys.room, keys.run)
    var actions: [DeskAction] = []
    if rooms[id]?.isLost == true {
      // What the log has of it now is another room.
      rooms[id] = nil
      actions.append(.forget(id))
    }
    if rooms[id] == nil, rooms.count >= Self.roomsMax, let spare = spareRoom {
      rooms[spare] = nil
      actions += [.unfollow(spare), .forget(spare)]
    }
    if rooms[id] == nil {
      rooms[id] = DeskRoom(id)
      actions.append(follow(id))
    }
    if rooms[id]?.run == nil {
      rooms[id]?.run = run
      actions.append(.keep(id, [.followed(run: run, fleet: settings.fleet)], .read(id, [])))
    }
    rooms[id]?.add(entry)
    return actions + pump(id, at: now) + refuseWaiting(in: id)
  }

  private mutating func pass(_ kind: RoomAskKind, _ id: Identifier<RoomAskTag>, at now: BusTime) -> [DeskAction] {
    guard let active = activeRoom else { return [.answer(id, .refused(.noRoom))] }
    guard rooms[active]!.waiting.count < DeskRoom.waitingMax else { return [.answer(id, .refused(.busy))] }
    rooms[active]!.add(DeskRoom.Waiting(ask: kind, nonce: nil, id: id))
    return pump(active, at: now) + refuseWaiting(in: active)
  }

  /// A room's log cannot be read, or takes no entry now. What devices have asked and cannot be stored yet has an answer;
  /// what is on its way is appended again.
  ///
  /// - Parameter reason: Why, in one sentence.
  package mutating func unreachable(_ id: RoomID, because reason: String) -> [DeskAction] {
    rooms[id]?.trouble = reason
    return refuseWaiting(in: id)
  }

  /// Refuses the asks of devices that wait for something to be read, while nothing can be.
  private mutating func refuseWaiting(in id: RoomID) -> [DeskAction] {
    guard let room = rooms[id], room.trouble != nil, !room.isLost else { return [] }
    rooms[id]!.waiting.removeAll { $0.id != nil }
    return room.waiting.compactMap(\.id).map { .answer($0, .refused(.outOfReach)) }
  }

  /// Says something by itself, once.
  mutating func say(_ kind: RoomAskKind, in id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let room = rooms[id], !room.isAboutTo(kind) else { return [] }
    // The run's record is measured once: it has a place behind whatever waits.
    var hasPlace = room.waiting.count < DeskRoom.waitingMax
    if case .record = kind { hasPlace = true }
    guard hasPlace else { return [] }
    rooms[id]!.add(DeskRoom.Waiting(ask: kind, nonce: nil, id: nil))
    return pump(id, at: now)
  }

  /// Numbers the next entry, when nothing of the hub's own is on its way.
  mutating func pump(_ id: RoomID, at now: BusTime) -> [DeskAction] {
    guard var room = rooms[id], room.isCaughtUp, !room.isLost, room.own == nil else { return [] }
    var actions: [DeskAction] = []
    var isSearchDenied = false
    while room.own == nil, !room.waiting.isEmpty {
      var next = room.waiting.removeFirst()
      next.ask = measured(next.ask, in: room, at: now)
      if let denial = room.denial(of: next.ask, settings) {
        if let ask = next.id { actions.append(.answer(ask, .refused(denial))) } else { isSearchDenied = true }
        continue
      }
      let number = room.machine.nextNumber(of: settings.member)
      numbered += 1
      room.own = DeskRoom.Own(
        number: number, ask: next.ask, nonce: next.nonce, seen: room.seen, id: next.id, receipt: numbered)
      if let ask = next.id { room.asks[ask] = number }
      let row = RoomRow.own(number: number, next.ask, nonce: next.nonce, seen: room.seen, ask: next.id)
      actions.append(.keep(id, [row], .own(id, receipt: numbered)))
    }
    rooms[id] = room
    return isSearchDenied ? actions + refuseSearch(.unknownRoom, in: id, at: now) : actions
  }

  /// An entering with the runner's distance to the start, which is known once the room was read.
  private func measured(_ ask: RoomAskKind, in room: DeskRoom, at now: BusTime) -> RoomAskKind {
    guard case .enter(let card, _, let seek) = ask, let start = room.machine.state.terms?.start, let place,
      now - place.at <= Self.fixLasts
    else { return ask }
    return .enter(card, metres: place.fix.metres(to: start), seek: seek)
  }

  /// Rows are durable.
  package mutating func kept(_ receipt: DeskReceipt, at now: BusTime) -> [DeskAction] {
    switch receipt {
    case .read(let id, let actions):
      for case .answer(let ask, _) in actions { rooms[id]?.untold.remove(ask) }
      return actions
    case .own(let id, let receipt):
      // An earlier entry with the same number is of a room that is void since.
      guard let own = rooms[id]?.own, own.receipt == receipt, own.sentAt == nil else { return [] }
      rooms[id]!.own!.isDurable = true
      var actions = send(id, at: now)
      if let ask = own.id { actions.append(.answer(ask, .pending(id))) }
      return actions
    }
  }

  /// Appends the entry on its way, for the first time or again.
  private mutating func send(_ id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let room = rooms[id], var own = room.own else { return [] }
    own.sentAt = own.sentAt ?? now
    let isDue = room.mayAppend(own, me: settings.member, at: now).map { $0 <= now } ?? false
    // Twice as long each time: a log that cannot keep up with many members is not helped by more entries.
    let wait = BusDuration(nanoseconds: repeatAfter.nanoseconds << Int64(min(own.tries, Self.doublingsMax)))
    own.again = isDue ? now + wait : now
    if isDue { own.tries += 1 }
    rooms[id]!.own = own
    return isDue ? [.append(content(own.number, own.ask, own.nonce, own.seen, in: id))] : []
  }

  /// After how long an entry is appended again that was not read: not all hubs at once.
  var repeatAfter: BusDuration { .milliseconds(1000 + Int64(settings.member.prefix % 1000)) }

  /// What the hub signs of an entry of its own.
  func content(
    _ number: UInt64, _ ask: RoomAskKind, _ nonce: RoomNonce?, _ seen: Seen, in id: RoomID
  ) -> RoomContent {
    RoomContent(
      fleet: settings.fleet, room: id, author: settings.member, number: number, seen: seen, ask: ask, nonce: nonce)
  }

  // MARK: The log

  /// Entries of a room's log were read, in their order. The first one of a reading is the last one of the reading before:
  /// a log that does not have it any more has lost it, and perhaps others before it.
  ///
  /// - Parameters:
  ///   - isEnd: Whether these are the last ones that there are.
  ///   - reading: The number of the reading.
  ///   - heard: When the log said that there is something to read.
  package mutating func read(
    _ id: RoomID, _ entries: [ReadEntry], isEnd: Bool, reading: UInt64, heard: BusTime, at now: BusTime
  ) -> [DeskAction] {
    guard var room = rooms[id], !room.isLost, room.reading == reading else { return [] }
    room.trouble = nil
    if room.isOverlapDue, let last = room.last {
      guard let first = entries.first, first.isSame(as: last) else { return lose(id, at: now) }
      room.isOverlapDue = false
    }
    var rows: [RoomRow] = []
    var told: [DeskAction] = []
    var sought: [SeekerAction] = []
    for read in entries where read.entry.position > room.last?.entry.position ?? 0 {
      let (read, isOfClock) = believed(read, in: room, at: now)
      if isOfClock { listen(to: read.folded, in: room, heard: heard) }
      if isMisdated(read, in: room), room.warnings.insert(.misdated).inserted { told.append(.warn(id, .misdated)) }
      let before = room.machine.result
      let folded = room.take(read, me: settings.member, at: now)
      told += cues(in: room, before: before)
      rows.append(.entry(read))
      if room.run != nil { told += room.machine.events.map { .event(id, $0) } }
      if let answer = room.finish(read.entry, folded, me: settings.member) { told.append(answer) }
      sought += hearSearch(read.entry, folded, in: room)
    }
    let wasCaughtUp = room.isCaughtUp
    if isEnd { room.caughtUpAt = room.caughtUpAt ?? now }
    room.look(me: settings.member, at: now)
    rooms[id] = room
    var actions: [DeskAction] = []
    if !rows.isEmpty { actions.append(.keep(id, rows, .read(id, told))) }
    // Who had read less has led the room back from the countdown.
    if room.mending != nil, !room.stage.outlivesLoss { return actions + void(id) }
    if isEnd, !wasCaughtUp, let own = room.own, own.isDurable, own.sentAt == nil { actions += send(id, at: now) }
    return actions + carryOut(sought, at: now) + pump(id, at: now) + act(at: now)
  }

  private mutating func listen(to entry: RoomEntry, in room: DeskRoom, heard: BusTime) {
    guard room.isCaughtUp else { return }
    if entry.author == settings.member, let sent = room.sentAt(entry.number) {
      clock.heardOwn(sent: sent, stamped: entry.time, heard: heard)
    } else if entry.author != settings.member {
      clock.heardOther(stamped: entry.time, heard: heard)
    }
  }

  /// The log takes no more of the hub's entries in this room.
  package mutating func refused(_ id: RoomID, number: UInt64, at now: BusTime) -> [DeskAction] {
    if rooms[id]?.mending?.sent?.number == number { rooms[id]?.mending?.isFull = true }
    guard let own = rooms[id]?.own, own.number == number else { return [] }
    rooms[id]!.own = nil
    return (own.id.map { [.answer($0, .refused(.busy))] } ?? []) + refuseSearch(.tooMany, in: id, at: now)
  }

  /// The runner is there, by a fix that is better than ``Fix/accuracyMax``.
  package mutating func moved(to fix: Fix, at now: BusTime) -> [DeskAction] {
    place = Place(at: now, fix: fix)
    return act(at: now)
  }

  /// The run was measured.
  package mutating func measured(
    _ id: RoomID, _ standing: RunStanding?, for use: StandingUse, at now: BusTime
  ) -> [DeskAction] {
    guard let room = rooms[id], let run = room.run, let terms = room.machine.state.terms else { return [] }
    switch use {
    case .mark:
      guard let standing, let decimetres = standing.decimetres else { return [] }
      return say(.mark(RoomMark(elapsed: standing.elapsed, decimetres: decimetres)), in: id, at: now)
    case .record:
      let record = record(standing, terms, of: run, in: room, at: now)
      rooms[id]?.said = record
      return say(.record(record), in: id, at: now)
    case .live: return tell(standing, in: id, at: now)
    case .amendment:
      guard let standing else { return [] }
      return amend(record(standing, terms, of: run, in: room, at: now), in: id, at: now)
    }
  }

  private func record(
    _ standing: RunStanding?, _ terms: RoomTerms, of run: RunID, in room: DeskRoom, at now: BusTime
  ) -> RoomRecord {
    let elapsed = standing?.elapsed ?? .zero
    // The run was pressed by what was known of the log's clock then, and is measured by what is known now.
    let short = Self.stopWithin + room.pressError + (clock.estimate(at: now)?.error ?? .zero)
    return RoomRecord(
      version: room.recordVersion, decimetres: standing?.decimetres, elapsed: elapsed,
      isFinished: elapsed + terms.speed.bus(fromReal: short) >= terms.goal, parts: standing?.parts ?? [],
      run: standing?.run ?? run)
  }

  // MARK: Time

  /// When ``act(at:)`` has something to do; `nil` if never.
  package func deadline(at now: BusTime) -> BusTime? {
    (rooms.values.compactMap { plan(for: $0, at: now)?.at } + searchMoments).min()
  }

  /// Does what is due.
  package mutating func act(at now: BusTime) -> [DeskAction] {
    var actions: [DeskAction] = []
    for id in rooms.keys.sorted() {
      // A bound, in case that something stays due.
      for _ in 0..<8 {
        guard let room = rooms[id], let plan = plan(for: room, at: now), plan.at <= now else { break }
        actions += carryOut(plan.duty, in: id, at: now)
      }
    }
    return actions + actSearch(at: now)
  }

  private mutating func carryOut(_ duty: DeskDuty, in id: RoomID, at now: BusTime) -> [DeskAction] {
    switch duty {
    case .send: return send(id, at: now)
    case .prove: return prove(id, at: now)
    case .mend(let number): return mend(number, in: id, at: now)
    case .giveUp:
      giveUp(in: id, at: now)
      return []
    case .say(let ask):
      if ask == .tick { rooms[id]!.ticks += 1 }
      if ask == .ready(true) { search?.isUnready = false }
      return say(ask, in: id, at: now)
    case .start(let run, let goal, let at):
      rooms[id]!.hasStarted = true
      // A stop before it was for a start that the room has put off since.
      rooms[id]!.hasStopped = false
      rooms[id]!.startedAt = at
      rooms[id]!.pressError = clock.estimate(at: now)?.error ?? .zero
      return [.press(.start(run, goal: goal), age: now - at)] + startCues(in: id, at: at, now: now)
        + startSearched(id, at: now)
    case .stop(let run, let at):
      rooms[id]!.hasStopped = true
      rooms[id]!.pressError = max(rooms[id]!.pressError, clock.estimate(at: now)?.error ?? .zero)
      return [.press(.stop(run), age: now - at)]
    case .mark(let run, let elapsed, let startedAt):
      rooms[id]!.markedThrough = elapsed
      return [.measure(id, run, since: now - startedAt, for: .mark)]
    case .record(let run, let startedAt):
      rooms[id]!.recordVersion += 1
      return [.measure(id, run, since: now - startedAt, for: .record)]
    case .listen:
      rooms[id]!.isListening = true
      return [.listen(id)]
    case .live(let run, let startedAt):
      rooms[id]!.liveAt = now
      return [.measure(id, run, since: now - startedAt, for: .live)]
    case .forget:
      rooms[id] = nil
      return [.unfollow(id), .forget(id)]
    }
  }
}
