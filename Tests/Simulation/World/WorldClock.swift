import RunCore

/// A node's monotonic clock: it has an origin of its own, and is a little fast or slow.
struct WorldClock {
  /// What it showed when the world began.
  var origin = BusDuration.zero
  /// How fast it is, in millionths.
  var drift: Int64 = 0

  func reading(at now: BusTime) -> BusTime {
    let (millions, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return BusTime(nanoseconds: now.nanoseconds + millions * drift + rest * drift / 1_000_000) + origin
  }

  /// The first moment of the world at which it shows a reading.
  func moment(of reading: BusTime) -> BusTime {
    let shown = (reading - origin).nanoseconds
    var moment = BusTime(nanoseconds: shown - shown / 1_000_000 * drift)
    while self.reading(at: moment) < reading {
      moment.nanoseconds += (reading - self.reading(at: moment)).nanoseconds
    }
    return moment
  }
}
