/// A mean weighted by time: a reading stands until the next one, at most for a hold time.
///
/// With smart recording readings lie 1 to 18 s apart, and their plain mean would favour what happened in lively
/// stretches. Time is the run's active time, so that nothing weighs in a pause.
struct HeldMean: Hashable, Sendable {
  /// Sums up to a moment. The mean over a part of the run is the difference of two.
  struct Totals: Hashable, Sendable {
    /// Value times seconds.
    var valueSeconds = 0.0
    /// The seconds in which a value stood.
    var seconds = 0.0

    /// The mean; `nil` when no value has stood for any time.
    var mean: Double? { seconds > 0 ? valueSeconds / seconds : nil }
    /// What came on top since an earlier reading.
    static func - (left: Self, right: Self) -> Self {
      Totals(valueSeconds: left.valueSeconds - right.valueSeconds, seconds: left.seconds - right.seconds)
    }
  }

  private var counted = Totals()
  private var standing: Standing?

  private struct Standing: Hashable {
    let value: Double
    /// The active time of the run when it was taken.
    let active: BusDuration
  }

  /// Takes a reading at a moment of active time; with `nil` none stands from there on.
  mutating func add(_ value: Double?, active: BusDuration, hold: BusDuration) {
    counted = totals(active: active, hold: hold)
    standing = value.map { Standing(value: $0, active: active) }
  }

  /// The sums up to a moment of active time.
  func totals(active: BusDuration, hold: BusDuration) -> Totals {
    guard let standing else { return counted }
    let seconds = min(max(.zero, active - standing.active), hold).seconds
    return Totals(
      valueSeconds: counted.valueSeconds + standing.value * seconds, seconds: counted.seconds + seconds)
  }
}
