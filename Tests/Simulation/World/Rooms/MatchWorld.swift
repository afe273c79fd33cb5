import RunCore

/// Runners who seek each other in a simulated fleet: hubs with drifting clocks, disks that stall, hubs that are killed,
/// runners who think better of it, and a log that repeats, delays and loses appends.
///
/// The hubs' desks are the product's. The same seed gives the same world on every machine.
package struct MatchWorld {
  private enum Happening {
    /// A commit of a hub is durable.
    case kept(hub: Int, life: Int, RoomID, [RoomRow], DeskReceipt)
    /// An append reaches the log.
    case append(RoomContent)
    /// A bell, or the end of a hub's patience: the hub reads.
    case bell(hub: Int, life: Int, RoomID)
    /// What was read arrives.
    case read(hub: Int, life: Int, RoomID, [ReadEntry], reading: UInt64, heard: BusTime)
    /// A hub's desk has something due.
    case deadline(hub: Int, life: Int, at: BusTime)
    /// The keys for an ask of the desk are made.
    case keys(hub: Int, life: Int, RoomKeys)
    /// A hub reads the adverts of a class.
    case look(hub: Int, life: Int, round: Int, String)
    /// What a hub says or takes back stands beside the log.
    case advert(hub: Int, RoomAdvert?, String)
    /// A runner wants to be matched, or not any more, or asks what came of it.
    case match(hub: Int)
    case unmatch(hub: Int)
    case ask(hub: Int)
    /// A runner stops the countdown.
    case hold(hub: Int)
    /// A hub dies, and begins its next life.
    case kill(hub: Int)
    case revive(hub: Int)
  }
  /// A search of a runner, as its device sees it.
  private struct Search {
    let id: Identifier<RoomAskTag>
    let order: RoomSearch
    let life: Int
    let since: BusTime
    var answer: RoomAnswer?
  }

  /// What a campaign should see at least once.
  package static let expected = [
    "matched", "nobodyFound", "stopped", "left", "kill", "held", "run", "refused", "closed for an older one",
  ]
  private static let fleet = FleetID(high: 0, low: 1)
  private static let length = BusDuration.seconds(500)

  package let seed: UInt64
  private var random: WorldRandom
  private var now = BusTime.zero
  private var log: RoomWorldLog
  private var hubs: [RoomWorldHub] = []
  private var searches: [Search?]
  /// The rooms as their logs have them.
  private var folds: [RoomID: RoomMachine] = [:]
  private var board: [String: [MemberID: (advert: RoomAdvert, until: BusTime)]] = [:]
  private var rounds: [Int]
  private var queue = WorldQueue<Happening>()
  package private(set) var faults: [String] = []
  package private(set) var counts: [String: Int] = [:]

  /// The world of a seed.
  package init(seed: UInt64) {
    self.seed = seed
    var random = WorldRandom(seed: seed, 43)
    log = RoomWorldLog(ahead: .seconds(Int64.random(in: 100...1_000_000, using: &random)))
    let count = Int.random(in: 2...8, using: &random)
    for place in 0..<count {
      var hub = RoomWorldHub(RoomWorld.member(place, using: &random), place: place, using: &random)
      let card = RoomCard(
        nickname: Nickname("runner\(place)")!, level: Int.random(in: 3...4, using: &random),
        gender: [.female, .male, nil].randomElement(using: &random)!)
      hub.desk = TogetherDesk(TogetherDesk.Settings(fleet: Self.fleet, member: hub.member, card: card))
      hubs.append(hub)
    }
    searches = Array(repeating: nil, count: count)
    rounds = Array(repeating: 0, count: count)
    self.random = random
  }

  private mutating func count(_ what: String) { counts[what, default: 0] += 1 }
  private mutating func fault(_ text: String) { faults.append("\(text) (at \(now.nanoseconds / 1_000_000) ms)") }
  private mutating func plan(_ what: Happening, in span: BusDuration) { queue.push(what, at: now + span) }
  private mutating func milliseconds(_ range: ClosedRange<Int64>) -> BusDuration {
    .milliseconds(Int64.random(in: range, using: &random))
  }
  /// A latency of a few milliseconds, at times of seconds.
  private mutating func latency() -> BusDuration {
    let isSlow = Int.random(in: 0..<40, using: &random) == 0
    return milliseconds(isSlow ? 500...4000 : 1...20)
  }

  /// Runs the world to its end, and checks it.
  package mutating func run() {
    for hub in hubs.indices {
      begin(hub)
      plan(.match(hub: hub), in: milliseconds(0...60_000))
      if Int.random(in: 0..<6, using: &random) == 0 { plan(.unmatch(hub: hub), in: milliseconds(1000...120_000)) }
    }
    for _ in 0..<Int.random(in: 0...2, using: &random) {
      plan(.kill(hub: Int.random(in: hubs.indices, using: &random)), in: milliseconds(0...120_000))
    }
    while faults.isEmpty, let at = queue.nextAt, at < .zero + Self.length, let next = queue.pop() {
      now = max(now, at)
      happen(next)
    }
    if faults.isEmpty { checkEnd() }
  }

  // MARK: What happens

  private func isAlive(_ hub: Int, _ life: Int) -> Bool { hubs[hub].life == life && hubs[hub].isAlive }

  /// Tells a hub's desk something, and does what it wants.
  private mutating func tell(_ hub: Int, _ body: (inout TogetherDesk, BusTime) -> [DeskAction]) {
    carryOut(body(&hubs[hub].desk, hubs[hub].local(now)), of: hub)
    if let wrong = hubs[hub].desk.check() { fault("hub \(hub): \(wrong)") }
  }

  private mutating func happen(_ what: Happening) {
    switch what {
    case .kept(let hub, let life, let room, let rows, let receipt):
      guard isAlive(hub, life) else { return }
      hubs[hub].disk[room, default: []] += rows
      tell(hub) { $0.kept(receipt, at: $1) }
    case .append(let content): append(content)
    case .bell(let hub, let life, let room):
      guard isAlive(hub, life) else { return }
      read(room, hub)
    case .read(let hub, let life, let room, let entries, let reading, let heard):
      if isAlive(hub, life) {
        tell(hub) { $0.read(room, entries, isEnd: true, reading: reading, heard: heard, at: $1) }
      }
    case .deadline(let hub, let life, let at):
      guard isAlive(hub, life), hubs[hub].wakesAt == at else { return }
      hubs[hub].wakesAt = nil
      tell(hub) { $0.act(at: $1) }
    case .keys(let hub, let life, let keys):
      if isAlive(hub, life) { tell(hub) { $0.keyed(keys, at: $1) } }
    case .look(let hub, let life, let round, let name):
      guard isAlive(hub, life), rounds[hub] == round else { return }
      let adverts = (board[name] ?? [:]).sorted { $0.key < $1.key }.filter { $0.value.until > now }.map(\.value.advert)
      let time = log.clock(at: now)
      tell(hub) { $0.heard(adverts, at: time, now: $1) }
      plan(.look(hub: hub, life: life, round: round, name), in: .seconds(1))
    case .advert(let hub, let advert, let name):
      board[name, default: [:]][hubs[hub].member] = advert.map { ($0, now + .seconds(180)) }
    case .match(let hub): match(hub)
    case .unmatch(let hub):
      let ask = RoomAsk(id: Identifier(using: &random), wish: .unmatch)
      if hubs[hub].isAlive { tell(hub) { $0.ask(ask, keys: nil, isRunOn: false, at: $1) } }
    case .ask(let hub): askAgain(hub)
    case .hold(let hub):
      guard hubs[hub].isAlive else { return }
      count("held")
      let ask = RoomAsk(id: Identifier(using: &random), wish: .hold)
      tell(hub) { $0.ask(ask, keys: nil, isRunOn: false, at: $1) }
    case .kill(let hub):
      guard hubs[hub].isAlive else { return }
      count("kill")
      hubs[hub].isAlive = false
      plan(.revive(hub: hub), in: milliseconds(10...20_000))
    case .revive(let hub):
      begin(hub)
      plan(.match(hub: hub), in: milliseconds(10...20_000))
    }
  }

  private mutating func begin(_ hub: Int) {
    hubs[hub].begin()
    rounds[hub] += 1
    tell(hub) { desk, _ in desk.start() }
  }

  private mutating func match(_ hub: Int) {
    guard hubs[hub].isAlive else { return }
    let order = RoomSearch(
      seek: Seek(
        goal: .seconds([600, 1800].randomElement(using: &random)!),
        wish: Int.random(in: 0..<6, using: &random) == 0 ? .female : nil),
      left: .seconds([30, 120].randomElement(using: &random)!), getsReady: Int.random(in: 0..<8, using: &random) > 0)
    let id = Identifier<RoomAskTag>(using: &random)
    let former = searches[hub]
    searches[hub] = Search(id: id, order: order, life: hubs[hub].life, since: now)
    tell(hub) { $0.ask(RoomAsk(id: id, wish: .match(order)), keys: nil, isRunOn: false, at: $1) }
    if case .refused = searches[hub]?.answer {
      count("refused")
      // What an earlier life has opened is in its way, or its own search is on.
      searches[hub] = former
      return plan(.match(hub: hub), in: milliseconds(1000...20_000))
    }
    plan(.ask(hub: hub), in: milliseconds(100...1000))
  }

  /// A device asks again until it hears what came of the search.
  private mutating func askAgain(_ hub: Int) {
    guard let search = searches[hub], isAlive(hub, search.life) else { return }
    let ask = RoomAsk(id: search.id, wish: .match(search.order))
    tell(hub) { $0.ask(ask, keys: nil, isRunOn: false, at: $1) }
    switch searches[hub]?.answer {
    case .unmatched: break
    case .matched(let room):
      let stage = hubs[hub].desk.machine(of: room)?.state.stage
      if case .countdown = stage, Int.random(in: 0..<40, using: &random) == 0 { plan(.hold(hub: hub), in: .zero) }
      plan(.ask(hub: hub), in: milliseconds(1000...4000))
    case .seeking, .pending, .judged, .refused, nil: plan(.ask(hub: hub), in: milliseconds(100...1000))
    }
  }

  /// The next entries of a reading, as a log hands them out: in order, each once.
  private mutating func read(_ room: RoomID, _ hub: Int) {
    guard var feed = hubs[hub].feeds[room] else { return }
    feed.freeAt = max(feed.freeAt, now) + latency()
    let rows = log.read(room, &feed, at: now)
    hubs[hub].feeds[room] = feed
    let read = Happening.read(
      hub: hub, life: hubs[hub].life, room, rows, reading: feed.reading.number, heard: hubs[hub].local(now))
    plan(read, in: feed.freeAt - now)
  }

  private mutating func append(_ content: RoomContent) {
    let room = content.room
    guard log.append(content, at: now), let row = log.rows[room]?.last else { return }
    var fold = folds[room] ?? RoomMachine()
    let folded = fold.apply(row.entry, digest: row.digest)
    folds[room] = fold
    if folded == .verdict(.closed) { count("closed for an older one") }
    checkPlaces(of: content.author)
    for hub in hubs.indices where hubs[hub].isAlive && hubs[hub].feeds[room] != nil {
      // A bell that is lost is made good by the next one, or by patience.
      let isLost = Int.random(in: 0..<30, using: &random) == 0
      plan(.bell(hub: hub, life: hubs[hub].life, room), in: isLost ? .seconds(10) : latency())
    }
  }

  // MARK: What the hubs want

  private mutating func carryOut(_ actions: [DeskAction], of hub: Int) {
    for action in actions {
      switch action {
      case .keep(let room, let rows, let receipt):
        // One commit after the other.
        hubs[hub].diskFreeAt = max(hubs[hub].diskFreeAt, now) + latency()
        plan(.kept(hub: hub, life: hubs[hub].life, room, rows, receipt), in: hubs[hub].diskFreeAt - now)
      case .forget(let room): hubs[hub].disk[room] = nil
      case .follow(let room, let reading):
        hubs[hub].feeds[room] = RoomWorldFeed(reading: reading, copy: log.copies, from: reading.from, freeAt: now)
        plan(.bell(hub: hub, life: hubs[hub].life, room), in: latency())
      case .unfollow(let room): hubs[hub].feeds[room] = nil
      case .append(let content):
        // Appends are lost, delayed and repeated.
        let fate = Int.random(in: 0..<20, using: &random)
        if fate > 0 { plan(.append(content), in: latency()) }
        if fate == 1 { plan(.append(content), in: latency()) }
      case .answer(let ask, let answer): note(answer, to: ask, hub)
      case .press(.start(let run, _), _):
        guard let room = hubs[hub].desk.activeRoom, RoomWorld.run(of: hubs[hub].member, in: room) == run else {
          fault("hub \(hub) starts a run of no room")
          continue
        }
        hubs[hub].started = hubs[hub].local(now)
      case .press(.stop, _): hubs[hub].stopped = hubs[hub].local(now)
      case .measure(let room, _, let since, let use):
        let goal = folds[room]?.state.terms?.goal ?? .zero
        let standing = hubs[hub].standing(since: since, goal: goal, speed: .realTime)
        tell(hub) { $0.measured(room, standing, for: use, at: $1) }
      case .prove(let room, let reading):
        let found = log.digest(room, through: reading.from)
        tell(hub) { $0.proved(room, reading, found: found, at: $1) }
      case .warn(_, let warning): fault("hub \(hub) warns without a reason: \(warning)")
      case .event, .listen, .shout, .cue, .show: break
      case .seek(let name):
        rounds[hub] += 1
        guard let name else { continue }
        plan(.look(hub: hub, life: hubs[hub].life, round: rounds[hub], name), in: latency())
      case .key(let entered):
        let nonce = RoomNonce(using: &random)
        let room = entered ?? RoomWorld.room(of: hubs[hub].member, nonce)
        let keys = RoomKeys(room: room, nonce: nonce, run: RoomWorld.run(of: hubs[hub].member, in: room))
        plan(.keys(hub: hub, life: hubs[hub].life, keys), in: .milliseconds(1))
      case .advertise(let advert, let name): plan(.advert(hub: hub, advert, name), in: .milliseconds(30))
      }
    }
    wake(hub)
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

  // MARK: Checks

  private mutating func note(_ answer: RoomAnswer, to ask: Identifier<RoomAskTag>, _ hub: Int) {
    guard searches[hub]?.id == ask else { return }
    if case .unmatched = searches[hub]?.answer, searches[hub]?.answer != answer {
      fault("hub \(hub) has two ends of one search")
    }
    if case .unmatched(let end) = answer, searches[hub]?.answer != answer { count(end.rawValue) }
    if case .matched = answer, searches[hub]?.answer != answer { count("matched") }
    searches[hub]?.answer = answer
  }

  /// Nobody has a place in two rooms.
  private mutating func checkPlaces(of member: MemberID) {
    let time = log.clock(at: now)
    let places = folds.values.filter { fold in
      var fold = fold
      fold.advance(to: time)
      switch fold.state.stage {
      case .recruiting, .gathering, .countdown, .running: return fold.state.member(member) != nil
      case .none, .settling, .over, .cancelled: return false
      }
    }
    if places.count > 1 { fault("a runner has a place in \(places.count) rooms") }
  }

  /// At the end: all searches are over, and those who run together say so.
  private mutating func checkEnd() {
    for hub in hubs.indices {
      // The last ones may still be on.
      guard let search = searches[hub], isAlive(hub, search.life), search.since + search.order.left + .seconds(90) < now
      else { continue }
      switch search.answer {
      case .unmatched: break
      case .matched(let room):
        guard let state = folds[room]?.state, state.member(hubs[hub].member) != nil, RoomResult(advanced(room)) != nil
        else {
          fault("hub \(hub) is matched in a room without a run")
          continue
        }
        if hubs[hub].started == nil { fault("hub \(hub) was matched and never starts") }
      case .seeking, .pending, .judged, .refused, nil: fault("hub \(hub) seeks for ever: \(search.answer as Any)")
      }
    }
    for (room, _) in folds where RoomResult(advanced(room)) != nil {
      count("run")
      let state = advanced(room)
      if state.members.count != 2 { fault("\(state.members.count) run together") }
      for member in state.members {
        guard let hub = hubs.firstIndex(where: { $0.member == member.id }), let search = searches[hub],
          isAlive(hub, search.life), hubs[hub].life == 1
        else { continue }
        if search.answer != .matched(room) { fault("hub \(hub) runs, and its search says: \(search.answer as Any)") }
      }
    }
  }

  private func advanced(_ room: RoomID) -> RoomState {
    var fold = folds[room] ?? RoomMachine()
    fold.advance(to: log.clock(at: now))
    return fold.state
  }
}
