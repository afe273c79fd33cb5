import RunCore

// Records with all their corners.
extension OperationGenerator {
  mutating func recordOperation() -> StoreOperation {
    let change = UInt64(number(1...9999))
    switch number(0...9) {
    case 9: return .dateRun(runID(), wallSeconds: Double(number(1...2_000_000_000)))
    case 8: return .skipChanges(after: change, through: change + UInt64(number(0...9)) << 32)
    case 6: return .endJournal(runID(), at: BusTime(nanoseconds: Int64(number(1...1_000_000))))
    case 7: return .dropJournal(runID())
    case 0:
      return .expectRecord(ExpectedRecord(runID: knownRun(), isConflicted: number(0...1) == 1))
    case 1: return .forgetExpected(knownRun())
    case 2: return .removeRecord(knownRun(), version: UInt64(number(1...9)), change: change)
    case 3: return .editRecord(summary(of: knownRun()), change: change)
    case 4: return .setRecordsThrough(change)
    default: return .keepRecord(record(), change: change)
    }
  }

  mutating func record() -> RunRecord {
    let report = RunReport(
      metrics: RunMetrics(
        elapsed: .seconds(Int64(number(0...9))), distanceMeters: number(0...2) == 0 ? nil : value(),
        activity: MotionActivity.allCases[number(0...3)], lapCount: number(0...9),
        moments: MetricMoments(heartRate: .seconds(Int64(number(0...5))))),
      kilometers: (0..<number(0...2)).map { split($0) }, laps: (0..<number(0...2)).map { split($0) },
      stretches: [DistanceStretch(source: .pedometer, startedAt: .zero, endedAt: .seconds(3), meters: value())])
    var offset = BusDuration.zero
    let route = (0..<number(0...30)).map { _ -> RoutePoint in
      offset = offset + BusDuration(nanoseconds: Int64(number(-5...2_000_000_000)))
      return RoutePoint(
        offset: offset,
        position: Position(
          latitude: value(), longitude: value(), horizontalAccuracyMeters: number(0...1) == 0 ? nil : value()),
        verdict: FixVerdict.allCases[number(0...FixVerdict.allCases.count - 1)],
        altitudeMeters: number(0...1) == 0 ? nil : value(), distanceMeters: number(0...1) == 0 ? nil : value())
    }
    let samples = (0..<number(0...20)).map { _ in
      RecordSeries.Sample(
        distanceMeters: number(0...2) == 0 ? nil : value(), altitudeMeters: number(0...2) == 0 ? nil : value(),
        heartRateBpm: number(0...2) == 0 ? nil : value())
    }
    return RunRecord(
      summary: summary(of: knownRun()),
      body: RecordBody(
        report: report, pauses: [RunPause(startedAt: .seconds(1), endedAt: .seconds(2))],
        series: RecordSeries(samples: samples), route: route))
  }

  mutating func summary(of run: RunID) -> RecordSummary {
    RecordSummary(
      runID: run, version: UInt64(number(1...1000)), deviceID: device(), hubDeviceID: device(), appVersion: "1\u{0}",
      startedAtUnixSeconds: value(), elapsed: .seconds(Int64(number(0...9))), active: .zero,
      distanceMeters: number(0...1) == 0 ? nil : value(), energyJoules: number(0...1) == 0 ? nil : value(),
      setup: RunSetup(
        weightKilograms: number(0...1) == 0 ? nil : value(), isAutoPauseOn: number(0...1) == 0,
        usesPedometer: number(0...1) == 0),
      isConflicted: number(0...1) == 0, title: "⌚️\u{0}", note: String(repeating: "n", count: number(0...300)))
  }

  private mutating func split(_ index: Int) -> Split {
    Split(
      number: index + 1, distanceMeters: number(0...1) == 0 ? nil : 1000, active: .seconds(300), startedAt: .zero,
      endedAt: .seconds(301), averageHeartRateBpm: number(0...1) == 0 ? nil : value(), isComplete: number(0...1) == 0)
  }

  /// A few runs, so that operations meet.
  private mutating func knownRun() -> RunID { RunID(high: 77, low: UInt64(number(1...4))) }
  private mutating func value() -> Double { Double(number(-1_000_000...1_000_000)) / 7 }
}
