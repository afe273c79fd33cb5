extension RecordBody {
  /// The body of the record of a run that is over; `nil` when the run is not over.
  ///
  /// The series comes from a second fold over the same entries, late readings included, with the metrics read at each
  /// interval. Its distances, and those of the route, are the final ones, not those shown during the run.
  package init?(_ ledger: RunLedger, settings: MetricsSettings) {
    guard let start = ledger.startedAt, let stop = ledger.stoppedAt else { return nil }
    let (series, trail) = RecordSeries.sampling(ledger.entries, from: start, to: stop, settings: settings)
    self.init(
      report: ledger.report(at: stop), pauses: Self.pauses(ledger.entries, from: start, to: stop), series: series,
      route: ledger.route)
    add(trail, startedAt: start)
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

  private static func pauses(_ entries: [LedgerEntry], from start: BusTime, to stop: BusTime) -> [RunPause] {
    var pauses: [RunPause] = []
    var pausedAt: BusTime?
    func add(from begin: BusTime, to end: BusTime) {
      let end = min(end, stop)
      if end > begin { pauses.append(RunPause(startedAt: begin - start, endedAt: end - start)) }
    }
    for entry in entries where entry.time >= start && entry.time <= stop {
      switch entry.event {
      case .transition(let transition):
        switch transition.kind {
        case .pause: pausedAt = pausedAt ?? entry.time
        case .resume, .stop:
          if let begin = pausedAt { add(from: begin, to: entry.time) }
          pausedAt = nil
        case .start, .lap: break
        }
      case .gap(let span): if pausedAt == nil { add(from: entry.time, to: entry.time + span) }
      case .lap, .sample, .setup: break
      }
    }
    return pauses
  }
}

extension RecordSeries {
  /// Folds entries, which must be in order, and reads the metrics at each interval. Also returns the final distance
  /// over time.
  fileprivate static func sampling(
    _ entries: [LedgerEntry], from start: BusTime, to stop: BusTime, settings: MetricsSettings
  ) -> (series: RecordSeries, trail: DistanceTrail) {
    let elapsed = max(.zero, stop - start)
    let leastSeconds = (elapsed.seconds / Double(samplesMax)).rounded(.up)
    let interval = max(usualInterval, BusDuration(seconds: leastSeconds))
    var series = RecordSeries(interval: interval)
    var calculator = Calculator.keepingTrail(settings: settings)
    var due = start
    for entry in entries {
      while due < entry.time, due <= stop {
        series.samples.append(Sample(calculator.metrics(at: due)))
        due = due + interval
      }
      calculator.fold(entry)
    }
    while due <= stop {
      series.samples.append(Sample(calculator.metrics(at: due)))
      due = due + interval
    }
    return (series, calculator.trail(at: stop))
  }
}

extension RecordSeries.Sample {
  /// The metrics without stale values.
  init(_ metrics: RunMetrics) {
    func fresh(_ value: Double?, _ metric: Metric) -> Double? { metrics.isStale(metric) ? nil : value }
    self.init(
      distanceMeters: metrics.distanceMeters,
      paceSecondsPerKilometer: fresh(metrics.currentPaceSecondsPerKilometer, .distance),
      altitudeMeters: fresh(metrics.altitudeMeters, .elevation),
      heartRateBpm: fresh(metrics.heartRateBpm, .heartRate),
      cadenceStepsPerMinute: fresh(metrics.cadenceStepsPerMinute, .cadence))
  }
}
