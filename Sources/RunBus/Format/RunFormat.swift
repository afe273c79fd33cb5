public import Foundation
public import RunCore

/// Writes the numbers of a run for a person, by locale and unit system.
///
/// ```swift
/// let format = RunFormat(locale: Locale(identifier: "de_DE"), units: .metric)
/// format.distance(metrics.distanceMeters)                // "5,21 km"
/// format.pace(metrics.currentPaceSecondsPerKilometer)    // "5:41 /km"
/// format.duration(metrics.elapsed)                       // "29:37"
/// format.energy(metrics.energyJoules)                    // "412 kcal"
/// ```
///
/// Distances, paces and durations are cut to the digits that are shown and never rounded, so that a runner has covered
/// what is shown, and a finished run shows the same everywhere. Heights and energies are rounded.
///
/// The locale determines digits and separators. Symbols of units are the same in every locale, as SI has them. A value
/// that is not known is written as an en dash (``missing``) without a symbol. `withUnit: false` leaves the symbol out,
/// for a view that shows it in another size; ``RunUnits`` has the symbols.
public struct RunFormat: Hashable, Sendable {
  /// The text for a value that is not known: an en dash.
  public static let missing = "–"
  /// A kilocalorie of 4184 J, which people call a calorie.
  public static let joulesPerKilocalorie = 4184.0

  /// Determines digits and separators.
  public var locale: Locale
  /// Kilometres or miles.
  public var units: RunUnits

  /// A format.
  ///
  /// - Parameters:
  ///   - locale: Determines digits and separators.
  ///   - units: Kilometres or miles; `nil` for those of the locale.
  public init(locale: Locale = .current, units: RunUnits? = nil) {
    self.locale = locale
    self.units = units ?? RunUnits(locale)
  }

  /// A distance cut to two decimals: `5.21 km`, `3.24 mi`.
  public func distance(_ meters: Double?, withUnit: Bool = true) -> String {
    let shown = meters.map { (units.distance(fromMeters: $0) * 100).cut / 100 }
    return text(shown, decimals: 2, withUnit ? units.distanceSymbol : nil)
  }

  /// A height or climb in whole metres or feet: `12 m`, `39 ft`.
  public func height(_ meters: Double?, withUnit: Bool = true) -> String {
    text(meters.map(units.height(fromMeters:)), decimals: 0, withUnit ? units.heightSymbol : nil)
  }

  /// A pace, cut to whole seconds as a stopwatch shows them: `5:41 /km`, `9:08 /mi`.
  ///
  /// - Parameters:
  ///   - secondsPerKilometer: The pace; one above an hour per kilometre means standing still and is written as
  ///     ``missing``.
  ///   - withUnit: Whether the symbol of the unit follows.
  public func pace(_ secondsPerKilometer: Double?, withUnit: Bool = true) -> String {
    guard let pace = secondsPerKilometer, pace >= 0, pace < 3600 else { return Self.missing }
    let clock = duration(BusDuration(seconds: units.pace(fromSecondsPerKilometer: pace).cut))
    return withUnit ? "\(clock) \(units.paceSymbol)" : clock
  }

  /// A duration, cut to whole seconds as a stopwatch shows them: `3:05`, or `1:02:03` from an hour on. A
  /// negative one is written as zero.
  public func duration(_ span: BusDuration?) -> String {
    guard let span else { return Self.missing }
    let seconds = Int64(max(0, span.seconds.cut))
    // A screen on a terminal writes dozens of them each second, always in this locale: the library took a fifth of its time.
    if locale.identifier == "en_US_POSIX", seconds < 1000 * 3600 { return Self.plain(seconds) }
    let pattern: Duration.TimeFormatStyle.Pattern =
      seconds < 3600 ? .minuteSecond(padMinuteToLength: 1) : .hourMinuteSecond(padHourToLength: 1)
    return Duration.seconds(seconds).formatted(Duration.TimeFormatStyle(pattern: pattern, locale: locale))
  }

  private static func plain(_ seconds: Int64) -> String {
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
    let clock = "\(minutes):\(rest < 10 ? "0" : "")\(rest)"
    return hours == 0 ? clock : "\(hours):\(minutes < 10 ? "0" : "")\(clock)"
  }

  /// An energy in whole kilocalories, whatever the units: `523 kcal`.
  public func energy(_ joules: Double?, withUnit: Bool = true) -> String {
    text(joules.map { $0 / Self.joulesPerKilocalorie }, decimals: 0, withUnit ? "kcal" : nil)
  }

  /// Numbers from here on mean nothing for a run; their digits would fill a screen.
  private static let numberLimit = 1e12

  private func text(_ value: Double?, decimals: Int, _ symbol: String?) -> String {
    guard let value, abs(value) < Self.numberLimit else { return Self.missing }
    // Rounded here and not by the style, which rounds halves to even. The sum with zero has no sign.
    let scale: Double = decimals == 0 ? 1 : 100
    let rounded = (value * scale).rounded() / scale + 0
    let number = rounded.formatted(
      FloatingPointFormatStyle<Double>(locale: locale).precision(.fractionLength(decimals)))
    return symbol.map { "\(number) \($0)" } ?? number
  }
}
