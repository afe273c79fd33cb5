import RunCore

extension RecordedTrack {
  /// A recording that spans more than this (seven days) has a wrong time stamp.
  static let durationMax: Int64 = 7 * 86400 * 1_000_000_000
  /// A point that is more than this (a day) away from all others has a wrong time stamp.
  static let farMin: Int64 = 86400 * 1_000_000_000
  /// A file in which more than one of this many points has a wrong time is refused.
  static let wrongShareMin = 10
  /// A track that begins more than this (an hour) after the end of the track before it is another run.
  static let trackGapMax: Int64 = 3600 * 1_000_000_000

  /// Keeps the points of one run, in order of time.
  ///
  /// The smallest set of points is removed after which time never goes back. So one wrong time stamp costs one point,
  /// wherever it is.
  ///
  /// - Throws: The reason when the remaining points are too few or too strange to replay.
  mutating func putInOrder() throws(RecordingFlaw) {
    let timeless = notes.count(of: .noTime) + notes.count(of: .badTime)
    guard timeless <= points.count else {
      let count = points.isEmpty ? "none" : "only \(points.count)"
      throw RecordingFlaw("\(count) of its \(points.count + timeless) trackpoints has a time that can be read")
    }
    keepFirstTracks()
    dropStrangeTimes()
    let all = points.count
    let inOrder = Self.longestRise(points.map(\.time))
    keep(inOrder, else: .outOfOrder)
    let skipped = all - points.count
    guard skipped == 0 || Self.areFew(skipped, of: all) else {
      throw RecordingFlaw("\(skipped) of its \(all) trackpoints go back in time")
    }
    dropFarPoints()
    guard let first = points.first, let last = points.last, first.time < last.time else {
      throw RecordingFlaw("it holds no two trackpoints at different times, so there is nothing to replay")
    }
    guard last.time - first.time <= Self.durationMax else {
      throw RecordingFlaw("it spans more than seven days: a time stamp is wrong")
    }
    guard points.contains(where: { !$0.isBlank }) else {
      throw RecordingFlaw("its trackpoints contain only times")
    }
  }

  /// In a file of several tracks, keeps the first one and those that follow closely, each after a stop.
  private mutating func keepFirstTracks() {
    let starts = tracks.compactMap(\.firstPoint).filter { $0 < points.count }
    guard starts.count > 1 else { return }
    let ends = starts.dropFirst() + [points.count]
    var kept: [Range<Int>] = []
    var others = 0
    var otherLine = 0
    for (start, end) in zip(starts, ends) where start < end {
      if let last = kept.last {
        let gap = points[start].time - points[last.upperBound - 1].time
        // A first track of a single point is not a run: drop it.
        if last.count < 2, kept.count == 1 {
          kept = [start..<end]
          others += 1
          otherLine = otherLine == 0 ? points[last.lowerBound].line : otherLine
        } else if gap >= 0, gap <= Self.trackGapMax {
          kept.append(start..<end)
        } else {
          others += 1
          otherLine = otherLine == 0 ? points[start].line : otherLine
        }
      } else {
        kept.append(start..<end)
      }
    }
    guard others > 0 else { return }
    // Remove the numbers of tracks that were left out, too.
    let starting = Set(kept.map(\.lowerBound))
    tracks.removeAll { $0.firstPoint.map { !starting.contains($0) } ?? true }
    notes.add(.otherTrack, line: otherLine, count: others)
    keep(kept.flatMap { Array($0) }, else: nil)
  }

  /// Removes a few points whose time is more than a week from the median, as with a wrong year or month.
  private mutating func dropStrangeTimes() {
    let times = points.map(\.time).sorted()
    guard !times.isEmpty else { return }
    let middle = times[times.count / 2]
    let near = points.indices.filter { abs(points[$0].time - middle) <= Self.durationMax }
    if Self.areFew(points.count - near.count, of: points.count) { keep(near, else: .farTime) }
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
    if Self.areFew(points.count - main.count, of: points.count) { keep(Array(main), else: .farTime) }
  }

  /// Whether so few points are wrong that the rest can be used. A single one is accepted in a file of any length.
  private static func areFew(_ count: Int, of all: Int) -> Bool {
    all - count >= 2 && (count <= 1 || count * wrongShareMin <= all)
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
  /// minute over half of a run, which nobody keeps up; even walkers make more than 105 steps per minute.
  static let stridesMax = 105.0
  private static let stepsMax = 300.0

  /// Turns the recorded cadence into steps of both feet. Most devices record strides of one foot, some exports record
  /// steps; the median of the values above zero decides.
  ///
  /// - Returns: How many steps one unit of the recorded cadence is, 1 or 2.
  mutating func countSteps() -> Double {
    var values = points.compactMap(\.cadence).filter { $0 > 0 }
    if values.isEmpty { values = laps.compactMap(\.cadence).filter { $0 > 0 } }
    values.sort()
    let steps = values.isEmpty || values[(values.count - 1) / 2] <= Self.stridesMax ? 2.0 : 1.0
    for (index, point) in points.enumerated() {
      guard let cadence = point.cadence else { continue }
      points[index].cadence = cadence * steps <= Self.stepsMax ? cadence * steps : nil
      if points[index].cadence == nil { notes.add(.badNumber, line: point.line) }
    }
    return steps
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
