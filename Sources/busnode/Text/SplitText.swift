import RunBus
import RunScripts

/// Splits and laps as text.
enum SplitText {
  /// The text for a value that is not known.
  static let missing = "-"

  /// Splits or laps as a table, one line each; the heading first.
  static func lines(_ splits: [Split], in units: Units) -> [String] {
    let heading = [
      "#", units.distanceSymbol, Tongue.say(.columnTime), units.paceSymbol, "bpm",
      Tongue.say(.columnUp, ["unit": units.heightSymbol]), Tongue.say(.columnDown),
    ]
    return Columns.lines(
      heading,
      splits.map { split in
        [
          "\(split.number)",
          split.distanceMeters.map(units.distanceDigits) ?? missing,
          DurationText.clock(split.active),
          split.paceSecondsPerKilometer.map { pace($0, in: units) } ?? missing,
          split.averageHeartRateBpm.map(Sentence.whole) ?? missing,
          split.elevationGainMeters.map { height($0, in: units) } ?? missing,
          split.elevationLossMeters.map { height($0, in: units) } ?? missing,
        ]
      }, leftColumns: 0)
  }

  /// A report's splits and laps below their titles, a blank line before each.
  static func sections(_ report: RunReport, in units: Units) -> [String] {
    let splits = report.splits(per: units.splitUnit)
    let title = units.splitUnit == .kilometer ? Tongue.say(.kilometres) : Tongue.say(.miles)
    let pieces =
      splits.isEmpty
      ? ["", Tongue.say(.noSplits, ["unit": title])] : MeasureText.section(title, lines(splits, in: units))
    return pieces
      + (report.laps.isEmpty ? [] : MeasureText.section(Tongue.say(.titleLaps), lines(report.laps, in: units)))
  }

  /// A pace without its unit, for a column or an axis that names it.
  static func pace(_ secondsPerKilometer: Double, in units: Units) -> String {
    let words = units.paceText(secondsPerKilometer)
    return String(words.dropLast(units.paceSymbol.count + 1))
  }
  private static func height(_ meters: Double, in units: Units) -> String {
    Sentence.whole(units.height(fromMeters: meters))
  }
}
