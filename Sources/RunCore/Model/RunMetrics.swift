/// The metrics of a run at one moment, in SI units. An unknown value is `nil`, never zero.
///
/// In the repository of the package, the files `docs/metrics.md` and `docs/metrics-body.md` define each metric and give
/// the source of its formula.
public struct RunMetrics: Hashable, Sendable {
  /// Time from the start to now or to the stop, pauses included.
  public var elapsed: BusDuration
  /// Time in which the run was running: without pauses, auto-pauses and gaps.
  public var active: BusDuration
  /// Metres covered while the run was running, by positions and pedometer together; `nil` until a reading counts.
  public var distanceMeters: Double?
  /// The part of the distance that a pedometer measured, because positions were missing or contradicted it.
  public var pedometerMeters: Double?
  /// Seconds per kilometre over the last 30 s.
  public var currentPaceSecondsPerKilometer: Double?
  /// Active seconds per kilometre over the whole run.
  public var averagePaceSecondsPerKilometer: Double?
  /// Seconds per kilometre of the fastest completed minute.
  public var bestPaceSecondsPerKilometer: Double?
  /// Seconds per kilometre of the slowest completed minute in which the runner moved.
  public var worstPaceSecondsPerKilometer: Double?
  /// The latest heart rate, beats per minute.
  public var heartRateBpm: Double?
  /// Mean heart rate over active time, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Highest heart rate while active, beats per minute.
  public var maxHeartRateBpm: Double?
  /// The latest cadence, steps of both feet per minute.
  public var cadenceStepsPerMinute: Double?
  /// Mean cadence over the active time in which the runner stepped, steps of both feet per minute.
  public var averageCadenceStepsPerMinute: Double?
  /// The smoothed altitude, metres above sea level.
  public var altitudeMeters: Double?
  /// Metres climbed, smoothed.
  public var elevationGainMeters: Double?
  /// Metres descended, smoothed; positive.
  public var elevationLossMeters: Double?
  /// Energy spent while active, joules, resting metabolism included; `nil` without the runner's weight.
  public var energyJoules: Double?
  /// The horizontal accuracy of the latest fix, metres.
  public var positionAccuracyMeters: Double?
  /// What the runner is doing.
  public var activity: MotionActivity
  /// Whether the activity is inferred from speed and cadence, because no motion sensor reports it.
  public var isActivityInferred: Bool
  /// Whether auto-pause has stopped the clock because the runner stands still.
  public var isAutoPaused: Bool
  /// The number of laps marked by command.
  public var lapCount: Int
  /// When the readings behind the metrics were taken.
  public var moments: MetricMoments

  /// Metrics of a run that has not begun.
  public init(
    elapsed: BusDuration = .zero, active: BusDuration = .zero, distanceMeters: Double? = nil,
    pedometerMeters: Double? = nil, currentPaceSecondsPerKilometer: Double? = nil,
    averagePaceSecondsPerKilometer: Double? = nil, bestPaceSecondsPerKilometer: Double? = nil,
    worstPaceSecondsPerKilometer: Double? = nil, heartRateBpm: Double? = nil, averageHeartRateBpm: Double? = nil,
    maxHeartRateBpm: Double? = nil, cadenceStepsPerMinute: Double? = nil, averageCadenceStepsPerMinute: Double? = nil,
    altitudeMeters: Double? = nil, elevationGainMeters: Double? = nil, elevationLossMeters: Double? = nil,
    energyJoules: Double? = nil, positionAccuracyMeters: Double? = nil, activity: MotionActivity = .unknown,
    isActivityInferred: Bool = false, isAutoPaused: Bool = false, lapCount: Int = 0,
    moments: MetricMoments = MetricMoments()
  ) {
    self.elapsed = elapsed
    self.active = active
    self.distanceMeters = distanceMeters
    self.pedometerMeters = pedometerMeters
    self.currentPaceSecondsPerKilometer = currentPaceSecondsPerKilometer
    self.averagePaceSecondsPerKilometer = averagePaceSecondsPerKilometer
    self.bestPaceSecondsPerKilometer = bestPaceSecondsPerKilometer
    self.worstPaceSecondsPerKilometer = worstPaceSecondsPerKilometer
    self.heartRateBpm = heartRateBpm
    self.averageHeartRateBpm = averageHeartRateBpm
    self.maxHeartRateBpm = maxHeartRateBpm
    self.cadenceStepsPerMinute = cadenceStepsPerMinute
    self.averageCadenceStepsPerMinute = averageCadenceStepsPerMinute
    self.altitudeMeters = altitudeMeters
    self.elevationGainMeters = elevationGainMeters
    self.elevationLossMeters = elevationLossMeters
    self.energyJoules = energyJoules
    self.positionAccuracyMeters = positionAccuracyMeters
    self.activity = activity
    self.isActivityInferred = isActivityInferred
    self.isAutoPaused = isAutoPaused
    self.lapCount = lapCount
    self.moments = moments
  }
}
