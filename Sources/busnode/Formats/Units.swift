public import ArgumentParser
import Foundation
public import RunBus

/// The units in which people read a run, as the option `--units` takes them.
typealias Units = RunUnits

extension RunUnits: ExpressibleByArgument {}

// Digits and separators of what busnode prints are the same in every locale, because scripts read them: POSIX's.
extension RunUnits {
  private static let posix = Locale(identifier: "en_US_POSIX")
  private static let formats = [
    RunUnits.metric: RunFormat(locale: posix, units: .metric),
    RunUnits.imperial: RunFormat(locale: posix, units: .imperial),
  ]

  /// Writes numbers in these units, the same in every locale.
  var format: RunFormat { Self.formats[self] ?? RunFormat(locale: Self.posix, units: self) }

  /// `5.21 km`.
  func distanceText(_ meters: Double) -> String { format.distance(meters) }
  /// `5.21`, for a column whose heading has the unit.
  func distanceDigits(_ meters: Double) -> String { format.distance(meters, withUnit: false) }
  /// `12 m`.
  func heightText(_ meters: Double) -> String { format.height(meters) }
  /// `5:41 /km`, cut to whole seconds; `--:-- /km` above an hour per kilometre, which means standing still.
  func paceText(_ secondsPerKilometer: Double) -> String {
    secondsPerKilometer < 3600 ? format.pace(max(0, secondsPerKilometer)) : "--:-- \(paceSymbol)"
  }
  /// `523 kcal`, whatever the units.
  static func energyText(_ joules: Double) -> String { metric.format.energy(joules) }
}
