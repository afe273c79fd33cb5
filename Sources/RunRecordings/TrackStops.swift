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

  /// The timer stops, each from the last point before it to the first point after it; adjacent stops are joined.
  ///
  /// - Parameter timerSeconds: How long the timer ran according to the file; `nil` when it does not say.
  func timerStops(timerSeconds: Double?) -> [ClosedRange<Int>] {
    let marked = markedSteps(timerSeconds: timerSeconds)
    var isStop = marked
    var room = Int64.max
    if let timerSeconds, let first = points.first, let last = points.last {
      let stopped = marked.reduce(0) { $0 + points[$1].time - points[$1 - 1].time }
      room = last.time - first.time - stopped - Int64(timerSeconds * 1e9) + Self.roomSlack
    }
    // A new segment that is no stop is a hole like any other where the timer does not say so.
    let holes = holes(besides: marked.union(timerSeconds == nil ? [] : breaksBefore))
    let usual = timerSeconds == nil && !holes.isEmpty ? usualSpeed(holes: Set(holes)) : nil
    for index in holes {
      if timerSeconds == nil, isMoving(before: index, usual: usual) { continue }
      let length = points[index].time - points[index - 1].time
      guard length <= room else { continue }
      room -= length
      isStop.insert(index)
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

  /// The points before which the timer was stopped by rules 1 and 2 of ``RecordedTrack``.
  ///
  /// A new segment or track is no stop where the timer ran on, so of those the longest count that fit into the time in
  /// which it did not.
  private func markedSteps(timerSeconds: Double?) -> Set<Int> {
    let firstReading = points.firstIndex { !$0.isBlank } ?? points.count
    let lastReading = points.lastIndex { !$0.isBlank } ?? 0
    var steps: Set<Int> = []
    for index in points.indices.dropFirst() where points[index].time > points[index - 1].time {
      let isBlank = points[index].isBlank && points[index - 1].isBlank && firstReading < index && index < lastReading
      if breaksBefore.contains(index) || isBlank { steps.insert(index) }
    }
    guard let timerSeconds, let first = points.first, let last = points.last else { return steps }
    func length(_ index: Int) -> Int64 { points[index].time - points[index - 1].time }
    let breaks = steps.filter { breaksBefore.contains($0) }
    // Each stop may be off by the second to which times are rounded.
    var room = last.time - first.time - Int64(timerSeconds * 1e9) + Self.roomSlack + Int64(breaks.count) * 1_000_000_000
    for index in breaks.sorted(by: { (-length($0), $0) < (-length($1), $1) }) {
      if length(index) <= room { room -= length(index) } else { steps.remove(index) }
    }
    return steps
  }

  /// The points before which there is a gap by rule 3, longest gap first.
  private func holes(besides marked: Set<Int>) -> [Int] {
    var steps: [Int64] = []
    for (point, next) in zip(points, points.dropFirst()) where next.time > point.time {
      steps.append(next.time - point.time)
    }
    steps.sort()
    let usual = steps.isEmpty ? 0 : steps[(steps.count - 1) / 2]
    let hole = max(Self.holeMin, Self.holeStepsMin * usual)
    func length(_ index: Int) -> Int64 { points[index].time - points[index - 1].time }
    return points.indices.dropFirst()
      .filter { length($0) >= hole && !damageBefore.contains($0) && !marked.contains($0) }
      .sorted { (-length($0), $0) < (-length($1), $1) }
  }

  /// The mean speed outside of gaps, in metres per second; `nil` without positions and distances.
  private func usualSpeed(holes: Set<Int>) -> Double? {
    var (meters, seconds) = (0.0, 0.0)
    for index in points.indices.dropFirst() where !holes.contains(index) && !breaksBefore.contains(index) {
      guard let step = metersForward(before: index) else { continue }
      meters += step
      seconds += Double(points[index].time - points[index - 1].time) / 1e9
    }
    return meters > 0 && seconds > 0 ? meters / seconds : nil
  }

  private func isMoving(before index: Int, usual: Double?) -> Bool {
    guard let usual, let meters = metersForward(before: index) else { return false }
    return meters / (Double(points[index].time - points[index - 1].time) / 1e9) >= Self.movingShareMin * usual
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
