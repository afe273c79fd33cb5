import RunBus
import RunRecordings

/// The numbers that RunBus computes beside the recording device's own, as text.
enum ComparisonText {
  static func lines(_ comparison: Comparison, in units: Units) -> [String] {
    var lines = MeasureText.section(Tongue.say(.comparedWithDevice), whole(comparison, in: units))
    if !comparison.laps.isEmpty {
      lines += MeasureText.section(Tongue.say(.lapsBetweenMarks), laps(comparison.laps, in: units))
    }
    if let unit = comparison.splitUnit, !comparison.splits.isEmpty {
      let title = unit == .kilometer ? Tongue.say(.kilometres) : Tongue.say(.miles)
      lines += MeasureText.section(Tongue.say(.besideDeviceLaps, ["unit": title]), laps(comparison.splits, in: units))
    }
    return lines
  }

  private static func whole(_ comparison: Comparison, in units: Units) -> [String] {
    func row(
      _ name: String, _ unit: String, _ value: ComparedValue, decimals: Int = 0, factor: Double = 1
    ) -> [String] {
      func shown(_ number: Double?, sign: Bool = false) -> String {
        number.map { signed($0 * factor, decimals, sign) } ?? SplitText.missing
      }
      return [
        name, unit, shown(value.ours), shown(value.recorded), shown(value.difference, sign: true), percent(value),
      ]
    }
    func time(_ name: String, _ value: ComparedValue) -> [String] {
      [
        name, "", value.ours.map(Sentence.clock) ?? SplitText.missing,
        value.recorded.map(Sentence.clock) ?? SplitText.missing,
        value.difference.map { Tongue.say(.differenceSeconds, ["count": signed($0, 1, true)]) } ?? SplitText.missing,
        percent(value),
      ]
    }
    func distance(_ value: ComparedValue) -> [String] {
      [
        Tongue.say(.labelDistance), units.distanceSymbol, value.ours.map(units.distanceDigits) ?? SplitText.missing,
        value.recorded.map(units.distanceDigits) ?? SplitText.missing,
        value.difference.map { signed(units.distance(fromMeters: $0), 2, true) } ?? SplitText.missing, percent(value),
      ]
    }
    let short = units.height(fromMeters: 1)
    let rows = [
      distance(comparison.distanceMeters),
      time(Tongue.say(.labelActiveTime), comparison.activeSeconds),
      row(Tongue.say(.labelAverageHeartRate), "bpm", comparison.averageHeartRateBpm, decimals: 1),
      row(Tongue.say(.labelHighestHeartRate), "bpm", comparison.maxHeartRateBpm),
      row(
        Tongue.say(.labelAverageCadence), Tongue.say(.unitSteps), comparison.averageCadenceStepsPerMinute, decimals: 1),
      row(Tongue.say(.labelClimbed), units.heightSymbol, comparison.elevationGainMeters, factor: short),
      row(Tongue.say(.labelDescended), units.heightSymbol, comparison.elevationLossMeters, factor: short),
      row(Tongue.say(.labelEnergy), "kcal", comparison.energyJoules, factor: 1 / RunFormat.joulesPerKilocalorie),
    ]
    return Columns.lines(
      ["", "", Tongue.say(.columnOurs), Tongue.say(.columnDevice), Tongue.say(.columnDifference), "%"], rows,
      leftColumns: 2)
  }

  private static func laps(_ laps: [ComparedLap], in units: Units) -> [String] {
    let missing = SplitText.missing
    func length(_ meters: Double?) -> String { meters.map(units.distanceDigits) ?? missing }
    func time(_ seconds: Double?) -> String { seconds.map(Sentence.clock) ?? missing }
    func rate(_ bpm: Double?) -> String { bpm.map(Sentence.whole) ?? missing }
    return Columns.lines(
      [
        "#", units.distanceSymbol, Tongue.say(.columnDevice), "%", Tongue.say(.columnTime), Tongue.say(.columnDevice),
        "s", "bpm", Tongue.say(.columnDevice),
      ],
      laps.map { lap in
        [
          "\(lap.number)", length(lap.distanceMeters.ours), length(lap.distanceMeters.recorded),
          percent(lap.distanceMeters), time(lap.activeSeconds.ours), time(lap.activeSeconds.recorded),
          lap.activeSeconds.difference.map { signed($0, 1, true) } ?? missing, rate(lap.averageHeartRateBpm.ours),
          rate(lap.averageHeartRateBpm.recorded),
        ]
      }, leftColumns: 0)
  }

  private static func percent(_ value: ComparedValue) -> String {
    value.percent.map { signed($0, 1, true) } ?? SplitText.missing
  }
  private static func signed(_ value: Double, _ decimals: Int, _ sign: Bool) -> String {
    let text = Sentence.fixed(value, decimals)
    return sign && value > 0 && text.contains(where: { $0.isNumber && $0 != "0" }) ? "+" + text : text
  }
}
