public import RunCore

/// The summary of a record as `busnode records ls --json` writes it.
///
/// `startedAt` and `averagePaceSecondsPerKilometer` are written for readers and not read, because they follow from
/// other fields.
extension RecordSummary: Codable {
  private enum CodingKeys: String, CodingKey {
    case runId, version, deviceId, hubDeviceId, appVersion, startedAt, startedAtUnixSeconds, elapsedSeconds,
      activeSeconds, distanceMeters, averagePaceSecondsPerKilometer, averageHeartRateBpm, elevationGainMeters,
      energyJoules, weightKilograms, autoPause, pedometer, goalSeconds, conflicted, utcOffsetSeconds, bests, title, note
  }

  /// Reads a summary that ``encode(to:)`` or `busnode` has written.
  ///
  /// - Throws: `DecodingError`, also for version 0 and for a start before 1970 or after the year 9999.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      runID: try container.need(.runId), version: try container.need(.version),
      deviceID: try container.need(.deviceId), hubDeviceID: try container.need(.hubDeviceId),
      appVersion: try container.need(.appVersion), startedAtUnixSeconds: try container.need(.startedAtUnixSeconds),
      elapsed: try container.needSeconds(.elapsedSeconds), active: try container.needSeconds(.activeSeconds),
      distanceMeters: try container.read(.distanceMeters),
      elevationGainMeters: try container.read(.elevationGainMeters),
      averageHeartRateBpm: try container.read(.averageHeartRateBpm), energyJoules: try container.read(.energyJoules),
      setup: RunSetup(
        weightKilograms: try container.read(.weightKilograms), isAutoPauseOn: try container.need(.autoPause),
        usesPedometer: try container.need(.pedometer)),
      goal: try container.readGoal(.goalSeconds),
      isConflicted: try container.need(.conflicted), utcOffsetSeconds: try container.read(.utcOffsetSeconds),
      bests: try container.read(.bests) ?? [], title: try container.need(.title), note: try container.need(.note))
    guard version > 0 else { throw container.flaw(.version, "versions count from 1") }
    guard Self.startUnixSeconds.contains(startedAtUnixSeconds) else {
      throw container.flaw(.startedAtUnixSeconds, "not a possible start")
    }
  }

  /// Writes the summary in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(runID, .runId)
    try container.write(version, .version)
    try container.write(deviceID, .deviceId)
    try container.write(hubDeviceID, .hubDeviceId)
    try container.write(appVersion, .appVersion)
    try container.write(DayTime.text(unixSeconds: startedAtUnixSeconds), .startedAt)
    try container.write(startedAtUnixSeconds, .startedAtUnixSeconds)
    try container.write(seconds: elapsed, .elapsedSeconds)
    try container.write(seconds: active, .activeSeconds)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(number: averagePaceSecondsPerKilometer, .averagePaceSecondsPerKilometer)
    try container.write(number: averageHeartRateBpm, .averageHeartRateBpm)
    try container.write(number: elevationGainMeters, .elevationGainMeters)
    try container.write(number: energyJoules, .energyJoules)
    try container.write(number: setup.weightKilograms, .weightKilograms)
    try container.write(setup.isAutoPauseOn, .autoPause)
    try container.write(setup.usesPedometer, .pedometer)
    try container.write(seconds: goal?.time, .goalSeconds)
    try container.write(isConflicted, .conflicted)
    try container.write(utcOffsetSeconds, .utcOffsetSeconds)
    try container.write(bests, .bests)
    try container.write(title, .title)
    try container.write(note, .note)
  }
}

/// A best of a summary.
extension RunBest: Codable {
  private enum CodingKeys: String, CodingKey {
    case distanceMeters, activeSeconds, startedAtSeconds, paceSecondsPerKilometer
  }

  /// Reads a best that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      distanceMeters: try container.need(.distanceMeters), active: try container.needSeconds(.activeSeconds),
      startedAt: try container.needSeconds(.startedAtSeconds))
  }

  /// Writes the best in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(seconds: active, .activeSeconds)
    try container.write(seconds: startedAt, .startedAtSeconds)
    try container.write(number: paceSecondsPerKilometer, .paceSecondsPerKilometer)
  }
}

/// The whole record as `busnode records show --json` writes it, and `records export --format json`.
extension RunRecord: Codable {
  /// The value of `format`. A form that readers of this one would misread gets another number.
  private static let format = "runbus-record/1"

  private enum CodingKeys: String, CodingKey { case format, summary, report, pauses, series, route }
  private enum SeriesKey: String, CodingKey { case intervalSeconds, samples }

  /// Reads a record that ``encode(to:)`` or `busnode` has written.
  ///
  /// - Throws: `DecodingError`, also for another format and for a series without an interval.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    guard try container.decode(String.self, forKey: .format) == Self.format else {
      throw container.flaw(.format, "not \(Self.format)")
    }
    let series = try container.nestedContainer(keyedBy: SeriesKey.self, forKey: .series)
    let interval = try series.needSeconds(.intervalSeconds)
    guard interval > .zero else { throw series.flaw(.intervalSeconds, "the interval is not positive") }
    let (samples, pauses): ([SampleJSON], [PauseJSON]) = (try series.need(.samples), try container.need(.pauses))
    self.init(
      summary: try container.need(.summary),
      body: RecordBody(
        report: try container.need(.report), pauses: pauses.map(\.pause),
        series: RecordSeries(interval: interval, samples: samples.map(\.sample)), route: try container.need(.route)))
  }

  /// Writes the record in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(Self.format, .format)
    try container.write(summary, .summary)
    try container.write(body.report, .report)
    try container.write(body.pauses.map { PauseJSON(pause: $0) }, .pauses)
    var series = container.nestedContainer(keyedBy: SeriesKey.self, forKey: .series)
    try series.write(seconds: body.series.interval, .intervalSeconds)
    try series.write(body.series.samples.map { SampleJSON(sample: $0) }, .samples)
    try container.write(body.route, .route)
  }
}

/// A pause in a record.
private struct PauseJSON: Codable {
  private enum CodingKeys: String, CodingKey { case startedAtSeconds, endedAtSeconds }

  let pause: RunPause

  init(pause: RunPause) { self.pause = pause }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    pause = RunPause(
      startedAt: try container.needSeconds(.startedAtSeconds), endedAt: try container.needSeconds(.endedAtSeconds))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(seconds: pause.startedAt, .startedAtSeconds)
    try container.write(seconds: pause.endedAt, .endedAtSeconds)
  }
}

/// A sample of a record's series.
private struct SampleJSON: Codable {
  private enum CodingKeys: String, CodingKey {
    case distanceMeters, paceSecondsPerKilometer, altitudeMeters, heartRateBpm, cadenceStepsPerMinute
  }

  let sample: RecordSeries.Sample

  init(sample: RecordSeries.Sample) { self.sample = sample }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    sample = RecordSeries.Sample(
      distanceMeters: try container.read(.distanceMeters),
      paceSecondsPerKilometer: try container.read(.paceSecondsPerKilometer),
      altitudeMeters: try container.read(.altitudeMeters), heartRateBpm: try container.read(.heartRateBpm),
      cadenceStepsPerMinute: try container.read(.cadenceStepsPerMinute))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(number: sample.distanceMeters, .distanceMeters)
    try container.write(number: sample.paceSecondsPerKilometer, .paceSecondsPerKilometer)
    try container.write(number: sample.altitudeMeters, .altitudeMeters)
    try container.write(number: sample.heartRateBpm, .heartRateBpm)
    try container.write(number: sample.cadenceStepsPerMinute, .cadenceStepsPerMinute)
  }
}
