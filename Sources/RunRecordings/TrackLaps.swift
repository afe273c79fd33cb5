import RunCore

/// Laps whose figures say more than their trackpoints.
extension RecordedTrack {
  /// Readings are made up to this far apart for a lap, in nanoseconds: a pedometer that is silent for longer than 30 s
  /// counts as absent.
  private static let lapStep: Int64 = 10_000_000_000
  /// Readings that are made for the laps of one file: 270 hours of them, so that a small file cannot fill the memory.
  static let standInsMax = 100_000
  /// A longer lap is a wrong number: a day.
  private static let lapSecondsMax = 86400.0

  /// Completes a lap that ends here, whose points are the last ones.
  ///
  /// - A lap without trackpoints gets readings of a pedometer that count evenly over its time.
  /// - A lap whose trackpoints have neither positions nor distances gets its own distance, spread evenly over them.
  /// - A lap whose positions begin late gets readings of a pedometer up to the first one, for the rest of its distance.
  /// - A lap that repeats the track from its beginning loses the repeated points.
  mutating func finish(_ lap: inout TrackLap, line: Int) {
    guard let first = lap.firstPoint, first <= points.count, damageBefore.isEmpty else { return }
    if first == points.count {
      if lap.figures.timerSeconds ?? 0 > 0 || lap.figures.distanceMeters ?? 0 > 0 {
        notes.add(standIn(for: lap, line: line) ? .lapWithoutPoints : .lapLeftOut, line: line)
      }
      return
    }
    leaveOutRepetition(&lap, from: first, line: line)
    if let meters = lap.figures.distanceMeters, meters > 0, first < points.count,
      points[first...].allSatisfy({ $0.position == nil && $0.pedometerMeters == nil })
    {
      spread(meters, from: first, timerSeconds: lap.figures.timerSeconds)
      notes.add(.lapDistance, line: line)
    } else if standInForBegin(of: lap, line: line) {
      notes.add(.lapBegin, line: line)
    }
  }

  /// The last distance of the points before an index. Looks at each point once over all laps.
  private mutating func meters(before end: Int) -> Double {
    while meteredTo < end {
      metersSoFar = points[meteredTo].pedometerMeters ?? metersSoFar
      meteredTo += 1
    }
    return metersSoFar
  }

  private mutating func standIn(for lap: TrackLap, line: Int) -> Bool {
    guard let start = lap.time, let seconds = lap.figures.timerSeconds, let meters = lap.figures.distanceMeters,
      seconds <= Self.lapSecondsMax, meters > 0
    else { return false }
    let length = Int64(seconds * 1e9)
    guard let added = readings(of: meters, from: start, length: length, at: points.count, line: line) else {
      return false
    }
    points += added
    return true
  }

  /// Adds the way before the first position of a lap, of which the lap's distance alone tells. No position may lie
  /// before it, because a line is drawn from there, and the timer must have run over the whole lap.
  private mutating func standInForBegin(of lap: TrackLap, line: Int) -> Bool {
    guard let first = lap.firstPoint, first < points.count, !lap.repeatsTrack, let start = lap.time,
      let seconds = lap.figures.timerSeconds, let meters = lap.figures.distanceMeters, seconds <= Self.lapSecondsMax,
      first == 0 || points[first - 1].isOfLap && points[first - 1].time <= start
    else { return false }
    let length = points[first].time - start
    guard length >= Self.holeMin, Int64(seconds * 1e9) >= points[points.count - 1].time - start - Self.roomSlack,
      points[first...].allSatisfy({ $0.pedometerMeters == nil })
    else { return false }
    let rest = points.indices[first...].dropFirst().reduce(meters) { $0 - (metersForward(before: $1) ?? 0) }
    // Less is the noise of positions, and more is no running.
    guard rest >= Self.restMetersMin, rest <= MetricsSettings().stepSpeedMax * Double(length) / 1e9,
      let added = readings(of: rest, from: start, length: length, at: first, line: line)
    else { return false }
    points.insert(contentsOf: added, at: first)
    breaksBefore = Set(breaksBefore.map { $0 >= first ? $0 + added.count : $0 })
    return true
  }
  private static let restMetersMin = 5.0

  /// Readings of a pedometer that count evenly over a time; `nil` when they are too many. They belong before the point
  /// at an index.
  private mutating func readings(
    of meters: Double, from start: Int64, length: Int64, at index: Int, line: Int
  ) -> [Trackpoint]? {
    guard length > 0, length / Self.lapStep < standInsLeft else { return nil }
    standInsLeft -= Int(length / Self.lapStep)
    let before = self.meters(before: index)
    var readings: [Trackpoint] = []
    var passed: Int64 = 0
    while true {
      var point = Trackpoint(time: start + passed, line: line)
      point.pedometerMeters = before + meters * Double(passed) / Double(length)
      point.isOfLap = true
      readings.append(point)
      guard passed < length else { return readings }
      passed = min(passed + Self.lapStep, length)
    }
  }

  /// Gives the points from an index on the distance of their lap, by the time that the timer ran.
  private mutating func spread(_ lapMeters: Double, from first: Int, timerSeconds: Double?) {
    let before = self.meters(before: first)
    let length = Double(points[points.count - 1].time - points[first].time) / 1e9
    // Without a stop, silences between points are part of the run.
    let isWhole = timerSeconds.map { $0 >= length - Double(Self.roomSlack) / 1e9 } ?? true
    func counts(_ step: Int64) -> Bool { step > 0 && (isWhole || step < Self.holeMin) }
    var total: Int64 = 0
    for index in points.indices[first...].dropFirst() {
      let step = points[index].time - points[index - 1].time
      if counts(step) { total += step }
    }
    guard total > 0 else { return }
    let own = Array(points[first...])
    points.removeLast(own.count)
    var passed: Int64 = 0
    var places: [Int] = []
    for (index, point) in own.enumerated() {
      let step = index == 0 ? 0 : point.time - own[index - 1].time
      if counts(step) {
        // More readings in a silence, so that the pedometer does not count as absent.
        var added = Self.lapStep
        while step > Self.holeMin - Self.lapStep, added < step, standInsLeft > 0 {
          standInsLeft -= 1
          var between = Trackpoint(time: own[index - 1].time + added, line: point.line)
          between.pedometerMeters = before + lapMeters * Double(passed + added) / Double(total)
          between.isOfLap = true
          points.append(between)
          added += Self.lapStep
        }
        passed += step
      }
      var point = point
      point.pedometerMeters = before + lapMeters * Double(passed) / Double(total)
      places.append(points.count)
      points.append(point)
    }
    if points.count > first + own.count {
      moveMarks { $0 >= first && $0 - first < places.count ? places[$0 - first] : $0 }
    }
  }

  private mutating func leaveOutRepetition(_ lap: inout TrackLap, from first: Int, line: Int) {
    let common = min(first, points.count - first)
    guard common >= 2 else { return }
    for index in 0..<common {
      let (point, again) = (points[index], points[first + index])
      guard point.time == again.time, point.position == again.position else { return }
    }
    points.removeSubrange(first..<first + common)
    breaksBefore = breaksBefore.filter { $0 < first }
    lap.repeatsTrack = true
    notes.add(.repeatedLap, line: line)
  }

  /// Leaves out the points that stand for a lap where trackpoints show that its time is wrong.
  mutating func dropContradictedLaps() {
    guard points.contains(where: \.isOfLap) else { return }
    let real = points.filter { !$0.isOfLap }.map(\.time).sorted()
    var kept: [Int] = []
    var index = 0
    while index < points.count {
      guard points[index].isOfLap else {
        kept.append(index)
        index += 1
        continue
      }
      var end = index
      while end + 1 < points.count, points[end + 1].isOfLap, points[end + 1].line == points[index].line { end += 1 }
      // The first recorded point after the begin of the lap.
      var (low, high) = (0, real.count)
      while low < high {
        let middle = (low + high) / 2
        if real[middle] <= points[index].time { low = middle + 1 } else { high = middle }
      }
      if low == real.count || real[low] >= points[end].time { kept += index...end }
      index = end + 1
    }
    keep(kept, else: nil)
  }
}
