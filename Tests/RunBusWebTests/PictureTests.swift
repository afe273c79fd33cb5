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

  @Test("The series has a sample every few seconds, begins anew with a run, and is filled from the route")
  func series() {
    var series = LiveSeries()
    series.add(snapshot(0, tick: 0))
    #expect(series.samples.isEmpty, "a kept snapshot has no numbers")
    for second in stride(from: 600, through: 900, by: 3) { series.add(snapshot(second)) }
    #expect(series.samples.count == 101)
    let all = series.samples(with: (0...300).map { point($0 * 3, Double($0), 0) }, max: 1000)
    #expect(all.count > 290 && all.first?.offsetSeconds == 0)
    #expect(zip(all, all.dropFirst()).allSatisfy { $0.offsetSeconds <= $1.offsetSeconds })
    #expect(series.samples(with: [], max: 50).count == 50)
    series.add(snapshot(3, run: 2))
    #expect(series.samples.count == 1)
  }

  @Test("A day of samples stays bounded")
  func bounded() {
    var series = LiveSeries()
    for second in stride(from: 0, to: 86_400, by: 3) { series.add(snapshot(second)) }
    #expect(series.samples.count <= 4000 && series.samples.count > 1000)
  }

  @Test("One file of a record holds everything, and a title cannot end its script")
  func file() throws {
    let summary = RecordSummary(
      runID: RunID(high: 0, low: 1), version: 1, deviceID: "watch", hubDeviceID: "phone", appVersion: "1",
      startedAtUnixSeconds: 1_795_000_000, elapsed: .seconds(1), active: .seconds(1), title: "</script><b>")
    let html = try RecordPage.html(
      RunRecord(summary: summary, body: RecordBody(report: RunReport(metrics: RunMetrics()))))
    #expect(!html.contains("</script><b>") && html.contains("\\u003cb>"))
    #expect(html.components(separatedBy: "</script>").count == 3)
    #expect(
      !html.contains("\nimport ") && !html.contains("\nexport ") && !html.contains("src=")
        && !html.contains("href=\"page"))
  }
}
