import Foundation
import RunBus
import RunCore
import TestSupport
import Testing

@testable import RunRecordings

@Suite("Records in the files of other programs")
struct RecordExchangeTests {
  /// Runs that need nothing beside the checkout.
  enum OwnRun: CaseIterable { case shipped, withPodAndLaps }

  private func exchange(_ run: OwnRun) throws -> RecordExchange {
    switch run {
    case .shipped:
      let file = Checkout.root.appending(path: "examples/runs/synthetic.gpx")
      return try RecordExchange(of: Data(contentsOf: file), name: "synthetic.gpx")
    case .withPodAndLaps: return try RecordExchange(of: Data(Documents.podRun.utf8), name: "pod.tcx")
    }
  }

  @Test(
    "The run with a foot pod has all that the formats treat differently: laps, a pause, cadence, and the pod's metres")
  func podRun() throws {
    let exchange = try exchange(.withPodAndLaps)
    let body = exchange.record.body
    #expect(exchange.usesPod)
    #expect(body.report.metrics.lapCount == 3 && body.pauses.count == 1)
    #expect(body.report.metrics.averageHeartRateBpm != nil && body.report.metrics.averageCadenceStepsPerMinute != nil)
    #expect(try !self.exchange(.shipped).usesPod)
  }

  @Test("The bytes of a record read back to the last bit", arguments: OwnRun.allCases)
  func bytes(run: OwnRun) throws { try exchange(run).expectBytes() }

  @Test("Metres by fix and by ten seconds never fall, and end with the run's own", arguments: OwnRun.allCases)
  func metres(run: OwnRun) throws { try exchange(run).expectMetres() }

  @Test(
    "GPX keeps the id, words, start, and every fix that counts; metres within 0.2 % where fixes measured them",
    arguments: OwnRun.allCases)
  func gpx(run: OwnRun) throws { try exchange(run).expectGPX() }

  @Test(
    "TCX keeps the id, words, start, laps, the clock to a second and a half, every fix that counts; metres within 0.5 %",
    arguments: OwnRun.allCases)
  func tcx(run: OwnRun) throws { try exchange(run).expectTCX() }

  @Test("A run without readings can be exported to JSON and CSV only: GPX and readers of its TCX refuse it")
  func empty() throws {
    let summary = RecordSummary(
      runID: RunID(high: 1, low: 2), version: 1, deviceID: DeviceID("shell"), hubDeviceID: DeviceID("phone"),
      appVersion: "1", startedAtUnixSeconds: 1_795_289_467.25, elapsed: .milliseconds(1250),
      active: .milliseconds(1250))
    let metrics = RunMetrics(elapsed: .milliseconds(1250), active: .milliseconds(1250))
    let record = RunRecord(
      summary: summary,
      body: RecordBody(report: RunReport(metrics: metrics), series: RecordSeries(samples: [RecordSeries.Sample()])))
    #expect(throws: RunBusError.self) {
      try RecordImport.record(of: Array(RecordExport.tcx(record).utf8), name: "export")
    }
    #expect(throws: RunBusError.self) { try RecordExport.gpx(record) }
    #expect(RecordExport.csv(record).split(separator: "\r\n").count == 2)
  }

  @Test("Numbers beyond all bounds can be written without a crash")
  func absurd() throws {
    var record = try exchange(.shipped).record
    record.body.series.interval = BusDuration(nanoseconds: .max / 2)
    for index in record.body.route.indices { record.body.route[index].offset = BusDuration(nanoseconds: .max) }
    record.body.route[0].position = Position(latitude: 1e300, longitude: -1e300)
    record.summary.startedAtUnixSeconds = 1e18
    record.summary.elapsed = BusDuration(nanoseconds: .min)
    #expect(!RecordExport.tcx(record).isEmpty && !RecordExport.csv(record).isEmpty)
    #expect(try !RecordExport.gpx(record).isEmpty)
  }
}

@Suite(
  "Records of real runs in the files of other programs", .enabled(if: RecordedRuns.folder != nil, RecordedRuns.missing))
struct RecordedExchangeTests {
  private func exchange(_ reference: RecordedRuns.Reference) throws -> RecordExchange {
    let folder = try #require(RecordedRuns.folder)
    let file = folder.appendingPathComponent(reference.file)
    return try RecordExchange(of: Data(contentsOf: file), name: reference.file)
  }

  @Test("The bytes of a record read back to the last bit", arguments: RecordedRuns.references)
  func bytes(reference: RecordedRuns.Reference) throws { try exchange(reference).expectBytes() }

  @Test("Metres by fix and by ten seconds never fall, and end with the run's own", arguments: RecordedRuns.references)
  func metres(reference: RecordedRuns.Reference) throws { try exchange(reference).expectMetres() }

  @Test("GPX keeps what it keeps of a modelled run", arguments: RecordedRuns.references)
  func gpx(reference: RecordedRuns.Reference) throws { try exchange(reference).expectGPX() }

  @Test("TCX keeps what it keeps of a modelled run", arguments: RecordedRuns.references)
  func tcx(reference: RecordedRuns.Reference) throws { try exchange(reference).expectTCX() }
}
