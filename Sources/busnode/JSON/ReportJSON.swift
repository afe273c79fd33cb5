import RunBus

/// A kilometre, a mile or a lap in JSON.
struct SplitJSON: Codable, Hashable, Sendable {
  var number: Int
  @Explicit var distanceMeters: Double?
  var activeSeconds: Double
  var startedAtSeconds: Double
  var endedAtSeconds: Double
  @Explicit var paceSecondsPerKilometer: Double?
  @Explicit var averageHeartRateBpm: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var elevationLossMeters: Double?
  var isComplete: Bool
}

/// A run divided into kilometres, into miles and into laps.
struct SplitsJSON: Codable, Hashable, Sendable {
  var kilometers: [SplitJSON]
  var miles: [SplitJSON]
  var laps: [SplitJSON]
}

/// A stretch of the distance that one source (positions or pedometer) measured.
struct StretchJSON: Codable, Hashable, Sendable {
  var source: DistanceSource
  var startedAtSeconds: Double
  var endedAtSeconds: Double
  var distanceMeters: Double
}

extension SplitJSON {
  init(_ split: Split) {
    self.init(
      number: split.number, distanceMeters: split.distanceMeters, activeSeconds: split.active.seconds,
      startedAtSeconds: split.startedAt.seconds, endedAtSeconds: split.endedAt.seconds,
      paceSecondsPerKilometer: split.paceSecondsPerKilometer, averageHeartRateBpm: split.averageHeartRateBpm,
      elevationGainMeters: split.elevationGainMeters, elevationLossMeters: split.elevationLossMeters,
      isComplete: split.isComplete)
  }
}

extension SplitsJSON {
  init(_ report: RunReport) {
    self.init(
      kilometers: report.kilometers.map { SplitJSON($0) }, miles: report.miles.map { SplitJSON($0) },
      laps: report.laps.map { SplitJSON($0) })
  }
}

extension StretchJSON {
  init(_ stretch: DistanceStretch) {
    self.init(
      source: stretch.source, startedAtSeconds: stretch.startedAt.seconds, endedAtSeconds: stretch.endedAt.seconds,
      distanceMeters: stretch.meters)
  }
}
