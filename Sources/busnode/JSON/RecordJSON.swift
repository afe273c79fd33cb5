import RunBus

/// A record as a line of `records ls --json`. The keys carry their units and never change.
struct RecordSummaryJSON: Codable, Hashable, Sendable {
  var runId: String
  var version: UInt64
  var deviceId: String
  var hubDeviceId: String
  var appVersion: String
  /// UTC in whole seconds, for people; `startedAtUnixSeconds` is exact.
  var startedAt: String
  var startedAtUnixSeconds: Double
  var elapsedSeconds: Double
  var activeSeconds: Double
  @Explicit var distanceMeters: Double?
  @Explicit var averagePaceSecondsPerKilometer: Double?
  @Explicit var averageHeartRateBpm: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var energyJoules: Double?
  /// How the numbers were computed, with the next two keys; `null` when the weight is not known.
  @Explicit var weightKilograms: Double?
  var autoPause: Bool
  var pedometer: Bool
  var conflicted: Bool
  var title: String
  var note: String
}

extension RecordSummaryJSON {
  init(_ summary: RecordSummary) {
    self.init(
      runId: summary.runID.description, version: summary.version, deviceId: summary.deviceID.rawValue,
      hubDeviceId: summary.hubDeviceID.rawValue, appVersion: summary.appVersion,
      startedAt: RunCalendar.utcText(summary.startedAtUnixSeconds),
      startedAtUnixSeconds: summary.startedAtUnixSeconds, elapsedSeconds: summary.elapsed.seconds,
      activeSeconds: summary.active.seconds, distanceMeters: summary.distanceMeters,
      averagePaceSecondsPerKilometer: summary.averagePaceSecondsPerKilometer,
      averageHeartRateBpm: summary.averageHeartRateBpm, elevationGainMeters: summary.elevationGainMeters,
      energyJoules: summary.energyJoules, weightKilograms: summary.setup.weightKilograms,
      autoPause: summary.setup.isAutoPauseOn, pedometer: summary.setup.usesPedometer,
      conflicted: summary.isConflicted, title: summary.title, note: summary.note)
  }

  /// The summary that was written; `nil` when an id, the version or the start is not valid.
  var summary: RecordSummary? {
    guard let runID = RunID(runId), let deviceID = DeviceID(deviceId), let hubDeviceID = DeviceID(hubDeviceId),
      version > 0, RecordSummary.startUnixSeconds.contains(startedAtUnixSeconds)
    else { return nil }
    return RecordSummary(
      runID: runID, version: version, deviceID: deviceID, hubDeviceID: hubDeviceID, appVersion: appVersion,
      startedAtUnixSeconds: startedAtUnixSeconds, elapsed: BusDuration(seconds: elapsedSeconds),
      active: BusDuration(seconds: activeSeconds), distanceMeters: distanceMeters,
      elevationGainMeters: elevationGainMeters, averageHeartRateBpm: averageHeartRateBpm, energyJoules: energyJoules,
      setup: RunSetup(
        weightKilograms: weightKilograms, isAutoPauseOn: autoPause, usesPedometer: pedometer),
      isConflicted: conflicted, title: title, note: note)
  }
}

/// A whole record: `records show --json`, and the format `json` of export and import.
struct RecordJSON: Codable, Hashable, Sendable {
  struct Pause: Codable, Hashable, Sendable {
    var startedAtSeconds: Double
    var endedAtSeconds: Double
  }
  struct Sample: Codable, Hashable, Sendable {
    @Explicit var distanceMeters: Double?
    @Explicit var paceSecondsPerKilometer: Double?
    @Explicit var altitudeMeters: Double?
    @Explicit var heartRateBpm: Double?
    @Explicit var cadenceStepsPerMinute: Double?
  }
  struct Series: Codable, Hashable, Sendable {
    var intervalSeconds: Double
    var samples: [Sample]
  }

  static let formatName = "runbus-record/1"

  /// Always ``formatName``.
  var format: String
  var summary: RecordSummaryJSON
  var metrics: MetricsJSON
  var splits: SplitsJSON
  var stretches: [StretchJSON]
  var pauses: [Pause]
  var series: Series
  var route: [RoutePointJSON]

  init(_ record: RunRecord) {
    let body = record.body
    format = Self.formatName
    summary = RecordSummaryJSON(record.summary)
    metrics = MetricsJSON(body.report.metrics)
    splits = SplitsJSON(body.report)
    stretches = body.report.stretches.map { StretchJSON($0) }
    pauses = body.pauses.map { Pause(startedAtSeconds: $0.startedAt.seconds, endedAtSeconds: $0.endedAt.seconds) }
    series = Series(
      intervalSeconds: body.series.interval.seconds,
      samples: body.series.samples.map {
        Sample(
          distanceMeters: $0.distanceMeters, paceSecondsPerKilometer: $0.paceSecondsPerKilometer,
          altitudeMeters: $0.altitudeMeters, heartRateBpm: $0.heartRateBpm,
          cadenceStepsPerMinute: $0.cadenceStepsPerMinute)
      })
    route = body.route.map { RoutePointJSON($0) }
  }

  /// The record that was written; `nil` when the format is another one or the summary is not valid.
  var record: RunRecord? {
    guard format == Self.formatName, let summary = summary.summary, series.intervalSeconds > 0 else { return nil }
    let report = RunReport(
      metrics: metrics.metrics(energyJoules: summary.energyJoules), kilometers: splits.kilometers.map(\.split),
      miles: splits.miles.map(\.split), laps: splits.laps.map(\.split),
      stretches: stretches.map {
        DistanceStretch(
          source: $0.source, startedAt: BusDuration(seconds: $0.startedAtSeconds),
          endedAt: BusDuration(seconds: $0.endedAtSeconds), meters: $0.distanceMeters)
      })
    let samples = series.samples.map {
      RecordSeries.Sample(
        distanceMeters: $0.distanceMeters, paceSecondsPerKilometer: $0.paceSecondsPerKilometer,
        altitudeMeters: $0.altitudeMeters, heartRateBpm: $0.heartRateBpm,
        cadenceStepsPerMinute: $0.cadenceStepsPerMinute)
    }
    return RunRecord(
      summary: summary,
      body: RecordBody(
        report: report,
        pauses: pauses.map {
          RunPause(
            startedAt: BusDuration(seconds: $0.startedAtSeconds), endedAt: BusDuration(seconds: $0.endedAtSeconds))
        },
        series: RecordSeries(interval: BusDuration(seconds: series.intervalSeconds), samples: samples),
        route: route.map(\.point)))
  }
}

extension SplitJSON {
  fileprivate var split: Split {
    Split(
      number: number, distanceMeters: distanceMeters, active: BusDuration(seconds: activeSeconds),
      startedAt: BusDuration(seconds: startedAtSeconds), endedAt: BusDuration(seconds: endedAtSeconds),
      averageHeartRateBpm: averageHeartRateBpm, elevationGainMeters: elevationGainMeters,
      elevationLossMeters: elevationLossMeters, isComplete: isComplete)
  }
}

extension RoutePointJSON {
  fileprivate var point: RoutePoint {
    RoutePoint(
      offset: BusDuration(seconds: offsetSeconds),
      position: Position(
        latitude: latitude, longitude: longitude, horizontalAccuracyMeters: horizontalAccuracyMeters),
      verdict: reason ?? (startsLine ? .anchored : .counted), altitudeMeters: altitudeMeters,
      distanceMeters: distanceMeters)
  }
}

extension MetricsJSON {
  /// The metrics that were written. Energy comes from the summary, in joules, because the metrics hold kilocalories.
  fileprivate func metrics(energyJoules: Double?) -> RunMetrics {
    let elapsed = BusDuration(seconds: elapsedSeconds)
    func moment(_ age: Double?) -> BusDuration? { age.map { elapsed - BusDuration(seconds: $0) } }
    return RunMetrics(
      elapsed: elapsed, active: BusDuration(seconds: activeSeconds), distanceMeters: distanceMeters,
      pedometerMeters: pedometerMeters, currentPaceSecondsPerKilometer: currentPaceSecondsPerKilometer,
      averagePaceSecondsPerKilometer: averagePaceSecondsPerKilometer,
      bestPaceSecondsPerKilometer: bestPaceSecondsPerKilometer,
      worstPaceSecondsPerKilometer: worstPaceSecondsPerKilometer, heartRateBpm: heartRateBpm,
      averageHeartRateBpm: averageHeartRateBpm, maxHeartRateBpm: maxHeartRateBpm,
      cadenceStepsPerMinute: cadenceStepsPerMinute, averageCadenceStepsPerMinute: averageCadenceStepsPerMinute,
      altitudeMeters: altitudeMeters, elevationGainMeters: elevationGainMeters,
      elevationLossMeters: elevationLossMeters, energyJoules: energyJoules,
      positionAccuracyMeters: positionAccuracyMeters, activity: activity, isActivityInferred: activityIsInferred,
      isAutoPaused: autoPaused, lapCount: lapCount,
      moments: MetricMoments(
        distance: moment(ages.distanceSeconds), position: moment(ages.positionSeconds),
        heartRate: moment(ages.heartRateSeconds), cadence: moment(ages.cadenceSeconds),
        elevation: moment(ages.elevationSeconds), activity: moment(ages.activitySeconds)))
  }
}

/// What was done to a record, as `records edit`, `rm`, `export` and `import` write it with `--json`.
struct RecordActJSON: Codable, Hashable, Sendable {
  enum Act: String, Codable, Hashable, Sendable { case edited, removed, imported, known, exported }

  var act: Act
  var runId: String
  /// The file that was written or read; `null` where there is none.
  @Explicit var file: String?
  var message: String
}

/// The runs of a day, a week or a month, as a line of `records stats --json`.
struct RecordStatsJSON: Codable, Hashable, Sendable {
  /// `2026-11-21`, `2026-W47` or `2026-11`.
  var period: String
  var count: Int
  var activeSeconds: Double
  var elapsedSeconds: Double
  @Explicit var distanceMeters: Double?
  @Explicit var averagePaceSecondsPerKilometer: Double?
  @Explicit var elevationGainMeters: Double?
  @Explicit var energyJoules: Double?
}
