import RunBus

/// A snapshot as `state --json` writes it. The keys are a promise: they carry their units and stay.
struct SnapshotJSON: Codable, Hashable, Sendable {
  struct ChangedBy: Codable, Hashable, Sendable {
    var source: String
    var deviceId: String
    var commandId: String
  }

  struct Metrics: Codable, Hashable, Sendable {
    var elapsedSeconds: Double
    var activeSeconds: Double
    @Explicit var distanceMeters: Double?
    @Explicit var currentPaceSecondsPerKilometer: Double?
    @Explicit var averagePaceSecondsPerKilometer: Double?
    @Explicit var heartRateBpm: Double?
    @Explicit var averageHeartRateBpm: Double?
    @Explicit var maxHeartRateBpm: Double?
    @Explicit var cadenceStepsPerMinute: Double?
    @Explicit var elevationGainMeters: Double?
    @Explicit var elevationLossMeters: Double?
    @Explicit var positionAccuracyMeters: Double?
    var activity: Activity
    var lapCount: Int
  }

  var term: UInt64
  var revision: UInt64
  var tick: UInt64
  var phase: RunPhase
  @Explicit var runId: String?
  @Explicit var changedBy: ChangedBy?
  var metrics: Metrics

  /// Its place among all publications.
  var order: SnapshotOrder { SnapshotOrder(term: term, revision: revision, tick: tick) }
}

extension SnapshotJSON {
  init(_ snapshot: Snapshot) {
    self.init(
      term: snapshot.order.term, revision: snapshot.order.revision, tick: snapshot.order.tick, phase: snapshot.phase,
      runId: snapshot.runID?.description,
      changedBy: snapshot.changedBy.map {
        ChangedBy(
          source: $0.source.rawValue, deviceId: $0.deviceID.rawValue, commandId: $0.commandID.description)
      },
      metrics: Metrics(snapshot.metrics))
  }
}

extension SnapshotJSON.Metrics {
  init(_ metrics: RunMetrics) {
    self.init(
      elapsedSeconds: metrics.elapsed.seconds, activeSeconds: metrics.active.seconds,
      distanceMeters: metrics.distanceMeters?.finite,
      currentPaceSecondsPerKilometer: metrics.currentPaceSecondsPerKilometer?.finite,
      averagePaceSecondsPerKilometer: metrics.averagePaceSecondsPerKilometer?.finite,
      heartRateBpm: metrics.heartRateBpm?.finite, averageHeartRateBpm: metrics.averageHeartRateBpm?.finite,
      maxHeartRateBpm: metrics.maxHeartRateBpm?.finite, cadenceStepsPerMinute: metrics.cadenceStepsPerMinute?.finite,
      elevationGainMeters: metrics.elevationGainMeters?.finite,
      elevationLossMeters: metrics.elevationLossMeters?.finite,
      positionAccuracyMeters: metrics.positionAccuracyMeters?.finite, activity: metrics.activity,
      lapCount: metrics.lapCount)
  }
}

extension Double {
  /// JSON has no infinity: a number that a peer made up is missing, not an error.
  fileprivate var finite: Double? { isFinite ? self : nil }
}
