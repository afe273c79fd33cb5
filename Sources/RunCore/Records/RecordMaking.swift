extension RecordBody {
  /// The body of the record of a run that is over; `nil` when the run is not over.
  ///
  /// The series comes from a second fold over the same entries, late readings included, with the metrics read at each
  /// interval. Its distances, and those of the route, are the final ones, not those shown during the run.
  ///
  /// - Returns: The body, and the fastest stretches, which belong to the summary.
  package static func made(
    of ledger: RunLedger, settings: MetricsSettings
  ) -> (body: RecordBody, bests: [RunBest])? {
    guard let start = ledger.startedAt, let stop = ledger.stoppedAt else { return nil }
    let sampled = RecordSampling(ledger.entries, from: start, to: stop, settings: settings)
    var body = RecordBody(
      report: ledger.report(at: stop),
      pauses: ledger.pauses(to: stop).map { RunPause(startedAt: $0.lowerBound, endedAt: $0.upperBound) },
      series: sampled.series,
      route: ledger.route)
    body.add(sampled.trail, startedAt: start)
    return (body, RunBest.all(in: sampled.steps))
  }

  private mutating func add(_ trail: DistanceTrail, startedAt start: BusTime) {
    var ofSeries = trail
    for index in series.samples.indices where series.samples[index].distanceMeters != nil {
      let meters = ofSeries.meters(at: start + series.offset(of: index))
      series.samples[index].distanceMeters = RecordSeries.Sample.rounded(meters)
    }
    var ofRoute = trail
    for index in route.indices where route[index].distanceMeters != nil {
      route[index].distanceMeters = ofRoute.meters(at: start + route[index].offset)
    }
  }
}

/// A second fold over the entries of a run, which must be in order: the metrics at each interval, the final distance over
/// time, and how far the runner was at each reading that can lengthen the distance.
private struct RecordSampling {
  var series: RecordSeries
  let trail: DistanceTrail
  private(set) var steps: [RunBest.Step] = []

  init(_ entries: [LedgerEntry], from start: BusTime, to stop: BusTime, settings: MetricsSettings) {
    let elapsed = max(.zero, stop - start)
    let readings = entries.count { $0.isOfTheBody && $0.time >= start && $0.time <= stop }
    let isFine = Double(readings) > elapsed.seconds / RecordSeries.usualInterval.seconds + 2
    let most = isFine ? RecordSeries.samplesMax : RecordSeries.samplesMaxOfFirstForm
    let leastSeconds = (elapsed.seconds / Double(most)).rounded(.up)
    let interval = max(
      isFine ? RecordSeries.fineInterval : RecordSeries.usualInterval, BusDuration(seconds: leastSeconds))
    series = RecordSeries(interval: interval)
    var calculator = Calculator.keepingTrail(settings: settings)
    var moments: [(at: BusTime, active: BusDuration)] = []
    // `nil` behind the end of time, where a later moment would be the same one.
    var due: BusTime? = start
    func next(_ moment: BusTime) -> BusTime? { moment + interval > moment ? moment + interval : nil }
    for entry in entries {
      while let moment = due, moment < entry.time, moment <= stop {
        series.samples.append(RecordSeries.Sample(calculator.metrics(at: moment)))
        due = next(moment)
      }
      calculator.fold(entry)
      guard entry.movesTheRunner, entry.time >= start, entry.time <= stop else { continue }
      if moments.last.map({ $0.at < entry.time }) ?? true {
        moments.append((entry.time, calculator.active(at: entry.time)))
      }
    }
    while let moment = due, moment <= stop {
      series.samples.append(RecordSeries.Sample(calculator.metrics(at: moment)))
      due = next(moment)
    }
    moments.append((stop, calculator.active(at: stop)))
    // An auto-pause is noticed after it has begun: what is known later holds.
    for index in moments.indices.dropLast().reversed() {
      moments[index].active = min(moments[index].active, moments[index + 1].active)
    }
    trail = calculator.trail(at: stop)
    var distance = trail
    steps = moments.map { RunBest.Step(at: $0.at - start, active: $0.active, meters: distance.meters(at: $0.at)) }
  }
}

extension LedgerEntry {
  /// Whether it is a heart rate or a cadence.
  fileprivate var isOfTheBody: Bool {
    switch event {
    case .sample(.heartRate, _), .sample(.cadence, _): true
    case .sample, .transition, .gap, .lap, .setup: false
    }
  }

  /// Whether it can change the distance or the clock.
  fileprivate var movesTheRunner: Bool {
    switch event {
    case .sample(.position, _), .sample(.pedometer, _), .transition, .gap: true
    case .sample, .lap, .setup: false
    }
  }
}
