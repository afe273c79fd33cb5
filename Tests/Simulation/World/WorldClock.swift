import RunCore

/// A node's monotonic clock, with an origin and a drift of its own.
struct WorldClock {
  /// Its reading when the world began.
  var origin = BusDuration.zero
  /// Drift in parts per million; positive is fast.
  var drift: Int64 = 0

  func reading(at now: BusTime) -> BusTime {
    let (millions, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return BusTime(nanoseconds: now.nanoseconds + millions * drift + rest * drift / 1_000_000) + origin
  }

  /// The first moment of the world at which the clock shows a reading.
  func moment(of reading: BusTime) -> BusTime {
    let shown = (reading - origin).nanoseconds
    var moment = BusTime(nanoseconds: shown - shown / 1_000_000 * drift)
    while self.reading(at: moment) < reading {
      moment.nanoseconds += (reading - self.reading(at: moment)).nanoseconds
    }
    return moment
  }
}
