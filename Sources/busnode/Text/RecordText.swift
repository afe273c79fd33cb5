import RunBus
import RunRecordings

/// Records as text.
enum RecordText {
  /// The line in place of an empty list, when none of `count` records matches the filter.
  static func none(of count: Int) -> String {
    count == 0 ? noRuns : "no runs in that time; \(count) \(count == 1 ? "is" : "are") kept in all"
  }

  /// The line when there is no record at all.
  static let noRuns = "no runs yet: a run is kept when it is stopped"

  /// The records, a line each under a heading, the last run last.
  static func list(_ summaries: [RecordSummary], in units: Units) -> [String] {
    let calendar = RunCalendar()
    return Columns.lines(
      ["ID", "STARTED", "ACTIVE", "DISTANCE", "PACE", "BPM", "DEVICE", "TITLE"],
      summaries.map { summary in
        [
          Sentence.short(summary.runID.description), calendar.minuteText(summary.startedAtUnixSeconds),
          DurationText.clock(summary.active), summary.distanceMeters.map(units.distanceText) ?? SplitText.missing,
          summary.averagePaceSecondsPerKilometer.map(units.paceText) ?? SplitText.missing,
          summary.averageHeartRateBpm.map(Sentence.whole) ?? SplitText.missing, summary.deviceID.rawValue,
          title(summary),
        ]
      })
  }

  private static func title(_ summary: RecordSummary) -> String {
    let mark = summary.isConflicted ? "(overlaps another run)" : ""
    return [summary.title, mark].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// One record: its title, metrics, charts, splits and laps.
  static func lines(_ record: RunRecord, in units: Units, chart: Chart.Style?, width: Int) -> [String] {
    let summary = record.summary
    let when = RunCalendar().minuteText(summary.startedAtUnixSeconds)
    let name = title(summary)
    var lines = [name.isEmpty ? "Run" : name]
    let origin =
      summary.deviceID == RecordImport.device
      ? "imported by RunBus" : "started on \(summary.deviceID), measured on \(summary.hubDeviceID) by RunBus"
    lines.append("\(when) · \(origin) \(summary.appVersion)")
    lines.append("\(summary.runID) · version \(summary.version)")
    // The note keeps its line breaks.
    if !summary.note.isEmpty {
      lines += summary.note.writtenLines.map { String($0) }
    }
    lines += [""] + MeasureText.table(record.body.report.metrics, in: units)
    if let chart { lines += charts(record.body, in: units, style: chart, width: width) }
    return lines + SplitText.sections(record.body.report, in: units)
  }

  private static func charts(_ body: RecordBody, in units: Units, style: Chart.Style, width: Int) -> [String] {
    let samples = body.series.samples
    let ends = ("0:00", DurationText.clock(body.report.metrics.elapsed))
    let charts = [
      Chart(
        title: "pace, \(units.paceSymbol)", values: samples.map(\.paceSecondsPerKilometer), isInverted: true,
        label: { Sentence.clock(units.pace(fromSecondsPerKilometer: $0)) }, ends: ends),
      Chart(
        title: "elevation, \(units.heightSymbol)", values: samples.map(\.altitudeMeters),
        label: { Sentence.whole(units.height(fromMeters: $0)) }, ends: ends),
      Chart(title: "heart rate, bpm", values: samples.map(\.heartRateBpm), label: Sentence.whole, ends: ends),
    ]
    let drawn = charts.map { $0.lines(width: width, style: style) }.filter { !$0.isEmpty }
    return drawn.flatMap { [""] + $0 }
  }

  /// Sums by day, week or month.
  static func stats(_ rows: [RecordStatsJSON], _ unit: RunCalendar.Unit, in units: Units) -> [String] {
    Columns.lines(
      [unit.rawValue.uppercased(), "RUNS", "ACTIVE", "DISTANCE", "PACE", "CLIMBED", "ENERGY"],
      rows.map { row in
        [
          row.period, "\(row.count)", Sentence.clock(row.activeSeconds),
          row.distanceMeters.map(units.distanceText) ?? SplitText.missing,
          row.averagePaceSecondsPerKilometer.map(units.paceText) ?? SplitText.missing,
          row.elevationGainMeters.map(units.heightText) ?? SplitText.missing,
          row.energyJoules.map(Units.energyText) ?? SplitText.missing,
        ]
      }, leftColumns: 1)
  }
}
