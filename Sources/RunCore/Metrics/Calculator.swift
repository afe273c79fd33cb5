/// Computes the metrics of a run by folding its ledger's entries in order.
///
/// A calculator is a value of running sums and short buffers. It is cheap to copy, so that a ledger can keep
/// checkpoints of it. The same entries in the same order give the same digits on every node. Each meter documents its
/// rules and their sources, as does docs/metrics.md.
///
/// Data flows in one direction: the stopwatch assigns a sample to a line, the activity meter tells what the runner
/// does, the distance meter turns samples into increments, and increments feed pace, splits, laps and energy.
package struct Calculator: Hashable, Sendable {
  private var settings: MetricsSettings
  private var stopwatch = Stopwatch()
  private var activity = ActivityMeter()
  private var distance = DistanceMeter()
  private var pace = PaceMeter()
  private var heartRate = HeartRateMeter()
  private var cadence = CadenceMeter()
  private var elevation = ElevationMeter()
  private var account: DistanceAccount
  /// The time of the last transition or gap; the clocks cannot be read at an earlier time.
  private var clockSetAt: BusTime?

  /// A calculator before the first entry.
  package init(settings: MetricsSettings = MetricsSettings()) {
    self.settings = settings
    account = DistanceAccount(settings: settings)
  }

  /// A calculator before the first entry that keeps every distance increment, for ``trail(at:)``.
  static func keepingTrail(settings: MetricsSettings) -> Calculator {
    var calculator = Calculator(settings: settings)
    calculator.account.trail = []
    return calculator
  }

  /// Folds the next entry, in the order of ``LedgerEntry/precedes(_:_:)``.
  ///
  /// A transition that the phase does not allow, and a sample before the start or after the stop, change nothing.
  ///
  /// - Returns: the route point of a fix during the run; otherwise `nil`.
  @discardableResult
  package mutating func fold(_ entry: LedgerEntry) -> RoutePoint? {
    switch entry.event {
    case .transition(let transition):
      clockSetAt = entry.time
      stopwatch.apply(transition.kind, at: entry.time)
    case .lap:
      guard stopwatch.isOn(at: entry.time) else { break }
      account.pressLap(
        offset: stopwatch.elapsed(at: entry.time), active: stopwatch.active(at: entry.time),
        totals: totals(at: entry.time))
    case .setup(let setup):
      settings.setup = setup
      account.settings.setup = setup
    case .gap(let duration):
      clockSetAt = entry.time
      stopwatch.leaveOut(duration, from: entry.time)
    case .sample(let value, let device):
      guard stopwatch.isOn(at: entry.time) else { break }
      return fold(value, from: device, at: entry.time)
    }
    return nil
  }

  /// Active time up to a moment. Later entries may shorten it: an auto-pause begins before it is noticed.
  func active(at time: BusTime) -> BusDuration { stopwatch.active(at: time) }

  private mutating func fold(_ value: SampleValue, from device: DeviceID, at time: BusTime) -> RoutePoint? {
    enterLine(at: time)
    observe(value, at: time)
    if settings.isAutoPauseOn { pauseOrResume(at: time) }
    let line = stopwatch.line(at: time)
    switch value {
    case .position(let position):
      return fold(position, from: device, at: time, line: line)
    case .altitude(let meters, let source):
      elevation.fold(meters, source, at: time, line: line?.number, settings: settings)
    case .heartRate(let bpm):
      heartRate.fold(
        bpm, at: time, active: stopwatch.active(at: time), counts: line != nil, settings: settings)
    case .cadence(let stepsPerMinute):
      cadence.fold(stepsPerMinute, at: time, active: stopwatch.active(at: time), settings: settings)
    case .pedometer(let meters):
      distance.fold(
        pedometerMeters: meters, from: device, at: time, activity: activity, settings: settings,
        into: &account.increments)
      book(at: time)
      if let line, let meters = distance.shownMeters {
        pace.mark(meters, at: time, line: line.number, settings: settings)
      }
    case .motion: break
    }
    return nil
  }

  private mutating func fold(
    _ position: Position, from device: DeviceID, at time: BusTime, line: Stopwatch.Line?
  ) -> RoutePoint? {
    let verdict = distance.fold(
      position, from: device, at: time, isAutoPaused: stopwatch.isAutoPaused, activity: activity, settings: settings,
      into: &account.increments)
    guard let verdict else { return nil }
    book(at: time)
    let meters = distance.shownMeters
    switch verdict {
    case .repeated, .otherReceiver, .unknown: break
    case .counted, .anchored:
      let isBridged = distance.hasPedometer(at: time, settings: settings)
      if verdict == .anchored, !isBridged { pace.restart() }
      // A position that is held says nothing about the pace.
      if let line, let meters, distance.takenAt == time {
        pace.mark(meters, at: time, line: line.number, settings: settings)
      }
    case .notRunning, .autoPaused, .invalid, .inaccurate, .stationary, .impossibleSpeed:
      if !distance.hasPedometer(at: time, settings: settings) { pace.restart() }
    }
    return RoutePoint(
      offset: stopwatch.elapsed(at: time), position: position, verdict: verdict,
      altitudeMeters: elevation.altitudeMeters, distanceMeters: meters)
  }

  /// Passes a reading on to the activity meter, whether or not the clock runs.
  private mutating func observe(_ value: SampleValue, at time: BusTime) {
    switch value {
    case .position(let position):
      if position.isOnEarth, position.isValid, position.isAccurate(within: settings.accuracyMetersLimit) {
        activity.add(position, at: time, settings: settings)
      }
    case .cadence(let stepsPerMinute): activity.add(stepsPerMinute: stepsPerMinute, at: time, settings: settings)
    case .pedometer(let meters):
      if settings.usesPedometer { activity.add(pedometerMeters: meters, at: time, settings: settings) }
    case .motion(let word): activity.add(word, at: time, settings: settings)
    case .altitude, .heartRate: break
    }
  }

  /// Auto-pause: stops a running clock after the runner has stood for a while, and restarts it when the runner moves.
  /// It never ends a pause by command.
  private mutating func pauseOrResume(at time: BusTime) {
    guard let since = activity.since else { return }
    switch activity.activity {
    case .stationary: if time - since >= settings.autoPauseAfter { stopwatch.autoPause(at: time) }
    case .walking, .running:
      // A motion sensor has already made sure that the runner moves.
      if !activity.isInferred || time - since >= settings.autoResumeAfter { stopwatch.autoResume(at: time) }
    case .unknown: break
    }
    enterLine(at: time)
  }

  /// Closes the last line and opens the new one when the line has changed since the last sample.
  private mutating func enterLine(at time: BusTime) {
    let line = stopwatch.line(at: time)
    guard line?.number != account.line?.number else { return }
    distance.enter(line, settings: settings, into: &account.increments)
    book(at: time)
    account.leaveLine(endedAt: account.line.flatMap { stopwatch.end(ofLine: $0.number) }, gait: gait)
    if let line, let startedAt = stopwatch.startedAt {
      account.enter(line, active: stopwatch.active(at: time) - (time - line.startedAt), runStartedAt: startedAt)
    }
  }

  private mutating func book(at time: BusTime) {
    if !account.increments.isEmpty { account.book(totals: totals(at: time), gait: gait) }
  }

  private var gait: DistanceAccount.Gait {
    DistanceAccount.Gait(
      activity: activity.activity, cadenceStepsPerMinute: cadence.latestStepsPerMinute,
      altitudeMeters: elevation.altitudeMeters)
  }
  private func totals(at time: BusTime) -> SplitTotals {
    SplitTotals(
      heartRate: heartRate.totals(active: stopwatch.active(at: time), settings: settings),
      gainMeters: elevation.gainMeters, lossMeters: elevation.lossMeters)
  }

  /// A copy in which all that is open (line, distance pieces) is closed at `now`.
  private func finished(at now: BusTime) -> Calculator {
    var copy = self
    // The trail is long and not needed for metrics, and appending to it would copy it.
    copy.account.trail = nil
    copy.finish(at: now)
    return copy
  }

  private mutating func finish(at now: BusTime) {
    let end = account.line.flatMap { stopwatch.end(ofLine: $0.number) }
    let gait = gait
    distance.finish(settings: settings, into: &account.increments)
    book(at: now)
    account.leaveLine(endedAt: end, gait: gait)
  }

  /// The metrics at a moment. A moment before the last change of phase counts as that change.
  ///
  /// Samples later than `now`, from a sender whose clock runs ahead, do not move the clocks.
  package func metrics(at now: BusTime) -> RunMetrics {
    let now = max(now, clockSetAt ?? now)
    return finished(at: now).numbers(at: now)
  }

  /// The metrics at a moment, as ``metrics(at:)``, with splits, laps and distance sources.
  package func report(at now: BusTime) -> RunReport {
    let now = max(now, clockSetAt ?? now)
    let finished = finished(at: now)
    let numbers = finished.numbers(at: now)
    let end = RunPlace(
      offset: numbers.elapsed, active: numbers.active, meters: finished.distance.meters ?? 0)
    let totals = finished.totals(at: now)
    let hasDistance = numbers.distanceMeters != nil
    return RunReport(
      metrics: numbers, kilometers: finished.account.splits(per: .kilometer, to: end, totals: totals),
      miles: finished.account.splits(per: .mile, to: end, totals: totals),
      laps: finished.account.laps(to: end, totals: totals, hasDistance: hasDistance),
      stretches: finished.account.stretches)
  }

  /// Makes room for so many increments, so that a long trail is not copied while it grows.
  mutating func reserveTrail(_ count: Int) { account.trail?.reserveCapacity(count) }

  /// Closes all that is open and takes out the final distance over time; empty for a calculator that does not keep a
  /// trail. Nothing can be folded afterwards.
  mutating func takeTrail(at end: BusTime) -> DistanceTrail {
    finish(at: max(end, clockSetAt ?? end))
    defer { account.trail = nil }
    return DistanceTrail(account.trail ?? [])
  }

  private func numbers(at now: BusTime) -> RunMetrics {
    let active = stopwatch.active(at: now)
    let line = stopwatch.phase == .running ? stopwatch.line(at: now)?.number : nil
    return RunMetrics(
      elapsed: stopwatch.elapsed(at: now),
      active: active,
      distanceMeters: distance.meters,
      pedometerMeters: distance.pedometerMeters,
      currentPaceSecondsPerKilometer: pace.secondsPerKilometer(at: now, line: line, settings: settings),
      averagePaceSecondsPerKilometer: averagePace(active: active),
      bestPaceSecondsPerKilometer: account.extremes.best,
      worstPaceSecondsPerKilometer: account.extremes.worst,
      heartRateBpm: heartRate.latestBpm,
      averageHeartRateBpm: heartRate.averageBpm(active: active, settings: settings),
      maxHeartRateBpm: heartRate.maxBpm(active: active),
      cadenceStepsPerMinute: cadence.latestStepsPerMinute,
      averageCadenceStepsPerMinute: cadence.averageStepsPerMinute(active: active, settings: settings),
      altitudeMeters: elevation.altitudeMeters,
      elevationGainMeters: elevation.gainMeters,
      elevationLossMeters: elevation.lossMeters,
      energyJoules: account.energy.joules(settings: settings),
      positionAccuracyMeters: distance.accuracyMeters,
      activity: activity.activity,
      isActivityInferred: activity.isInferred,
      isAutoPaused: stopwatch.isAutoPaused,
      lapCount: account.lapCount,
      moments: moments)
  }

  private var moments: MetricMoments {
    guard let startedAt = stopwatch.startedAt else { return MetricMoments() }
    func offset(_ time: BusTime?) -> BusDuration? { time.map { max(.zero, $0 - startedAt) } }
    return MetricMoments(
      distance: offset(distance.takenAt), position: offset(distance.fixedAt), heartRate: offset(heartRate.takenAt),
      cadence: offset(cadence.takenAt), elevation: offset(elevation.takenAt), activity: offset(activity.takenAt))
  }

  /// Active time over distance, so that standing still with a running clock makes it slower.
  private func averagePace(active: BusDuration) -> Double? {
    guard let meters = distance.meters, meters >= settings.averagePaceDistanceMetersMin else { return nil }
    return active.seconds / meters * 1000
  }
}
