import RunCore

/// Seekers, their rooms and their adverts in one memory: every entry, verdict, state and advert takes its own time, in
/// order only within one room or one board of adverts.
struct SeekerWorld {
  enum Manner: Hashable {
    case honest
    /// Does nothing any more from some moment on.
    case vanishes(Int64)
    /// Is matched and never ready.
    case lazy
    /// Advertises rooms that are not there, as if it had waited for long.
    case lies
  }
  struct Runner {
    let id: MemberID
    let card: RoomCard
    let seek: Seek
    /// Milliseconds.
    let arrives: Int64
    let manner: Manner
    /// How wrong its estimate of the log's time is.
    let skew: Int64
    var seeker: Seeker
    var matched: RoomID?
    var rooms: Set<RoomID> = []
    var hears: [RoomID?: Int64] = [:]
    var isHere = false
  }
  private enum Event {
    case arrives(Int)
    case entry(RoomID, Int, RoomAskKind)
    case verdict(Int, RoomID, RoomVerdict, LogTime)
    case state(Int, RoomID, RoomState)
    case advert(Int, SeekerOffer?)
    case adverts(Int, [SeekerOffer])
    case due(RoomID)
    case wakes(Int)
    case lies(Int)
  }
  static let left = BusDuration.seconds(120)

  private(set) var runners: [Runner]
  private(set) var rooms: [RoomID: RoomMachine] = [:]
  private(set) var entries = 0
  private(set) var problems: [String] = []
  private var places: [MemberID: Int] = [:]
  private var board: [Int: (offer: SeekerOffer, until: Int64)] = [:]
  private var queue: [(at: Int64, order: Int, event: Event)] = []
  private var (now, order) = (Int64(0), 0)
  private var random: SeededGenerator

  init(seed: UInt64, count: Int, perSecond: Double, hostile: Double = 0) {
    var random = SeededGenerator(seed: seed)
    var arrives = 0.0
    runners = (0..<count).map { number in
      arrives -= 1000 / perSecond * (1 - Double.random(in: 0..<1, using: &random)).logarithm
      let gender = RoomCard.Gender.allCases.randomElement(using: &random)
      let wish =
        Int.random(in: 0..<10, using: &random) == 0 ? RoomCard.Gender.allCases.randomElement(using: &random) : nil
      let id = Parts.member(number)
      let card = Parts.card("r\(number)", level: Int.random(in: 1...3, using: &random), gender: gender)
      let seek = Seek(goal: .seconds([600, 1800].randomElement(using: &random)!), wish: wish)
      let manner: Manner
      switch Double.random(in: 0..<1, using: &random) {
      case ..<(hostile / 3): manner = .vanishes(Int64(arrives) + Int64.random(in: 0...60_000, using: &random))
      case ..<(hostile * 2 / 3): manner = .lazy
      case ..<hostile: manner = .lies
      default: manner = .honest
      }
      return Runner(
        id: id, card: card, seek: seek, arrives: Int64(arrives), manner: manner,
        skew: Int64.random(in: -40...40, using: &random),
        seeker: Seeker(me: id, card: card, seek: seek, left: Self.left))
    }
    self.random = random
    for (place, runner) in runners.enumerated() {
      places[runner.id] = place
      schedule(.arrives(place), at: runner.arrives)
    }
  }

  static func time(_ milliseconds: Int64) -> LogTime { Parts.at(0) + .milliseconds(milliseconds) }

  // MARK: Events

  private mutating func schedule(_ event: Event, at time: Int64) {
    order += 1
    queue.append((time, order, event))
    var child = queue.count - 1
    while child > 0, precedes(child, (child - 1) / 2) {
      queue.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }
  private func precedes(_ left: Int, _ right: Int) -> Bool {
    (queue[left].at, queue[left].order) < (queue[right].at, queue[right].order)
  }
  private mutating func next() -> (at: Int64, event: Event)? {
    guard let first = queue.first else { return nil }
    queue.swapAt(0, queue.count - 1)
    queue.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < queue.count && precedes(child, least) {
        least = child
      }
      if least == parent { return (first.at, first.event) }
      queue.swapAt(parent, least)
      parent = least
    }
  }
  private mutating func delay() -> Int64 {
    Int64.random(in: 5...60, using: &random) + (Int.random(in: 0..<10, using: &random) == 0 ? 400 : 0)
  }
  /// Tells a runner something about a room, or of the adverts, after what it was told of them before.
  private mutating func tell(_ who: Int, _ room: RoomID?, _ event: Event) {
    let at = max(now + delay(), (runners[who].hears[room] ?? 0) + 1)
    runners[who].hears[room] = at
    schedule(event, at: at)
  }

  /// Lets everything happen.
  mutating func run() {
    while let (at, event) = next() {
      now = at
      happen(event)
    }
    for runner in runners where runner.manner == .honest && !runner.seeker.isOver {
      problems.append("\(runner.card.nickname) seeks for ever")
    }
  }

  private mutating func happen(_ event: Event) {
    switch event {
    case .arrives(let who):
      runners[who].isHere = true
      if runners[who].manner == .lies { return schedule(.lies(who), at: now) }
      tell(who, nil, .adverts(who, offers()))
    case .lies(let who):
      if now > runners[who].arrives + 120_000 { return happen(.advert(who, nil)) }
      let runner = runners[who]
      let offer = SeekerOffer(
        room: RoomID(using: &random), author: runner.id, card: runner.card, seek: runner.seek, left: Self.left,
        openedAt: Self.time(now - 100_000))
      happen(.advert(who, offer))
      schedule(.lies(who), at: now + 15_000)
    case .entry(let room, let who, let ask): apply(ask, by: who, to: room)
    case .verdict(let who, let room, let verdict, let entered):
      act(who) { $0.hear(verdict, in: room, at: entered) }
    case .state(let who, let room, let state):
      act(who) { [now] in $0.follow(state, of: room, at: Self.time(now)) }
    case .advert(let who, let offer):
      board[who] = offer.map { ($0, now + 180_000) }
      let offers = offers()
      for other in runners.indices where runners[other].isHere && !runners[other].seeker.isOver {
        tell(other, nil, .adverts(other, offers))
      }
    case .adverts(let who, let offers):
      act(who) { [now, skew = runners[who].skew] in $0.hear(offers, at: Self.time(now + skew)) }
    case .wakes(let who):
      act(who) { [now, skew = runners[who].skew] in $0.advance(to: Self.time(now + skew)) }
    case .due(let room):
      guard let before = rooms[room]?.state else { return }
      rooms[room]?.advance(to: Self.time(now))
      changed(room, before)
    }
  }

  private func offers() -> [SeekerOffer] { board.values.filter { $0.until > now }.map(\.offer) }

  private mutating func apply(_ ask: RoomAskKind, by who: Int, to room: RoomID) {
    var machine = rooms[room] ?? RoomMachine()
    let (before, id) = (machine.state, runners[who].id)
    entries += 1
    let entry = RoomEntry(
      position: machine.entryCount + 1, time: Self.time(now), author: id, number: machine.nextNumber(of: id), ask: ask,
      ownsRoom: true)
    let folded = machine.apply(entry, digest: Parts.digest)
    rooms[room] = machine
    if let problem = machine.check() { problems.append(problem) }
    switch (folded, ask) {
    case (.verdict(let verdict), .open), (.verdict(let verdict), .enter), (.verdict(let verdict), .close),
      (.verdict(let verdict), .leave):
      tell(who, room, .verdict(who, room, verdict, machine.state.time))
    default: break
    }
    changed(room, before)
  }

  private mutating func changed(_ room: RoomID, _ before: RoomState) {
    guard let machine = rooms[room], machine.state != before else { return }
    let state = machine.state
    for id in Set((before.members + state.members).map(\.id)).sorted() {
      guard let who = places[id] else { continue }
      tell(who, room, .state(who, room, state))
      if state.member(id) != nil, !state.stage.isEnd {
        runners[who].rooms.insert(room)
      } else {
        runners[who].rooms.remove(room)
      }
      if runners[who].rooms.count > 1 { problems.append("\(runners[who].card.nickname) is in two rooms") }
    }
    // The end of a run, a day later, is no part of a search.
    if let due = machine.deadline, machine.result == nil {
      schedule(.due(room), at: (due - Parts.at(0)).nanoseconds / 1_000_000 + 1)
    }
  }

  private mutating func act(_ who: Int, _ event: (inout Seeker) -> [SeekerAction]) {
    if case .vanishes(let moment) = runners[who].manner, now > moment { return }
    let deadline = runners[who].seeker.deadline
    let actions = event(&runners[who].seeker)
    if let problem = runners[who].seeker.check() { problems.append(problem) }
    for action in actions { carryOut(action, who) }
    if let next = runners[who].seeker.deadline, next != deadline {
      schedule(.wakes(who), at: (next - Parts.at(0)).nanoseconds / 1_000_000 + 1 - runners[who].skew)
    }
  }

  private mutating func carryOut(_ action: SeekerAction, _ who: Int) {
    let runner = runners[who]
    switch action {
    case .open(let left):
      let terms = RoomTerms(kind: .matched(runner.seek, left: left), goal: runner.seek.goal, places: 2)
      schedule(.entry(RoomID(using: &random), who, .open(terms, runner.card)), at: now + delay())
    case .enter(let room):
      schedule(.entry(room, who, .enter(runner.card, metres: nil, seek: runner.seek)), at: now + delay())
    case .close(let room): schedule(.entry(room, who, .close), at: now + delay())
    case .leave(let room): schedule(.entry(room, who, .leave), at: now + delay())
    case .advertise(let room, let since):
      let offer = SeekerOffer(
        room: room, author: runner.id, card: runner.card, seek: runner.seek, left: Self.left, openedAt: since)
      schedule(.advert(who, offer), at: now + 40)
    case .withdraw: schedule(.advert(who, nil), at: now + 40)
    case .matched(let room):
      runners[who].matched = room
      if runner.manner != .lazy {
        schedule(.entry(room, who, .ready(true)), at: now + Int64.random(in: 1_000...6_000, using: &random))
      }
    case .over: break
    }
  }

  // MARK: What came out

  /// How many would be matched if all honest ones were in one queue that knows everything at once.
  func ideal() -> Int {
    let runners = runners.filter { $0.manner == .honest }
    var (waiting, matched) = ([Runner](), 0)
    var moments: [(at: Int64, runner: Runner?)] = runners.map { ($0.arrives, $0) }
    moments += runners.map { ($0.arrives + 60_000, nil) }
    for (at, runner) in moments.sorted(by: { $0.at < $1.at }) {
      waiting.removeAll { $0.arrives + 120_000 <= at }
      if let runner { waiting.append(runner) }
      var place = 0
      while place < waiting.count {
        let longest = waiting[place]
        let other = waiting[(place + 1)...].firstIndex { other in
          SeekFit.unfit(
            (other.card, other.seek), (longest.card, longest.seek),
            levelDifference: at >= longest.arrives + 60_000 ? 1 : 0) == nil
        }
        if let other {
          waiting.remove(at: other)
          waiting.remove(at: place)
          matched += 2
        } else {
          place += 1
        }
      }
    }
    return matched
  }
}

extension Double {
  /// The natural logarithm, without Foundation, for a number in 0 … 1.
  fileprivate var logarithm: Double {
    var (value, result) = (self, 0.0)
    while value < 0.7 { (value, result) = (value * 2, result - 0.693147180559945) }
    let ratio = (value - 1) / (value + 1)
    var (power, sum) = (ratio, 0.0)
    for odd in stride(from: 1.0, to: 30, by: 2) { (sum, power) = (sum + power / odd, power * ratio * ratio) }
    return result + 2 * sum
  }
}
