/// Makes the record of a run that is over, a piece at a time: that of a run of many hours takes longer than a press may
/// wait.
///
/// The maker does not keep the entries: its caller passes them with each piece. They are in order, and the same
/// each time.
///
/// - `looking` (over the entries, for start, stop, pauses and setup) can go to: `folding`, `done` (the run is not over).
/// - `folding` (a second fold over the entries, late readings included, with the metrics at each interval) can go to:
///   `measuring`.
/// - `measuring` (the final distances of the route, which are not those shown during the run, and the steps between which
///   the fastest stretches lie) can go to: `comparing`.
/// - `comparing` (the steps, for the fastest stretches) can go to: `done`.
package struct RecordMaker: Sendable {
  /// What the entries of a run say of it.
  package struct Made: Sendable {
    /// The body of the record.
    package var body: RecordBody
    /// The fastest stretches, which belong to the summary.
    package var bests: [RunBest] = []
    /// When the run started.
    package let startedAt: BusTime
    /// The setup that the runner chose for it.
    package let setup: RunSetup
    /// The device whose start began it.
    package let starter: DeviceID?
    /// The goal that this start names.
    package let goal: RunGoal?
  }

  private enum Stage: Sendable { case looking, folding, measuring, comparing, done }

  /// How many entries are looked at, and how many places of the route measured, in the time of a fold.
  private static let (looksPerFold, measuresPerFold) = (16, 16)
  /// How many folds a sample of the series takes.
  private static let foldsPerSample = 4

  private let settings: MetricsSettings
  private var stage = Stage.looking
  /// The next entry, point or step of the stage.
  private var index = 0
  private var outline = Outline()
  private var calculator: Calculator
  private var series = RecordSeries(interval: RecordSeries.usualInterval)
  /// When the next sample of the series is due; `nil` behind the end of time, where a later moment would be the same.
  private var due: BusTime?
  private var route: [RoutePoint] = []
  /// How far the runner was at each entry that can lengthen the distance.
  private var steps: [RunBest.Step] = []
  /// The final distance over time, as it is read for the route and for the steps.
  private var (trailOfRoute, trailOfSteps) = (DistanceTrail([]), DistanceTrail([]))
  private var search = BestSearch()
  private var making: Made?

  /// A maker that has not begun.
  package init(settings: MetricsSettings) {
    self.settings = settings
    calculator = Calculator.keepingTrail(settings: settings)
  }

  /// Whether nothing is left to do.
  package var isDone: Bool { stage == .done }
  /// What was made, once the maker is done; `nil` for a run that is not over.
  package var made: Made? { isDone ? making : nil }

  /// Does a piece of the work, as much as it is to fold so many entries.
  ///
  /// - Parameters:
  ///   - entries: All entries of the run, in order.
  ///   - work: At most 2^24 entries.
  package mutating func advance(_ entries: [LedgerEntry], by work: Int) {
    var left = work
    while left > 0 {
      switch stage {
      case .looking: look(entries, &left)
      case .folding: fold(entries, &left)
      case .measuring: measure(&left)
      case .comparing: compare(&left)
      case .done: return
      }
    }
  }

  /// Does all of the work.
  package mutating func finish(_ entries: [LedgerEntry]) {
    while !isDone { advance(entries, by: 1 << 24) }
  }

  // MARK: Looking

  /// What a glance at the entries tells.
  private struct Outline {
    var machine = RunMachine()
    var (startedAt, stoppedAt): (BusTime?, BusTime?)
    var setup: RunSetup?
    var starter: DeviceID?
    var goal: RunGoal?
    /// The transitions and gaps.
    var timeLine: [LedgerEntry] = []
    /// How many heart rates and cadences are within the run, and how many entries are fixes or can move the runner.
    var (bodyReadings, fixes, moves) = (0, 0, 0)

    mutating func add(_ entry: LedgerEntry) {
      switch entry.event {
      case .transition(let transition):
        machine.applyInOneRun(transition.kind)
        if startedAt == nil, machine.phase != .idle { (startedAt, goal) = (entry.time, transition.goal) }
        if stoppedAt == nil, machine.phase == .completed { stoppedAt = entry.time }
        if starter == nil, transition.kind == .start { starter = transition.change.deviceID }
        timeLine.append(entry)
      case .gap: timeLine.append(entry)
      case .setup(let chosen): setup = setup ?? chosen
      case .sample(.heartRate, _), .sample(.cadence, _):
        // Transitions stand before the readings of their moment.
        if startedAt != nil, stoppedAt.map({ entry.time <= $0 }) ?? true { bodyReadings += 1 }
      case .sample(.position, _): (fixes, moves) = (fixes + 1, moves + 1)
      case .sample(.pedometer, _): moves += 1
      case .lap, .sample: break
      }
    }
  }

  private mutating func look(_ entries: [LedgerEntry], _ left: inout Int) {
    let end = min(entries.count, index + left * Self.looksPerFold)
    left -= (end - index) / Self.looksPerFold + 1
    while index < end {
      outline.add(entries[index])
      index += 1
    }
    guard index == entries.count else { return }
    guard let start = outline.startedAt, let stop = outline.stoppedAt else {
      stage = .done
      return
    }
    beginFold(from: start, to: stop)
  }

  private mutating func beginFold(from start: BusTime, to stop: BusTime) {
    (stage, index, due) = (.folding, 0, start)
    let elapsed = max(.zero, stop - start)
    let isFine = Double(outline.bodyReadings) > elapsed.seconds / RecordSeries.usualInterval.seconds + 2
    let most = isFine ? RecordSeries.samplesMax : RecordSeries.samplesMaxOfFirstForm
    let leastSeconds = (elapsed.seconds / Double(most)).rounded(.up)
    let interval = max(
      isFine ? RecordSeries.fineInterval : RecordSeries.usualInterval, BusDuration(seconds: leastSeconds))
    series = RecordSeries(interval: interval)
    // A long array that grows is copied at once.
    route.reserveCapacity(outline.fixes)
    steps.reserveCapacity(outline.moves + outline.timeLine.count + 1)
    calculator.reserveTrail(outline.moves)
  }

  // MARK: Folding

  private mutating func fold(_ entries: [LedgerEntry], _ left: inout Int) {
    guard let start = outline.startedAt, let stop = outline.stoppedAt else { return }
    while left > 0 {
      if let moment = due, moment <= stop, index == entries.count || moment < entries[index].time {
        series.samples.append(RecordSeries.Sample(calculator.metrics(at: moment)))
        let next = moment + series.interval
        due = next > moment ? next : nil
        left -= Self.foldsPerSample
        continue
      }
      guard index < entries.count else { return endFold(from: start, to: stop) }
      let entry = entries[index]
      if let point = calculator.fold(entry) { route.append(point) }
      index += 1
      left -= 1
      guard entry.movesTheRunner, entry.time >= start, entry.time <= stop else { continue }
      if steps.last.map({ $0.at < entry.time - start }) ?? true { addStep(at: entry.time, start) }
    }
  }

  private mutating func addStep(at time: BusTime, _ start: BusTime) {
    steps.append(RunBest.Step(at: time - start, active: calculator.active(at: time), meters: 0))
  }

  private mutating func endFold(from start: BusTime, to stop: BusTime) {
    (stage, index) = (.measuring, 0)
    addStep(at: stop, start)
    // An auto-pause is noticed after it has begun: what is known later holds.
    for index in steps.indices.dropLast().reversed() {
      steps[index].active = min(steps[index].active, steps[index + 1].active)
    }
    let report = calculator.report(at: stop)
    let trail = calculator.takeTrail(at: stop)
    (trailOfRoute, trailOfSteps) = (trail, trail)
    var trailOfSeries = trail
    for index in series.samples.indices where series.samples[index].distanceMeters != nil {
      let meters = trailOfSeries.meters(at: start + series.offset(of: index))
      series.samples[index].distanceMeters = RecordSeries.Sample.rounded(meters)
    }
    let pauses = RunLedger.pauses(in: outline.timeLine, from: start, to: stop)
    making = Made(
      body: RecordBody(
        report: report, pauses: pauses.map { RunPause(startedAt: $0.lowerBound, endedAt: $0.upperBound) },
        series: series, route: []),
      startedAt: start, setup: outline.setup ?? RunSetup(), starter: outline.starter,
      goal: outline.goal)
  }

  // MARK: Measuring and comparing

  private mutating func measure(_ left: inout Int) {
    guard let start = outline.startedAt else { return }
    let count = max(route.count, steps.count)
    let end = min(count, index + left * Self.measuresPerFold)
    left -= (end - index) / Self.measuresPerFold + 1
    while index < end {
      if index < route.count, route[index].distanceMeters != nil {
        route[index].distanceMeters = trailOfRoute.meters(at: start + route[index].offset)
      }
      if index < steps.count { steps[index].meters = trailOfSteps.meters(at: start + steps[index].at) }
      index += 1
    }
    guard index == count else { return }
    stage = .comparing
    making?.body.route = route
    route = []
  }

  private mutating func compare(_ left: inout Int) {
    left -= search.advance(in: steps, by: left * Self.measuresPerFold) / Self.measuresPerFold + 1
    guard search.isDone else { return }
    stage = .done
    making?.bests = search.bests
    (steps, trailOfRoute, trailOfSteps) = ([], DistanceTrail([]), DistanceTrail([]))
  }
}

extension RecordBody {
  /// The body of the record of a run that is over, and the fastest stretches, which belong to the summary; `nil` when the
  /// run is not over.
  package static func made(
    of ledger: RunLedger, settings: MetricsSettings
  ) -> (body: RecordBody, bests: [RunBest])? {
    var maker = RecordMaker(settings: settings)
    maker.finish(ledger.entries)
    return maker.made.map { ($0.body, $0.bests) }
  }
}

extension LedgerEntry {
  /// Whether it can change the distance or the clock.
  fileprivate var movesTheRunner: Bool {
    switch event {
    case .sample(.position, _), .sample(.pedometer, _), .transition, .gap: true
    case .sample, .lap, .setup: false
    }
  }
}
