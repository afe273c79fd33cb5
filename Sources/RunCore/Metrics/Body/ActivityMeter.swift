import DequeModule

/// What the runner is doing: what a motion sensor says, and what speed and cadence say where there is none.
///
/// Inferred, a runner stands below 0.3 m/s (over at least five seconds, in a straight line or by a pedometer) unless the
/// feet move; whether who moves walks or runs: ``MetricsSettings/isRunning(speed:cadenceStepsPerMinute:)``.
struct ActivityMeter: Hashable, Sendable {
  /// What the runner does.
  private(set) var activity = MotionActivity.unknown
  /// No motion sensor says so.
  private(set) var isInferred = false
  /// The runner stands, and not only by positions, which cannot tell standing from climbing a steep path: a motion sensor
  /// says so, or the feet do not move either.
  private(set) var isStanding = false
  /// When the reading was taken from which it is known.
  private(set) var takenAt: BusTime?
  /// Since when it is what it is.
  private(set) var since: BusTime?

  private var sensed = MotionActivity.unknown
  /// The latest fixes, about a second apart.
  private var fixes: Deque<FixFilter.Fix> = []
  private var stepping: Stepping?
  /// The latest readings of a pedometer, about a second apart.
  private var walked: Deque<Walked> = []

  private struct Walked: Hashable {
    let meters: Double
    let time: BusTime
  }

  private struct Stepping: Hashable {
    let perMinute: Double
    let time: BusTime
  }

  /// Speed is a straight line over this long, or over the latest step where steps are longer.
  private static let window = BusDuration.seconds(10)
  private static let windowMin = BusDuration.seconds(5)
  /// Fixes nearer to each other share a place: the window holds a dozen at most, whatever a receiver sends.
  private static let spacing = BusDuration.seconds(1)
  /// Older readings say nothing about now.
  private static let silence = BusDuration.seconds(30)

  static let standingSpeedMax = 0.3
  /// A receiver at rest wanders no faster; a runner who climbs without a step counted does.
  static let creepingSpeedMax = 0.2
  /// Feet that move less are not walking.
  static let walkingCadenceMin = 40.0

  /// Takes a motion sensor's word. It stands until the next: such sensors speak when something changes.
  mutating func add(_ activity: MotionActivity, at time: BusTime, settings: MetricsSettings) {
    sensed = activity
    switch activity {
    case .walking, .running, .stationary:
      become(activity, isInferred: false, at: time)
      isStanding = activity == .stationary
    case .unknown: infer(at: time, settings: settings)
    }
  }

  /// Takes a valid, accurate fix, whether or not the run runs.
  mutating func add(_ position: Position, at time: BusTime, settings: MetricsSettings) {
    if fixes.count >= 2, time - fixes[fixes.count - 2].time < Self.spacing { fixes.removeLast() }
    fixes.append(FixFilter.Fix(position: position, time: time))
    while fixes.count > 2, time - fixes[1].time >= Self.window { fixes.removeFirst() }
    infer(at: time, settings: settings)
  }

  /// Takes a cadence, steps of both feet per minute.
  mutating func add(stepsPerMinute: Double, at time: BusTime, settings: MetricsSettings) {
    stepping = Stepping(perMinute: stepsPerMinute, time: time)
    infer(at: time, settings: settings)
  }

  /// Takes a pedometer's reading: metres since its own zero.
  mutating func add(pedometerMeters meters: Double, at time: BusTime, settings: MetricsSettings) {
    // One that falls has begun anew.
    if let last = walked.last, meters < last.meters { walked.removeAll(keepingCapacity: true) }
    if walked.count >= 2, time - walked[walked.count - 2].time < Self.spacing { walked.removeLast() }
    walked.append(Walked(meters: meters, time: time))
    while walked.count > 2, time - walked[1].time >= Self.window { walked.removeFirst() }
    infer(at: time, settings: settings)
  }

  private mutating func infer(at time: BusTime, settings: MetricsSettings) {
    guard sensed == .unknown else { return }
    let cadence = stepping.flatMap { time - $0.time <= Self.silence ? $0.perMinute : nil }
    // A receiver tells how far the runner got, a pedometer how far the feet went: who climbs slowly or runs in circles
    // moves by the latter.
    let walking = walkingSpeed(at: time)
    let speed = speed(at: time).map { max($0, walking ?? $0) } ?? walking
    become(Self.activity(speed: speed, cadence: cadence, settings: settings), isInferred: true, at: time)
    isStanding = activity == .stationary && cadence != nil && speed.map { $0 < Self.creepingSpeedMax } ?? true
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
