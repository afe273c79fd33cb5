import DequeModule

/// Current pace: over the distance of the last ``MetricsSettings/paceWindow``, along one unbroken track.
struct PaceMeter: Hashable, Sendable {
  /// Of marks closer together than this only the newest is kept, so that a sensor at 10 Hz needs no more room than one
  /// at 1 Hz.
  private static let markSpacing = BusDuration.seconds(1)
  /// The window of 30 s with one mark a second, and its ends. Of a longer window only the newest part is kept.
  private static let marksMax = 33

  private struct Mark: Hashable {
    let time: BusTime
    let meters: Double
  }

  private var marks: Deque<Mark> = []
  private var line = 0

  /// Begins a new track, because the path to the next reading is unknown.
  mutating func restart() { marks.removeAll(keepingCapacity: true) }

  /// Receives the distance at a moment of a line.
  mutating func mark(_ meters: Double, at time: BusTime, line: Int, settings: MetricsSettings) {
    if line != self.line { restart() }
    self.line = line
    if let last = marks.last, time <= last.time { return }
    if marks.count >= 2, time - marks[marks.count - 2].time < Self.markSpacing { marks.removeLast() }
    marks.append(Mark(time: time, meters: meters))
    while let first = marks.first, marks.count > Self.marksMax || time - first.time > settings.paceWindow {
      marks.removeFirst()
    }
  }

  /// Seconds per kilometre; `nil` when the clock is stopped (`line` is `nil`), or when the marks are too old, too close
  /// together or too slow.
  func secondsPerKilometer(at now: BusTime, line: Int?, settings: MetricsSettings) -> Double? {
    guard let line, line == self.line, let first = marks.first, let last = marks.last,
      now - last.time <= settings.paceStaleAfter
    else { return nil }
    let span = last.time - first.time
    let meters = last.meters - first.meters
    guard span >= settings.paceSpanMin, meters >= settings.paceSpeedMin * span.seconds, meters > 0 else { return nil }
    return span.seconds / meters * 1000
  }
}
