import RunCore

extension RecordedTrack {
  /// A recording that spans more than this (seven days) has a wrong time stamp.
  static let durationMax: Int64 = 7 * 86400 * 1_000_000_000
  /// A point that is more than this (a day) away from all others has a wrong time stamp.
  static let farMin: Int64 = 86400 * 1_000_000_000
  /// A file in which more than one of this many points goes back in time is refused, unless it can be put in order.
  static let wrongShareMin = 10
  /// Points whose time is far from most others are left out, up to one of this many.
  static let farShareMin = 4
  /// Points that go back in time are put in order if they come at most this late (ten minutes), and at most a tenth of
  /// the run: readings of a belt are written in batches.
  static let lateMax: Int64 = 600 * 1_000_000_000
  /// A track that begins more than this (an hour) after the end of the track before it is another run.
  static let trackGapMax: Int64 = 3600 * 1_000_000_000

  /// Keeps the points of one run, in order of time.
  ///
  /// The smallest set of points is removed after which time never goes back. So one wrong time stamp costs one point,
  /// wherever it is.
  ///
  /// - Throws: The reason when the remaining points are too few or too strange to replay.
  mutating func putInOrder() throws(RecordingFlaw) {
    dropStrangeTimes()
    dropContradictedLaps()
    sortWhatIsLate()
    let all = points.count
    let inOrder = Self.longestRise(points.map(\.time))
    keep(inOrder, else: .outOfOrder)
    let skipped = all - points.count
    guard skipped == 0 || Self.areFew(skipped, of: all) else {
      throw RecordingFlaw(
        "\(skipped) of its \(all) trackpoints go back in time, as in tracks or laps in a wrong order; export it again"
      )
    }
    dropFarPoints()
    guard let first = points.first, let last = points.last, first.time < last.time else {
      throw RecordingFlaw(
        "it holds no two trackpoints at different times, so there is no run in it; export the recorded activity")
    }
    guard last.time - first.time <= Self.durationMax else {
      throw RecordingFlaw("it spans more than seven days: correct the wrong dates in it, or export it again")
    }
    guard points.contains(where: { !$0.isBlank }) else {
      throw RecordingFlaw("its trackpoints contain only times: no position, distance, heart rate or cadence")
    }
  }

  /// Removes a few points whose time is more than a week from the median, as with a wrong year or month.
  private mutating func dropStrangeTimes() {
    let times = points.map(\.time).sorted()
    guard !times.isEmpty else { return }
    let middle = times[times.count / 2]
    let near = points.indices.filter { abs(points[$0].time - middle) <= Self.durationMax }
    if Self.areFew(points.count - near.count, of: points.count, share: Self.farShareMin) { keep(near, else: .farTime) }
  }

  /// Puts points in order that come late: all of them when time goes back often, otherwise only readings that belong
  /// to the position before them. A single point that goes back in time and has a position of its own has a wrong time.
  private mutating func sortWhatIsLate() {
    guard let first = points.first else { return }
    var (latest, earliest, late, lines) = (first.time, first.time, 0, (count: 0, first: 0))
    var times: Set<Int64> = []
    for point in points {
      late = max(late, Int(latest - point.time))
      if point.time < latest {
        lines = (lines.count + 1, lines.count == 0 ? point.line : lines.first)
      }
      latest = max(latest, point.time)
      earliest = min(earliest, point.time)
    }
    guard lines.count > 0, Int64(late) <= min(Self.lateMax, (latest - earliest) / 10) else { return }
    if Self.areFew(lines.count, of: points.count) {
      times.reserveCapacity(points.count)
      latest = first.time
      for point in points where point.time >= latest {
        times.insert(point.time)
        latest = point.time
      }
      latest = first.time
      for (index, point) in points.enumerated() {
        let isNew = point.position == nil || point.position == points[max(0, index - 1)].position
        guard point.time >= latest || isNew && !times.contains(point.time) else { return }
        latest = max(latest, point.time)
      }
    }
    let order = points.indices.sorted { (points[$0].time, $0) < (points[$1].time, $1) }
    notes.add(.sorted, line: lines.first, count: lines.count)
    var places = [Int](repeating: points.count, count: points.count + 1)
    for (place, index) in order.enumerated() { places[index] = place }
    // A mark goes before the first of the points up to the next mark.
    var marks = breaksBefore.union(damageBefore)
    for lap in laps + tracks { if let first = lap.firstPoint { marks.insert(first) } }
    let sorted = marks.filter { $0 < points.count }.sorted()
    for (mark, end) in zip(sorted, sorted.dropFirst() + [points.count]) {
      places[mark] = places[mark..<end].min() ?? places[mark]
    }
    points = order.map { points[$0] }
    moveMarks { places[min($0, places.count - 1)] }
  }

  /// Removes a few points whose time is more than a day before or after all others, as with a wrong day.
  private mutating func dropFarPoints() {
    var clusters: [Range<Int>] = []
    for index in points.indices {
      if let last = clusters.last, points[index].time - points[index - 1].time <= Self.farMin {
        clusters[clusters.count - 1] = last.lowerBound..<index + 1
      } else {
        clusters.append(index..<index + 1)
      }
    }
    guard clusters.count > 1, let main = clusters.max(by: { $0.count < $1.count }), main.count > 2 else { return }
    let others = points.count - main.count
    if Self.areFew(others, of: points.count, share: Self.farShareMin) { keep(Array(main), else: .farTime) }
  }

  /// Whether so few points are wrong that the rest can be used. A single one is accepted in a file of any length.
  private static func areFew(_ count: Int, of all: Int, share: Int = wrongShareMin) -> Bool {
    all - count >= 2 && (count <= 1 || count * share <= all)
  }

  /// The indices of the longest subsequence that never falls (patience sorting).
  static func longestRise(_ values: [Int64]) -> [Int] {
    guard zip(values, values.dropFirst()).contains(where: { $0 > $1 }) else { return Array(values.indices) }
    // tails[n] is the index of the lowest value at which a subsequence of n + 1 values ends.
    var tails: [Int] = []
    var before = [Int](repeating: -1, count: values.count)
    for (index, value) in values.enumerated() {
      var (low, high) = (0, tails.count)
      while low < high {
        let middle = (low + high) / 2
        if values[tails[middle]] <= value { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[index] = tails[low - 1] }
      if low < tails.count { tails[low] = index } else { tails.append(index) }
    }
    var result: [Int] = []
    var index = tails.last ?? -1
    while index >= 0 {
      result.append(index)
      index = before[index]
    }
    return result.reversed()
  }
}

extension RecordedTrack {
  /// A median cadence above this is in steps of both feet. As strides of one foot it would mean more than 210 steps per
  /// minute over half of a run, which no runner keeps up.
  static let stridesMax = 105.0
  private static let stepsMax = 300.0
  /// Fewer steps a minute than this are no walk: the number is one of strides.
  private static let walkingStepsMin = 60.0
  /// Steps are longer than this, metres. Walkers make steps of 0.5 m (slow) to 0.9 m (brisk), joggers longer ones than
  /// 0.55 m.
  private static let stepMetersMin = 0.48

  /// Turns the recorded cadence into steps of both feet. Most devices record strides of one foot, some exports record
  /// steps. The median of the values above zero decides, and for a slow cadence the length of a step: where strides
  /// would mean steps that no person makes, the file counts steps.
  ///
  /// - Returns: How many steps one unit of the recorded cadence is, 1 or 2.
  mutating func countSteps() -> Double {
    var values = points.compactMap(\.cadence).filter { $0 > 0 }
    if values.isEmpty { values = laps.compactMap(\.cadence).filter { $0 > 0 } }
    values.sort()
    let median = values.isEmpty ? 0 : values[(values.count - 1) / 2]
    let isTooShort = median >= Self.walkingStepsMin && (metersPerStride.map { $0 / 2 < Self.stepMetersMin } ?? false)
    let steps = median > Self.stridesMax || isTooShort ? 1.0 : 2.0
    for (index, point) in points.enumerated() {
      guard let cadence = point.cadence else { continue }
      points[index].cadence = cadence * steps <= Self.stepsMax ? cadence * steps : nil
      if points[index].cadence == nil { notes.add(.badNumber, line: point.line) }
    }
    return steps
  }

  /// The metres for one unit of the recorded cadence, over all steps between points that have a cadence and a distance;
  /// `nil` when there are none. A silence and a stop of the timer do not count.
  private var metersPerStride: Double? {
    var (meters, strides) = (0.0, 0.0)
    for index in points.indices.dropFirst() where !breaksBefore.contains(index) {
      let step = points[index].time - points[index - 1].time
      guard let cadence = points[index].cadence, cadence > 0, step > 0, step < Self.holeMin,
        let way = metersForward(before: index)
      else { continue }
      meters += way
      strides += cadence * Double(step) / 60e9
    }
    return meters > 0 && strides > 0 ? meters / strides : nil
  }

  /// Where the format does not define the distance of a trackpoint (GPX), keeps distances only if they rise over the
  /// run. Distances per step or per lap cannot be used.
  mutating func checkPedometer() {
    guard !pedometerIsTotal else { return }
    let metered = points.indices.filter { points[$0].pedometerMeters != nil }
    let values = metered.compactMap { points[$0].pedometerMeters }
    let falls = zip(values, values.dropFirst()).count { $1 < $0 }
    guard let first = values.first, let last = values.last, let line = metered.first.map({ points[$0].line }) else {
      return
    }
    if falls * 100 > values.count || (first >= last && values.count > 1) {
      notes.add(.notCumulative, line: line, count: metered.count)
      for index in metered { points[index].pedometerMeters = nil }
    }
  }
}
