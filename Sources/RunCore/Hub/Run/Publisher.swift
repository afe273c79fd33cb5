/// Keeps the published state of the run and its schedule.
///
/// While a run is running, a snapshot is due at whole multiples of ``tickInterval`` after the anchor: the moment at
/// which the last transition became durable. A subscription makes the publisher repeat the last snapshot.
///
/// The snapshots of one incarnation have consecutive ticks, so that peers can order them.
struct Publisher: Sendable {
  /// The time between two snapshots of a running run, in bus time.
  static let tickInterval = BusDuration.seconds(3)
  /// The last snapshot that was published; `nil` before the first.
  private(set) var published: Snapshot?
  /// The tick of the last snapshot that was captured. A captured snapshot is published when its commit is durable.
  private(set) var lastTick: UInt64 = 0
  private var anchor: BusTime?
  /// When the next snapshot on schedule is due; `nil` while the run does not run.
  private(set) var nextTick: BusTime?
  private var repetition = Repetition()

  /// Whether a snapshot is captured whose commit is not durable yet.
  var isPublishing: Bool { lastTick != published?.order.tick ?? 0 }

  /// When the publisher has something to do.
  var deadline: BusTime? { BusTime.earliest(nextTick, repetition.deadline) }

  // MARK: Snapshots

  /// Captures the present state as the next snapshot to publish.
  mutating func capture(
    _ control: ControlState, term: UInt64, goal: RunGoal?, metrics: RunMetrics, isRecovering: Bool,
    isClockStopped: Bool, at now: BusTime
  ) -> Snapshot {
    lastTick += 1
    return Snapshot(
      order: SnapshotOrder(term: term, revision: control.revision, tick: lastTick), phase: control.phase,
      runID: control.runID, changedBy: control.changedBy, startedAt: control.startedAt, capturedAt: now,
      metrics: metrics, isRecovering: isRecovering, isClockStopped: isClockStopped, goal: goal)
  }

  /// Makes a snapshot the published one.
  mutating func publish(_ snapshot: Snapshot) {
    published = snapshot
    repetition.drop()
  }

  /// Repeats the last snapshot for a new subscriber, who missed it. Other peers drop the repetition as known.
  ///
  /// - Returns: the snapshot to publish now; `nil` if there is none, or if it is due later.
  mutating func repeatForSubscriber(at now: BusTime, speed: BusSpeed) -> Snapshot? {
    published != nil && repetition.ask(at: now, speed: speed) ? published : nil
  }

  /// The repetition that is due; `nil` if none is.
  mutating func dueRepetition(at now: BusTime, speed: BusSpeed) -> Snapshot? {
    repetition.isDue(at: now, speed: speed) ? published : nil
  }

  // MARK: The schedule

  /// Begins the schedule anew, because a transition became durable.
  mutating func setAnchor(isRunning: Bool, at now: BusTime) {
    anchor = now
    nextTick = isRunning ? now + Self.tickInterval : nil
  }

  /// Suspends the schedule until the next anchor.
  mutating func suspendTicks() { nextTick = nil }

  /// Advances the schedule past a tick that is due. Ticks are whole multiples after the anchor, so that a late timer
  /// delays one tick and not all that follow.
  ///
  /// - Returns: whether a snapshot is to be published; `false` if the run does not run.
  mutating func tick(isTicking: Bool, at now: BusTime) -> Bool {
    guard let anchor, isTicking else {
      nextTick = nil
      return false
    }
    let passed = (now - anchor).nanoseconds / Self.tickInterval.nanoseconds
    nextTick = anchor + BusDuration(nanoseconds: (passed + 1) * Self.tickInterval.nanoseconds)
    return true
  }
}
