/// Decides how often a peer pings its hub.
///
/// ```
///             running                   a minute without news
///   slow ───────────────▶ quick ─ paused ─▶ pausing ─────────▶ slow
///     ▲                     │                  │
///     └──── no run is on ───┴──────────────────┘
/// ```
///
/// News in a pause (a press anywhere, a transition, a new session) makes it quick again for a minute.
struct HeartbeatPace: Sendable {
  private enum State: Hashable, Sendable {
    /// A run is running.
    case quick
    /// A run is paused, and the interval is the slow one from this moment on.
    case pausing(slowAt: BusTime)
    /// No run is on.
    case slow
  }

  /// How long a pause has to last without news before the interval grows.
  private static let pauseMin = BusDuration.seconds(60)

  private var state = State.slow
  private let limits: ConnectionLimits

  init(limits: ConnectionLimits) { self.limits = limits }

  /// Notes news of the run, or a press.
  ///
  /// - Parameter phase: the phase that the peer shows.
  mutating func note(_ phase: RunPhase, at now: BusTime) {
    switch phase {
    // A phase that is not known may be that of a run that is on.
    case .running, .unknown: state = .quick
    case .paused: state = .pausing(slowAt: now + Self.pauseMin)
    case .idle, .completed: state = .slow
    }
  }

  /// The interval that a ping states which is sent now.
  func interval(at now: BusTime) -> BusDuration {
    let isQuick =
      switch state {
      case .quick: true
      case .pausing(let slowAt): now < slowAt
      case .slow: false
      }
    return limits.heartbeat(isQuick ? Heartbeat.quick : Heartbeat.slow)
  }
}
