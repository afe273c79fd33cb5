/// Why the hub pushed to lock screens.
public enum LivePushKind: String, Hashable, Sendable, CaseIterable {
  /// The run, its phase, its clock or the countdown to it changed.
  case phase
  /// The run is over. Further pushes of it bring late numbers only.
  case final
  /// A press began to wait for its verdict, or has it.
  case pending
  /// Visible numbers changed.
  case numbers
  /// Nothing visible changed; the push says that the screen is not stale.
  case alive
  /// The system's limit for one activity is near: another activity is to take over.
  case renewal
  /// A kind of a later version.
  case unknown
}

/// What the hub pushes to lock screens: the content, and how long it may be shown.
public struct LivePush: Hashable, Sendable {
  /// The snapshot that the content shows.
  public var order: SnapshotOrder
  /// What is visible.
  public var content: LiveContent
  /// Counts the pushes of a term: 1, 2, 3 ...
  public var number: UInt64
  /// Why it was pushed.
  public var kind: LivePushKind
  /// When it was pushed, on the hub's time line.
  public var pushedAt: BusTime
  /// When the screen becomes stale unless another push comes before; `nil` when nothing goes on.
  public var staleAt: BusTime?
  /// How many pushes of numbers the budget holds after this one.
  public var budgetLeft: Int
  /// Counts the activities of the run: 1, 2, 3 ... Each one ends before the system's limit.
  public var activity: Int

  /// A push from its parts.
  public init(
    order: SnapshotOrder, content: LiveContent, number: UInt64, kind: LivePushKind, pushedAt: BusTime,
    staleAt: BusTime?, budgetLeft: Int, activity: Int
  ) {
    self.order = order
    self.content = content
    self.number = number
    self.kind = kind
    self.pushedAt = pushedAt
    self.staleAt = staleAt
    self.budgetLeft = budgetLeft
    self.activity = activity
  }

  /// Whether the run is over, or the countdown to it was held, so that the activity can end.
  public var isFinal: Bool { content.phase == .completed || content.phase == .idle && content.startsAt == nil }

  /// How important the activity is beside others, from 0 to 100.
  public var relevance: Int {
    switch content.phase {
    case .running: content.isRecovering ? 100 : 90
    case .paused: content.isRecovering ? 100 : 50
    case .completed: 10
    case .idle: content.startsAt == nil ? 0 : 100
    case .unknown: 0
    }
  }
}

/// A push as the hub sends it, with its age at the moment of sending.
public struct LiveMessage: Hashable, Sendable {
  /// The push.
  public var push: LivePush
  /// Bus time from the push to its sending: a new subscriber gets the last push again.
  public var age: BusDuration

  /// A message from its parts.
  public init(push: LivePush, age: BusDuration = .zero) {
    self.push = push
    self.age = age
  }
}

/// How often the hub pushes to lock screens. All spans are bus time.
///
/// Systems limit how often an activity may be updated, and do not state the limit. The defaults allow a push of numbers
/// every 15 s for a quarter of an hour, and every 30 s in the long run.
public struct LivePolicy: Hashable, Sendable {
  /// The shortest time from any push to a push of numbers.
  public var numbersInterval = BusDuration.seconds(15)
  /// How many pushes an hour the budget gains. Pushes of every kind use it; only those of numbers and of presses that
  /// begin to wait need it.
  public var pushesPerHour = 120
  /// How many pushes the budget holds at most, and at the start.
  public var budgetMax = 30
  /// How long a push is good for while the run is running.
  public var staleAfter = BusDuration.seconds(60)
  /// How long a push is good for while the run is paused.
  public var pausedStaleAfter = BusDuration.seconds(600)
  /// How long one activity may last. ActivityKit ends an activity after eight hours.
  public var activityMax = BusDuration.seconds(7 * 3600 + 45 * 60)

  /// The defaults.
  public init() {}

  /// How long after a push another one says that the screen is not stale.
  func aliveAfter(_ phase: RunPhase) -> BusDuration {
    BusDuration(nanoseconds: goodFor(phase).nanoseconds / 4 * 3)
  }

  /// How long a push is good for.
  func goodFor(_ phase: RunPhase) -> BusDuration { phase == .running ? staleAfter : pausedStaleAfter }

  /// Until when a push of a content is good; `nil` when nothing goes on. One of a countdown is good until shortly after
  /// the start, with which the next one comes.
  func staleAt(_ content: LiveContent, pushedAt now: BusTime) -> BusTime? {
    if content.phase.isOn { return now + goodFor(content.phase) }
    return content.startsAt.map { max($0, now) + staleAfter }
  }

  /// The time in which the budget gains one push.
  var pushPrice: BusDuration { BusDuration(nanoseconds: 3_600_000_000_000 / Int64(max(1, pushesPerHour))) }
}
