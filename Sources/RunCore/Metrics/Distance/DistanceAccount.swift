/// Adds increments of the distance, in order, to all that is computed from them: splits, laps, stretches, the fastest
/// and the slowest minute, and energy.
struct DistanceAccount: Hashable, Sendable {
  /// Increments that are not booked yet.
  var increments: [DistanceIncrement] = []
  private(set) var line: Stopwatch.Line?
  private(set) var extremes = PaceExtremes()
  private(set) var energy = EnergyMeter()
  /// All booked increments, from which a ``DistanceTrail`` is made; `nil` when no trail is kept.
  var trail: [DistanceIncrement]?

  var settings: MetricsSettings
  private var kilometers = SplitMeter(.kilometer)
  private var miles = SplitMeter(.mile)
  private var lapMeter = LapMeter()
  private var list = StretchList()
  private var meters = 0.0
  /// Active time at the start of the line.
  private var active = BusDuration.zero
  private var runStartedAt = BusTime.zero
  /// The time up to which energy is booked.
  private var energyTo = BusTime.zero

  /// The inputs of the energy other than time and distance.
  struct Gait {
    let activity: MotionActivity
    let cadenceStepsPerMinute: Double?
    let altitudeMeters: Double?
  }

  init(settings: MetricsSettings) { self.settings = settings }

  /// The number of laps marked so far.
  var lapCount: Int { lapMeter.count }
  /// Which source measured which part of the distance, in order.
  var stretches: [DistanceStretch] { list.stretches }
  /// The splits of a unit, the open one last.
  func splits(per unit: SplitUnit, to end: RunPlace, totals: SplitTotals) -> [Split] {
    switch unit {
    case .kilometer: kilometers.splits(to: end, totals: totals)
    case .mile: miles.splits(to: end, totals: totals)
    }
  }
  /// The laps, the open one last; empty when none was marked.
  func laps(to end: RunPlace, totals: SplitTotals, hasDistance: Bool) -> [Split] {
    lapMeter.laps(to: end, totals: totals, hasDistance: hasDistance)
  }

  /// Marks a lap.
  mutating func pressLap(offset: BusDuration, active: BusDuration, totals: SplitTotals) {
    lapMeter.press(offset: offset, active: active, totals: totals)
  }

  /// Begins a line. The increments of the line before must be booked already.
  mutating func enter(_ line: Stopwatch.Line, active: BusDuration, runStartedAt: BusTime) {
    self.line = line
    self.active = active
    self.runStartedAt = runStartedAt
    energyTo = line.startedAt
  }

  /// Leaves the line and books the energy spent since its last increment.
  ///
  /// - Parameter endedAt: the line's end. With `nil` the line continues and nothing is booked, because the metres of its
  ///   open stretch are still to come.
  mutating func leaveLine(endedAt: BusTime?, gait: Gait) {
    if let endedAt, line != nil { spend(nil, to: endedAt, gait: gait) }
    line = endedAt == nil ? line : nil
  }

  /// Books the increments of the present line.
  mutating func book(totals: SplitTotals, gait: Gait) {
    for increment in increments {
      let start = place(of: increment.start)
      meters += increment.meters
      trail?.append(increment)
      let end = place(of: increment.end)
      var from = start
      from.meters = meters - increment.meters
      kilometers.fold(from: from, to: end, totals: totals)
      miles.fold(from: from, to: end, totals: totals)
      lapMeter.fold(from: from, to: end)
      list.fold(increment.source, from: start.offset, to: end.offset, meters: increment.meters)
      extremes.fold(increment, settings: settings)
      spend(nil, to: increment.start, gait: gait)
      spend(increment.meters, to: increment.end, gait: gait)
    }
    increments.removeAll(keepingCapacity: true)
  }

  private func place(of time: BusTime) -> RunPlace {
    let startedAt = line?.startedAt ?? time
    return RunPlace(
      offset: max(.zero, time - runStartedAt), active: active + max(.zero, time - startedAt), meters: meters)
  }

  private mutating func spend(_ meters: Double?, to time: BusTime, gait: Gait) {
    guard time > energyTo, let line else { return }
    energy.fold(
      meters: meters, seconds: (time - energyTo).seconds, line: line.number, altitudeMeters: gait.altitudeMeters,
      activity: gait.activity, cadenceStepsPerMinute: gait.cadenceStepsPerMinute, settings: settings)
    energyTo = time
  }
}
