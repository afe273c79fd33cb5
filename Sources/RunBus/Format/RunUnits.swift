public import Foundation
public import RunCore

/// The units in which a person reads a run. Code, wire and JSON use SI units; text is converted with ``RunFormat``.
public enum RunUnits: String, Hashable, Sendable, Codable, CaseIterable {
  /// Kilometres and metres.
  case metric
  /// Miles and feet.
  case imperial

  /// The units of a locale: miles in the United States, its territories and the United Kingdom, kilometres elsewhere.
  public init(_ locale: Locale) { self = locale.measurementSystem == .metric ? .metric : .imperial }

  /// The length of the splits, and the unit of long distances.
  public var splitUnit: SplitUnit {
    switch self {
    case .metric: .kilometer
    case .imperial: .mile
    }
  }

  /// The symbol of long distances: `km` or `mi`.
  public var distanceSymbol: String {
    switch self {
    case .metric: "km"
    case .imperial: "mi"
    }
  }

  /// The symbol of heights: `m` or `ft`.
  public var heightSymbol: String {
    switch self {
    case .metric: "m"
    case .imperial: "ft"
    }
  }

  /// The symbol of paces: `/km` or `/mi`.
  public var paceSymbol: String { "/\(distanceSymbol)" }

  /// Kilometres or miles.
  public func distance(fromMeters meters: Double) -> Double { meters / splitUnit.meters }

  /// Metres or feet. The foot is the international one of 1959; a mile is 5,280 of them.
  public func height(fromMeters meters: Double) -> Double {
    switch self {
    case .metric: meters
    case .imperial: meters / 0.3048
    }
  }

  /// Seconds per kilometre or mile.
  public func pace(fromSecondsPerKilometer pace: Double) -> Double {
    pace * splitUnit.meters / SplitUnit.kilometer.meters
  }
}
