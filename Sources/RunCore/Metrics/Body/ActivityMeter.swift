import DequeModule

/// Determines the runner's activity: from a motion sensor, or else from speed and cadence.
///
/// Without a motion sensor a runner counts as standing when the speed over at least five seconds (in a straight line,
/// or by a pedometer if that is faster) is under 0.3 m/s and the cadence is low or unknown.
/// ``MetricsSettings/isRunning(speed:cadenceStepsPerMinute:)`` tells running from walking.
struct ActivityMeter: Hashable, Sendable {
  /// The runner's activity.
  private(set) var activity = MotionActivity.unknown
  /// Whether the activity is inferred from speed and cadence.
  private(set) var isInferred = false
  /// Whether the runner stands by more evidence than positions, which cannot tell standing from climbing a steep path:
  /// a motion sensor says so, or the cadence is low as well.
  private(set) var isStanding = false
  /// When the latest reading was taken that told the activity.
  private(set) var takenAt: BusTime?
  /// When the present activity began.
  private(set) var since: BusTime?

  private var sensed = MotionActivity.unknown
  /// The latest fixes, about a second apart.
  private var fixes: Deque<FixFilter.Fix> = []
  private var stepping: Stepping?
  /// The latest readings of a pedometer, about a second apart.
  private var walked: Deque<Walked> = []

  /// How long positions moved on while the cadence was that of steps, and while it was lower.
  private var counted = BusDuration.zero
  private var uncounted = BusDuration.zero
  private var comparedAt: BusTime?

  private struct Walked: Hashable {
    let meters: Double
    let time: BusTime
  }

  private struct Stepping: Hashable {
    let perMinute: Double
    let time: BusTime
  }

  /// Speed is measured over this span, or over the latest step when steps are longer.
  private static let window = BusDuration.seconds(10)
  private static let windowMin = BusDuration.seconds(5)
  /// Of readings closer together than this only the newest is kept, so that the window has a dozen entries at most,
  /// whatever the rate of a sensor.
  private static let spacing = BusDuration.seconds(1)
  /// Readings older than this are not used.
  private static let silence = BusDuration.seconds(30)

  static let standingSpeedMax = 0.3
  /// Drift of a receiver at rest is slower than this; a runner who climbs while no steps are counted is faster.
  static let creepingSpeedMax = 0.2
  /// A lower cadence is not walking, steps of both feet per minute.
  static let walkingCadenceMin = 40.0

  /// A way at this speed, metres a second, is a runner's: a receiver at rest seldom drifts as fast in a straight line.
  private static let leavingSpeedMin = 0.5
  /// For this long a cadence may lag behind, or a receiver drift, before a low cadence no longer shows that the runner stands.
  private static let uncountedMax = BusDuration.seconds(30)

  /// Receives a motion sensor's reading. It holds until the next one, because such sensors report changes only.
  mutating func add(_ activity: MotionActivity, at time: BusTime, settings: MetricsSettings) {
    sensed = activity
    switch activity {
    case .walking, .running, .stationary:
      become(activity, isInferred: false, at: time)
      isStanding = activity == .stationary
    case .unknown: infer(at: time, settings: settings)
    }
  }

  /// Receives a valid, accurate fix, whether or not the run is running.
  mutating func add(_ position: Position, at time: BusTime, settings: MetricsSettings) {
    if fixes.count >= 2, time - fixes[fixes.count - 2].time < Self.spacing { fixes.removeLast() }
    fixes.append(FixFilter.Fix(position: position, time: time))
    while fixes.count > 2, time - fixes[1].time >= Self.window { fixes.removeFirst() }
    infer(at: time, settings: settings)
  }

  /// Receives a cadence, steps of both feet per minute.
  mutating func add(stepsPerMinute: Double, at time: BusTime, settings: MetricsSettings) {
    stepping = Stepping(perMinute: stepsPerMinute, time: time)
    infer(at: time, settings: settings)
  }

  /// Receives a pedometer's reading, metres since its own zero.
  mutating func add(pedometerMeters meters: Double, at time: BusTime, settings: MetricsSettings) {
    // A lower reading means that the sensor has restarted at zero.
    if let last = walked.last, meters < last.meters { walked.removeAll(keepingCapacity: true) }
    if walked.count >= 2, time - walked[walked.count - 2].time < Self.spacing { walked.removeLast() }
    walked.append(Walked(meters: meters, time: time))
    while walked.count > 2, time - walked[1].time >= Self.window { walked.removeFirst() }
    infer(at: time, settings: settings)
  }

  private mutating func infer(at time: BusTime, settings: MetricsSettings) {
    guard sensed == .unknown else { return }
    let cadence = stepping.flatMap { time - $0.time <= Self.silence ? $0.perMinute : nil }
    // The straight line between fixes is short for a runner who climbs or runs in circles; the pedometer shows that the
    // feet move.
    let walking = walkingSpeed(at: time)
    let straight = speed(at: time)
    let speed = straight.map { max($0, walking ?? $0) } ?? walking
    compare(straight, cadence, at: time)
    become(Self.activity(speed: speed, cadence: cadence, settings: settings), isInferred: true, at: time)
    isStanding =
      activity == .stationary && cadence != nil && isStepCounted
      && speed.map { $0 < Self.creepingSpeedMax } ?? true
  }

  /// Whether a low cadence tells that the feet stand. It does not where the arms are still, as behind a pram: there
  /// positions move on with a low cadence for longer than with one of steps.
  private var isStepCounted: Bool { uncounted <= Self.uncountedMax || uncounted <= counted }

  /// Compares a cadence with the speed of positions.
  private mutating func compare(_ speed: Double?, _ cadence: Double?, at time: BusTime) {
    defer { comparedAt = time }
    guard let speed, speed >= Self.leavingSpeedMin, let cadence, let comparedAt else { return }
    let span = min(max(.zero, time - comparedAt), Self.window)
    if cadence < Self.walkingCadenceMin { uncounted = uncounted + span } else { counted = counted + span }
  }

  private static func activity(speed: Double?, cadence: Double?, settings: MetricsSettings) -> MotionActivity {
    guard speed != nil || cadence != nil else { return .unknown }
    if (speed ?? 0) < standingSpeedMax, (cadence ?? 0) < walkingCadenceMin { return .stationary }
    return settings.isRunning(speed: speed, cadenceStepsPerMinute: cadence) ? .running : .walking
  }

  /// Metres per second in a straight line; `nil` when the fixes are too few or too old.
  private func speed(at time: BusTime) -> Double? {
    guard let first = fixes.first, let last = fixes.last, time - last.time <= Self.silence else { return nil }
    let span = last.time - first.time
    guard span >= Self.windowMin, span <= Self.silence else { return nil }
    return Geodesic.roughMeters(from: first.position, to: last.position) / span.seconds
  }

  /// Metres per second by the pedometer; `nil` when its readings are too few or too old.
  private func walkingSpeed(at time: BusTime) -> Double? {
    guard let first = walked.first, let last = walked.last, time - last.time <= Self.silence else { return nil }
    let span = last.time - first.time
    guard span >= Self.windowMin, span <= Self.silence else { return nil }
    return (last.meters - first.meters) / span.seconds
  }

  private mutating func become(_ activity: MotionActivity, isInferred: Bool, at time: BusTime) {
    if activity != self.activity { since = time }
    self.activity = activity
    self.isInferred = isInferred && activity != .unknown
    takenAt = activity == .unknown ? takenAt : time
  }
}
