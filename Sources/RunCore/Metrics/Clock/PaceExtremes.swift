/// The fastest and the slowest completed minute.
///
/// Minutes are of active time, one after the other along a stretch whose distance is known throughout; what is not
/// measured, and a pause, begin a new one. A minute below the floor of current pace is standing, not a slow minute.
struct PaceExtremes: Hashable, Sendable {
  /// Seconds per kilometre; `nil` before the first completed minute.
  private(set) var best: Double?
  /// Seconds per kilometre.
  private(set) var worst: Double?

  private static let window = 60.0
  /// Where the open minute began and what it has so far, seconds and metres.
  private var seconds = 0.0
  private var meters = 0.0
  private var end: BusTime?

  /// Takes some metres.
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
      // Minutes of one even stretch are all alike.
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
