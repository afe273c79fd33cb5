import RunBus
import RunRecordings

/// A measured recording as `measure --json` writes it: the keys of the metrics, with splits and more beside them.
struct MeasuredRunJSON: Encodable {
  let metrics: MetricsJSON
  let splits: SplitsJSON
  let stretches: [StretchJSON]
  let recorded: RecordedJSON?
  /// `nil` (and not written) without `--compare`; written as `null` when there is nothing to compare with.
  let differences: Explicit<DifferencesJSON>?
  let route: [RoutePointJSON]?

  init(_ run: MeasuredRun, comparing: Bool, withRoute: Bool) {
    metrics = MetricsJSON(run.report.metrics)
    splits = SplitsJSON(run.report)
    stretches = run.report.stretches.map { StretchJSON($0) }
    recorded = run.recorded.map { RecordedJSON($0) }
    differences = comparing ? Explicit(wrappedValue: Comparison(run).map { DifferencesJSON($0) }) : nil
    route = withRoute ? run.route.map { RoutePointJSON($0) } : nil
  }

  private enum Key: CodingKey { case splits, stretches, recorded, differences, route }

  func encode(to encoder: any Encoder) throws {
    try metrics.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(splits, forKey: .splits)
    try container.encode(stretches, forKey: .stretches)
    try container.encode(recorded, forKey: .recorded)
    try container.encodeIfPresent(differences, forKey: .differences)
    try container.encodeIfPresent(route, forKey: .route)
  }
}

/// The numbers that the recording device itself wrote into the file.
struct RecordedJSON: Codable, Hashable, Sendable {
  struct Lap: Codable, Hashable, Sendable {
    @Explicit var startedAtSeconds: Double?
    @Explicit var activeSeconds: Double?
    @Explicit var distanceMeters: Double?
    @Explicit var averageHeartRateBpm: Double?
    @Explicit var maxHeartRateBpm: Double?
  }

  @Explicit var distanceMeters: Double?
  @Explicit var activeSeconds: Double?
  @Explicit var averageHeartRateBpm: Double?
  @Explicit var maxHeartRateBpm: Double?
  @Explicit var averageCadenceStepsPerMinute: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var elevationLossMeters: Double?
  @Explicit var energyKilocalories: Double?
  var laps: [Lap]
}

extension RecordedJSON {
  init(_ summary: RecordedSummary) {
    self.init(
      distanceMeters: summary.distanceMeters, activeSeconds: summary.timerSeconds,
      averageHeartRateBpm: summary.averageHeartRateBpm, maxHeartRateBpm: summary.maxHeartRateBpm,
      averageCadenceStepsPerMinute: summary.averageCadenceStepsPerMinute,
      elevationGainMeters: summary.elevationGainMeters, elevationLossMeters: summary.elevationLossMeters,
      energyKilocalories: summary.energyKilocalories,
      laps: summary.laps.map {
        Lap(
          startedAtSeconds: $0.startedAt?.seconds, activeSeconds: $0.timerSeconds, distanceMeters: $0.distanceMeters,
          averageHeartRateBpm: $0.averageHeartRateBpm, maxHeartRateBpm: $0.maxHeartRateBpm)
      })
  }
}
