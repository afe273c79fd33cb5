/// What a peer knows of its hub's state: the last snapshot, the bus clock and the highest term. It decides which snapshot
/// replaces the shown one, and what of it the store has to keep.
struct HubView: Sendable {
  /// How a new snapshot differs from the one before it.
  struct Change: Hashable, Sendable {
    /// Whether the snapshot shows another revision or another term: more than new numbers.
    let isTransition: Bool
  }

  /// The last snapshot that was received.
  private(set) var authoritative: Snapshot
  /// Converts the peer's clock to the hub's bus time; `nil` before the first snapshot.
  private(set) var clock: BusClock?
  /// The highest term of a hub that was seen or asked for.
  private(set) var termSeen: UInt64
  private var speed = BusSpeed.realTime
  /// Whether the snapshot comes from the store and the hub has not been heard since.
  private var isKept: Bool

  /// A view from what the store kept.
  init(_ snapshot: Snapshot?, termSeen: UInt64) {
    authoritative = snapshot ?? .none
    isKept = snapshot != nil
    self.termSeen = min(termSeen, HubTerm.limit)
  }

  /// Whether a run is on, as far as the peer knows.
  var isRunOn: Bool { authoritative.phase.isOn }

  /// What a person who presses a button now has seen; `nil` before the first snapshot.
  var base: ObservedRevision? {
    guard authoritative.order.term > 0 else { return nil }
    return ObservedRevision(revision: authoritative.order.revision, commandID: authoritative.changedBy?.commandID)
  }

  /// Whether the hub's state continues what this peer has seen. A hub that shows less of the same term is another
  /// incarnation with that number: its store was lost, or is an older copy.
  func isContinued(by order: SnapshotOrder) -> Bool {
    order.term != authoritative.order.term || order >= authoritative.order
  }

  /// A session begins with a hub whose bus clock runs this fast.
  mutating func open(_ speed: BusSpeed) { self.speed = speed }

  /// Receives the hub's state, which came with a welcome, was published, or answers a query.
  ///
  /// - Returns: what has changed; `nil` when this incarnation has shown this snapshot already, or any a later one.
  mutating func observe(_ message: StateMessage, isNewSession: Bool, at now: BusTime) -> Change? {
    readClock(message, isNewSession: isNewSession, at: now)
    let snapshot = message.snapshot
    let before = authoritative.order
    guard snapshot.order > before || isKept && snapshot.order == before else { return nil }
    authoritative = snapshot
    isKept = false
    return Change(isTransition: (before.term, before.revision) != (snapshot.order.term, snapshot.order.revision))
  }

  /// The writes that keep the view and the term: a later incarnation shows nothing older, knows which run its buttons
  /// refer to, and which term was seen.
  mutating func keep() -> [StoreOperation] {
    var operations = [StoreOperation.setView(authoritative)]
    if authoritative.order.term > termSeen {
      termSeen = authoritative.order.term
      operations.append(.setTerm(termSeen))
    }
    return operations
  }

  /// Raises the seen term above everything that was seen, so that the next hello asks the hub for it: the snapshots of
  /// a hub that has lost history would be dropped as old ones forever.
  mutating func claimTerm() -> StoreOperation {
    termSeen = max(termSeen, authoritative.order.term) + 1
    return .setTerm(termSeen)
  }

  /// Forgets a term that no hub comes to: another node or a wrong hub has stated it. From the next welcome on, the peer
  /// shows what the hub shows.
  ///
  /// - Returns: the writes; `nil` when a hub can have the term, and nothing changes.
  mutating func forgetTerm() -> [StoreOperation]? {
    guard termSeen > HubTerm.seenMax else { return nil }
    termSeen = 0
    authoritative.order = Snapshot.none.order
    return [.setTerm(0), .setView(authoritative)]
  }

  /// Estimates the hub's bus time. Transit makes every estimate late, so the one that is furthest ahead is the best.
  private mutating func readClock(_ message: StateMessage, isNewSession: Bool, at now: BusTime) {
    let heard = BusClock(realAnchor: now, busAnchor: message.snapshot.capturedAt + message.age, speed: speed)
    if let clock, !isNewSession, clock.speed == speed, clock.bus(at: now) >= heard.busAnchor { return }
    clock = heard
  }
}
