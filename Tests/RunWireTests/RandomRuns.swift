import RunCore

@testable import RunWire

// The numbers of a run and its parts.
extension RandomMessages {
  mutating func count() -> Int { one(of: [0, 1, 127, 128, Int(Int32.max)]) }

  mutating func metrics() -> RunMetrics {
    var metrics = RunMetrics(elapsed: age(), active: age())
    metrics.distanceMeters = maybe { $0.double() }
    metrics.pedometerMeters = maybe { $0.double() }
    metrics.currentPaceSecondsPerKilometer = maybe { $0.double() }
    metrics.averagePaceSecondsPerKilometer = maybe { $0.double() }
    metrics.bestPaceSecondsPerKilometer = maybe { $0.double() }
    metrics.worstPaceSecondsPerKilometer = maybe { $0.double() }
    metrics.heartRateBpm = maybe { $0.double() }
    metrics.averageHeartRateBpm = maybe { $0.double() }
    metrics.maxHeartRateBpm = maybe { $0.double() }
    metrics.cadenceStepsPerMinute = maybe { $0.double() }
    metrics.averageCadenceStepsPerMinute = maybe { $0.double() }
    metrics.altitudeMeters = maybe { $0.double() }
    metrics.elevationGainMeters = maybe { $0.double() }
    metrics.elevationLossMeters = maybe { $0.double() }
    metrics.energyJoules = maybe { $0.double() }
    metrics.positionAccuracyMeters = maybe { $0.double() }
    metrics.activity = one(of: MotionActivity.allCases)
    metrics.isActivityInferred = coin()
    metrics.isAutoPaused = coin()
    metrics.lapCount = count()
    metrics.moments = MetricMoments(
      distance: maybe { $0.age() }, position: maybe { $0.age() }, heartRate: maybe { $0.age() },
      cadence: maybe { $0.age() }, elevation: maybe { $0.age() }, activity: maybe { $0.age() })
    return metrics
  }

  mutating func split() -> Split {
    Split(
      number: count(), distanceMeters: maybe { $0.double() }, active: age(), startedAt: age(), endedAt: age(),
      averageHeartRateBpm: maybe { $0.double() }, elevationGainMeters: maybe { $0.double() },
      elevationLossMeters: maybe { $0.double() }, isComplete: coin())
  }

  mutating func report() -> RunReport {
    func some<T>(_ random: inout Self, _ make: (inout Self) -> T) -> [T] {
      (0..<random.number(below: 4)).map { _ in make(&random) }
    }
    return RunReport(
      metrics: metrics(), kilometers: some(&self) { $0.split() }, miles: some(&self) { $0.split() },
      laps: some(&self) { $0.split() },
      stretches: some(&self) { random in
        DistanceStretch(
          source: random.one(of: DistanceSource.allCases), startedAt: random.age(), endedAt: random.age(),
          meters: random.double())
      })
  }

  mutating func routePoint() -> RoutePoint {
    RoutePoint(
      offset: age(), position: position(), verdict: one(of: FixVerdict.allCases), altitudeMeters: maybe { $0.double() },
      distanceMeters: maybe { $0.double() })
  }

  mutating func series() -> RunSeries {
    let samples = (0..<number(below: 6)).map { _ in
      RunSeries.Sample(
        offset: age(),
        values: RecordSeries.Sample(
          distanceMeters: maybe { $0.positive() }, paceSecondsPerKilometer: maybe { $0.positive() },
          altitudeMeters: maybe { $0.positive() }, heartRateBpm: maybe { $0.positive() },
          cadenceStepsPerMinute: maybe { $0.positive() }))
    }
    let pauses = (0..<number(below: 3)).map { _ in
      let (first, second) = (age(), age())
      return min(first, second)..<max(first, second)
    }
    return RunSeries(runID: id(), samples: samples, pauses: pauses)
  }

  mutating func routePart() -> RoutePart {
    let points = (0..<number(below: 6)).map { _ in routePoint() }
    let total = Int(Int32.max) - number(below: 2)
    return RoutePart(
      runID: id(), term: counter(), number: counter(), from: one(of: [0, 1, 600, total - points.count]),
      points: points, total: total)
  }
}
