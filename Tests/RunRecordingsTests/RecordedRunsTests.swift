import Foundation
import RunBus
import RunRecordings
import Testing

@Suite("Real recordings", .enabled(if: RecordedRuns.folder != nil, RecordedRuns.missing))
struct RecordedRunsTests {
  /// How far the distance may differ from the device's. In two files the recorded positions themselves differ by 3.1
  /// and 4.7 % on WGS84 (reference.json), and no rule should correct that.
  private static func tolerance(_ file: String) -> Double {
    switch file {
    case "fr310xt-pauses.tcx": 0.035
    case "strava-stops.gpx": 0.05
    default: 0.02
    }
  }

  @Test("All of them have figures to compare with")
  func references() { #expect(RecordedRuns.references.count >= 7) }

  @Test(
    "The distance is close to the device's, with pedometer and by positions alone", arguments: RecordedRuns.references
  )
  func distance(reference: RecordedRuns.Reference) throws {
    let recording = try RecordedRuns.recording(reference.file)
    for usesPedometer in [true, false] {
      var settings = MetricsSettings()
      settings.usesPedometer = usesPedometer
      let meters = try #require(measure(recording, settings: settings).distanceMeters)
      let share = abs(meters - reference.distanceMeters) / reference.distanceMeters
      #expect(share <= Self.tolerance(reference.file), "\(meters) m against \(reference.distanceMeters) m")
    }
  }

  @Test("Active time equals the device's timer within one per cent", arguments: RecordedRuns.references)
  func timer(reference: RecordedRuns.Reference) throws {
    let seconds = measure(try RecordedRuns.recording(reference.file)).active.seconds
    #expect(abs(seconds - reference.timerSeconds) <= 0.01 * reference.timerSeconds)
  }

  @Test(
    "The mean heart rate equals the device's, or that of its points where the two disagree",
    arguments: RecordedRuns.references)
  func heartRate(reference: RecordedRuns.Reference) throws {
    let metrics = measure(try RecordedRuns.recording(reference.file))
    guard let points = reference.pointsHeartRateBpm else {
      #expect(metrics.averageHeartRateBpm == nil)
      return
    }
    let device = try #require(reference.averageHeartRateBpm)
    let average = try #require(metrics.averageHeartRateBpm)
    // One device states a lap that differs from its own points by 9 bpm.
    let expected = abs(points - device) <= 1 ? device : points
    #expect(abs(average - expected) <= 1, "\(average) bpm against \(expected) bpm")
    let highest = try #require(metrics.maxHeartRateBpm)
    #expect(abs(highest - (try #require(reference.maxHeartRateBpm))) <= 1)
  }

  @Test(
    "The ascent is closer to the device's than gpxpy's is",
    arguments: RecordedRuns.references.filter { $0.ascentMeters != nil })
  func ascent(reference: RecordedRuns.Reference) throws {
    let device = try #require(reference.ascentMeters)
    let gpxpy = try #require(reference.gpxpyAscentMeters)
    let ours = try #require(measure(try RecordedRuns.recording(reference.file)).elevationGainMeters)
    #expect(abs(ours - device) < abs(gpxpy - device), "\(ours) m, gpxpy \(gpxpy) m, device \(device) m")
  }

  @Test("Where the device kept laps of one kilometre, ours are within 3 s of them")
  func kilometers() throws {
    var compared = 0
    for reference in RecordedRuns.references {
      let laps = reference.laps.prefix { $0.meters.map { abs($0 - 1000) <= 5 } ?? false }
      guard !laps.isEmpty else { continue }
      let splits = MeasuredRun(try RecordedRuns.recording(reference.file)).report.kilometers
      #expect(splits.count >= laps.count)
      for (lap, split) in zip(laps, splits) {
        let difference = split.active.seconds - (try #require(lap.seconds))
        #expect(abs(difference) <= 3, "\(reference.file): kilometre \(split.number) by \(difference) s")
        compared += 1
      }
    }
    #expect(compared >= 8)
  }

  /// Our lap begins with the first point of the device's lap, which may be up to 9 s after the mark with smart
  /// recording.
  @Test("Our laps match the device's at its marks", arguments: ["fr945-intervals.tcx", "fr310xt-pauses.tcx"])
  func laps(file: String) throws {
    let run = MeasuredRun(try RecordedRuns.recording(file))
    let comparison = try #require(Comparison(run))
    #expect(comparison.laps.count == run.recorded?.laps.count)
    #expect(comparison.laps.count >= 9)
    for lap in comparison.laps {
      let difference = try #require(lap.activeSeconds.difference, "lap \(lap.number) has no counterpart")
      #expect(abs(difference) <= 9, "lap \(lap.number)")
    }
  }

  @Test("The file with an undeclared prefix is read completely, with a warning")
  func undeclaredPrefix() throws {
    let recording = try RecordedRuns.recording("malformed-undeclared-prefix.tcx")
    #expect(recording.warnings == ["1 undeclared XML prefix ignored (first at line 4653)"])
    #expect(recording.duration == .seconds(1992))
    #expect(recording.timerStops.isEmpty)
  }
}

@Suite("Bests of real recordings", .enabled(if: RecordedRuns.folder != nil, RecordedRuns.missing))
struct RecordedBestsTests {
  @Test(
    "A best is no slower than the fastest split, and never faster than a runner", arguments: RecordedRuns.references)
  func bests(reference: RecordedRuns.Reference) throws {
    let url = try #require(RecordedRuns.folder).appendingPathComponent(reference.file)
    let record = try RecordImport.record(of: [UInt8](try Data(contentsOf: url)), name: "run").record
    let best = try #require(record.summary.bests.first { $0.distanceMeters == 1000 })
    let splits = record.body.report.kilometers.filter(\.isComplete).map(\.active.seconds)
    let fastest = try #require(splits.min())
    #expect(best.active.seconds <= fastest + 1, "\(best.active.seconds) s against \(fastest) s")
    #expect(best.active.seconds > 120, "faster than the world record")
    #expect(best.active.seconds > fastest * 0.8)
    // What the body tells is close to it: the route has the same distances.
    let traced = try #require(record.body.tracedBests.first { $0.distanceMeters == 1000 })
    #expect(abs(traced.active.seconds - best.active.seconds) <= 0.05 * best.active.seconds)
  }
}
