/// What a hub has read of a room, as far as mending needs it: the order of what roster and stage rest on, and all that the
/// hub has said itself.
struct RoomCopy: Hashable {
  /// An entry that counted.
  struct Place: Hashable {
    let author: MemberID
    let number: UInt64
  }
  /// An entry of the hub's own.
  struct Own: Hashable {
    let ask: RoomAskKind
    let nonce: RoomNonce?
    let seen: Seen
    /// How many places of ``RoomCopy/order`` came before it.
    let before: Int
  }

  /// The entries on which roster and stage rest, in their order.
  private(set) var order: [Place] = []
  /// The hub's own entries, by their numbers.
  private(set) var own: [UInt64: Own] = [:]

  /// Takes an entry that was judged.
  ///
  /// - Parameters:
  ///   - isOwn: Whether the hub's runner is the author.
  ///   - nonce: The nonce of an own entry that opens the room.
  mutating func take(_ entry: RoomEntry, _ verdict: RoomVerdict, isOwn: Bool, nonce: RoomNonce?) {
    if isOwn { own[entry.number] = Own(ask: entry.ask, nonce: nonce, seen: entry.seen, before: order.count) }
    if case .rejected = verdict { return }
    if entry.ask.isOfRoster { order.append(Place(author: entry.author, number: entry.number)) }
  }
}

/// What a hub does about a log that has lost entries of a run: the room stands as it was read, and what the log has now is
/// folded beside it. The hub appends its own missing entries again, each when those that were before it are there.
struct RoomMending: Hashable {
  /// For how long an entry of another is waited for.
  static let patience = BusDuration.seconds(10)
  /// How much longer than a countdown is waited for its end: the log's clock and the hub's may run apart.
  private static let margin = BusDuration.milliseconds(100)

  /// An own entry that was appended again.
  struct Sent: Hashable {
    let number: UInt64
    let first: BusTime
    var again: BusTime
  }
  /// An entry of another that is waited for.
  struct Wait: Hashable {
    let place: RoomCopy.Place
    let since: BusTime
  }

  /// The fold of what the log has now.
  var log = RoomMachine()
  /// Whether the log takes no more of the hub's entries.
  var isFull = false
  /// The own entry that is on its way again.
  private(set) var sent: Sent?
  private(set) var wait: Wait?
  /// Who is not waited for any more.
  private var givenUp: Set<MemberID> = []
  /// When the run begins by what the log has now; `nil` while it has no countdown.
  private var runsAt: BusTime?

  /// Looks at what the log lacks.
  ///
  /// - Parameters:
  ///   - next: The hub's own next entry that is missing; `nil` when none is.
  ///   - copy: What was read before the loss and since.
  mutating func look(for next: UInt64?, in copy: RoomCopy, at now: BusTime) {
    let before = next.flatMap { copy.own[$0]?.before } ?? copy.order.count
    let missing = copy.order.prefix(before).first { place in
      log.nextNumber(of: place.author) <= place.number && !givenUp.contains(place.author)
    }
    if missing != wait?.place { wait = missing.map { Wait(place: $0, since: now) } }
    switch log.state.stage {
    case .none, .recruiting, .gathering, .over, .cancelled: runsAt = nil
    case .countdown: runsAt = runsAt ?? log.state.terms.map { now + $0.countdown + Self.margin }
    case .running, .settling: runsAt = now
    }
    if let sent, next != sent.number { self.sent = nil }
  }

  /// Waits no more for the member whose entry is missing.
  mutating func giveUp() {
    if let wait { givenUp.insert(wait.place.author) }
    wait = nil
  }

  /// When an entry may be appended; `nil` while one of another is waited for. Marks and records wait for the run.
  func mayAppend(_ ask: RoomAskKind, at now: BusTime) -> BusTime? {
    guard wait == nil, !isFull else { return nil }
    return ask.isOfRun ? max(now, runsAt ?? now) : now
  }

  /// Notes that an own entry was appended again.
  mutating func append(_ number: UInt64, at now: BusTime, again: BusTime) {
    sent = Sent(number: number, first: sent?.number == number ? sent?.first ?? now : now, again: again)
  }
}

extension RoomAskKind {
  /// Whether roster and stage rest on it.
  var isOfRoster: Bool {
    switch self {
    case .open, .enter, .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove: true
    case .stay, .tick, .mark, .record, .unknown: false
    }
  }
  /// Whether it says how a run went.
  var isOfRun: Bool {
    switch self {
    case .mark, .record: true
    case .open, .enter, .ready, .here, .leave, .close, .begin, .proceed, .hold, .cancel, .remove, .stay, .tick,
      .unknown:
      false
    }
  }
}
