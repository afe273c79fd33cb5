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
        lines += ["", Tongue.say(.noDeviceNumbers)]
      }
    }
    if parts.contains(.route) { lines += section(Tongue.say(.titleRoute), route(run.route, in: units)) }
    return lines
  }

  static func section(_ title: String, _ lines: [String]) -> [String] { ["", title + ":"] + lines.map { "  " + $0 } }

  /// The final numbers, with ``SplitText/missing`` for those that are not known.
  static func table(_ metrics: RunMetrics, in units: Units) -> [String] {
    func row(_ name: String, _ value: String?) -> String {
      name + String(repeating: " ", count: max(1, 16 - TextWidth.of(name))) + (value ?? SplitText.missing)
    }
    var lines = [
      row(Tongue.say(.labelElapsed), DurationText.clock(metrics.elapsed)),
      row(Tongue.say(.labelActive), DurationText.clock(metrics.active)),
      row(Tongue.say(.labelDistance), metrics.distanceMeters.map(units.distanceText)),
    ]
    if let meters = metrics.pedometerMeters, meters > 0 {
      lines.append(row(Tongue.say(.labelByPedometer), units.distanceText(meters)))
    }
    let pace = units.paceText(_:)
    lines += [
      row(Tongue.say(.labelAveragePace), metrics.averagePaceSecondsPerKilometer.map(pace)),
      row(Tongue.say(.labelBestMinute), metrics.bestPaceSecondsPerKilometer.map(pace)),
      row(Tongue.say(.labelWorstMinute), metrics.worstPaceSecondsPerKilometer.map(pace)),
      row(
        Tongue.say(.labelHeartRate),
        metrics.averageHeartRateBpm.map { Tongue.say(.bpmOnAverage, ["rate": Sentence.whole($0)]) }),
      row(Tongue.say(.labelHighest), metrics.maxHeartRateBpm.map { "\(Sentence.whole($0)) bpm" }),
      row(
        Tongue.say(.labelCadence),
        metrics.averageCadenceStepsPerMinute.map { Tongue.say(.stepsOnAverage, ["count": Sentence.whole($0)]) }),
      row(Tongue.say(.labelClimbed), metrics.elevationGainMeters.map(units.heightText)),
      row(Tongue.say(.labelDescended), metrics.elevationLossMeters.map(units.heightText)),
      row(Tongue.say(.labelEnergy), metrics.energyJoules.map(Units.energyText)),
    ]
    if metrics.lapCount > 0 { lines.append(row(Tongue.say(.labelLapsMarked), "\(metrics.lapCount)")) }
    return lines
  }

  private static func route(_ points: [RoutePoint], in units: Units) -> [String] {
    Columns.lines(
      [
        "s", Tongue.say(.columnLatitude), Tongue.say(.columnLongitude), units.heightSymbol, units.distanceSymbol,
        Tongue.say(.columnVerdict),
      ],
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
