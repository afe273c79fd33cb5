public import RunCore

/// The report as `busnode measure --json` writes it, and `state --splits --json` under `report`.
extension RunReport: Codable {
  private enum CodingKeys: String, CodingKey { case metrics, kilometers, miles, laps, stretches }

  /// Reads a report that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      metrics: try container.need(.metrics), kilometers: try container.need(.kilometers),
      miles: try container.need(.miles), laps: try container.need(.laps), stretches: try container.need(.stretches))
  }

  /// Writes the report in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(metrics, .metrics)
    try container.write(kilometers, .kilometers)
    try container.write(miles, .miles)
    try container.write(laps, .laps)
    try container.write(stretches, .stretches)
  }
}

/// A kilometre, a mile or a lap. The pace is written for readers and not read, because it follows from time and
/// distance.
extension Split: Codable {
  private enum CodingKeys: String, CodingKey {
    case number, distanceMeters, activeSeconds, startedAtSeconds, endedAtSeconds, paceSecondsPerKilometer,
      averageHeartRateBpm, elevationGainMeters, elevationLossMeters, complete
  }

  /// Reads a split that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      number: try container.need(.number), distanceMeters: try container.read(.distanceMeters),
      active: try container.needSeconds(.activeSeconds), startedAt: try container.needSeconds(.startedAtSeconds),
      endedAt: try container.needSeconds(.endedAtSeconds),
      averageHeartRateBpm: try container.read(.averageHeartRateBpm),
      elevationGainMeters: try container.read(.elevationGainMeters),
      elevationLossMeters: try container.read(.elevationLossMeters), isComplete: try container.need(.complete))
  }

  /// Writes the split in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(number, .number)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(seconds: active, .activeSeconds)
    try container.write(seconds: startedAt, .startedAtSeconds)
    try container.write(seconds: endedAt, .endedAtSeconds)
    try container.write(number: paceSecondsPerKilometer, .paceSecondsPerKilometer)
    try container.write(number: averageHeartRateBpm, .averageHeartRateBpm)
    try container.write(number: elevationGainMeters, .elevationGainMeters)
    try container.write(number: elevationLossMeters, .elevationLossMeters)
    try container.write(isComplete, .complete)
  }
}

/// A stretch of the distance. A source of a later version reads as `unknown`.
extension DistanceStretch: Codable {
  private enum CodingKeys: String, CodingKey { case source, startedAtSeconds, endedAtSeconds, distanceMeters }

  /// Reads a stretch that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      source: try container.word(.source, unknown: .unknown), startedAt: try container.needSeconds(.startedAtSeconds),
      endedAt: try container.needSeconds(.endedAtSeconds), meters: try container.need(.distanceMeters))
  }

  /// Writes the stretch in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(source, .source)
    try container.write(seconds: startedAt, .startedAtSeconds)
    try container.write(seconds: endedAt, .endedAtSeconds)
    try container.write(meters, .distanceMeters)
  }
}
