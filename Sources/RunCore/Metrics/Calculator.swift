/// Folds a ledger's entries into the numbers of a run.
///
/// A value: running sums and one short buffer, cheap to copy, so that a ledger keeps checkpoints of it. The same entries
/// in the same order give the same digits, whoever folds them. What the numbers mean and where each rule comes from
/// stands with the part that computes it.
public struct Calculator: Hashable, Sendable {
  private let settings: MetricsSettings
  private var stopwatch = Stopwatch()
  private var distance = DistanceMeter()
  private var pace = PaceMeter()
  private var heartRate = HeartRateMeter()
  private var elevation = ElevationMeter()
  private var cadenceStepsPerMinute: Double?
  private var activity = Activity.unknown
  private var lapCount = 0
  /// The last change of phase or gap: the clocks cannot be read at an earlier moment.
  private var clockSetAt: BusTime?

  /// A calculator before the first entry.
  public init(settings: MetricsSettings = MetricsSettings()) { self.settings = settings }

  /// Takes the next entry, in the order of ``LedgerEntry/precedes(_:_:)``.
  ///
  /// A transition that the phase does not allow, and a sample before the start or after the stop, change nothing.
  public mutating func fold(_ entry: LedgerEntry) {
    switch entry.event {
    case .transition(let transition):
      clockSetAt = entry.time
      stopwatch.apply(transition.kind, at: entry.time)
    case .lap: if stopwatch.isOn(at: entry.time) { lapCount += 1 }
    case .gap(let duration):
      clockSetAt = entry.time
      stopwatch.leaveOut(duration, from: entry.time)
    case .sample(let value, let device):
      if stopwatch.isOn(at: entry.time) { fold(value, from: device, at: entry.time) }
    }
  }

  private mutating func fold(_ value: SampleValue, from device: DeviceID, at time: BusTime) {
    let line = stopwatch.line(at: time)
    switch value {
    case .position(let position):
      let effect = distance.fold(
        position, from: device, at: time, line: line, activity: activity, settings: settings)
      pace.fold(effect, meters: distance.meters, at: time, line: line, settings: settings)
    case .altitude(let meters, let source):
      elevation.fold(meters, source, at: time, line: line, settings: settings)
    case .heartRate(let bpm):
      heartRate.fold(bpm, at: time, active: stopwatch.active(at: time), counts: line != nil, settings: settings)
    case .cadence(let stepsPerMinute):
      // Zero is a cadence: the runner stands. Nobody takes five steps a second.
      if stepsPerMinute >= 0, stepsPerMinute <= 300 { cadenceStepsPerMinute = stepsPerMinute }
    case .pedometer:
      // Kept in the ledger; distance is what satellites saw (design, section 7).
      break
    case .motion(let activity):
      self.activity = activity
    }
  }

  /// The numbers at a moment; one before the last change of phase is taken as that change. A reading from a sender whose
  /// clock runs a little ahead does not move the clocks.
  public func metrics(at now: BusTime) -> RunMetrics {
    let now = max(now, clockSetAt ?? now)
    let active = stopwatch.active(at: now)
    return RunMetrics(
      elapsed: stopwatch.elapsed(at: now),
      active: active,
      distanceMeters: distance.meters,
      currentPaceSecondsPerKilometer: stopwatch.phase == .running
        ? pace.secondsPerKilometer(at: now, line: stopwatch.line(at: now), settings: settings) : nil,
      averagePaceSecondsPerKilometer: averagePace(active: active),
      heartRateBpm: heartRate.latestBpm,
      averageHeartRateBpm: heartRate.averageBpm(active: active, settings: settings),
      maxHeartRateBpm: heartRate.maxBpm,
      cadenceStepsPerMinute: cadenceStepsPerMinute,
      elevationGainMeters: elevation.gainMeters,
      elevationLossMeters: elevation.lossMeters,
      positionAccuracyMeters: distance.accuracyMeters,
      activity: activity,
      lapCount: lapCount)
  }

  /// Active time over distance, so that standing still with a running clock slows it.
  private func averagePace(active: BusDuration) -> Double? {
    guard let meters = distance.meters, meters >= settings.averagePaceDistanceMetersMin else { return nil }
    return active.seconds / meters * 1000
  }
}
