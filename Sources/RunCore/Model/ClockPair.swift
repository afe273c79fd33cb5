/// The wall clock and the monotonic clock of a machine, read at one moment.
///
/// The pair maps a reading's date to the monotonic time line. It assumes that the wall clock has not been set since
/// the reading: a wall clock that was set forward by a minute meanwhile makes the reading a minute too old, one that
/// was set back makes it a minute too young, at most as young as the pair. The clocks do not say that it happened.
package struct ClockPair: Hashable, Sendable {
  /// The wall clock, in seconds since an origin of the caller's choice.
  package let wallSeconds: Double
  /// The monotonic clock.
  package let real: BusTime
  /// How far apart the two readings can be.
  package let uncertainty: BusDuration

  /// Dates that are further away than this (a hundred years) are no dates of readings, but marks such as "never".
  private static let awaySecondsMax = 100.0 * 365.25 * 86_400

  /// A pair from a reading of the wall clock between two readings of the monotonic clock.
  package init(before: BusTime, wallSeconds: Double, after: BusTime) {
    let span = max(.zero, after - before)
    let half = BusDuration(nanoseconds: span.nanoseconds / 2)
    self.wallSeconds = wallSeconds
    real = before + half
    uncertainty = span - half
  }

  /// The moment of a reading with this date on the monotonic time line. A date in the future counts as the pair's
  /// moment, because a reading cannot be younger than its arrival.
  ///
  /// - Parameter seconds: The date, in seconds since the origin of ``wallSeconds``.
  /// - Returns: `nil` for what is no date: no number, or more than a hundred years away.
  package func moment(ofReadingAt seconds: Double) -> BusTime? {
    let age = wallSeconds - seconds
    guard age.isFinite, abs(age) <= Self.awaySecondsMax else { return nil }
    return age > 0 ? real - BusDuration(seconds: age) : real
  }
}
