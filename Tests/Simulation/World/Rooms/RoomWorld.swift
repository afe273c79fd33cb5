package import RunCore

/// One room in a simulated fleet: hubs with drifting clocks, disks that stall and links that go, runners who do what
/// runners do, members who lie, and a log that repeats, delays and loses.
///
/// The hubs' desks are the product's. The same seed gives the same world on every machine.
package struct RoomWorld {
  enum Happening {
    /// A commit of a hub is durable.
    case kept(hub: Int, life: Int, RoomID, [RoomRow], DeskReceipt)
    /// A hub has deleted what it kept of a room.
    case forgotten(hub: Int, life: Int, RoomID)
    /// An append reaches the log.
    case append(RoomContent)
    /// A bell, or the end of a hub's patience: the hub reads.
    case bell(hub: Int, life: Int, RoomID)
    /// What was read arrives.
    case read(hub: Int, life: Int, RoomID, [ReadEntry], reading: UInt64, heard: BusTime)
    /// A reading ends, because another copy of the log is there.
    case replaced(hub: Int, life: Int, RoomID, reading: UInt64)
    /// A hub compares the log with what it has read.
    case prove(hub: Int, life: Int, RoomID, RoomReading)
    /// Somebody changes the log.
    case tamper
    /// A hub must have noticed a change of the log by now.
    case notice(hub: Int, life: Int, RoomWorldTampering, since: BusTime)
    /// A hub's desk has something due.
    case deadline(hub: Int, life: Int, at: BusTime)
    /// A runner does something.
    case runner(hub: Int, RoomWorldRunner.Step)
    /// A hub begins its next life.
    case revive(hub: Int)
    /// A hub dies.
    case kill(hub: Int)
    /// A wrong member appends something.
    case misdeed(Int)
    /// The log loses entries: few, or more than half.
    case loseTail(isFew: Bool)
    /// The log is out of reach.
    case goAway(BusDuration)
    /// The record of a hub's run is made anew, or removed.
    case amend(hub: Int)
    /// The log's clock is set.
    case stepClock(BusDuration)
  }

  package let seed: UInt64
  var random: WorldRandom
  package internal(set) var now = BusTime.zero
  var log: RoomWorldLog
  var hubs: [RoomWorldHub] = []
  var wrong: [RoomWorldWrong] = []
  private var queue = WorldQueue<Happening>()
  package internal(set) var faults: [String] = []
  package internal(set) var counts: [String: Int] = [:]
  let room: RoomID
  let terms: RoomTerms
  let nonce: RoomNonce
  /// Whether the log is not what it was: it has lost entries, or somebody has changed it.
  var hasLostTail = false
  var changes: [RoomWorldChange] = []
  /// Until when the log is out of reach.
  private(set) var awayUntil = BusTime.zero
  /// Whether everything that happens is printed.
  package var isTraced = false
  private static let stepsMax = 300_000

  /// The world of a seed.
  package init(seed: UInt64) {
    self.seed = seed
    var random = WorldRandom(seed: seed, 41)
    log = RoomWorldLog(ahead: .seconds(Int64.random(in: 100...1_000_000, using: &random)))
    let goal = BusDuration.seconds([30, 90, 600, 1800].randomElement(using: &random)!)
    terms = RoomTerms(
      goal: goal, places: Int.random(in: 2...5, using: &random),
      countdown: .seconds(Int64.random(in: 3...10, using: &random)),
      start: Bool.random(using: &random) ? RoomStart(label: "start", latitude: 37_500, longitude: 127_000) : nil)
    nonce = RoomNonce(using: &random)
    let members = (0..<Int.random(in: 2...6, using: &random)).map { Self.member($0, using: &random) }
    room = Self.room(of: members[0], nonce)
    hubs = members.enumerated().map { RoomWorldHub($0.element, place: $0.offset, using: &random) }
    // Half of the worlds have wrong members.
    if seed.isMultiple(of: 2) {
      let count = Int.random(in: 1...2, using: &random)
      wrong = (0..<count).map { RoomWorldWrong(Self.member(100 + $0, using: &random)) }
    }
    self.random = random
  }

  static func member(_ place: Int, using random: inout WorldRandom) -> MemberID {
    MemberID((0..<4).flatMap { _ in withUnsafeBytes(of: random.next()) { Array($0) } })!
  }
  /// The id of the room that a member opens with a number.
  static func room(of owner: MemberID, _ nonce: RoomNonce) -> RoomID {
    var hasher = WorldHash()
    hasher.add(owner)
    hasher.add(nonce)
    return RoomID(bytes: hasher.value.bytes.prefix(16))!
  }
  static func run(of member: MemberID, in room: RoomID) -> RunID {
    RunID(high: room.high ^ member.prefix, low: room.low)
  }

  mutating func count(_ what: String) { counts[what, default: 0] += 1 }
  mutating func fault(_ text: String) { faults.append("\(text) (at \(now.nanoseconds / 1_000_000) ms)") }

  mutating func plan(_ what: Happening, in span: BusDuration) { queue.push(what, at: now + span) }

  /// A latency of a few milliseconds, at times of seconds.
  mutating func latency() -> BusDuration {
    let isSlow = Int.random(in: 0..<40, using: &random) == 0
    return .milliseconds(Int64.random(in: isSlow ? 500...4000 : 1...20, using: &random))
  }

  /// Runs the world to its end, and checks it.
  package mutating func run() {
    begin()
    var steps = 0
    while faults.isEmpty, let at = queue.nextAt, let next = queue.pop() {
      now = max(now, at)
      steps += 1
      guard steps < Self.stepsMax else { return fault("the world does not end") }
      guard now < .zero + .seconds(60 * 3600) else { break }
      if isTraced { print(now.nanoseconds / 1_000_000, next) }
      happen(next)
    }
    if faults.isEmpty { checkEnd() }
  }

  private mutating func begin() {
    for hub in hubs.indices { start(hub) }
    for hub in hubs.indices {
      let after = hub == 0 ? BusDuration.zero : .milliseconds(Int64.random(in: 500...5000, using: &random))
      plan(.runner(hub: hub, .come), in: after)
    }
    for _ in 0..<Int.random(in: 0...3, using: &random) {
      plan(
        .kill(hub: Int.random(in: hubs.indices, using: &random)),
        in: .milliseconds(Int64.random(in: 0...120_000, using: &random)))
    }
    for index in wrong.indices { plan(.misdeed(index), in: .milliseconds(Int64.random(in: 0...3000, using: &random))) }
    if seed % 5 == 1 {
      // Before the countdown, or any time until the records are in, and up to three times.
      let goal = terms.goal.nanoseconds / 1_000_000
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let isEarly = Int.random(in: 0..<3, using: &random) == 0
        plan(
          .loseTail(isFew: Bool.random(using: &random)),
          in: .milliseconds(Int64.random(in: isEarly ? 1000...60_000 : 15_000...(goal + 150_000), using: &random)))
      }
    }
    if seed % 5 == 2 {
      let goal = terms.goal.nanoseconds / 1_000_000
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        plan(.tamper, in: .milliseconds(Int64.random(in: 2000...(goal + 150_000), using: &random)))
      }
    }
    if seed % 3 == 1 {
      let goal = terms.goal.nanoseconds / 1_000_000
      plan(
        .goAway(.milliseconds(Int64.random(in: 1000...(goal + 60_000), using: &random))),
        in: .milliseconds(Int64.random(in: 15_000...120_000, using: &random)))
      plan(
        .kill(hub: Int.random(in: hubs.indices, using: &random)),
        in: .milliseconds(Int64.random(in: 15_000...(goal + 60_000), using: &random)))
    }
    if seed % 7 == 1 {
      let step = BusDuration.milliseconds(Int64.random(in: -5000...30_000, using: &random))
      plan(.stepClock(step), in: .milliseconds(Int64.random(in: 1000...40_000, using: &random)))
    }
  }

  private mutating func happen(_ what: Happening) {
    switch what {
    case .kept(let hub, let life, let room, let rows, let receipt):
      guard hubs[hub].life == life, hubs[hub].isAlive else { return }
      hubs[hub].disk[room, default: []] += rows
      carryOut(hubs[hub].desk.kept(receipt, at: hubs[hub].local(now)), of: hub)
    case .forgotten(let hub, let life, let room):
      guard hubs[hub].life == life, hubs[hub].isAlive else { return }
      hubs[hub].disk[room] = nil
    case .append(let content):
      if now < awayUntil { return }
      if log.append(content, at: now) { return ring(content.room) }
      guard let hub = hubs.firstIndex(where: { $0.member == content.author && $0.isAlive }) else { return }
      carryOut(hubs[hub].desk.refused(content.room, number: content.number, at: hubs[hub].local(now)), of: hub)
    case .bell(let hub, let life, let room):
      guard hubs[hub].life == life, hubs[hub].isAlive else { return }
      read(room, hub)
    case .read(let hub, let life, let room, let rows, let reading, let heard):
      guard hubs[hub].life == life, hubs[hub].isAlive else { return }
      receive(rows, of: room, hub, reading: reading, heard: heard)
    case .replaced(let hub, let life, let room, let reading):
      guard hubs[hub].life == life, hubs[hub].isAlive else { return }
      carryOut(hubs[hub].desk.replaced(room, reading: reading), of: hub)
    case .prove(let hub, let life, let room, let reading):
      guard hubs[hub].life == life, hubs[hub].isAlive, now >= awayUntil else { return }
      let found = log.digest(room, through: reading.from)
      let wasMended = hubs[hub].desk.isMended(room)
      carryOut(hubs[hub].desk.proved(room, reading, found: found, at: hubs[hub].local(now)), of: hub)
      note(hub, wasMended: wasMended)
      check(hub)
    case .tamper: tamper()
    case .notice(let hub, let life, let kind, let since):
      if hubs[hub].life == life, hubs[hub].isAlive { checkNotice(hub, kind, since: since) }
    case .deadline(let hub, let life, let at):
      guard hubs[hub].life == life, hubs[hub].isAlive, hubs[hub].wakesAt == at else { return }
      hubs[hub].wakesAt = nil
      carryOut(hubs[hub].desk.act(at: hubs[hub].local(now)), of: hub)
    case .runner(let hub, let step): act(step, hub)
    case .kill(let hub):
      guard hubs[hub].isAlive else { return }
      count("kill")
      hubs[hub].isAlive = false
      plan(.revive(hub: hub), in: .milliseconds(Int64.random(in: 10...20_000, using: &random)))
    case .revive(let hub): start(hub)
    case .misdeed(let index): misbehave(index)
    case .loseTail(let isFew):
      guard let rows = log.rows[room], rows.count > 2 else { return }
      count("lost tail")
      hasLostTail = true
      log.lose(Int.random(in: isFew ? 1...2 : rows.count / 2...rows.count, using: &random), of: room)
      ring(room)
    case .goAway(let span):
      count("away")
      awayUntil = max(awayUntil, now + span)
    case .amend(let hub): amend(hub)
    case .stepClock(let step):
      count("clock step")
      log.ahead = log.ahead + step
    }
  }

  private mutating func start(_ hub: Int) {
    checkSight(hub)
    hubs[hub].begin()
    let local = hubs[hub].local(now)
    hubs[hub].bornAt = local
    carryOut(hubs[hub].desk.start(), of: hub)
    guard let run = hubs[hub].run, let started = hubs[hub].started else { return }
    let isOn = hubs[hub].stopped == nil
    carryOut(hubs[hub].desk.resumed(run, startedAt: started, isOn: isOn, at: local), of: hub)
    for run in hubs[hub].desk.statedRuns { amend(run, of: hub) }
  }

  /// Records become better, or go, some time after the run.
  private mutating func amend(_ hub: Int) {
    guard let run = hubs[hub].run, hubs[hub].isAlive else { return }
    count("amendment")
    if Int.random(in: 0..<4, using: &random) == 0 { hubs[hub].hasRemoved = true } else { hubs[hub].pace += 1 }
    amend(run, of: hub)
  }

  private mutating func amend(_ run: RunID, of hub: Int) {
    let local = hubs[hub].local(now)
    carryOut(hubs[hub].desk.amended(run, hubs[hub].hasRemoved ? .removed : .made, at: local), of: hub)
  }

  mutating func ring(_ room: RoomID) {
    for hub in hubs.indices where hubs[hub].isAlive && hubs[hub].feeds[room] != nil {
      // A bell that is lost is made good by the next one, or by patience.
      if Int.random(in: 0..<30, using: &random) > 0 {
        plan(.bell(hub: hub, life: hubs[hub].life, room), in: latency())
      } else {
        plan(.bell(hub: hub, life: hubs[hub].life, room), in: .seconds(10))
      }
    }
  }

  /// The next entries of a reading, as a log hands them out: in order, each once. A reading ends when another copy of the
  /// log is there.
  private mutating func read(_ room: RoomID, _ hub: Int) {
    let life = hubs[hub].life
    guard now >= awayUntil else { return plan(.bell(hub: hub, life: life, room), in: awayUntil - now + latency()) }
    guard var feed = hubs[hub].feeds[room] else { return }
    feed.freeAt = max(feed.freeAt, now) + latency()
    let number = feed.reading.number
    guard feed.copy == log.copies else {
      hubs[hub].feeds[room] = nil
      return plan(.replaced(hub: hub, life: life, room, reading: number), in: feed.freeAt - now)
    }
    let rows = log.read(room, &feed, at: now)
    hubs[hub].feeds[room] = feed
    plan(
      .read(hub: hub, life: life, room, rows, reading: number, heard: hubs[hub].local(now)), in: feed.freeAt - now)
  }

  private mutating func receive(_ rows: [ReadEntry], of room: RoomID, _ hub: Int, reading: UInt64, heard: BusTime) {
    let (local, wasMended) = (hubs[hub].local(now), hubs[hub].desk.isMended(room))
    carryOut(
      hubs[hub].desk.read(room, rows, isEnd: true, reading: reading, heard: heard, at: local), of: hub)
    note(hub, wasMended: wasMended)
    check(hub)
  }

  /// Notes that a hub has noticed that the log is not what it was.
  private mutating func note(_ hub: Int, wasMended: Bool) {
    if hubs[hub].desk.isMended(room), !wasMended {
      count("mended")
      hubs[hub].errorAtLoss = hubs[hub].desk.clock.estimate(at: hubs[hub].local(now))?.error ?? .zero
    }
    if !hubs[hub].wasVoid, hubs[hub].desk.isVoid(room) {
      count("void")
      hubs[hub].wasVoid = true
    }
  }

  mutating func carryOut(_ actions: [DeskAction], of hub: Int) {
    for action in actions {
      switch action {
      case .keep(let room, let rows, let receipt):
        // One commit after the other.
        hubs[hub].diskFreeAt = max(hubs[hub].diskFreeAt, now) + latency()
        plan(.kept(hub: hub, life: hubs[hub].life, room, rows, receipt), in: hubs[hub].diskFreeAt - now)
      case .forget(let room):
        hubs[hub].diskFreeAt = max(hubs[hub].diskFreeAt, now) + latency()
        plan(.forgotten(hub: hub, life: hubs[hub].life, room), in: hubs[hub].diskFreeAt - now)
      case .follow(let room, let reading):
        hubs[hub].feeds[room] = RoomWorldFeed(reading: reading, copy: log.copies, from: reading.from, freeAt: now)
        plan(.bell(hub: hub, life: hubs[hub].life, room), in: latency())
      case .unfollow(let room): hubs[hub].feeds[room] = nil
      case .prove(let room, let reading): plan(.prove(hub: hub, life: hubs[hub].life, room, reading), in: latency())
      case .warn(_, let warning):
        count("warning \(warning.rawValue)")
        if !hasLostTail, counts["clock step"] == nil { fault("hub \(hub) warns without a reason: \(warning)") }
      case .append(let content):
        checkDurable(content, hub)
        // Appends are lost, delayed and repeated.
        let fate = Int.random(in: 0..<20, using: &random)
        if fate > 0 { plan(.append(content), in: latency()) }
        if fate == 1 { plan(.append(content), in: latency()) }
      case .answer(let ask, let answer): note(answer, to: ask, hub)
      case .press(let press, let age): note(press, hubs[hub].local(now) - age, hub)
      case .measure(let room, _, let since, let use):
        if use == .record { planAmendments(hub) }
        let standing = hubs[hub].standing(since: since, goal: terms.goal, speed: terms.speed)
        carryOut(hubs[hub].desk.measured(room, standing, for: use, at: hubs[hub].local(now)), of: hub)
      case .event(_, let event): note(event, hub)
      case .shout(let live): spread(live, from: hub)
      case .cue(let cue): note(cue, hub)
      case .listen, .show: break
      case .seek, .key, .advertise: fault("hub \(hub) seeks, and nobody has asked it to")
      }
    }
    wake(hub)
  }

  /// Tells the others what is said beside the log; some of it is lost.
  private mutating func spread(_ live: RoomLive, from hub: Int) {
    for other in hubs.indices where other != hub && hubs[other].isAlive && Int.random(in: 0..<10, using: &random) > 0 {
      carryOut(hubs[other].desk.heard(live, at: hubs[other].local(now)), of: other)
      check(other)
    }
  }

  private mutating func planAmendments(_ hub: Int) {
    guard seed.isMultiple(of: 3) else { return }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      plan(.amend(hub: hub), in: .milliseconds(Int64.random(in: 1...3_600_000, using: &random)))
    }
  }

  /// Sets the hub's timer.
  private mutating func wake(_ hub: Int) {
    let local = hubs[hub].local(now)
    guard let deadline = hubs[hub].desk.deadline(at: local) else { return }
    let at = now + max(.zero, hubs[hub].real(deadline - local)) + BusDuration(nanoseconds: 1)
    guard hubs[hub].wakesAt.map({ at < $0 }) ?? true else { return }
    hubs[hub].wakesAt = at
    plan(.deadline(hub: hub, life: hubs[hub].life, at: at), in: at - now)
  }
}
