/// How many metres were covered by when, as it was decided in the end. While the run is on this can be told only with a
/// reading's delay, because positions and pedometer are weighed by the piece.
struct DistanceTrail {
  private let increments: [DistanceIncrement]
  private var next = 0
  private var metersBefore = 0.0

  /// Of increments in order.
  init(_ increments: [DistanceIncrement]) { self.increments = increments }

  /// The metres covered up to a moment, evenly within an increment; moments are asked for in order.
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
