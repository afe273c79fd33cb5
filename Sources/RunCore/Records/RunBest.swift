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
  package static func all(in steps: [Step]) -> [RunBest] {
    var search = BestSearch()
    while !search.isDone { _ = search.advance(in: steps, by: 1 << 24) }
    return search.bests
  }

  /// The moment between two steps at which the runner had covered so many metres.
  fileprivate static func point(at meters: Double, _ before: Step, _ after: Step) -> Step {
    let span = after.meters - before.meters
    let share = span > 0 ? min(1, max(0, (meters - before.meters) / span)) : 0
    func between(_ from: BusDuration, _ to: BusDuration) -> BusDuration {
      from + BusDuration(seconds: (to - from).seconds * share)
    }
    return Step(at: between(before.at, after.at), active: between(before.active, after.active), meters: meters)
  }
}

/// The search for the fastest stretches, one distance after the other, a piece at a time.
struct BestSearch: Sendable {
  /// Those that are found.
  private(set) var bests: [RunBest] = []
  /// The place of the present distance in ``RunBest/distances``.
  private var place = 0
  /// Whether the stretches end at a step; before that they begin at one.
  private var isBackward = false
  /// The step at which the present stretch begins, or ends, and how far the search for its other end has come.
  private var (step, other) = (0, 0)
  private var best: RunBest?

  /// Whether all distances are searched for.
  var isDone: Bool { place == RunBest.distances.count }

  /// Looks at so many steps, or some more.
  ///
  /// - Parameter steps: How far the runner was, in order of time; the same with each call.
  /// - Returns: how many it has looked at.
  mutating func advance(in steps: [RunBest.Step], by count: Int) -> Int {
    var done = 0
    while done < count, !isDone {
      let before = other
      let distance = RunBest.distances[place]
      let isLongEnough =
        if let first = steps.first, let last = steps.last { last.meters - first.meters >= distance } else { false }
      if isLongEnough {
        if isBackward { goBackward(distance, in: steps) } else { goForward(distance, in: steps) }
      } else {
        endDistance()
      }
      done += 1 + max(0, other - before)
    }
    return done
  }

  /// A stretch that begins at a step: the end moves forward with the start.
  private mutating func goForward(_ distance: Double, in steps: [RunBest.Step]) {
    guard step < steps.count else { return turn() }
    let start = steps[step]
    while other < steps.count, steps[other].meters < start.meters + distance { other += 1 }
    guard other < steps.count, other > 0 else { return turn() }
    offer(start, RunBest.point(at: start.meters + distance, steps[other - 1], steps[other]), distance)
    step += 1
  }

  /// A stretch that ends at a step.
  private mutating func goBackward(_ distance: Double, in steps: [RunBest.Step]) {
    guard step < steps.count else { return endDistance() }
    let end = steps[step]
    step += 1
    guard end.meters - steps[0].meters >= distance else { return }
    while other + 1 < steps.count, steps[other + 1].meters <= end.meters - distance { other += 1 }
    guard other + 1 < steps.count else { return endDistance() }
    offer(RunBest.point(at: end.meters - distance, steps[other], steps[other + 1]), end, distance)
  }

  private mutating func turn() { (isBackward, step, other) = (true, 0, 0) }

  private mutating func endDistance() {
    if let best { bests.append(best) }
    (place, isBackward, step, other, best) = (place + 1, false, 0, 0, nil)
  }

  private mutating func offer(_ start: RunBest.Step, _ end: RunBest.Step, _ distance: Double) {
    let active = end.active - start.active
    if active > .zero, best.map({ active < $0.active }) ?? true {
      best = RunBest(distanceMeters: distance, active: active, startedAt: start.at)
    }
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
