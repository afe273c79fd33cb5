/// A mean weighted by time: each reading holds until the next one, but no longer than a hold time.
///
/// With smart recording readings are 1 to 18 s apart, and closer where they change quickly; a plain mean would
/// overweight those. Time is the run's active time, so that pauses have no weight.
struct HeldMean: Hashable, Sendable {
  /// Sums up to a moment. The difference of two totals gives the mean over the part of the run between them.
  struct Totals: Hashable, Sendable {
    /// Value times seconds.
    var valueSeconds = 0.0
    /// The seconds for which a value held.
    var seconds = 0.0

    /// The mean; `nil` when no value has held for any time.
    var mean: Double? { seconds > 0 ? valueSeconds / seconds : nil }
    /// The sums since an earlier moment.
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

  /// Receives a reading at an active time; `nil` ends the one before without a new one.
  mutating func add(_ value: Double?, active: BusDuration, hold: BusDuration) {
    counted = totals(active: active, hold: hold)
    standing = value.map { Standing(value: $0, active: active) }
  }

  /// The sums up to an active time.
  func totals(active: BusDuration, hold: BusDuration) -> Totals {
    guard let standing else { return counted }
    let seconds = min(max(.zero, active - standing.active), hold).seconds
    return Totals(
      valueSeconds: counted.valueSeconds + standing.value * seconds, seconds: counted.seconds + seconds)
  }
}
