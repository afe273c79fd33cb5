/// Decides at the hub what is pushed to lock screens, and when.
///
/// A change of the run, its phase, its clock or the countdown of its room is pushed at once, and so is a press that begins
/// to wait or gets its verdict. Numbers, and the place in the room among them, wait for ``LivePolicy/numbersInterval`` and for the budget. When nothing visible changes, a push
/// says in time that the screen is not stale. All pushes carry everything that is visible.
///
/// The pusher is fed with what is durable: a lock screen never shows what a crash can take back. It decides nothing until
/// somebody follows, so a hub without lock screens has no work with them.
package struct LivePusher: Sendable {
  private let policy: LivePolicy
  private var snapshot: Snapshot?
  /// One room or none, outside of the pusher's own bytes, which are copied with every event of the hub.
  private var rooms: [LiveTogether] = []
  private var waiting: [CommandID: CommandKind] = [:]
  /// The last push; `nil` before the first one of this incarnation.
  package private(set) var last: LivePush?
  /// What the budget holds, as the time in which it was gained.
  private var credit: BusDuration
  private var countedAt: BusTime?
  private var repetition = Repetition()
  /// Whether a lock screen has subscribed, or the hub's app follows.
  private var isFollowed = false

  /// A pusher that has pushed nothing.
  package init(_ policy: LivePolicy = LivePolicy()) {
    self.policy = policy
    credit = Self.span(policy.pushPrice, times: policy.budgetMax)
  }

  /// Takes a snapshot that was published.
  package mutating func observe(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    if !rooms.isEmpty { rooms[0].observe(snapshot) }
  }

  /// Takes the room of the runner as it was published.
  ///
  /// - Parameters:
  ///   - view: The room; `nil` when the runner is in none.
  ///   - run: The run that the hub starts in it; `nil` where it starts none.
  package mutating func observe(_ view: RoomView?, run: RunID?, at now: BusTime, speed: BusSpeed) {
    guard let view else { return rooms = [] }
    if rooms.first?.room != view.room { rooms = [LiveTogether(view.room)] }
    rooms[0].take(view, run: run, shown: snapshot, at: now, speed: speed)
  }

  /// Notes that the hub has accepted a command, which waits for its verdict.
  package mutating func accept(_ id: CommandID, _ kind: CommandKind) { waiting[id] = kind }

  /// Notes that a command has its verdict.
  package mutating func judge(_ id: CommandID) { waiting[id] = nil }

  /// When something is to be pushed if nothing happens before.
  package var deadline: BusTime? { BusTime.earliest(pushAt, repetition.deadline) }

  private var pushAt: BusTime? {
    guard let last, let content else { return nil }
    // A running clock comes with a snapshot every few seconds, which has newer numbers than a timer could push.
    let shown = last.content
    let isBehind =
      !(content.hasSameNumbers(as: shown) && content.pending == shown.pending) && !content.clock.isTicking
    let numbers = isBehind ? max(last.pushedAt + policy.numbersInterval, affordableAt) : nil
    return BusTime.earliest(numbers, aliveAt(last, content), renewalAt(last, content))
  }

  /// The push that is due now; `nil` if none is. The pusher counts it as pushed.
  package mutating func push(at now: BusTime) -> LivePush? {
    gain(at: now)
    guard isFollowed, let snapshot, let content, let kind = kind(of: content, at: now) else { return nil }
    credit = max(.zero, credit - policy.pushPrice)
    let push = LivePush(
      order: snapshot.order, content: content, number: (last?.number ?? 0) + 1, kind: kind, pushedAt: now,
      staleAt: policy.staleAt(content, pushedAt: now), budgetLeft: affordable, activity: activity(of: content, at: now))
    last = push
    return push
  }

  /// A lock screen has subscribed and gets the last push again, which it missed; `nil` when there is none, or when it is
  /// repeated later.
  package mutating func follow(at now: BusTime, speed: BusSpeed) -> LiveMessage? {
    isFollowed = true
    guard last != nil, repetition.ask(at: now, speed: speed) else { return nil }
    return message(at: now)
  }

  /// The repetition that is due; `nil` if none is.
  package mutating func dueRepetition(at now: BusTime, speed: BusSpeed) -> LiveMessage? {
    repetition.isDue(at: now, speed: speed) ? message(at: now) : nil
  }

  private func message(at now: BusTime) -> LiveMessage? {
    last.map { LiveMessage(push: $0, age: max(.zero, now - $0.pushedAt)) }
  }

  // MARK: What is due

  private var content: LiveContent? {
    guard let snapshot else { return nil }
    let pending = Set(waiting.values).sorted { $0.rawValue < $1.rawValue }
    if var content = rooms.first?.content(beside: snapshot) {
      content.pending = pending
      return content
    }
    if var content = LiveContent(snapshot, pending: pending) {
      if snapshot.phase.isOn { content.startsAt = rooms.first?.startsAt }
      content.room = rooms.first?.line(in: snapshot.runID)
      return content
    }
    // A countdown was held, and there is no run that could take its place on the screen.
    guard var content = last?.content, content.phase == .idle else { return nil }
    (content.startsAt, content.pending) = (nil, pending)
    return content
  }

  private func kind(of content: LiveContent, at now: BusTime) -> LivePushKind? {
    guard let last else { return content.isUnderWay ? .phase : .final }
    let shown = last.content
    if content.isTurn(from: shown) {
      return content.phase == .completed && shown.phase != .completed ? .final : .phase
    }
    if let at = renewalAt(last, content), at <= now { return .renewal }
    if content.pending != shown.pending,
      affordable > 0 || shown.pending.contains(where: { !content.pending.contains($0) })
    {
      return .pending
    }
    if !content.hasSameNumbers(as: shown), last.pushedAt + policy.numbersInterval <= now, affordable > 0 {
      return .numbers
    }
    if let at = aliveAt(last, content), at <= now { return .alive }
    return nil
  }

  /// When a push has to say that the screen is not stale; `nil` for a run that is over, and while the hub's own numbers
  /// are too old to say so.
  private func aliveAt(_ last: LivePush, _ content: LiveContent) -> BusTime? {
    guard content.phase.isOn, last.staleAt != nil else { return nil }
    let at = last.pushedAt + policy.aliveAfter(content.phase)
    if content.clock.isTicking, at - content.clock.at > policy.staleAfter { return nil }
    return at
  }

  private func renewalAt(_ last: LivePush, _ content: LiveContent) -> BusTime? {
    guard content.phase.isOn, let startedAt = snapshot?.startedAt else { return nil }
    return startedAt + Self.span(policy.activityMax, times: last.activity)
  }

  private func activity(of content: LiveContent, at now: BusTime) -> Int {
    guard let snapshot, content.runID == snapshot.runID, let startedAt = snapshot.startedAt else { return 1 }
    // A run that is over stays in its last activity.
    let moment = snapshot.phase.isOn ? now : startedAt + snapshot.metrics.elapsed
    return 1 + Int(max(0, (moment - startedAt).nanoseconds) / max(1, policy.activityMax.nanoseconds))
  }

  // MARK: The budget

  private var affordable: Int { Int(credit.nanoseconds / policy.pushPrice.nanoseconds) }

  /// When the budget holds a push.
  private var affordableAt: BusTime {
    (countedAt ?? .zero) + max(.zero, policy.pushPrice - credit)
  }

  private mutating func gain(at now: BusTime) {
    defer { countedAt = now }
    guard let countedAt else { return }
    credit = min(credit + max(.zero, now - countedAt), Self.span(policy.pushPrice, times: policy.budgetMax))
  }

  private static func span(_ span: BusDuration, times count: Int) -> BusDuration {
    BusDuration(nanoseconds: span.nanoseconds.multipliedReportingOverflow(by: Int64(count)).partialValue)
  }
}

/// When a publication is repeated for new subscribers, who missed it: at most once in a tenth of a second, because a
/// repetition reaches all subscribers.
package struct Repetition: Hashable, Sendable {
  /// The shortest time between two repetitions, in real time.
  private static let pause = BusDuration.milliseconds(100)
  private var repeatedAt: BusTime?
  /// When the next repetition is due; `nil` if nobody waits for it.
  package private(set) var deadline: BusTime?

  /// Nothing was repeated yet.
  package init() {}

  /// Whether to repeat now for a new subscriber. If not, the repetition is due at ``deadline``.
  package mutating func ask(at now: BusTime, speed: BusSpeed) -> Bool {
    let pause = speed.bus(fromReal: Self.pause)
    if let last = repeatedAt, now < last + pause {
      deadline = last + pause
      return false
    }
    (repeatedAt, deadline) = (now, nil)
    return true
  }

  /// Whether a repetition that somebody waits for is due.
  package mutating func isDue(at now: BusTime, speed: BusSpeed) -> Bool {
    guard let due = deadline, due <= now else { return false }
    return ask(at: now, speed: speed)
  }

  /// Nobody waits any more: something newer was published.
  package mutating func drop() { deadline = nil }
}
