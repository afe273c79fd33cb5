/// A stretch of a line on its way to being decided.
struct DistancePiece: Hashable, Sendable {
  /// The path through positions; `nil` where there are none.
  var path: Path?
  /// Where it began, by the pedometer.
  var start: PedometerTrack.Mark
  /// Where it has come to, by the pedometer.
  var last: PedometerTrack.Mark

  /// A path through positions.
  struct Path: Hashable, Sendable {
    let first: Position
    let startedAt: BusTime
    var last: Position
    var endedAt: BusTime
    var meters = 0.0
    /// From its first fix to its last.
    var straightMeters: Double { Geodesic.roughMeters(from: first, to: last) }
  }

  /// A piece with a path that begins at a fix.
  init(from position: Position, at time: BusTime, mark: PedometerTrack.Mark) {
    path = Path(first: position, startedAt: time, last: position, endedAt: time)
    start = mark
    last = mark
  }
  /// A piece that only the pedometer covers.
  init(from mark: PedometerTrack.Mark) {
    start = mark
    last = mark
  }

  /// The pedometer has spoken of all of it.
  var isMeasured: Bool { start.meters != nil && last.meters != nil }

  /// Its metres by the pedometer; `nil` when that has not spoken of all of it.
  private var steps: Double? { PedometerTrack.meters(from: start, to: last) }

  /// What it comes to; `nil` when nothing measured it.
  func increment(by judge: DistanceJudge, settings: MetricsSettings) -> DistanceIncrement? {
    guard let path else {
      return steps.map {
        DistanceIncrement(source: .pedometer, start: start.time, end: last.time, meters: $0 * judge.scale)
      }
    }
    var (meters, source) = (path.meters, DistanceSource.positions)
    if let steps = comparableSteps {
      (meters, source) = judge.choose(
        path: path.meters, straight: path.straightMeters, steps: steps, settings: settings)
    }
    return DistanceIncrement(source: source, start: path.startedAt, end: path.endedAt, meters: meters)
  }

  /// What the judge can learn from it: the same stretch by both.
  func teach(_ judge: inout DistanceJudge) {
    if let path, let steps = comparableSteps {
      judge.learn(path: path.meters, straight: path.straightMeters, steps: steps)
    }
  }

  /// The pedometer's metres for just this path.
  private var comparableSteps: Double? { start.hasMoved || last.hasMoved ? nil : steps }

  /// Settles what a pedometer's latest reading settles.
  mutating func interpolate(by pedometer: PedometerTrack) {
    pedometer.interpolate(&start)
    pedometer.interpolate(&last)
  }
}
