import RunCore

/// How long the timer stood, so that stops have room: in each lap where the laps tell, else in the whole run.
///
/// A lap tells by the span to the next lap's beginning, less the time that its timer ran.
struct TimerRoom {
  private struct Span {
    let end: Int64
    /// Nanoseconds in which the timer did not run and which no stop fills yet.
    var left: Int64
  }
  /// In order and without gaps; the first one has no beginning, because nothing lies before it.
  private var spans: [Span] = []

  /// - Parameter timerSeconds: How long the timer ran over the whole run.
  init(_ track: RecordedTrack, timerSeconds: Double) {
    guard let first = track.points.first, let last = track.points.last else { return }
    if let laps = Self.laps(track) {
      spans = laps
    } else {
      spans = [Span(end: .max, left: last.time - first.time - Int64(timerSeconds * 1e9))]
    }
  }

  /// Whether a silence is no longer than the timer stood, wherever it lies.
  func holds(_ step: Range<Int64>, slack: Int64) -> Bool {
    shares(of: step).allSatisfy { $0.length <= spans[$0.index].left + slack }
  }
  /// Makes a silence a stop.
  mutating func fill(_ step: Range<Int64>) {
    for share in shares(of: step) { spans[share.index].left -= share.length }
  }

  /// Makes more room where a moment lies.
  mutating func widen(by length: Int64, at time: Int64) {
    for share in shares(of: time..<time + 1) { spans[share.index].left += length }
  }

  /// The parts of a step that lie in each span.
  private func shares(of step: Range<Int64>) -> [(index: Int, length: Int64)] {
    var (low, high) = (0, spans.count)
    while low < high {
      let middle = (low + high) / 2
      if spans[middle].end <= step.lowerBound { low = middle + 1 } else { high = middle }
    }
    var shares: [(Int, Int64)] = []
    var from = step.lowerBound
    while low < spans.count, from < step.upperBound {
      let to = min(step.upperBound, spans[low].end)
      shares.append((low, to - from))
      from = to
      low += 1
    }
    return shares
  }

  /// The laps, if each of them tells: it has a beginning between the last point of the lap before and its own first
  /// one, and its timer ran no longer than it lasted. Some exports add up timer times to beginnings, which leaves the
  /// stops out.
  private static func laps(_ track: RecordedTrack) -> [Span]? {
    let (points, laps) = (track.points, track.laps)
    guard laps.count > 1, let last = points.last else { return nil }
    var spans: [Span] = []
    for (index, lap) in laps.enumerated() {
      guard let start = lap.time, let seconds = lap.figures.timerSeconds else { return nil }
      if let first = lap.firstPoint, first < points.count, !lap.repeatsTrack {
        let before = first > 0 ? points[first - 1].time : start
        guard (before - slack...max(before, points[first].time) + slack).contains(start) else { return nil }
      }
      let isLast = index == laps.count - 1
      guard let end = isLast ? max(last.time, start) : laps[index + 1].time, end >= start else { return nil }
      let left = end - start - Int64(seconds * 1e9)
      guard isLast || left >= -slack else { return nil }
      spans.append(Span(end: isLast ? .max : end, left: left))
    }
    return spans
  }
  /// Beginnings and points are rounded to seconds.
  private static let slack: Int64 = 2_000_000_000
}
