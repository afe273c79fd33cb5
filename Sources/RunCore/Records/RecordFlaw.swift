// Checks of a record from another hub or a file, which can contain impossible values although it decodes.
extension RunRecord {
  /// The first impossible value of the record, in words for an error message; `nil` when the record can be kept.
  public var flaw: String? { summary.flaw ?? body.flaw }
}

extension RecordSummary {
  /// More metres, seconds, joules or beats than any run has; the limit keeps sums over all runs finite.
  static let numberMax = 1e9
  /// The hub counts on from the version of an imported record, and the wire carries versions up to 2^62. No number of
  /// edits uses up the difference.
  static let versionMax: UInt64 = 1 << 61
  /// Time zones are at most 14 hours from UTC; they were up to 16 hours from it before the date line was agreed on.
  static let utcOffsetMax = 18 * 3600

  var flaw: String? {
    var finder = RecordFlawFinder()
    finder.look(at: title, "title", bytesMax: Self.titleBytesMax)
    finder.look(at: note, "note", bytesMax: Self.noteBytesMax)
    finder.look(at: appVersion, "appVersion", bytesMax: Self.appVersionBytesMax)
    if version == 0 || version > Self.versionMax { finder.found("version is \(version)") }
    if !Self.startUnixSeconds.contains(startedAtUnixSeconds) {
      finder.found("startedAtUnixSeconds is \(startedAtUnixSeconds), which is no date from 1970 to 9999")
    }
    finder.look(at: elapsed, "elapsedSeconds")
    finder.look(at: active, "activeSeconds")
    finder.look(at: distanceMeters, "distanceMeters")
    finder.look(at: elevationGainMeters, "elevationGainMeters")
    finder.look(at: averageHeartRateBpm, "averageHeartRateBpm")
    finder.look(at: energyJoules, "energyJoules")
    finder.look(at: setup.weightKilograms, "weightKilograms")
    if let offset = utcOffsetSeconds, abs(offset) > Self.utcOffsetMax {
      finder.found("utcOffsetSeconds is \(offset), which no time zone has")
    }
    if bests.count > RunBest.countMax { finder.found("bests has \(bests.count) entries") }
    for best in bests {
      if best.distanceMeters <= 0 { finder.found("bests.distanceMeters is \(best.distanceMeters)") }
      finder.look(at: best.distanceMeters, "bests.distanceMeters")
      finder.look(at: best.active, "bests.activeSeconds")
      finder.look(at: best.startedAt, "bests.startedAtSeconds")
    }
    return finder.flaw
  }
}

extension RecordBody {
  fileprivate var flaw: String? {
    var finder = RecordFlawFinder()
    finder.look(at: report)
    for pause in pauses {
      finder.look(at: pause.startedAt, "pauses.startedAtSeconds")
      finder.look(at: pause.endedAt, "pauses.endedAtSeconds")
    }
    finder.look(at: series)
    for point in route { finder.look(at: point) }
    return finder.flaw
  }
}

/// Checks the values of a record one after another and keeps the description of the first wrong one.
private struct RecordFlawFinder {
  private(set) var flaw: String?

  mutating func found(_ words: @autoclosure () -> String) { if flaw == nil { flaw = words() } }

  mutating func look(at text: String, _ name: String, bytesMax: Int) {
    let count = text.utf8.count
    if count > bytesMax { found("\(name) has \(count) bytes, and \(bytesMax) at most are kept") }
  }

  /// Checks that a number is not negative (unless `signed`) and within ``RecordSummary/numberMax``.
  mutating func look(at value: Double?, _ name: String, signed: Bool = false) {
    guard let value, !((signed ? -RecordSummary.numberMax : 0)...RecordSummary.numberMax).contains(value) else {
      return
    }
    found("\(name) is \(value)")
  }

  mutating func look(at span: BusDuration, _ name: String, signed: Bool = false) {
    look(at: span.seconds, name, signed: signed)
  }

  mutating func look(at number: Int, _ name: String) {
    if !(0...Int(Int32.max)).contains(number) { found("\(name) is \(number)") }
  }

  mutating func look(at report: RunReport) {
    let metrics = report.metrics
    look(at: metrics.elapsed, "metrics.elapsedSeconds")
    look(at: metrics.active, "metrics.activeSeconds")
    for (field, name) in zip(RunMetrics.numbers, Self.metricNames) {
      // An altitude may be below sea level, and a negative accuracy marks an invalid fix.
      let isSigned = field == \.altitudeMeters || field == \.positionAccuracyMeters
      look(at: metrics[keyPath: field], name, signed: isSigned)
    }
    look(at: metrics.lapCount, "metrics.lapCount")
    for split in report.kilometers + report.miles + report.laps { look(at: split) }
    for stretch in report.stretches {
      look(at: stretch.startedAt, "stretches.startedAtSeconds")
      look(at: stretch.endedAt, "stretches.endedAtSeconds")
      look(at: stretch.meters, "stretches.distanceMeters")
    }
  }

  /// In the order of `RunMetrics.numbers`.
  private static let metricNames = [
    "distanceMeters", "pedometerMeters", "currentPaceSecondsPerKilometer", "averagePaceSecondsPerKilometer",
    "bestPaceSecondsPerKilometer", "worstPaceSecondsPerKilometer", "heartRateBpm", "averageHeartRateBpm",
    "maxHeartRateBpm", "cadenceStepsPerMinute", "averageCadenceStepsPerMinute", "altitudeMeters",
    "elevationGainMeters", "elevationLossMeters", "energyJoules", "positionAccuracyMeters",
  ].map { "metrics.\($0)" }

  private mutating func look(at split: Split) {
    look(at: split.number, "splits.number")
    look(at: split.distanceMeters, "splits.distanceMeters")
    look(at: split.active, "splits.activeSeconds")
    look(at: split.startedAt, "splits.startedAtSeconds")
    look(at: split.endedAt, "splits.endedAtSeconds")
    look(at: split.averageHeartRateBpm, "splits.averageHeartRateBpm")
    look(at: split.elevationGainMeters, "splits.elevationGainMeters")
    look(at: split.elevationLossMeters, "splits.elevationLossMeters")
  }

  mutating func look(at series: RecordSeries) {
    if series.interval <= .zero { found("series.intervalSeconds is \(series.interval.seconds)") }
    look(at: series.interval, "series.intervalSeconds")
    // One more for the sample at the start.
    if series.samples.count > RecordSeries.samplesMax + 1 { found("series has \(series.samples.count) samples") }
    for sample in series.samples {
      look(at: sample.distanceMeters, "series.distanceMeters")
      look(at: sample.paceSecondsPerKilometer, "series.paceSecondsPerKilometer")
      look(at: sample.altitudeMeters, "series.altitudeMeters", signed: true)
      look(at: sample.heartRateBpm, "series.heartRateBpm")
      look(at: sample.cadenceStepsPerMinute, "series.cadenceStepsPerMinute")
    }
  }

  mutating func look(at point: RoutePoint) {
    look(at: point.offset, "route.offsetSeconds", signed: true)
    let position = point.position
    look(at: position.latitude, "route.latitude", signed: true)
    look(at: position.longitude, "route.longitude", signed: true)
    // A fix that does not count may have any coordinates.
    if point.verdict.counts, abs(position.latitude) > 90 { found("route.latitude is \(position.latitude)") }
    if point.verdict.counts, abs(position.longitude) > 180 { found("route.longitude is \(position.longitude)") }
    look(at: position.horizontalAccuracyMeters, "route.horizontalAccuracyMeters", signed: true)
    look(at: point.altitudeMeters, "route.altitudeMeters", signed: true)
    look(at: point.distanceMeters, "route.distanceMeters")
  }
}
