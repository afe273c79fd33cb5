/// The fastest and the slowest completed minute.
///
/// Minutes of active time follow each other along a stretch whose distance is known throughout. A pause or an
/// unmeasured stretch begins a new minute. A minute slower than ``MetricsSettings/paceSpeedMin`` counts as standing,
/// not as a slow minute.
struct PaceExtremes: Hashable, Sendable {
  /// Seconds per kilometre; `nil` before the first completed minute.
  private(set) var best: Double?
  /// Seconds per kilometre; `nil` before the first completed minute.
  private(set) var worst: Double?

  private static let window = 60.0
  /// What the open minute has so far, and its end.
  private var seconds = 0.0
  private var meters = 0.0
  private var end: BusTime?

  /// Receives an increment of the distance.
  mutating func fold(_ increment: DistanceIncrement, settings: MetricsSettings) {
    if end != increment.start { (seconds, meters) = (0, 0) }
    end = increment.end
    let span = (increment.end - increment.start).seconds
    guard span > 0 else { return }
    let speed = increment.meters / span
    var rest = span
    while seconds + rest >= Self.window {
      let part = Self.window - seconds
      close(meters + speed * part, settings: settings)
      rest -= part
      (seconds, meters) = (0, 0)
      // All further minutes of an increment have the same pace, so one of them is enough.
      if rest >= Self.window { rest = rest.truncatingRemainder(dividingBy: Self.window) }
    }
    seconds += rest
    meters += speed * rest
  }

  private mutating func close(_ meters: Double, settings: MetricsSettings) {
    guard meters > 0, meters >= settings.paceSpeedMin * Self.window else { return }
    let pace = Self.window / meters * 1000
    best = min(best ?? pace, pace)
    worst = max(worst ?? pace, pace)
  }
}
