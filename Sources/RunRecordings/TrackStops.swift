import RunCore

extension RecordedTrack {
  /// The smallest gap of rule 3, in nanoseconds.
  static let holeMin: Int64 = 30_000_000_000
  /// The smallest gap of rule 3, in usual steps of the file.
  static let holeStepsMin: Int64 = 10
  /// The timer may start or stop some seconds before or after the first and the last point.
  static let roomSlack: Int64 = 5_000_000_000
  /// Below this share of the usual speed the runner stood.
  static let movingShareMin = 0.5

  /// The smallest gap of rule 4, in nanoseconds.
  private static let shortHoleMin: Int64 = 5_000_000_000
  /// The smallest gap of rule 4, in usual steps of the file.
  private static let shortHoleStepsMin: Int64 = 2
  /// The timer's stops, and the points before and after them, are rounded to seconds.
  private static let shortHoleSlack: Int64 = 2_000_000_000

  /// The timer stops, each from the last point before it to the first point after it; adjacent stops are joined.
  ///
  /// - Parameter timerSeconds: How long the timer ran according to the file; `nil` when it does not say.
  func timerStops(timerSeconds: Double?) -> [ClosedRange<Int>] {
    var room = timerSeconds.map { TimerRoom(self, timerSeconds: $0) }
    let marked = markedSteps(room)
    var isStop = marked
    for index in marked { room?.fill(step(before: index)) }
    // A new segment that is no stop is a hole like any other where the timer does not say so.
    let taken = marked.union(room == nil ? [] : breaksBefore)
    let holes = holes(besides: taken, min: Self.holeMin, steps: Self.holeStepsMin)
    if room == nil {
      let usual = holes.isEmpty ? nil : usualSpeed(besides: Set(holes), metersForward)
      isStop.formUnion(holes.filter { !isMoving(before: $0, usual: usual, metersForward) })
    } else {
      for index in holes where room?.holds(step(before: index), slack: Self.roomSlack) ?? false {
        room?.fill(step(before: index))
        isStop.insert(index)
      }
      let short = self.holes(besides: taken.union(isStop), min: Self.shortHoleMin, steps: Self.shortHoleStepsMin)
      let usual = short.isEmpty ? nil : usualSpeed(besides: Set(holes).union(short), metersTold)
      for index in short
      where room?.holds(step(before: index), slack: Self.shortHoleSlack) ?? false
        && !isMoving(before: index, usual: usual, metersTold)
      {
        room?.fill(step(before: index))
        isStop.insert(index)
      }
    }
    var stops: [ClosedRange<Int>] = []
    for index in isStop.sorted() {
      if let last = stops.last, points[last.upperBound].time == points[index - 1].time {
        stops[stops.count - 1] = last.lowerBound...index
      } else {
        stops.append(index - 1...index)
      }
    }
    return stops
  }

  private func step(before index: Int) -> Range<Int64> { points[index - 1].time..<points[index].time }

  /// The points before which the timer was stopped by rules 1 and 2 of ``RecordedTrack``.
  ///
  /// A new segment or track is no stop where the timer ran on, so of those the longest count that fit into the time in
  /// which it did not.
  private func markedSteps(_ room: TimerRoom?) -> Set<Int> {
    let firstReading = points.firstIndex { !$0.isBlank } ?? points.count
    let lastReading = points.lastIndex { !$0.isBlank } ?? 0
    var steps: Set<Int> = []
    for index in points.indices.dropFirst() where points[index].time > points[index - 1].time {
      let isBlank = points[index].isBlank && points[index - 1].isBlank && firstReading < index && index < lastReading
      if breaksBefore.contains(index) || isBlank { steps.insert(index) }
    }
    guard var room else { return steps }
    let breaks = steps.filter { breaksBefore.contains($0) }
    // Each stop may be off by the second to which times are rounded.
    for index in breaks { room.widen(by: 1_000_000_000, at: points[index - 1].time) }
    for index in longestFirst(breaks) {
      if room.holds(step(before: index), slack: Self.roomSlack) {
        room.fill(step(before: index))
      } else {
        steps.remove(index)
      }
    }
    return steps
  }

  private func longestFirst(_ steps: some Sequence<Int>) -> [Int] {
    func length(_ index: Int) -> Int64 { points[index].time - points[index - 1].time }
    return steps.sorted { (-length($0), $0) < (-length($1), $1) }
  }

  /// The points before which there is a gap of some nanoseconds, and of some usual steps, or more; longest gap first.
  private func holes(besides marked: Set<Int>, min: Int64, steps stepsMin: Int64) -> [Int] {
    var steps: [Int64] = []
    for (point, next) in zip(points, points.dropFirst()) where next.time > point.time {
      steps.append(next.time - point.time)
    }
    steps.sort()
    let usual = steps.isEmpty ? 0 : steps[(steps.count - 1) / 2]
    let hole = max(min, stepsMin * usual)
    return longestFirst(
      points.indices.dropFirst().filter {
        points[$0].time - points[$0 - 1].time >= hole && !damageBefore.contains($0) && !marked.contains($0)
      })
  }

  /// The mean speed outside of gaps, in metres per second, by a measure of the distance before a point; `nil` where it
  /// has none.
  private func usualSpeed(besides holes: Set<Int>, _ measure: (Int) -> Double?) -> Double? {
    var (meters, seconds) = (0.0, 0.0)
    for index in points.indices.dropFirst() where !holes.contains(index) && !breaksBefore.contains(index) {
      guard let step = measure(index) else { continue }
      meters += step
      seconds += Double(points[index].time - points[index - 1].time) / 1e9
    }
    return meters > 0 && seconds > 0 ? meters / seconds : nil
  }

  private func isMoving(before index: Int, usual: Double?, _ measure: (Int) -> Double?) -> Bool {
    guard let usual, let meters = measure(index) else { return false }
    return meters / (Double(points[index].time - points[index - 1].time) / 1e9) >= Self.movingShareMin * usual
  }

  /// The distance from the point before as the device counted it, which stands while its timer does; along the geodesic
  /// where the file has none.
  private func metersTold(before index: Int) -> Double? {
    if let from = points[index - 1].pedometerMeters, let to = points[index].pedometerMeters { return max(0, to - from) }
    return metersForward(before: index)
  }

  /// The distance from the point before: along the geodesic, or by the pedometer where a position is missing.
  func metersForward(before index: Int) -> Double? {
    let (from, to) = (points[index - 1], points[index])
    if let from = from.position, let to = to.position {
      return Geodesic.distanceMeters(
        fromLatitude: from.latitude, longitude: from.longitude, toLatitude: to.latitude, longitude: to.longitude)
    }
    if let from = from.pedometerMeters, let to = to.pedometerMeters { return max(0, to - from) }
    return nil
  }
}
