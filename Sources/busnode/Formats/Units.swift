import ArgumentParser
import RunBus
import RunRecordings

/// The units in which people read a run. Everything else (code, wire, JSON) uses SI units; text is converted here.
enum Units: String, Hashable, Sendable, CaseIterable, ExpressibleByArgument {
  /// Kilometres and metres.
  case metric
  /// Miles and feet.
  case imperial

  /// The international foot of 1959; a mile is 5,280 of them (``SplitUnit/mile``).
  static let metersPerFoot = 0.3048
  /// The kilocalorie, which people call a calorie.
  static let joulesPerKilocalorie = RecordedSummary.joulesPerKilocalorie

  /// The length of the splits.
  var splitUnit: SplitUnit {
    switch self {
    case .metric: .kilometer
    case .imperial: .mile
    }
  }
  /// The unit of long distances: `km`.
  var distanceName: String {
    switch self {
    case .metric: "km"
    case .imperial: "mi"
    }
  }
  /// The unit of heights and short lengths: `m`.
  var heightName: String {
    switch self {
    case .metric: "m"
    case .imperial: "ft"
    }
  }
  /// The unit of paces: `/km`.
  var paceName: String { "/\(distanceName)" }

  /// Kilometres or miles.
  func distance(fromMeters meters: Double) -> Double { meters / splitUnit.meters }
  /// Metres or feet.
  func height(fromMeters meters: Double) -> Double {
    switch self {
    case .metric: meters
    case .imperial: meters / Self.metersPerFoot
    }
  }
  /// Seconds per kilometre or mile.
  func pace(fromSecondsPerKilometer pace: Double) -> Double { pace * splitUnit.meters / SplitUnit.kilometer.meters }

  /// `5.21 km`.
  func distanceText(_ meters: Double) -> String {
    "\(Sentence.fixed(distance(fromMeters: meters), 2)) \(distanceName)"
  }
  /// `12 m`.
  func heightText(_ meters: Double) -> String {
    "\(Sentence.fixed(height(fromMeters: meters), 0)) \(heightName)"
  }
  /// `5:41 /km`, rounded down to whole seconds; `--:-- /km` above an hour per kilometre, which means standing still.
  func paceText(_ secondsPerKilometer: Double) -> String {
    guard secondsPerKilometer < 3600 else { return "--:-- \(paceName)" }
    return "\(Sentence.clock(pace(fromSecondsPerKilometer: secondsPerKilometer))) \(paceName)"
  }
  /// `523 kcal`, whatever the units.
  static func energyText(_ joules: Double) -> String { "\(Sentence.fixed(joules / joulesPerKilocalorie, 0)) kcal" }
}
