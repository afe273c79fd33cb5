public import RunCore

/// The metrics as `busnode state --json` writes them under `metrics`.
///
/// `stale` is written for readers and not read, because it follows from the ages. Moments are written as ages, so a
/// moment after ``RunCore/RunMetrics/elapsed`` reads back as `elapsed`. A number that is not finite is written as
/// `null`.
extension RunMetrics: Codable {
  private enum CodingKeys: String, CodingKey {
    case elapsedSeconds, activeSeconds, distanceMeters, pedometerMeters, currentPaceSecondsPerKilometer,
      averagePaceSecondsPerKilometer, bestPaceSecondsPerKilometer, worstPaceSecondsPerKilometer, heartRateBpm,
      averageHeartRateBpm, maxHeartRateBpm, cadenceStepsPerMinute, averageCadenceStepsPerMinute, altitudeMeters,
      elevationGainMeters, elevationLossMeters, energyJoules, positionAccuracyMeters, activity, activityInferred,
      autoPaused, lapCount, ages, stale
  }

  private enum Ages: String, CodingKey {
    case distanceSeconds, positionSeconds, heartRateSeconds, cadenceSeconds, elevationSeconds, activitySeconds
  }

  /// Reads metrics that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let ages = try container.nestedContainer(keyedBy: Ages.self, forKey: .ages)
    let elapsed = try container.needSeconds(.elapsedSeconds)
    func moment(_ key: Ages) throws -> BusDuration? { try ages.readSeconds(key).map { elapsed - $0 } }
    self.init(
      elapsed: elapsed, active: try container.needSeconds(.activeSeconds),
      distanceMeters: try container.read(.distanceMeters), pedometerMeters: try container.read(.pedometerMeters),
      currentPaceSecondsPerKilometer: try container.read(.currentPaceSecondsPerKilometer),
      averagePaceSecondsPerKilometer: try container.read(.averagePaceSecondsPerKilometer),
      bestPaceSecondsPerKilometer: try container.read(.bestPaceSecondsPerKilometer),
      worstPaceSecondsPerKilometer: try container.read(.worstPaceSecondsPerKilometer),
      heartRateBpm: try container.read(.heartRateBpm), averageHeartRateBpm: try container.read(.averageHeartRateBpm),
      maxHeartRateBpm: try container.read(.maxHeartRateBpm),
      cadenceStepsPerMinute: try container.read(.cadenceStepsPerMinute),
      averageCadenceStepsPerMinute: try container.read(.averageCadenceStepsPerMinute),
      altitudeMeters: try container.read(.altitudeMeters),
      elevationGainMeters: try container.read(.elevationGainMeters),
      elevationLossMeters: try container.read(.elevationLossMeters), energyJoules: try container.read(.energyJoules),
      positionAccuracyMeters: try container.read(.positionAccuracyMeters),
      activity: try container.word(.activity, unknown: .unknown),
      isActivityInferred: try container.need(.activityInferred), isAutoPaused: try container.need(.autoPaused),
      lapCount: try container.need(.lapCount),
      moments: MetricMoments(
        distance: try moment(.distanceSeconds), position: try moment(.positionSeconds),
        heartRate: try moment(.heartRateSeconds), cadence: try moment(.cadenceSeconds),
        elevation: try moment(.elevationSeconds), activity: try moment(.activitySeconds)))
  }

  /// Writes the metrics in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(seconds: elapsed, .elapsedSeconds)
    try container.write(seconds: active, .activeSeconds)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(number: pedometerMeters, .pedometerMeters)
    try container.write(number: currentPaceSecondsPerKilometer, .currentPaceSecondsPerKilometer)
    try container.write(number: averagePaceSecondsPerKilometer, .averagePaceSecondsPerKilometer)
    try container.write(number: bestPaceSecondsPerKilometer, .bestPaceSecondsPerKilometer)
    try container.write(number: worstPaceSecondsPerKilometer, .worstPaceSecondsPerKilometer)
    try container.write(number: heartRateBpm, .heartRateBpm)
    try container.write(number: averageHeartRateBpm, .averageHeartRateBpm)
    try container.write(number: maxHeartRateBpm, .maxHeartRateBpm)
    try container.write(number: cadenceStepsPerMinute, .cadenceStepsPerMinute)
    try container.write(number: averageCadenceStepsPerMinute, .averageCadenceStepsPerMinute)
    try container.write(number: altitudeMeters, .altitudeMeters)
    try container.write(number: elevationGainMeters, .elevationGainMeters)
    try container.write(number: elevationLossMeters, .elevationLossMeters)
    try container.write(number: energyJoules, .energyJoules)
    try container.write(number: positionAccuracyMeters, .positionAccuracyMeters)
    try container.write(activity, .activity)
    try container.write(isActivityInferred, .activityInferred)
    try container.write(isAutoPaused, .autoPaused)
    try container.write(lapCount, .lapCount)
    var ages = container.nestedContainer(keyedBy: Ages.self, forKey: .ages)
    try ages.write(seconds: age(of: .distance), .distanceSeconds)
    try ages.write(seconds: age(of: .position), .positionSeconds)
    try ages.write(seconds: age(of: .heartRate), .heartRateSeconds)
    try ages.write(seconds: age(of: .cadence), .cadenceSeconds)
    try ages.write(seconds: age(of: .elevation), .elevationSeconds)
    try ages.write(seconds: age(of: .activity), .activitySeconds)
    try container.write(Metric.allCases.filter { isStale($0) }, .stale)
  }
}
