import Foundation
import RunBus
import RunCore
import RunRecordings
import TestSupport
import Testing

/// Files of reported faults, used where they are, with what they have to give.
@Suite("Reported files", .enabled(if: Checkout.reports != nil, "there is no shared/reports beside the checkout"))
struct ReportedFileTests {
  struct Expected: Sendable, CustomTestStringConvertible {
    let file: String
    var seconds: Double?
    var meters: Double?
    /// How far the metres may be off.
    var within = 2.0
    var bpm: Double?
    var stepsPerMinute: Double?
    var kilocalories: Double?
    var runs = 1
    /// Words of a notice, or of the refusal where there is no run.
    var words: String?
    var testDescription: String { file }
  }

  private static let files = [
    Expected(file: "position-held-3s.gpx", seconds: 600, meters: 2042),
    Expected(file: "position-held-4s.gpx", seconds: 600, meters: 2042),
    Expected(file: "position-held-4s.tcx", seconds: 600, meters: 2042),
    Expected(file: "position-held-6s.gpx", seconds: 600, meters: 2042),
    Expected(file: "position-held-10s.gpx", seconds: 600, meters: 2042),
    Expected(file: "position-held-now-and-then.gpx", seconds: 600, meters: 2042),
    Expected(file: "cached-position-at-start.tcx", seconds: 208, meters: 583),
    Expected(file: "hr-batches-out-of-order.gpx", seconds: 299, meters: 892, bpm: 143, words: "put in order"),
    Expected(file: "walk-cadence-steps.tcx", seconds: 1800, meters: 2342, stepsPerMinute: 100, kilocalories: 119),
    Expected(file: "walk-cadence-strides.tcx", seconds: 1800, meters: 2342, stepsPerMinute: 100, kilocalories: 119),
    Expected(file: "first-lap-without-points.tcx", seconds: 600, meters: 1800, words: "without trackpoints"),
    Expected(file: "treadmill-distance-in-laps-only.tcx", seconds: 1800, meters: 5000, words: "total of the lap"),
    Expected(file: "no-trackpoints-totals-only.tcx", seconds: 1800, meters: 5000, words: "without a route"),
    Expected(file: "tunnel-two-segments-timer-ran.gpx", seconds: 488, meters: 1464),
    Expected(file: "tunnel-two-segments-no-timer.gpx", seconds: 398, meters: 1195),
    Expected(file: "pause-two-segments-timer-stopped.gpx", seconds: 398, meters: 1195),
    Expected(
      file: "apple-health-first-minute-bad.gpx", seconds: 600, meters: 1615, within: 5,
      words: "the first 61 s have no usable position"),
    Expected(file: "apple-health-first-minute-good.gpx", seconds: 600, meters: 1802),
    Expected(file: "three-runs.tcx", seconds: 300, meters: 901, runs: 3, words: "3 runs"),
    Expected(file: "two-runs-two-days.gpx", seconds: 300, meters: 901, runs: 2, words: "2 runs"),
    Expected(file: "two-runs-half-an-hour-apart.gpx", seconds: 600, meters: 1802),
    Expected(file: "sport-in-lower-case-ride.tcx", seconds: 300, meters: 901, words: "ride"),
    Expected(file: "sport-lower-case-two.tcx", seconds: 300, meters: 901, runs: 2),
    Expected(file: "each-lap-holds-the-whole-track.tcx", seconds: 300, meters: 900, words: "whole track"),
    Expected(file: "wrong-date-first-3.gpx", seconds: 300, meters: 901, words: "3 trackpoints"),
    Expected(file: "wrong-date-first-40.gpx", seconds: 300, meters: 901, words: "40 trackpoints"),
    Expected(file: "decimal-comma.gpx", runs: 0, words: "decimal commas"),
    Expected(file: "waypoints-only.gpx", runs: 0, words: "12 waypoints"),
    Expected(file: "route-only.gpx", runs: 0, words: "planned route"),
    Expected(file: "course-without-times.gpx", runs: 0, words: "planned course"),
    Expected(file: "apple-health-export.xml", runs: 0, words: "Apple Health"),
  ]

  private static func path(_ file: String) -> String {
    (Checkout.reports ?? URL(fileURLWithPath: "/")).appendingPathComponent(file).path
  }

  @Test("A file gives what it holds", arguments: files)
  func file(expected: Expected) throws {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: Self.path(expected.file))))
    var settings = MetricsSettings()
    settings.weightKilograms = 70
    guard expected.runs > 0 else {
      let error = #expect(throws: RunBusError.self) { try Recording.read(bytes, name: expected.file) }
      #expect(error?.message.contains(expected.words ?? "?") ?? false, "\(error?.message ?? "")")
      return
    }
    let recording = try Recording.read(bytes, name: expected.file)
    let run = MeasuredRun(recording, settings: settings)
    let metrics = run.report.metrics
    if let seconds = expected.seconds { #expect(metrics.active.seconds == seconds) }
    if let meters = expected.meters { #expect(abs((metrics.distanceMeters ?? -100) - meters) <= expected.within) }
    if let bpm = expected.bpm { #expect(abs((metrics.averageHeartRateBpm ?? 0) - bpm) < 0.1) }
    if let steps = expected.stepsPerMinute { #expect(metrics.averageCadenceStepsPerMinute == steps) }
    if let energy = expected.kilocalories {
      #expect(((metrics.energyJoules ?? 0) / RecordedSummary.joulesPerKilocalorie).rounded() == energy)
    }
    if let words = expected.words { #expect((recording.warnings + run.notices).joined().contains(words)) }
    let imported = try RecordImport.records(of: bytes, name: expected.file, settings: settings)
    #expect(imported.count == expected.runs)
    #expect(imported[0].record.summary.distanceMeters == metrics.distanceMeters)
    #expect(imported[0].record.summary.active == metrics.active)
  }

  @Test("The clock of the file gives the day")
  func offset() throws {
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: Self.path("evening-with-offset.gpx"))))
    let summary = try RecordImport.record(of: bytes, name: "f").record.summary
    #expect(summary.utcOffsetSeconds == 7200)
    #expect(RunCalendar().minuteText(RunCalendar().wallClock(summary)) == "2026-05-10 22:32")
  }

  @Test("The same run as GPX and TCX is a likely double, and counts once")
  func doubles() throws {
    let records = try ["same-run.gpx", "same-run.tcx"].map {
      try RecordImport.record(of: [UInt8](Data(contentsOf: URL(fileURLWithPath: Self.path($0)))), name: $0).record
        .summary
    }
    #expect(records[0].isLikelyDouble(of: records[1]))
    let statistics = RecordStatistics(records, by: .month, now: records[0].startedAtUnixSeconds)
    #expect(statistics.periods.map(\.count) == [1])
  }
}
