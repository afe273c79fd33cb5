import Testing

@testable import RunCore

@Suite("Impossible records")
struct RecordFlawTests {
  private func record() -> RunRecord {
    let metrics = RunMetrics(
      elapsed: .seconds(100), active: .seconds(90), distanceMeters: 300, heartRateBpm: 150, altitudeMeters: -420,
      positionAccuracyMeters: -1, lapCount: 1)
    let split = Split(
      number: 1, distanceMeters: 300, active: .seconds(90), startedAt: .zero, endedAt: .seconds(100), isComplete: false)
    let point = RoutePoint(
      offset: .seconds(1), position: Position(latitude: 50, longitude: 10), verdict: .counted, altitudeMeters: -12)
    var summary = RecordSummary(
      runID: RunID(high: 1, low: 2), version: 1, deviceID: DeviceID("watch"), hubDeviceID: DeviceID("phone"),
      appVersion: "1", startedAtUnixSeconds: 1_795_000_000, elapsed: .zero, active: .zero,
      setup: RunSetup(weightKilograms: 70), utcOffsetSeconds: -34_200,
      bests: [RunBest(distanceMeters: 1000, active: .seconds(300), startedAt: .seconds(5))])
    summary.add(metrics)
    return RunRecord(
      summary: summary,
      body: RecordBody(
        report: RunReport(
          metrics: metrics, kilometers: [split], miles: [split], laps: [split],
          stretches: [DistanceStretch(source: .positions, startedAt: .zero, endedAt: .seconds(9), meters: 20)]),
        pauses: [RunPause(startedAt: .seconds(1), endedAt: .seconds(11))],
        series: RecordSeries(samples: [RecordSeries.Sample(altitudeMeters: -3, heartRateBpm: 100)]), route: [point]))
  }

  @Test("A record with heights below the sea and an invalid accuracy has no flaw")
  func possible() { #expect(record().flaw == nil) }

  @Test("Every negative, huge or non-finite number is named, and so are texts and versions out of range")
  func impossible() throws {
    let changes: [(String, (inout RunRecord, Double) -> Void)] = [
      ("distanceMeters", { $0.summary.distanceMeters = $1 }), ("energyJoules", { $0.summary.energyJoules = $1 }),
      ("elevationGainMeters", { $0.summary.elevationGainMeters = $1 }),
      ("averageHeartRateBpm", { $0.summary.averageHeartRateBpm = $1 }),
      ("weightKilograms", { $0.summary.setup.weightKilograms = $1 }),
      ("metrics.heartRateBpm", { $0.body.report.metrics.heartRateBpm = $1 }),
      ("metrics.currentPaceSecondsPerKilometer", { $0.body.report.metrics.currentPaceSecondsPerKilometer = $1 }),
      ("splits.distanceMeters", { $0.body.report.laps[0].distanceMeters = $1 }),
      ("splits.averageHeartRateBpm", { $0.body.report.miles[0].averageHeartRateBpm = $1 }),
      ("splits.elevationLossMeters", { $0.body.report.kilometers[0].elevationLossMeters = $1 }),
      ("stretches.distanceMeters", { $0.body.report.stretches[0].meters = $1 }),
      ("bests.distanceMeters", { $0.summary.bests[0].distanceMeters = $1 }),
      ("series.heartRateBpm", { $0.body.series.samples[0].heartRateBpm = $1 }),
      ("route.distanceMeters", { $0.body.route[0].distanceMeters = $1 }),
    ]
    for (name, change) in changes {
      for value in [-1, 1e10, .infinity, .nan] {
        var changed = record()
        change(&changed, value)
        #expect(changed.flaw?.contains(name) == true, "\(name) \(value): \(changed.flaw ?? "no flaw")")
      }
    }
    func flaw(_ change: (inout RunRecord) -> Void) -> String {
      var changed = record()
      change(&changed)
      return changed.flaw ?? ""
    }
    #expect(
      flaw { $0.summary.title = String(repeating: "t", count: 257) } == "title has 257 bytes, and 256 at most are kept")
    #expect(flaw { $0.summary.note = String(repeating: "n", count: 4097) }.contains("note"))
    #expect(flaw { $0.summary.appVersion = String(repeating: "n", count: 65) }.contains("appVersion"))
    #expect(flaw { $0.summary.version = 0 } == "version is 0")
    #expect(flaw { $0.summary.version = 1 << 62 }.contains("version"))
    #expect(flaw { $0.summary.startedAtUnixSeconds = -1 }.contains("no date"))
    #expect(flaw { $0.summary.elapsed = .seconds(-1) }.contains("elapsedSeconds"))
    #expect(flaw { $0.body.report.metrics.active = BusDuration(nanoseconds: .max) }.contains("metrics.activeSeconds"))
    #expect(flaw { $0.body.report.metrics.lapCount = -1 }.contains("lapCount"))
    #expect(flaw { $0.body.pauses[0].endedAt = .seconds(-1) }.contains("pauses"))
    #expect(flaw { $0.body.series.interval = .zero }.contains("intervalSeconds"))
    #expect(flaw { $0.body.series.samples = Array(repeating: .init(), count: 86_402) }.contains("86402 samples"))
    #expect(flaw { $0.body.route[0].position = Position(latitude: 91, longitude: 0) }.contains("latitude"))
    #expect(flaw { $0.body.route[0].altitudeMeters = .nan }.contains("altitude"))
  }

  // Once broken: Records with `-1.00 km` and `1e300` m were kept; their sum was not finite, and `records stats --json`
  // printed `null`, because each number of a record was checked for being finite, but not for being possible.
  @Test("A hub refuses an impossible record and names the same flaw")
  func refused() {
    var bad = record()
    bad.summary.distanceMeters = -1
    var stage = HubStage.opened()
    let bytes = bad.encoded
    let upload = RecordUpload(from: 0, bytes: bytes, total: bytes.count)
    #expect((stage.feed(.inquire(.putRecord(upload), 1)) + stage.commitsAll()) == ["answer 1: failed"])
    #expect(stage.core.records.kept.isEmpty)
  }
}
