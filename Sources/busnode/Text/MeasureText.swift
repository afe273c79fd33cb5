import RunBus
import RunRecordings
import RunScripts

/// A measured recording as text.
enum MeasureText {
  /// The parts that are shown after the table of final numbers.
  struct Parts: OptionSet {
    let rawValue: Int
    static let splits = Parts(rawValue: 1)
    static let comparison = Parts(rawValue: 2)
    static let route = Parts(rawValue: 4)
  }

  /// The table and the parts, with a blank line between them.
  static func lines(_ run: MeasuredRun, in units: Units, parts: Parts) -> [String] {
    var lines = table(run.report.metrics, in: units)
    if parts.contains(.splits) { lines += SplitText.sections(run.report, in: units) }
    if parts.contains(.comparison) {
      if let comparison = Comparison(run) {
        lines += ComparisonText.lines(comparison, in: units)
      } else {
        lines += ["", "the recording holds no numbers of the device's own to compare with"]
      }
    }
    if parts.contains(.route) { lines += section("route", route(run.route, in: units)) }
    return lines
  }

  static func section(_ title: String, _ lines: [String]) -> [String] { ["", title + ":"] + lines.map { "  " + $0 } }

  /// The final numbers, with ``SplitText/missing`` for those that are not known.
  static func table(_ metrics: RunMetrics, in units: Units) -> [String] {
    func row(_ name: String, _ value: String?) -> String {
      name + String(repeating: " ", count: max(1, 16 - name.count)) + (value ?? SplitText.missing)
    }
    var lines = [
      row("elapsed", DurationText.clock(metrics.elapsed)),
      row("active", DurationText.clock(metrics.active)),
      row("distance", metrics.distanceMeters.map(units.distanceText)),
    ]
    if let meters = metrics.pedometerMeters, meters > 0 {
      lines.append(row("  by pedometer", units.distanceText(meters)))
    }
    let pace = units.paceText(_:)
    lines += [
      row("average pace", metrics.averagePaceSecondsPerKilometer.map(pace)),
      row("  best minute", metrics.bestPaceSecondsPerKilometer.map(pace)),
      row("  worst minute", metrics.worstPaceSecondsPerKilometer.map(pace)),
      row("heart rate", metrics.averageHeartRateBpm.map { "\(Sentence.whole($0)) bpm on average" }),
      row("  highest", metrics.maxHeartRateBpm.map { "\(Sentence.whole($0)) bpm" }),
      row("cadence", metrics.averageCadenceStepsPerMinute.map { "\(Sentence.whole($0)) steps/min on average" }),
      row("climbed", metrics.elevationGainMeters.map(units.heightText)),
      row("descended", metrics.elevationLossMeters.map(units.heightText)),
      row("energy", metrics.energyJoules.map(Units.energyText)),
    ]
    if metrics.lapCount > 0 { lines.append(row("laps marked", "\(metrics.lapCount)")) }
    return lines
  }

  private static func route(_ points: [RoutePoint], in units: Units) -> [String] {
    Columns.lines(
      ["s", "latitude", "longitude", units.heightSymbol, units.distanceSymbol, "verdict"],
      points.map { point in
        [
          seconds(point.offset), RoutePointText.degrees(point.position.latitude),
          RoutePointText.degrees(point.position.longitude),
          point.altitudeMeters.map { Sentence.fixed(units.height(fromMeters: $0), 1) } ?? SplitText.missing,
          point.distanceMeters.map(units.distanceDigits) ?? SplitText.missing,
          RoutePointText.words(point.verdict),
        ]
      })
  }

  private static func seconds(_ offset: BusDuration) -> String {
    let whole = offset.nanoseconds.isMultiple(of: 1_000_000_000)
    return whole ? Sentence.whole(offset.seconds) : Sentence.fixed(offset.seconds, 2)
  }
}
