import Foundation
import RunBus
import RunCore
import TestSupport
import Testing

@testable import RunRecordings

/// What an export keeps of a run, by reading it back. What it loses is stated here: nothing more may be lost.
struct RecordExchange {
  let record: RunRecord

  /// The record of a document, with words that no format takes as they are.
  init(of document: Data, name: String) throws {
    var record = try RecordImport.record(of: Array(document), name: name, settings: Self.settings).record
    record.summary.title = "Río <&> \"⌚️\""
    record.summary.note = "two\nlines & more"
    self.record = record
  }

  private static let settings: MetricsSettings = {
    var settings = MetricsSettings()
    settings.weightKilograms = 70
    return settings
  }()

  private func readBack(_ document: String) throws -> RunRecord {
    try RecordImport.record(of: Array(document.utf8), name: "export", settings: Self.settings).record
  }

  /// A foot pod measured a part of it.
  var usesPod: Bool { record.body.report.stretches.contains { $0.source == .pedometer } }

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

  /// The bytes of the record read back to the last bit.
  func expectBytes() {
    #expect(RunRecord(encoded: record.encoded) == record)
    #expect(record.body.route.count > 100 && record.body.series.samples.count > 20)
  }

  /// Metres by fix and by ten seconds never fall, and end with the run's own.
  func expectMetres() throws {
    let total = try #require(record.body.report.metrics.distanceMeters)
    for list in [record.body.route.map(\.distanceMeters), record.body.series.samples.map(\.distanceMeters)] {
      let known = list.compactMap { $0 }
      #expect(zip(known, known.dropFirst()).allSatisfy { $0 <= $1 })
      #expect(known.last.map { $0 <= total + 0.01 && $0 > total - 40 } == true)
    }
  }

  /// GPX keeps the id, words, start, and every fix that counts; metres within 0.2 % where fixes measured them.
  func expectGPX() throws {
    let other = try readBack(try RecordExport.gpx(record))
    #expect(other.runID == record.runID)
    #expect(other.summary.title == record.summary.title && other.summary.note == record.summary.note)
    let first = try #require(counted(record).first?.offset.seconds)
    #expect(abs(other.summary.startedAtUnixSeconds - record.summary.startedAtUnixSeconds - first) < 0.002)
    expectFixes(of: record, in: other)
    // GPX has no place for what a foot pod measured: where one spoke against the fixes, they are 2.5 % apart at most.
    let (was, now) = (record.summary.distanceMeters ?? 0, other.summary.distanceMeters ?? 0)
    #expect(abs(now - was) <= was * (usesPod ? 0.025 : 0.002), "\(was) m became \(now) m")
    expectRates(of: record, in: other)
  }

  /// TCX keeps the id, words, start, laps, the clock to a second and a half, every fix that counts; metres within 0.5 %.
  func expectTCX() throws {
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
}
