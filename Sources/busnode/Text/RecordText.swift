import RunBus
import RunRecordings
import RunScripts

/// Records as text.
enum RecordText {
  /// The line in place of an empty list, when none of `count` records matches the filter.
  static func none(of count: Int) -> String {
    count == 0
      ? noRuns
      : count == 1
        ? Tongue.say(.noRunsInTime, ["count": count]) : Tongue.say(.noRunsInTimeMany, ["count": count])
  }

  /// The line when there is no record at all.
  static var noRuns: String { Tongue.say(.noRuns) }

  /// The records, a line each under a heading, the last run last.
  static func list(_ summaries: [RecordSummary], _ doubles: RecordDoubles, in units: Units) -> [String] {
    let calendar = RunCalendar()
    return Columns.lines(
      [
        Tongue.say(.headingID), Tongue.say(.headingStarted), Tongue.say(.headingActive), Tongue.say(.headingDistance),
        Tongue.say(.headingPace), "BPM", Tongue.say(.headingDevice), Tongue.say(.headingTitle),
      ],
      summaries.map { summary in
        [
          Sentence.short(summary.runID.description), calendar.minuteText(calendar.wallClock(summary)),
          DurationText.clock(summary.active), summary.distanceMeters.map(units.distanceText) ?? SplitText.missing,
          summary.averagePaceSecondsPerKilometer.map(units.paceText) ?? SplitText.missing,
          summary.averageHeartRateBpm.map(Sentence.whole) ?? SplitText.missing, summary.deviceID.rawValue,
          title(summary, doubles.original(of: summary.runID)),
        ]
      })
  }

  /// - Parameter original: The record of which this one is likely a double.
  private static func title(_ summary: RecordSummary, _ original: RunID? = nil) -> String {
    let mark = summary.isConflicted ? Tongue.say(.overlaps) : ""
    let double = original.map { Tongue.say(.likelySame, ["run": Sentence.short($0.description)]) } ?? ""
    return [summary.title, mark, double].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The title of a run without one, after the hour of its start; the page has the same rule.
  static func untitled(hour: Int) -> String {
    switch hour {
    case 5..<11: Tongue.say(.morningRun)
    case 11..<14: Tongue.say(.middayRun)
    case 14..<18: Tongue.say(.afternoonRun)
    case 18..<22: Tongue.say(.eveningRun)
    default: Tongue.say(.nightRun)
    }
  }

  /// One record: its title, metrics, charts, splits and laps.
  static func lines(_ record: RunRecord, in units: Units, chart: Chart.Style?, width: Int) -> [String] {
    let summary = record.summary
    let calendar = RunCalendar()
    let when = calendar.minuteText(calendar.wallClock(summary))
    var named = summary
    if named.title.isEmpty { named.title = untitled(hour: calendar.hour(calendar.wallClock(summary))) }
    var lines = [title(named)]
    let origin =
      summary.deviceID == RecordImport.device
      ? Tongue.say(.importedBy) : Tongue.say(.measuredBy, ["device": summary.deviceID, "hub": summary.hubDeviceID])
    lines.append("\(when) · \(origin) \(summary.appVersion)")
    lines.append(Tongue.say(.versionIs, ["run": summary.runID, "version": summary.version]))
    if let goal = summary.goal {
      let isReached = summary.elapsed >= goal.time
      lines.append(
        isReached
          ? Tongue.say(.goalWasReached, ["time": DurationText.clock(goal.time)])
          : Tongue.say(.goalWasMissed, ["time": DurationText.clock(goal.time)]))
    }
    // The note keeps its line breaks.
    if !summary.note.isEmpty {
      lines += summary.note.writtenLines.map { String($0) }
    }
    lines += [""] + MeasureText.table(record.body.report.metrics, in: units)
    if let chart { lines += charts(record.body, in: units, style: chart, width: width) }
    return lines + SplitText.sections(record.body.report, in: units)
  }

  private static func charts(_ body: RecordBody, in units: Units, style: Chart.Style, width: Int) -> [String] {
    let series = body.series.spaced(by: RecordSeries.usualInterval)
    let samples = series.samples
    let ends = ("0:00", DurationText.clock(body.report.metrics.elapsed))
    let interval = series.interval
    let charts = [
      Chart(
        title: Tongue.say(.chartPace, ["unit": units.paceSymbol]), values: samples.map(\.paceSecondsPerKilometer),
        isInverted: true,
        label: { SplitText.pace($0, in: units) }, ends: ends,
        words: Chart.Words(
          low: Tongue.say(.wordFastest), high: Tongue.say(.wordSlowest), interval: interval, text: units.paceText)),
      Chart(
        title: Tongue.say(.chartElevation, ["unit": units.heightSymbol]), values: samples.map(\.altitudeMeters),
        label: { Sentence.whole(units.height(fromMeters: $0)) }, ends: ends,
        words: Chart.Words(
          low: Tongue.say(.wordLowest), high: Tongue.say(.wordHighest), interval: interval, text: units.heightText)),
      Chart(
        title: Tongue.say(.chartHeartRate), values: samples.map(\.heartRateBpm), label: Sentence.whole, ends: ends,
        words: Chart.Words(low: Tongue.say(.wordLowest), high: Tongue.say(.wordHighest), interval: interval) {
          "\(Sentence.whole($0)) bpm"
        }),
    ]
    let drawn = charts.map { $0.lines(width: width, style: style) }.filter { !$0.isEmpty }
    return drawn.flatMap { [""] + $0 }
  }

  /// Sums by day, week, month or year, each with a bar of its distance, and a sentence about the trend.
  static func stats(
    _ sums: [RecordSum], total: [RecordSum], _ statistics: RecordStatistics, in units: Units
  ) -> [String] {
    let longest = sums.compactMap(\.distanceMeters).max() ?? 0
    let lines = Columns.lines(
      [
        statistics.unit.heading, Tongue.say(.headingRuns), Tongue.say(.headingActive), Tongue.say(.headingDistance),
        Tongue.say(.headingPace), Tongue.say(.headingClimbed), Tongue.say(.headingEnergy), "",
      ],
      (sums + total).enumerated().map { index, sum in
        [
          sum.period, "\(sum.count)", Sentence.clock(sum.activeSeconds),
          sum.distanceMeters.map(units.distanceText) ?? SplitText.missing,
          sum.averagePaceSecondsPerKilometer.map(units.paceText) ?? SplitText.missing,
          sum.elevationGainMeters.map(units.heightText) ?? SplitText.missing,
          sum.energyJoules.map(Units.energyText) ?? SplitText.missing,
          index < sums.count ? bar(sum.distanceMeters ?? 0, of: longest) : "",
        ]
      }, leftColumns: 1, lastIsLeft: true)
    guard let trend = statistics.trend else { return lines }
    return lines + ["", self.trend(trend, statistics.unit, in: units)]
  }

  /// The longest bar, in characters.
  private static let barMax = 20

  private static func bar(_ meters: Double, of longest: Double) -> String {
    guard longest > 0, meters > 0 else { return "" }
    return String(repeating: "=", count: max(1, Int((meters / longest * Double(barMax)).rounded())))
  }

  /// `distance a week: 31.20 km on average over the last 4, 12 % more than over the 4 before`.
  static func trend(_ trend: RecordTrend, _ unit: RunCalendar.Unit, in units: Units) -> String {
    let mean = units.distanceText(trend.metersPerPeriod)
    let start =
      trend.periods == 1
      ? Tongue.say(.trendLastOne, ["unit": unit.spoken, "distance": mean])
      : Tongue.say(.trendLast, ["unit": unit.spoken, "distance": mean, "count": trend.periods])
    guard trend.metersPerPeriod > 0 else {
      return trend.periods == 1
        ? Tongue.say(.trendNoneOne, ["unit": unit.spoken])
        : Tongue.say(.trendNone, ["count": trend.periods, "unit": unit.spoken])
    }
    let before = trend.periods == 1 ? Tongue.say(.trendBeforeOne) : Tongue.say(.trendBefore, ["count": trend.periods])
    guard let change = trend.change else {
      return start
        + (trend.metersBefore == 0 && trend.metersPerPeriod > 0 ? Tongue.say(.trendAfterNone, ["before": before]) : "")
    }
    let percent = Int((abs(change) * 100).rounded())
    return start
      + (percent == 0
        ? Tongue.say(.trendSame, ["before": before])
        : change > 0
          ? Tongue.say(.trendMore, ["percent": percent, "before": before])
          : Tongue.say(.trendLess, ["percent": percent, "before": before]))
  }

  /// Personal bests, a line each, and the longest run.
  static func bests(_ statistics: RecordStatistics, of summaries: [RecordSummary], in units: Units) -> [String] {
    let calendar = RunCalendar()
    func row(_ name: String, _ best: PersonalBest) -> [String] {
      let summary = summaries.first { $0.runID == best.runID }
      let day = summary.map { calendar.name(of: .day, calendar.wallClock($0)) } ?? SplitText.missing
      return [
        name, Sentence.clock(best.activeSeconds),
        units.paceText(best.activeSeconds / best.distanceMeters * 1000), day,
        Sentence.short(best.runID.description), summary?.title ?? "",
      ]
    }
    return Columns.lines(
      [
        Tongue.say(.headingBest), Tongue.say(.headingTime), Tongue.say(.headingPace), Tongue.say(.headingDay),
        Tongue.say(.headingID), Tongue.say(.headingTitle),
      ],
      statistics.bests.map { row(Self.name(ofBest: $0.distanceMeters), $0) }
        + (statistics.longest.map {
          [row(Tongue.say(.bestLongest, ["distance": units.distanceText($0.distanceMeters)]), $0)]
        } ?? []),
      leftColumns: 1, lastIsLeft: true)
  }

  private static func name(ofBest meters: Double) -> String {
    switch meters {
    case 21_097.5: Tongue.say(.halfMarathon)
    case 42_195: Tongue.say(.marathon)
    default: "\(Int(meters / 1000)) km"
    }
  }
}
