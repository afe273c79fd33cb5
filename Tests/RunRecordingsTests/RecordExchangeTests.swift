import Foundation
import RunBus
import RunCore
import TestSupport
import Testing

@testable import RunRecordings

/// What an export keeps of a run, by reading it back. What it loses is stated here: nothing more may be lost.
@Suite("Records in the files of other programs")
struct RecordExchangeTests {
  private static let files: [String] =
    RecordedRuns.references.map(\.file) + [example]
  private static let example = "synthetic.gpx"

  private func record(of file: String) throws -> RunRecord {
    let examples = Checkout.root.appending(path: "examples/runs")
    let folder = file == Self.example ? examples : RecordedRuns.folder ?? examples
    let data = try Data(contentsOf: folder.appendingPathComponent(file))
    var record = try RecordImport.record(of: Array(data), name: file, settings: Self.settings).record
    record.summary.title = "Río <&> \"⌚️\""
    record.summary.note = "two\nlines & more"
    return record
  }

  private static let settings: MetricsSettings = {
    var settings = MetricsSettings()
    settings.weightKilograms = 70
    return settings
  }()

  private func readBack(_ document: String) throws -> RunRecord {
    try RecordImport.record(of: Array(document.utf8), name: "export", settings: Self.settings).record
  }

  private func counted(_ record: RunRecord) -> [RoutePoint] { record.body.route.filter { $0.verdict.counts } }

  /// The fixes come back: each in its place, to a centimetre and a millisecond.
  private func expectFixes(of record: RunRecord, in other: RunRecord) {
    let (was, now) = (counted(record), other.body.route)
    #expect(was.count == now.count)
    let begin = (was.first?.offset ?? .zero) - (now.first?.offset ?? .zero)
    for (old, new) in zip(was, now) {
      #expect(abs(old.position.latitude - new.position.latitude) <= 6e-8)
      #expect(abs(old.position.longitude - new.position.longitude) <= 6e-8)
      #expect(abs((old.offset - new.offset - begin).seconds) <= 0.002)
    }
  }

  @Test("The bytes of a record of a real run read back to the last bit", arguments: files)
  func bytes(file: String) throws {
    let record = try record(of: file)
    #expect(RunRecord(encoded: record.encoded) == record)
    #expect(record.body.route.count > 100 && record.body.series.samples.count > 20)
  }

  @Test("Metres by fix and by ten seconds never fall, and end with the run's own", arguments: files)
  func metres(file: String) throws {
    let record = try record(of: file)
    let total = try #require(record.body.report.metrics.distanceMeters)
    for list in [record.body.route.map(\.distanceMeters), record.body.series.samples.map(\.distanceMeters)] {
      let known = list.compactMap { $0 }
      #expect(zip(known, known.dropFirst()).allSatisfy { $0 <= $1 })
      #expect(known.last.map { $0 <= total + 0.01 && $0 > total - 40 } == true)
    }
  }

  @Test(
    "GPX keeps the id, words, start, and every fix that counts; metres within 0.2 % where fixes measured them",
    arguments: files)
  func gpx(file: String) throws {
    let record = try record(of: file)
    let other = try readBack(try RecordExport.gpx(record))
    #expect(other.runID == record.runID)
    #expect(other.summary.title == record.summary.title && other.summary.note == record.summary.note)
    let first = try #require(counted(record).first?.offset.seconds)
    #expect(abs(other.summary.startedAtUnixSeconds - record.summary.startedAtUnixSeconds - first) < 0.002)
    expectFixes(of: record, in: other)
    // GPX has no place for what a foot pod measured: where one spoke against the fixes, they are 2.5 % apart at most.
    let usesPod = record.body.report.stretches.contains { $0.source == .pedometer }
    let (was, now) = (record.summary.distanceMeters ?? 0, other.summary.distanceMeters ?? 0)
    #expect(abs(now - was) <= was * (usesPod ? 0.025 : 0.002), "\(was) m became \(now) m")
    expectRates(of: record, in: other)
  }

  @Test(
    "TCX keeps the id, words, start, laps, the clock to a second, every fix that counts; metres within 0.5 %",
    arguments: files)
  func tcx(file: String) throws {
    let record = try record(of: file)
    let other = try readBack(RecordExport.tcx(record))
    #expect(other.runID == record.runID)
    #expect(other.summary.title == record.summary.title && other.summary.note == record.summary.note)
    #expect(abs(other.summary.startedAtUnixSeconds - record.summary.startedAtUnixSeconds) < 0.002)
    #expect(abs((other.summary.elapsed - record.summary.elapsed).seconds) < 0.01)
    #expect(abs((other.summary.active - record.summary.active).seconds) <= 1.5)
    #expect(other.body.report.metrics.lapCount == record.body.report.metrics.lapCount)
    expectFixes(of: record, in: other)
    let (was, now) = (record.summary.distanceMeters ?? 0, other.summary.distanceMeters ?? 0)
    #expect(abs(now - was) <= was * 0.005, "\(was) m became \(now) m")
    expectRates(of: record, in: other)
  }

  /// Heart rate and cadence are those of every ten seconds.
  private func expectRates(of record: RunRecord, in other: RunRecord) {
    let (was, now) = (record.body.report.metrics, other.body.report.metrics)
    #expect((was.averageHeartRateBpm == nil) == (now.averageHeartRateBpm == nil))
    #expect(abs((was.averageHeartRateBpm ?? 0) - (now.averageHeartRateBpm ?? 0)) <= 1)
    #expect((was.averageCadenceStepsPerMinute == nil) == (now.averageCadenceStepsPerMinute == nil))
    #expect(abs((was.averageCadenceStepsPerMinute ?? 0) - (now.averageCadenceStepsPerMinute ?? 0)) <= 2)
  }

  @Test("A run without any reading is what only JSON and CSV hold: GPX says so, and so does whoever reads its TCX")
  func empty() throws {
    let summary = RecordSummary(
      runID: RunID(high: 1, low: 2), version: 1, deviceID: DeviceID("shell")!, hubDeviceID: DeviceID("phone")!,
      appVersion: "1", startedAtUnixSeconds: 1_795_289_467.25, elapsed: .milliseconds(1250),
      active: .milliseconds(1250))
    let metrics = RunMetrics(elapsed: .milliseconds(1250), active: .milliseconds(1250))
    let record = RunRecord(
      summary: summary,
      body: RecordBody(report: RunReport(metrics: metrics), series: RecordSeries(samples: [RecordSeries.Sample()])))
    #expect(throws: RunBusError.self) { try readBack(RecordExport.tcx(record)) }
    #expect(throws: RunBusError.self) { try RecordExport.gpx(record) }
    #expect(RecordExport.csv(record).split(separator: "\r\n").count == 2)
  }

  @Test("Numbers beyond all bounds are written somehow, and stop nobody")
  func absurd() throws {
    var record = try record(of: Self.example)
    record.body.series.interval = BusDuration(nanoseconds: .max / 2)
    for index in record.body.route.indices { record.body.route[index].offset = BusDuration(nanoseconds: .max) }
    record.body.route[0].position = Position(latitude: 1e300, longitude: -1e300)
    record.summary.startedAtUnixSeconds = 1e18
    record.summary.elapsed = BusDuration(nanoseconds: .min)
    #expect(!RecordExport.tcx(record).isEmpty && !RecordExport.csv(record).isEmpty)
    #expect(try !RecordExport.gpx(record).isEmpty)
  }
}
