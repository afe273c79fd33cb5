import RunBus
import RunScripts

/// A point of the route as text.
enum RoutePointText {
  /// `   12    0:13  48.137154  11.576124  519.3 m  0.04 km  counted`, in columns of fixed width.
  static func line(_ index: Int, _ point: RoutePoint, in units: Units) -> String {
    let cells = [
      padded("\(index)", 6), padded(DurationText.clock(point.offset), 8), padded(degrees(point.position.latitude), 11),
      padded(degrees(point.position.longitude), 11), padded(height(point, in: units), 9),
      padded(point.distanceMeters.map(units.distanceText) ?? SplitText.missing, 9), words(point.verdict),
    ]
    return cells.joined(separator: "  ")
  }

  private static func height(_ point: RoutePoint, in units: Units) -> String {
    guard let meters = point.altitudeMeters else { return SplitText.missing }
    return "\(Sentence.fixed(units.height(fromMeters: meters), 1)) \(units.heightSymbol)"
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Degrees with six decimals, which is about a tenth of a metre.
  static func degrees(_ value: Double) -> String {
    guard let scaled = Int64(exactly: (value * 1e6).rounded()) else { return "\(value)" }
    let digits = String(scaled.magnitude % 1_000_000)
    return (scaled < 0 ? "-" : "") + "\(scaled.magnitude / 1_000_000)."
      + String(repeating: "0", count: 6 - digits.count) + digits
  }

  /// Whether the point counts for the distance, and if not, why.
  static func words(_ verdict: FixVerdict) -> String {
    switch verdict {
    case .counted: Tongue.say(.fixCounted)
    case .anchored: Tongue.say(.fixAnchored)
    case .notRunning: Tongue.say(.fixPaused)
    case .autoPaused: Tongue.say(.fixAutoPaused)
    case .invalid: Tongue.say(.fixInvalid)
    case .inaccurate: Tongue.say(.fixInaccurate)
    case .stationary: Tongue.say(.fixStationary)
    case .impossibleSpeed: Tongue.say(.fixTooFast)
    case .repeated: Tongue.say(.fixRepeated)
    case .otherReceiver: Tongue.say(.fixOtherReceiver)
    case .unknown: Tongue.say(.fixUnknown)
    }
  }
}
