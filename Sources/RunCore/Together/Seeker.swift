/// Finds another runner by rooms: each search is a matched room that its seeker opened, and who waits longest stays
/// where it is (docs/together.md, "Matching").
///
/// ```
/// looking → entering → matched → over (the run is on)
///    │ ↖______│           ⇅
///    └─→ opening ───→ waiting ⇄ closing
/// ```
/// A room that has refused is not asked again for 10 s. While one's own room waits, an older one that fits is better:
/// the own room is closed, and only when the log says so is the older one entered, so that nobody is in two rooms. If
/// somebody has come first, the log refuses to close: that is the match. When the other one goes, the search goes on in
/// the room.
///
/// It is given, besides the adverts: the verdicts of what it has asked, and the state of its room after each entry,
/// without what is provisional. A verdict is given before the state to which it led.
package struct Seeker: Hashable, Sendable {
  /// How many adverts are looked at: those who wait longest.
  package static let offersMax = 1024

  /// Where the search stands.
  private enum State: Hashable {
    /// Nothing is asked, no place is held. Can go to: entering, opening, over.
    case looking
    /// A place in another's room is asked for. Can go to: matched, looking, leaving.
    case entering(RoomID, since: LogTime)
    /// A room of one's own is being opened. Can go to: waiting, closing, over.
    case opening
    /// One is alone in a room. Can go to: matched, closing, looking, leaving, over.
    case waiting(RoomID, since: LogTime)
    /// The room is being closed. Can go to: looking, matched, over.
    case closing(RoomID, since: LogTime)
    /// Another one is in the room; `with` is known from its state. Can go to: waiting, looking, leaving, over.
    case matched(RoomID, since: LogTime, with: MemberID?)
    /// The place is being given up. Can go to: looking, over.
    case leaving(RoomID)
    /// The search is over, or the run is on.
    case over
  }

  private let me: MemberID
  private let card: RoomCard
  private let seek: Seek
  private let left: BusDuration
  private var state = State.looking
  /// When the search is over; `nil` until it begins with the first adverts.
  private var endsAt: LogTime?
  /// The runner wants no match any more.
  private var isStopping = false
  private var offers: [SeekerOffer] = []
  private var memory = SeekerMemory()
  private var time = LogTime.zero

  /// A search that begins when the adverts are known.
  package init(me: MemberID, card: RoomCard, seek: Seek, left: BusDuration = RoomTerms.defaultLeft) {
    self.me = me
    self.card = card
    self.seek = seek
    self.left = min(max(left, RoomTerms.leftBounds.lowerBound), RoomTerms.leftBounds.upperBound)
  }

  /// The room in which it has a place, or may have one.
  package var room: RoomID? {
    switch state {
    case .looking, .opening, .over: nil
    case .entering(let room, _), .waiting(let room, _), .closing(let room, _), .matched(let room, _, _),
      .leaving(let room):
      room
    }
  }
  /// Whether nothing is sought any more.
  package var isOver: Bool { state == .over }
  /// The room in which another one is; `nil` while nobody is found.
  package var matchedRoom: RoomID? { if case .matched(let room, _, _) = state { room } else { nil } }
  /// Why the search is over without a match; `nil` while it is not, and when a run is on.
  package private(set) var end: SearchEnd?

  // MARK: Events

  /// Takes all adverts of the goal that there are.
  package mutating func hear(_ offers: [SeekerOffer], at now: LogTime) -> [SeekerAction] {
    let fitting = offers.filter { $0.author != me && $0.seek.goal == seek.goal }.sorted(by: SeekerOffer.precedes)
    self.offers = Array(fitting.prefix(Self.offersMax))
    return advance(to: now)
  }

  /// Lets time pass.
  package mutating func advance(to now: LogTime) -> [SeekerAction] {
    time = max(time, now)
    endsAt = endsAt ?? time + left
    return move()
  }

  /// Ends the search for the runner, unless a run has begun.
  package mutating func stop(at now: LogTime) -> [SeekerAction] {
    isStopping = true
    if case .matched(let room, _, _) = state { return leave(room) }
    return advance(to: now)
  }

  /// Takes the verdict of what was asked (`open`, `enter`, `close` or `leave`), at the log's time of the entry.
  package mutating func hear(_ verdict: RoomVerdict, in room: RoomID, at entered: LogTime) -> [SeekerAction] {
    time = max(time, entered)
    let isRefused = if case .rejected = verdict { true } else { false }
    switch state {
    case .opening:
      guard !isRefused else { return end(.broken) }
      state = .waiting(room, since: entered)
      return [.advertise(room, since: entered)] + move()
    case .entering(room, let since):
      if isRefused, verdict != .rejected(.alreadyIn) {
        // A room is advertised when the log has opened it: who advertises one that is not there does so again.
        if verdict == .rejected(.unknownRoom) { offers.filter { $0.room == room }.forEach { memory.fail($0.author) } }
        memory.refuse(room, at: time)
        state = .looking
        return move()
      }
      return isStopping ? leave(room) : match(room, since, with: nil)
    case .closing(room, let since):
      if verdict == .rejected(.matched) || verdict == .rejected(.notRecruiting) {
        return [.withdraw] + (isStopping ? leave(room) : match(room, since, with: nil))
      }
      state = .looking
      return [.withdraw] + move()
    case .leaving(room):
      // In the last second before the start nobody can leave: the run is on.
      if verdict == .rejected(.tooLate) || verdict == .rejected(.alreadyRunning) {
        state = .over
        return []
      }
      memory.refuse(room, at: time)
      state = .looking
      return move()
    case .looking, .entering, .waiting, .closing, .matched, .leaving, .over: return []
    }
  }

  /// Takes the state of a room after an entry, or after time that no later entry can change.
  package mutating func follow(_ seen: RoomState, of room: RoomID, at now: LogTime) -> [SeekerAction] {
    time = max(time, now, seen.time)
    let others = seen.members.map(\.id).filter { $0 != me }
    let isIn = others.count < seen.members.count
    let isOn = RoomResult(seen) != nil
    switch state {
    case .waiting(room, let since):
      if !isIn { return [.withdraw] + end(.left) }
      if seen.stage.isEnd {
        // In a room that was another's the time may be up before one's own is.
        state = .looking
        return [.withdraw] + move()
      }
      guard let other = others.first else { return move() }
      return [.withdraw] + (memory.hasFailed(other) ? leave(room) : match(room, since, with: other))
    case .matched(room, let since, let known):
      if isOn && isIn {
        state = .over
        return []
      }
      // Who did not get ready, or was away, seeks no more: the next one would wait for it in vain.
      if !isIn { return end(.left) }
      if seen.stage.isEnd {
        state = .looking
        return move()
      }
      guard let other = others.first else { return goOn(room, since, without: known) }
      // Another one may have come in between.
      if let known, known != other { memory.fail(known) }
      if memory.hasFailed(other) { return leave(room) }
      state = .matched(room, since: since, with: other)
      return []
    case .looking, .entering, .opening, .waiting, .closing, .matched, .leaving, .over: return []
    }
  }

  /// When time alone may change something next; `nil` when it does not.
  package var deadline: LogTime? {
    guard case .waiting(let room, let since) = state else { return nil }
    return offers.filter { isOlder($0, room, since) && $0.endsAt > time }
      .flatMap { [$0.widensAt, memory.refusedUntil($0.room)] }.filter { $0 > time }.min()
  }

  // MARK: Moves

  /// Does what is best now.
  private mutating func move() -> [SeekerAction] {
    switch state {
    case .looking:
      let endsAt = endsAt ?? time + left
      if isStopping { return end(.stopped) }
      if time >= endsAt { return end(.nobodyFound) }
      if let offer = offers.first(where: fits) {
        state = .entering(offer.room, since: offer.openedAt)
        return [.enter(offer.room)]
      }
      state = .opening
      return [.open(left: max(endsAt - time, RoomTerms.leftBounds.lowerBound))]
    case .waiting(let room, let since):
      let isBetter = offers.contains { isOlder($0, room, since) && fits($0) }
      guard isStopping || isBetter else { return [] }
      state = .closing(room, since: since)
      return [.close(room)]
    case .entering, .opening, .closing, .matched, .leaving, .over: return []
    }
  }

  private mutating func match(_ room: RoomID, _ since: LogTime, with other: MemberID?) -> [SeekerAction] {
    state = .matched(room, since: since, with: other)
    return [.matched(room)]
  }
  private mutating func goOn(_ room: RoomID, _ since: LogTime, without other: MemberID?) -> [SeekerAction] {
    if let other { memory.fail(other) }
    state = .waiting(room, since: since)
    return [.advertise(room, since: since)] + move()
  }
  private mutating func leave(_ room: RoomID) -> [SeekerAction] {
    state = .leaving(room)
    return [.leave(room)]
  }
  private mutating func end(_ why: SearchEnd) -> [SeekerAction] {
    (state, end) = (.over, why)
    return [.over]
  }

  private func isOlder(_ offer: SeekerOffer, _ room: RoomID, _ since: LogTime) -> Bool {
    offer.room != room && (offer.openedAt, offer.room) < (since, room)
  }
  private func fits(_ offer: SeekerOffer) -> Bool {
    guard !offer.isTaken, memory.refusedUntil(offer.room) <= time, !memory.hasFailed(offer.author), offer.endsAt > time
    else {
      return false
    }
    return SeekFit.unfit((card, seek), (offer.card, offer.seek), levelDifference: time >= offer.widensAt ? 1 : 0) == nil
  }

  /// What is wrong with the search; `nil` when everything that always holds does.
  package func check() -> String? {
    if !memory.isBounded || offers.count > Self.offersMax { return "more is remembered than is of use" }
    if endsAt == nil, state != .looking, state != .over { return "something was asked before the search began" }
    if state == .looking, endsAt != nil { return "nothing is asked" }
    return nil
  }
}
