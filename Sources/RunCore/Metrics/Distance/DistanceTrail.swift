/// The final distance over time, made of a run's decided increments.
///
/// The distance shown during the run lags behind it, because positions and pedometer are compared piece by piece.
struct DistanceTrail {
  private let increments: [DistanceIncrement]
  private var next = 0
  private var metersBefore = 0.0

  /// A trail of increments, which must be in order.
  init(_ increments: [DistanceIncrement]) { self.increments = increments }

  /// The metres covered up to a moment, interpolated within an increment. Successive calls must not go back in time.
  mutating func meters(at time: BusTime) -> Double {
    while next < increments.count, increments[next].end <= time {
      metersBefore += increments[next].meters
      next += 1
    }
    guard next < increments.count, increments[next].start < time else { return metersBefore }
    let increment = increments[next]
    let share = (time - increment.start).seconds / (increment.end - increment.start).seconds
    return metersBefore + increment.meters * share
  }
}
