// The clock on screen: what a snapshot says about any later moment.
extension Snapshot {
  /// Whether active time goes on from ``capturedAt``. It stands in a pause and an auto-pause, without a run, and while
  /// the hub has not decided what becomes of a run that was on when it died.
  public var isActiveTimeRunning: Bool {
    switch phase {
    case .running: !metrics.isAutoPaused && !isRecovering && !isClockStopped
    case .idle, .paused, .completed, .unknown: false
    }
  }

  /// Time from the start of the run to a moment, pauses included. It stands once the run is completed.
  ///
  /// - Parameter now: The moment, in bus time; one before ``capturedAt`` counts as that.
  /// - Returns: What the hub's own metrics would show at that moment, as long as nothing has happened since the
  ///   snapshot.
  public func elapsed(at now: BusTime) -> BusDuration {
    switch phase {
    case .idle, .completed: metrics.elapsed
    case .running, .paused, .unknown: metrics.elapsed + max(.zero, now - capturedAt)
    }
  }

  /// What remained of the goal at ``capturedAt``; zero once it is reached, `nil` in a run without a goal.
  public var remaining: BusDuration? { goal?.remaining(after: metrics.elapsed) }

  /// What remains of the goal at a moment: it counts down as ``elapsed(at:)`` counts up, in a pause as well, and stands
  /// once the run is completed.
  ///
  /// - Parameter now: The moment, in bus time; one before ``capturedAt`` counts as that.
  /// - Returns: The time; zero once the goal is reached, `nil` in a run without a goal.
  public func remaining(at now: BusTime) -> BusDuration? { goal?.remaining(after: elapsed(at: now)) }

  /// Time in which the run was running up to a moment: without pauses, auto-pauses and gaps.
  ///
  /// - Parameter now: The moment, in bus time; one before ``capturedAt`` counts as that.
  /// - Returns: What the hub's own metrics would show at that moment, as long as nothing has happened since the
  ///   snapshot. An auto-pause counts from the next snapshot on.
  public func active(at now: BusTime) -> BusDuration {
    isActiveTimeRunning ? metrics.active + max(.zero, now - capturedAt) : metrics.active
  }
}
