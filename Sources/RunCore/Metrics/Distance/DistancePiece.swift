/// A stretch of a line whose distance is not decided yet.
struct DistancePiece: Hashable, Sendable {
  /// The path through positions; `nil` when there are none.
  var path: Path?
  /// The pedometer's mark at its start.
  var start: PedometerTrack.Mark
  /// The pedometer's mark at its end so far.
  var last: PedometerTrack.Mark

  /// A path through positions.
  struct Path: Hashable, Sendable {
    let first: Position
    let startedAt: BusTime
    var last: Position
    var endedAt: BusTime
    var meters = 0.0
    /// The straight line from its first fix to its last, metres.
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

  /// Whether the pedometer's readings cover all of it.
  var isMeasured: Bool { start.meters != nil && last.meters != nil }

  /// Its metres by the pedometer; `nil` when the readings do not cover all of it.
  private var steps: Double? { PedometerTrack.meters(from: start, to: last) }

  /// The increment that it gives; `nil` when nothing measured it.
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

  /// Calibrates the judge with a piece that both sources have measured.
  func teach(_ judge: inout DistanceJudge) {
    if let path, let steps = comparableSteps {
      judge.learn(path: path.meters, straight: path.straightMeters, steps: steps)
    }
  }

  /// The pedometer's metres for exactly this path; `nil` when its marks are at other moments.
  private var comparableSteps: Double? { start.hasMoved || last.hasMoved ? nil : steps }

  /// Resolves the marks that the pedometer's latest reading covers.
  mutating func interpolate(by pedometer: PedometerTrack) {
    pedometer.interpolate(&start)
    pedometer.interpolate(&last)
  }
}
