import RunBus
import RunRecordings
import RunScripts

/// A measured recording as `measure --json` writes it: the keys of the report, with more beside them.
struct MeasuredRunJSON: Encodable {
  let report: RunReport
  let recorded: RecordedJSON?
  /// `nil` (and not written) without `--compare`; written as `null` when there is nothing to compare with.
  let differences: Explicit<DifferencesJSON>?
  let route: [RoutePoint]?

  init(_ run: MeasuredRun, comparing: Bool, withRoute: Bool) {
    report = run.report
    recorded = run.recorded.map { RecordedJSON($0) }
    differences = comparing ? Explicit(wrappedValue: Comparison(run).map { DifferencesJSON($0) }) : nil
    route = withRoute ? run.route : nil
  }

  private enum Key: CodingKey { case recorded, differences, route }

  func encode(to encoder: any Encoder) throws {
    try report.encode(to: encoder)
    var container = encoder.container(keyedBy: Key.self)
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
  /// Devices state kilocalories; a kilocalorie is 4184 J.
  @Explicit var energyJoules: Double?
  var laps: [Lap]
}

extension RecordedJSON {
  init(_ summary: RecordedSummary) {
    self.init(
      distanceMeters: summary.distanceMeters, activeSeconds: summary.timerSeconds,
      averageHeartRateBpm: summary.averageHeartRateBpm, maxHeartRateBpm: summary.maxHeartRateBpm,
      averageCadenceStepsPerMinute: summary.averageCadenceStepsPerMinute,
      elevationGainMeters: summary.elevationGainMeters, elevationLossMeters: summary.elevationLossMeters,
      energyJoules: summary.energyKilocalories.map { $0 * RunFormat.joulesPerKilocalorie },
      laps: summary.laps.map {
        Lap(
          startedAtSeconds: $0.startedAt?.seconds, activeSeconds: $0.timerSeconds, distanceMeters: $0.distanceMeters,
          averageHeartRateBpm: $0.averageHeartRateBpm, maxHeartRateBpm: $0.maxHeartRateBpm)
      })
  }
}
