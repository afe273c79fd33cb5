/// What a lock screen shows now: the hub's last push, and what this node knows besides.
public struct LiveActivity: Hashable, Sendable {
  /// The last push.
  public var push: LivePush
  /// The commands that wait for their verdict: those of the push, and this node's own, each kind once.
  public var pending: [CommandKind]
  /// Whether the run may have changed since: the push is too old, or the hub is silent.
  public var isStale: Bool
  /// Whether the hub has been silent for so long that the run may have stopped.
  public var isHubLost: Bool

  /// An activity from its parts.
  public init(push: LivePush, pending: [CommandKind], isStale: Bool, isHubLost: Bool) {
    self.push = push
    self.pending = pending
    self.isStale = isStale
    self.isHubLost = isHubLost
  }

  /// What the hub's own screen shows: a push as it is.
  public init(_ push: LivePush) {
    self.init(push: push, pending: push.content.pending, isStale: false, isHubLost: false)
  }
}

/// Keeps what the lock screen of a peer shows. It decides which push replaces the shown one, and when the screen is stale.
package struct LiveScreen: Sendable {
  private var last: LivePush?
  /// The term in which the hub has begun the session.
  private var sessionTerm: UInt64 = 0
  /// What it shows; `nil` before the first push.
  package private(set) var shown: LiveActivity?

  /// A screen that shows nothing.
  package init() {}

  /// A session begins.
  ///
  /// - Parameter term: the hub's term. A push of a lower one comes from an incarnation that has ended meanwhile. A hub whose
  ///   own term is lower than that of the last push is another one, and its first push replaces that.
  package mutating func beginSession(term: UInt64) {
    sessionTerm = term
    if let shown = last, term < shown.order.term { last = nil }
  }

  /// Takes a push; one that is not newer than the last one changes nothing, nor does one of an earlier incarnation, or one
  /// that would go back within a term. A hub counts its pushes anew in each term.
  package mutating func receive(_ push: LivePush) {
    guard push.order.term >= sessionTerm else { return }
    if let last, push.order.term == last.order.term, push.order < last.order { return }
    if let last, (push.order.term, push.number) <= (last.order.term, last.number) { return }
    last = push
  }

  /// Takes a snapshot of the hub. One of a later revision, with another phase, run or clock, stands in for a push that was
  /// lost: no other push may follow, when the run is over. Before the first push it shows nothing.
  package mutating func catchUp(with snapshot: Snapshot) {
    let order = snapshot.order
    guard let last, (order.term, order.revision) > (last.order.term, last.order.revision) else { return }
    var content = LiveContent(snapshot, pending: last.content.pending) ?? last.content
    if content.phase.isOn, last.content.phase.isOn, content.runID == last.content.runID {
      // A snapshot says nothing of the room.
      (content.startsAt, content.room) = (last.content.startsAt, last.content.room)
    }
    if snapshot.phase == .idle {
      // The hub has lost its store, and the run with it: nothing is pushed about that.
      (content.phase, content.clock.isTicking, content.pending) = (.idle, false, [])
    }
    guard content.isTurn(from: last.content) else { return }
    self.last = LivePush(
      order: order, content: content, number: order.term == last.order.term ? last.number : 0,
      kind: content.phase.isOn ? .phase : .final, pushedAt: snapshot.capturedAt,
      staleAt: content.phase.isOn ? snapshot.capturedAt + LivePolicy().goodFor(content.phase) : nil,
      budgetLeft: last.budgetLeft, activity: last.activity)
  }

  /// When the screen becomes stale by the hub's own word; `nil` when it is, or when that cannot happen.
  package var staleAt: BusTime? { shown?.isStale == true ? nil : last?.staleAt }

  /// What the screen shows now; `nil` when that is what it shows already.
  ///
  /// - Parameters:
  ///   - now: the hub's bus time, as far as this node knows it.
  ///   - isStale: whether the node takes its view of the run as old for reasons of its own.
  ///   - isHubLost: whether an alarm about the hub's silence stands.
  ///   - pending: this node's own commands that wait for their verdict.
  package mutating func look(
    at now: BusTime?, isStale: Bool, isHubLost: Bool, pending: Set<CommandKind>
  ) -> LiveActivity? {
    guard let last else { return nil }
    let isOver = last.staleAt.map { staleAt in now.map { staleAt <= $0 } ?? true } ?? false
    let activity = LiveActivity(
      push: last, pending: pending.union(last.content.pending).sorted { $0.rawValue < $1.rawValue },
      isStale: isOver || isStale && last.content.isUnderWay, isHubLost: isHubLost && last.content.phase.isOn)
    guard activity != shown else { return nil }
    shown = activity
    return activity
  }
}
