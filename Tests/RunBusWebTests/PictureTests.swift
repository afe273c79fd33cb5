import Foundation
import RunBus
import Testing

@testable import RunBusWeb

@Suite("What the page draws")
struct PictureTests {
  private func point(_ second: Int, _ north: Double, _ east: Double, _ verdict: FixVerdict = .counted) -> RoutePoint {
    RoutePoint(
      offset: .seconds(Int64(second)), position: Position(latitude: 50 + north / 111_000, longitude: 8 + east / 71_500),
      verdict: verdict, altitudeMeters: 100, distanceMeters: Double(second) * 3)
  }

  @Test("A long route keeps its ends, its corners and its gaps, and no more points than asked for")
  func thinning() {
    // Two sides of a square with 1,000 points each, then a jump.
    let sides = (0..<1000).map { point($0, Double($0), 0) } + (0..<1000).map { point(1000 + $0, 999, Double($0)) }
    let route = sides + [point(2000, 3000, 3000, .anchored), point(2001, 3001, 3000), point(2002, 0, 0, .inaccurate)]
    let thin = RouteThinning.thinned(route, to: 500)
    #expect(thin.first == route.first && thin.count <= 500 && thin.count < 20)
    #expect(thin.contains { $0.verdict == .anchored } && thin.allSatisfy { $0.verdict.counts })
    #expect(thin.contains { abs($0.offset.seconds - 1000) <= 1 }, "the corner is gone")
    #expect(RouteThinning.thinned(Array(route.prefix(10)), to: 500).count == 10)
    #expect(RouteThinning.thinned([], to: 500).isEmpty)
    // A line that begins anew at each point has no shape.
    let broken = (0..<5000).map { point($0, Double($0), Double($0 % 7) * 100, .anchored) }
    #expect(RouteThinning.thinned(broken, to: 500).count <= 500)
  }

  private func snapshot(_ second: Int, run: UInt64 = 1, tick: UInt64 = 1) -> Snapshot {
    var metrics = RunMetrics(
      elapsed: .seconds(Int64(second)), active: .seconds(Int64(second)), distanceMeters: Double(second) * 3,
      currentPaceSecondsPerKilometer: 333, heartRateBpm: 150)
    metrics.moments = MetricMoments(distance: metrics.elapsed, heartRate: metrics.elapsed)
    return Snapshot(
      order: SnapshotOrder(term: 1, revision: 1, tick: tick), phase: .running, runID: RunID(high: 0, low: run),
      changedBy: nil,
      startedAt: .zero, capturedAt: .zero, metrics: metrics)
  }

  private func sample(_ second: Int64) -> RunSeries.Sample {
    RunSeries.Sample(offset: .seconds(second), values: RecordSeries.Sample(heartRateBpm: 140))
  }

  @Test("The series is what the hub told of the present run, up to the newest snapshot")
  func series() {
    let run = RunID(high: 0, low: 1)
    let told = RunSeries(
      runID: run, samples: [sample(0), sample(10), sample(600)], pauses: [.seconds(20)..<BusDuration.seconds(60)])
    let series = SeriesJSON(told, snapshot(603), isOfPhase: true)
    #expect(series.samples.map(\.offsetSeconds) == [0, 10, 600, 603])
    #expect(series.samples.map(\.heartRateBpm) == [140, 140, 140, 150])
    #expect(series.pauses.map(\.startedAtSeconds) == [20] && series.pauses.map(\.endedAtSeconds) == [60])
    #expect(SeriesJSON(told, snapshot(600), isOfPhase: true).samples.count == 3)
    #expect(
      SeriesJSON(told, snapshot(603, tick: 0), isOfPhase: true).samples.count == 3, "a kept snapshot has no numbers")
    let next = SeriesJSON(told, snapshot(3, run: 2), isOfPhase: false)
    #expect(next.samples.map(\.offsetSeconds) == [3] && next.pauses.isEmpty, "another run began")
    #expect(SeriesJSON(nil, .none, isOfPhase: false).samples.isEmpty)
    var paused = snapshot(700)
    paused.phase = .paused
    #expect(SeriesJSON(told, paused, isOfPhase: true).pauses.map(\.endedAtSeconds) == [700])
    #expect(SeriesJSON(told, paused, isOfPhase: false).pauses.map(\.endedAtSeconds) == [60], "an earlier pause")
  }

  // Once broken: `records show --html --units imperial` wrote a file that opened in kilometres, because the option was
  // for text only.
  @Test("One file of a record holds everything, and a title cannot end its script")
  func file() throws {
    let summary = RecordSummary(
      runID: RunID(high: 0, low: 1), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "1",
      startedAtUnixSeconds: 1_795_000_000, elapsed: .seconds(1), active: .seconds(1), title: "</script><b>")
    let record = RunRecord(summary: summary, body: RecordBody(report: RunReport(metrics: RunMetrics())))
    let html = try RecordPage.html(record)
    #expect(!html.contains("</script><b>") && html.contains("\\u003cb>"))
    #expect(html.components(separatedBy: "</script>").count == 3)
    #expect(
      !html.contains("\nimport ") && !html.contains("\nexport ") && !html.contains("src=")
        && !html.contains("href=\"page"))
    #expect(html.contains("<html lang="), "it opens in the units of its reader")
    #expect(try RecordPage.html(record, units: .imperial).contains("<html data-units=\"mi\" lang="))
    #expect(try RecordPage.html(record, units: .metric).contains("<html data-units=\"km\" lang="))
  }
}
