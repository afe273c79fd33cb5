/// The numbers of a run at one moment, in SI units. Missing is `nil`, never zero.
public struct RunMetrics: Hashable, Sendable, Codable {
  /// Time since the start, pauses included; ends with the stop.
  public var elapsed: BusDuration
  /// Time in which the run was running.
  public var active: BusDuration
  /// Metres covered while running.
  public var distanceMeters: Double?
  /// Seconds per kilometre over the recent window.
  public var currentPaceSecondsPerKilometer: Double?
  /// Active seconds per kilometre over the whole run.
  public var averagePaceSecondsPerKilometer: Double?
  /// The latest heart rate, beats per minute.
  public var heartRateBpm: Double?
  /// Mean heart rate over active time, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Highest heart rate while active, beats per minute.
  public var maxHeartRateBpm: Double?
  /// The latest cadence, steps of both feet per minute.
  public var cadenceStepsPerMinute: Double?
  /// Metres climbed, smoothed.
  public var elevationGainMeters: Double?
  /// Metres descended, smoothed; positive.
  public var elevationLossMeters: Double?
  /// The horizontal accuracy of the latest fix, metres.
  public var positionAccuracyMeters: Double?
  /// What the runner is doing.
  public var activity: Activity
  /// Laps marked by command.
  public var lapCount: Int

  /// Metrics of a run that has not begun.
  public init(
    elapsed: BusDuration = .zero, active: BusDuration = .zero, distanceMeters: Double? = nil,
    currentPaceSecondsPerKilometer: Double? = nil, averagePaceSecondsPerKilometer: Double? = nil,
    heartRateBpm: Double? = nil, averageHeartRateBpm: Double? = nil, maxHeartRateBpm: Double? = nil,
    cadenceStepsPerMinute: Double? = nil, elevationGainMeters: Double? = nil, elevationLossMeters: Double? = nil,
    positionAccuracyMeters: Double? = nil, activity: Activity = .unknown, lapCount: Int = 0
  ) {
    self.elapsed = elapsed
    self.active = active
    self.distanceMeters = distanceMeters
    self.currentPaceSecondsPerKilometer = currentPaceSecondsPerKilometer
    self.averagePaceSecondsPerKilometer = averagePaceSecondsPerKilometer
    self.heartRateBpm = heartRateBpm
    self.averageHeartRateBpm = averageHeartRateBpm
    self.maxHeartRateBpm = maxHeartRateBpm
    self.cadenceStepsPerMinute = cadenceStepsPerMinute
    self.elevationGainMeters = elevationGainMeters
    self.elevationLossMeters = elevationLossMeters
    self.positionAccuracyMeters = positionAccuracyMeters
    self.activity = activity
    self.lapCount = lapCount
  }
}
