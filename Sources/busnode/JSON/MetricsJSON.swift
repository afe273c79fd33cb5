import RunBus

/// The metrics of a run in JSON. The keys carry their units and never change.
struct MetricsJSON: Codable, Hashable, Sendable {
  /// How old the latest readings behind the numbers are; `null` where there was none.
  struct Ages: Codable, Hashable, Sendable {
    @Explicit var distanceSeconds: Double?
    @Explicit var positionSeconds: Double?
    @Explicit var heartRateSeconds: Double?
    @Explicit var cadenceSeconds: Double?
    @Explicit var elevationSeconds: Double?
    @Explicit var activitySeconds: Double?
  }

  var elapsedSeconds: Double
  var activeSeconds: Double
  @Explicit var distanceMeters: Double?
  @Explicit var pedometerMeters: Double?
  @Explicit var currentPaceSecondsPerKilometer: Double?
  @Explicit var averagePaceSecondsPerKilometer: Double?
  @Explicit var bestPaceSecondsPerKilometer: Double?
  @Explicit var worstPaceSecondsPerKilometer: Double?
  @Explicit var heartRateBpm: Double?
  @Explicit var averageHeartRateBpm: Double?
  @Explicit var maxHeartRateBpm: Double?
  @Explicit var cadenceStepsPerMinute: Double?
  @Explicit var averageCadenceStepsPerMinute: Double?
  @Explicit var altitudeMeters: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var elevationLossMeters: Double?
  @Explicit var energyKilocalories: Double?
  @Explicit var positionAccuracyMeters: Double?
  var activity: MotionActivity
  var activityIsInferred: Bool
  var autoPaused: Bool
  var lapCount: Int
  var ages: Ages
  /// The metrics whose latest reading is too old to describe the present.
  var stale: [Metric]
}

extension MetricsJSON {
  init(_ metrics: RunMetrics) {
    self.init(
      elapsedSeconds: metrics.elapsed.seconds, activeSeconds: metrics.active.seconds,
      distanceMeters: metrics.distanceMeters?.finite, pedometerMeters: metrics.pedometerMeters?.finite,
      currentPaceSecondsPerKilometer: metrics.currentPaceSecondsPerKilometer?.finite,
      averagePaceSecondsPerKilometer: metrics.averagePaceSecondsPerKilometer?.finite,
      bestPaceSecondsPerKilometer: metrics.bestPaceSecondsPerKilometer?.finite,
      worstPaceSecondsPerKilometer: metrics.worstPaceSecondsPerKilometer?.finite,
      heartRateBpm: metrics.heartRateBpm?.finite, averageHeartRateBpm: metrics.averageHeartRateBpm?.finite,
      maxHeartRateBpm: metrics.maxHeartRateBpm?.finite, cadenceStepsPerMinute: metrics.cadenceStepsPerMinute?.finite,
      averageCadenceStepsPerMinute: metrics.averageCadenceStepsPerMinute?.finite,
      altitudeMeters: metrics.altitudeMeters?.finite, elevationGainMeters: metrics.elevationGainMeters?.finite,
      elevationLossMeters: metrics.elevationLossMeters?.finite,
      energyKilocalories: metrics.energyJoules.flatMap { ($0 / Units.joulesPerKilocalorie).finite },
      positionAccuracyMeters: metrics.positionAccuracyMeters?.finite, activity: metrics.activity,
      activityIsInferred: metrics.isActivityInferred, autoPaused: metrics.isAutoPaused, lapCount: metrics.lapCount,
      ages: Ages(metrics), stale: Metric.allCases.filter { metrics.isStale($0) })
  }
}

extension MetricsJSON.Ages {
  init(_ metrics: RunMetrics) {
    self.init(
      distanceSeconds: metrics.age(of: .distance)?.seconds, positionSeconds: metrics.age(of: .position)?.seconds,
      heartRateSeconds: metrics.age(of: .heartRate)?.seconds, cadenceSeconds: metrics.age(of: .cadence)?.seconds,
      elevationSeconds: metrics.age(of: .elevation)?.seconds, activitySeconds: metrics.age(of: .activity)?.seconds)
  }

  /// The age of a metric's latest reading, in seconds.
  subscript(metric: Metric) -> Double? {
    switch metric {
    case .distance: distanceSeconds
    case .position: positionSeconds
    case .heartRate: heartRateSeconds
    case .cadence: cadenceSeconds
    case .elevation: elevationSeconds
    case .activity: activitySeconds
    }
  }
}

extension Double {
  /// The number, or `nil` if JSON cannot write it: an infinite number, which a faulty peer may send, is left out.
  var finite: Double? { isFinite ? self : nil }
}
