/// A search for another runner: what was asked, and what its seeker waits for.
struct DeskSearch: Hashable, Sendable {
  /// What the seeker has asked for and the keys are not there for yet.
  enum Wanted: Hashable {
    case open(left: BusDuration)
    case enter(RoomID)
  }
  private struct Hearing: Hashable {
    let log: LogTime
    let at: BusTime
  }
  /// How often an advert is renewed; it lasts three times as long.
  static let renewEvery = BusDuration.seconds(60)
  /// How many asks about one search are answered.
  static let asksMax = 16

  let order: RoomSearch
  /// The asks of devices that are about it.
  private(set) var asks: [Identifier<RoomAskTag>]
  var seeker: Seeker
  var wanted: Wanted?
  /// The room that is being opened, or was opened last.
  var ownRoom: RoomID?
  /// The room in which the seeker has had a place last.
  var lastRoom: RoomID?
  /// Until when the log has to have answered.
  let beginsBy: BusTime
  /// What the others are told now, and when they are told again.
  var advert: RoomAdvert?
  var renewsAt: BusTime?
  /// Whether the hub is to get ready in the seeker's room.
  var isUnready = false
  /// Whether the log is of no use for it.
  var isBroken = false
  /// Whether the adverts are still read.
  var isReading = true
  private var hearing: Hearing?

  init(_ order: RoomSearch, _ settings: TogetherDesk.Settings, ask: Identifier<RoomAskTag>, at now: BusTime) {
    self.order = order
    asks = [ask]
    seeker = Seeker(me: settings.member, card: settings.card, seek: order.seek, left: order.left)
    beginsBy = now + order.left
  }

  var isOver: Bool { isBroken || seeker.isOver }
  /// Under which class its adverts are listed.
  var listedAs: String { RoomAdvert.listing(of: order.seek.goal) }
  /// What those hear who ask about it.
  var answer: RoomAnswer {
    if isBroken { return .unmatched(.broken) }
    if let end = seeker.end { return .unmatched(end) }
    if let room = seeker.matchedRoom ?? (seeker.isOver ? lastRoom : nil) { return .matched(room) }
    return .seeking
  }

  mutating func add(_ ask: Identifier<RoomAskTag>) { asks = asks.suffix(Self.asksMax - 1) + [ask] }

  /// The log's time, by what was told last; `nil` while nothing was told.
  func logTime(at now: BusTime) -> LogTime? { hearing.map { $0.log + (now - $0.at) } }
  /// The moment of a log time by the hub's clock.
  func local(of time: LogTime) -> BusTime? { hearing.map { $0.at + (time - $0.log) } }
  mutating func hear(_ time: LogTime, at now: BusTime) { hearing = Hearing(log: time, at: now) }

  /// Lets something happen to the seeker.
  mutating func withSeeker(_ body: (inout Seeker) -> [SeekerAction]) -> [SeekerAction] {
    let actions = body(&seeker)
    lastRoom = seeker.room ?? lastRoom
    return actions
  }
}

// The desk seeks: it tells the seeker what the log says, and does what the seeker wants by asks of its own.
extension TogetherDesk {
  private var isSeeking: Bool { search.map { !$0.isOver } ?? false }

  // MARK: Asks

  /// Why a search forbids what a device asks; `nil` if it does not. Who is matched may do what everybody in a room may.
  func denialInSearch(of wish: RoomAsk.Wish) -> RoomDenial? {
    guard let search, !search.isOver else { return nil }
    switch wish {
    case .open, .enter, .match: return .seeking
    case .ready, .leave, .begin, .proceed, .hold, .cancel, .close, .remove:
      return search.seeker.matchedRoom == nil ? .seeking : nil
    case .unmatch: return nil
    }
  }

  /// Begins a search.
  mutating func match(
    _ order: RoomSearch, _ ask: Identifier<RoomAskTag>, isRunOn: Bool, at now: BusTime
  ) -> [DeskAction] {
    if let active = activeRoom { return [.answer(ask, .refused(.inRoom(active)))] }
    if isRunOn { return [.answer(ask, .refused(.runIsOn))] }
    if isFull { return [.answer(ask, .refused(.busy))] }
    let search = DeskSearch(order, settings, ask: ask, at: now)
    self.search = search
    return [.seek(listedAs: search.listedAs), .answer(ask, search.answer)]
  }

  /// Ends the search for the runner.
  mutating func unmatch(_ ask: Identifier<RoomAskTag>, at now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver else { return [.answer(ask, .refused(.notSeeking))] }
    search.add(ask)
    let time = search.logTime(at: now) ?? .zero
    let sought = search.withSeeker { $0.stop(at: time) }
    self.search = search
    let actions = carryOut(sought, at: now)
    return actions + [.answer(ask, self.search?.answer ?? .seeking)]
  }

  // MARK: What the seeker hears

  /// The adverts of the search's class were read, at this time of the log.
  package mutating func heard(_ adverts: [RoomAdvert], at time: LogTime, now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver else { return [] }
    search.hear(time, at: now)
    let offers = adverts.compactMap { SeekerOffer($0, speed: settings.speed) }
    let sought = search.withSeeker { $0.hear(offers, at: time) }
    self.search = search
    return carryOut(sought, at: now)
  }

  /// The keys are there for what the seeker has asked.
  package mutating func keyed(_ keys: RoomKeys, at now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver, let wanted = search.wanted else { return [] }
    let order = search.order
    let entry: DeskRoom.Waiting
    switch wanted {
    case .open(let left):
      let terms = RoomTerms(
        kind: .matched(order.seek, left: left), goal: order.seek.goal, speed: settings.speed, places: 2)
      entry = DeskRoom.Waiting(ask: .open(terms, settings.card), nonce: keys.nonce, id: nil)
      search.ownRoom = keys.room
    case .enter(let room):
      guard keys.room == room else { return [] }
      entry = DeskRoom.Waiting(ask: .enter(settings.card, metres: nil, seek: order.seek), nonce: nil, id: nil)
    }
    search.wanted = nil
    self.search = search
    if rooms[keys.room] == nil, isFull { return refuseSearch(.full, in: keys.room, at: now) }
    return take(part: keys, entry, at: now)
  }

  /// Tells the seeker of an entry that was read: the verdict of an own one first, then the state to which it led.
  mutating func hearSearch(_ entry: RoomEntry, _ folded: Folded, in room: DeskRoom) -> [SeekerAction] {
    guard var search, !search.isOver else { return [] }
    var actions: [SeekerAction] = []
    var isHeldByHand = false
    if entry.author == settings.member, case .verdict(let verdict) = folded {
      isHeldByHand = verdict == .held
      if isAwaited(entry.ask, in: room.id, search) {
        actions += search.withSeeker { $0.hear(verdict, in: room.id, at: entry.time) }
      }
    }
    if search.seeker.room == room.id {
      for event in room.machine.events {
        switch event {
        case .entered, .stage(.recruiting): search.isUnready = !isHeldByHand
        case .ready, .here, .departed, .owner, .stage, .recorded, .disputed: break
        }
      }
    }
    actions += search.withSeeker { $0.follow(room.machine.state, of: room.id, at: entry.time) }
    self.search = search
    return actions
  }

  /// Whether the seeker waits for the verdict of such an ask in a room.
  private func isAwaited(_ ask: RoomAskKind, in room: RoomID, _ search: DeskSearch) -> Bool {
    switch ask {
    case .open: search.seeker.room == nil && search.wanted == nil && search.ownRoom == room
    case .enter, .leave, .close: search.seeker.room == room
    case .ready, .here, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick, .mark, .record, .unknown: false
    }
  }

  /// What the seeker has asked in a room comes to nothing without an entry.
  mutating func refuseSearch(_ refusal: RoomRefusal, in room: RoomID, at now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver, search.wanted == nil, (search.seeker.room ?? search.ownRoom) == room else {
      return []
    }
    let time = search.logTime(at: now) ?? .zero
    let sought = search.withSeeker { $0.hear(.rejected(refusal), in: room, at: time) }
    self.search = search
    return carryOut(sought, at: now)
  }

  /// The hub has started the run of a room. Nobody could change any more that it starts.
  mutating func startSearched(_ room: RoomID, at now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver, search.seeker.room == room, var machine = rooms[room]?.machine,
      let startsAt = machine.state.stage.startsAt
    else { return [] }
    machine.advance(to: startsAt)
    let sought = search.withSeeker { $0.follow(machine.state, of: room, at: startsAt) }
    self.search = search
    return carryOut(sought, at: now)
  }

  /// The log has lost a room: a search in it is over.
  mutating func breakSearch(in room: RoomID) -> [DeskAction] {
    guard let search, !search.isOver, search.wanted == nil, (search.seeker.room ?? search.ownRoom) == room else {
      return []
    }
    self.search?.isBroken = true
    return endSearch()
  }

  // MARK: What the seeker wants

  /// Does what the seeker wants, once everything that it was told of is in its place.
  mutating func carryOut(_ sought: [SeekerAction], at now: BusTime) -> [DeskAction] {
    var actions: [DeskAction] = []
    for action in sought {
      switch action {
      case .open(let left):
        search?.wanted = .open(left: left)
        actions.append(.key(nil))
      case .enter(let room):
        search?.wanted = .enter(room)
        actions.append(.key(room))
      case .close(let room): actions += put(.close, in: room, at: now)
      case .leave(let room): actions += put(.leave, in: room, at: now)
      case .advertise(let room, _): actions += advertise(room, at: now)
      case .withdraw: actions += withdraw()
      // The plan of the room gets ready, and the answer to who asks is made when it is asked for.
      case .matched, .over: break
      }
    }
    return search?.isOver == true ? actions + endSearch() : actions
  }

  private mutating func put(_ ask: RoomAskKind, in room: RoomID, at now: BusTime) -> [DeskAction] {
    rooms[room]?.add(DeskRoom.Waiting(ask: ask, nonce: nil, id: nil))
    return pump(room, at: now)
  }

  private mutating func advertise(_ id: RoomID, at now: BusTime) -> [DeskAction] {
    guard let search, let room = rooms[id], let opened = room.opened, var terms = room.machine.state.terms,
      case .matched(_, let left) = terms.kind
    else { return [] }
    // Who has stayed in another's room says whom it seeks itself.
    terms.kind = .matched(search.order.seek, left: left)
    let advert = RoomAdvert(
      fleet: settings.fleet, room: id, author: settings.member, terms: terms, card: settings.card, members: 1,
      position: opened.position, openedAt: opened.time, listedAs: search.listedAs)
    self.search?.advert = advert
    self.search?.renewsAt = now + DeskSearch.renewEvery
    return [.advertise(advert, listedAs: advert.listedAs)]
  }

  private mutating func withdraw() -> [DeskAction] {
    guard let advert = search?.advert else { return [] }
    search?.advert = nil
    search?.renewsAt = nil
    return [.advertise(nil, listedAs: advert.listedAs)]
  }

  private mutating func endSearch() -> [DeskAction] {
    guard search?.isReading == true else { return [] }
    search?.isReading = false
    return withdraw() + [.seek(listedAs: nil)]
  }

  // MARK: Time

  /// When ``actSearch(at:)`` has something to do.
  var searchMoments: [BusTime] {
    guard let search, !search.isOver else { return [] }
    guard search.logTime(at: .zero) != nil else { return [search.beginsBy] }
    return [search.renewsAt, search.seeker.deadline.flatMap { search.local(of: $0) }].compactMap { $0 }
  }

  /// Does what is due in the search.
  mutating func actSearch(at now: BusTime) -> [DeskAction] {
    guard var search, !search.isOver else { return [] }
    guard let time = search.logTime(at: now) else {
      guard search.beginsBy <= now else { return [] }
      self.search?.isBroken = true
      return endSearch()
    }
    var actions: [DeskAction] = []
    if let advert = search.advert, let renewsAt = search.renewsAt, renewsAt <= now {
      search.renewsAt = now + DeskSearch.renewEvery
      actions.append(.advertise(advert, listedAs: advert.listedAs))
    }
    var sought: [SeekerAction] = []
    if let deadline = search.seeker.deadline, deadline <= time { sought = search.withSeeker { $0.advance(to: time) } }
    self.search = search
    return actions + carryOut(sought, at: now)
  }

  /// What a room of a search wants of the hub: to be ready when two are there, and to be left when the search has ended
  /// with an earlier life.
  func offerSearch(
    _ room: DeskRoom, _ me: RoomState.Member, at now: BusTime, _ offer: (BusTime?, DeskDuty) -> Void
  ) {
    guard room.own == nil, room.waiting.isEmpty, room.stage == .recruiting, room.machine.state.terms?.isMatched == true
    else { return }
    if let search, !search.isOver, search.seeker.room == room.id {
      guard search.order.getsReady, search.isUnready, search.seeker.matchedRoom == room.id,
        room.machine.state.members.count == 2, !me.isReady
      else { return }
      offer(now, .say(.ready(true)))
    } else if room.isInherited {
      offer(now, .say(.leave))
    }
  }

  /// Takes away the adverts of searches that have ended with an earlier life.
  func withdrawInherited() -> [DeskAction] {
    let terms = rooms.values.filter { $0.isInherited && $0.stage == .recruiting }.compactMap(\.machine.state.terms)
    let classes = Set(terms.filter(\.isMatched).map { RoomAdvert.listing(of: $0.goal) })
    return classes.sorted().map { .advertise(nil, listedAs: $0) }
  }
}

extension DeskRoom {
  /// Whether the runner has no place in the room, and nothing on its way there.
  func isStrange(to me: MemberID) -> Bool { machine.state.member(me) == nil && own == nil && waiting.isEmpty }
}

extension RoomAdvert {
  /// Under which class searches with a goal are listed: `g30` for 30 minutes; in seconds (`g90s`) or nanoseconds if it
  /// has to be.
  package static func listing(of goal: BusDuration) -> String {
    let (minute, second): (Int64, Int64) = (60_000_000_000, 1_000_000_000)
    let nanoseconds = goal.nanoseconds
    if nanoseconds % minute == 0 { return "g\(nanoseconds / minute)" }
    return nanoseconds % second == 0 ? "g\(nanoseconds / second)s" : "g\(nanoseconds)ns"
  }
}

extension SeekerOffer {
  /// The search that an advert tells of; `nil` for a room that nobody seeks in, of later rules, or at another speed.
  init?(_ advert: RoomAdvert, speed: BusSpeed) {
    let terms = advert.terms
    guard case .matched(let seek, let left) = terms.kind, terms.rules == RoomTerms.rules, terms.speed == speed,
      terms.goal == seek.goal
    else { return nil }
    self.init(
      room: advert.room, author: advert.author, card: advert.card, seek: seek, left: left, openedAt: advert.openedAt,
      isTaken: advert.members >= terms.places)
  }
}
