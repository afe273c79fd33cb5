/// The fastest stretch of a distance within a run.
public struct RunBest: Hashable, Sendable {
  /// The distances that a summary holds, if the run is long enough, in metres: 1 km, 5 km, 10 km, half marathon and
  /// marathon. The last two are those of World Athletics (Technical Rule 55).
  public static let distances: [Double] = [1000, 5000, 10_000, 21_097.5, 42_195]
  /// The most bests that a summary holds.
  static let countMax = 16

  /// The distance, metres.
  public var distanceMeters: Double
  /// The active time in which it was covered; pauses do not count.
  public var active: BusDuration
  /// Run time at which the stretch began, since the start.
  public var startedAt: BusDuration

  /// A best from its parts.
  public init(distanceMeters: Double, active: BusDuration, startedAt: BusDuration) {
    self.distanceMeters = distanceMeters
    self.active = active
    self.startedAt = startedAt
  }

  /// Active seconds per kilometre.
  public var paceSecondsPerKilometer: Double { active.seconds / distanceMeters * 1000 }

  /// How far the runner was at a moment.
  package struct Step: Hashable, Sendable {
    /// Run time.
    package var at: BusDuration
    /// Active time up to there.
    package var active: BusDuration
    /// Metres covered up to there.
    package var meters: Double

    /// A step from its parts.
    package init(at: BusDuration, active: BusDuration, meters: Double) {
      self.at = at
      self.active = active
      self.meters = meters
    }
  }

  /// The fastest stretch of each of ``distances`` that the run is long enough for.
  ///
  /// Between two steps the runner moves evenly. The active time of a stretch is then piecewise linear in its start, so
  /// the fastest one begins or ends at a step.
  ///
  /// - Parameter steps: How far the runner was, in order of time.
  package static func all(in steps: [Step]) -> [RunBest] { distances.compactMap { fastest($0, in: steps) } }

  private static func fastest(_ distance: Double, in steps: [Step]) -> RunBest? {
    guard let first = steps.first, let last = steps.last, last.meters - first.meters >= distance else { return nil }
    var best: RunBest?
    func offer(_ start: Step, _ end: Step) {
      let active = end.active - start.active
      if active > .zero, best.map({ active < $0.active }) ?? true {
        best = RunBest(distanceMeters: distance, active: active, startedAt: start.at)
      }
    }
    // Stretches that begin at a step: the end moves forward with the start.
    var end = 0
    for start in steps.indices {
      while end < steps.count, steps[end].meters < steps[start].meters + distance { end += 1 }
      guard end < steps.count, end > 0 else { break }
      offer(steps[start], point(at: steps[start].meters + distance, steps[end - 1], steps[end]))
    }
    // Stretches that end at a step.
    var start = 0
    for end in steps.indices where steps[end].meters - first.meters >= distance {
      while start + 1 < steps.count, steps[start + 1].meters <= steps[end].meters - distance { start += 1 }
      guard start + 1 < steps.count else { break }
      offer(point(at: steps[end].meters - distance, steps[start], steps[start + 1]), steps[end])
    }
    return best
  }

  /// The moment between two steps at which the runner had covered so many metres.
  private static func point(at meters: Double, _ before: Step, _ after: Step) -> Step {
    let span = after.meters - before.meters
    let share = span > 0 ? min(1, max(0, (meters - before.meters) / span)) : 0
    func between(_ from: BusDuration, _ to: BusDuration) -> BusDuration {
      from + BusDuration(seconds: (to - from).seconds * share)
    }
    return Step(at: between(before.at, after.at), active: between(before.active, after.active), meters: meters)
  }
}

extension RecordBody {
  /// The bests as far as the body tells: for records of earlier versions, whose summaries have none. Auto-pauses are not
  /// known here and count as active, so a best can be slower than it was.
  package var tracedBests: [RunBest] {
    var steps = route.compactMap { point in
      point.verdict.counts
        ? point.distanceMeters.map { RunBest.Step(at: point.offset, active: active(at: point.offset), meters: $0) }
        : nil
    }
    if steps.count < 2 {
      steps = series.samples.enumerated().compactMap { index, sample in
        let at = series.offset(of: index)
        return sample.distanceMeters.map { RunBest.Step(at: at, active: active(at: at), meters: $0) }
      }
    }
    // A record from elsewhere may hold anything.
    var sorted: [RunBest.Step] = []
    for step in steps where sorted.last.map({ $0.at <= step.at && $0.meters <= step.meters }) ?? true {
      sorted.append(step)
    }
    return RunBest.all(in: sorted)
  }

  private func active(at offset: BusDuration) -> BusDuration {
    pauses.reduce(offset) { $0 - max(.zero, min($1.endedAt, offset) - min($1.startedAt, offset)) }
  }
}
