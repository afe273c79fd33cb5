import Foundation
import RunCore
import TestSupport
import Testing

/// The records of `Tests/Vectors/records`, which `scripts/make-wire-vectors` encodes from docs/protocol.md.
@Suite("A record's bytes are those of the vectors")
struct RecordVectorTests {
  @Test(
    "A record of the fields in the JSON encodes to the bytes, and the bytes decode to it",
    arguments: ["short", "full", "conflicted", "goal"])
  func vector(name: String) throws {
    let folder = Checkout.root.appending(path: "Tests/Vectors/records")
    let bytes = [UInt8](try Data(contentsOf: folder.appending(path: "\(name).bin")))
    let fields = try JSONDecoder().decode(Fields.self, from: Data(contentsOf: folder.appending(path: "\(name).json")))
    let record = try fields.record
    #expect(record.encoded == bytes)
    #expect(RunRecord(encoded: bytes) == record)
  }

  @Test("A code that this version does not know is read as not known, and the record stays readable")
  func laterCodes() throws {
    var metrics = RunMetrics(activity: .running)
    metrics.elapsed = .seconds(1)
    let point = RoutePoint(
      offset: .zero, position: Position(latitude: 1, longitude: 2, horizontalAccuracyMeters: 4), verdict: .counted)
    let body = RecordBody(report: RunReport(metrics: metrics), route: [point])
    var bytes = body.encoded
    // The head of the only point: accuracy is present (bit 4), and the verdict is in the lower half.
    let head = bytes.count - 26
    #expect(bytes[head] == 0x11)
    bytes[head] = 0x1F
    #expect(RecordBody(encoded: bytes)?.route.map(\.verdict) == [.unknown])
    bytes[head] = 0x91
    #expect(RecordBody(encoded: bytes) == nil)
  }
}

/// The JSON of a vector.
private struct Fields: Decodable {
  struct Summary: Decodable {
    let runId, deviceId, hubDeviceId, appVersion, title, note: String
    let version: UInt64
    let startedAtUnixSeconds: Double
    let elapsedNs, activeNs: Int64
    let distanceMeters, elevationGainMeters, averageHeartRateBpm, energyJoules, weightKilograms: Double?
    let autoPause, pedometer, conflicted: Bool
    let utcOffsetSeconds: Int?
    let goalNs: Int64?
    let bests: [Best]
  }
  struct Best: Decodable {
    let distanceMeters: Double
    let activeNs, startedAtNs: Int64
  }
  struct Moments: Decodable {
    let distanceNs, positionNs, heartRateNs, cadenceNs, elevationNs, activityNs: Int64?
  }
  struct Metrics: Decodable {
    let elapsedNs, activeNs: Int64
    let distanceMeters, pedometerMeters, currentPaceSecondsPerKilometer, averagePaceSecondsPerKilometer: Double?
    let bestPaceSecondsPerKilometer, worstPaceSecondsPerKilometer, heartRateBpm, averageHeartRateBpm: Double?
    let maxHeartRateBpm, cadenceStepsPerMinute, averageCadenceStepsPerMinute, altitudeMeters: Double?
    let elevationGainMeters, elevationLossMeters, energyJoules, positionAccuracyMeters: Double?
    let activity: MotionActivity
    let activityInferred, autoPaused: Bool
    let lapCount: Int
    let moments: Moments
  }
  struct Part: Decodable {
    let number: Int
    let distanceMeters, averageHeartRateBpm, elevationGainMeters, elevationLossMeters: Double?
    let activeNs, startedAtNs, endedAtNs: Int64
    let complete: Bool
  }
  struct Stretch: Decodable {
    let source: DistanceSource
    let startedAtNs, endedAtNs: Int64
    let meters: Double
  }
  struct Pause: Decodable { let startedAtNs, endedAtNs: Int64 }
  struct Sample: Decodable {
    let distanceMeters, paceSecondsPerKilometer, altitudeMeters, heartRateBpm, cadenceStepsPerMinute: Double?
  }
  struct Series: Decodable {
    let stepNs: Int64
    let samples: [Sample]
  }
  struct Point: Decodable {
    let offsetNs: Int64
    let verdict: FixVerdict
    let latitudeDegrees, longitudeDegrees: Double
    let horizontalAccuracyMeters, altitudeMeters, distanceMeters: Double?
  }
  struct Body: Decodable {
    let metrics: Metrics
    let kilometers, miles, laps: [Part]
    let stretches: [Stretch]
    let pauses: [Pause]
    let series: Series
    let route: [Point]
  }
  let summary: Summary
  let body: Body

  var record: RunRecord {
    get throws { RunRecord(summary: try summary.record, body: body.record) }
  }
}

private func span(_ nanoseconds: Int64) -> BusDuration { BusDuration(nanoseconds: nanoseconds) }

extension Fields.Summary {
  fileprivate var record: RecordSummary {
    get throws {
      RecordSummary(
        runID: try #require(RunID(runId)), version: version, deviceID: try #require(DeviceID(deviceId)),
        hubDeviceID: try #require(DeviceID(hubDeviceId)), appVersion: appVersion,
        startedAtUnixSeconds: startedAtUnixSeconds, elapsed: span(elapsedNs), active: span(activeNs),
        distanceMeters: distanceMeters, elevationGainMeters: elevationGainMeters,
        averageHeartRateBpm: averageHeartRateBpm, energyJoules: energyJoules,
        setup: RunSetup(weightKilograms: weightKilograms, isAutoPauseOn: autoPause, usesPedometer: pedometer),
        goal: goalNs.flatMap { RunGoal(time: span($0)) }, isConflicted: conflicted, utcOffsetSeconds: utcOffsetSeconds,
        bests: bests.map {
          RunBest(distanceMeters: $0.distanceMeters, active: span($0.activeNs), startedAt: span($0.startedAtNs))
        }, title: title, note: note)
    }
  }
}

extension Fields.Metrics {
  fileprivate var record: RunMetrics {
    var metrics = RunMetrics(elapsed: span(elapsedNs), active: span(activeNs))
    metrics.distanceMeters = distanceMeters
    metrics.pedometerMeters = pedometerMeters
    metrics.currentPaceSecondsPerKilometer = currentPaceSecondsPerKilometer
    metrics.averagePaceSecondsPerKilometer = averagePaceSecondsPerKilometer
    metrics.bestPaceSecondsPerKilometer = bestPaceSecondsPerKilometer
    metrics.worstPaceSecondsPerKilometer = worstPaceSecondsPerKilometer
    metrics.heartRateBpm = heartRateBpm
    metrics.averageHeartRateBpm = averageHeartRateBpm
    metrics.maxHeartRateBpm = maxHeartRateBpm
    metrics.cadenceStepsPerMinute = cadenceStepsPerMinute
    metrics.averageCadenceStepsPerMinute = averageCadenceStepsPerMinute
    metrics.altitudeMeters = altitudeMeters
    metrics.elevationGainMeters = elevationGainMeters
    metrics.elevationLossMeters = elevationLossMeters
    metrics.energyJoules = energyJoules
    metrics.positionAccuracyMeters = positionAccuracyMeters
    metrics.activity = activity
    metrics.isActivityInferred = activityInferred
    metrics.isAutoPaused = autoPaused
    metrics.lapCount = lapCount
    metrics.moments = MetricMoments(
      distance: moments.distanceNs.map(span), position: moments.positionNs.map(span),
      heartRate: moments.heartRateNs.map(span), cadence: moments.cadenceNs.map(span),
      elevation: moments.elevationNs.map(span), activity: moments.activityNs.map(span))
    return metrics
  }
}

extension Fields.Part {
  fileprivate var record: Split {
    Split(
      number: number, distanceMeters: distanceMeters, active: span(activeNs), startedAt: span(startedAtNs),
      endedAt: span(endedAtNs), averageHeartRateBpm: averageHeartRateBpm, elevationGainMeters: elevationGainMeters,
      elevationLossMeters: elevationLossMeters, isComplete: complete)
  }
}

extension Fields.Body {
  fileprivate var record: RecordBody {
    RecordBody(
      report: RunReport(
        metrics: metrics.record, kilometers: kilometers.map(\.record), miles: miles.map(\.record),
        laps: laps.map(\.record),
        stretches: stretches.map {
          DistanceStretch(
            source: $0.source, startedAt: span($0.startedAtNs), endedAt: span($0.endedAtNs), meters: $0.meters)
        }),
      pauses: pauses.map { RunPause(startedAt: span($0.startedAtNs), endedAt: span($0.endedAtNs)) },
      series: RecordSeries(
        interval: span(series.stepNs),
        samples: series.samples.map {
          RecordSeries.Sample(
            distanceMeters: $0.distanceMeters, paceSecondsPerKilometer: $0.paceSecondsPerKilometer,
            altitudeMeters: $0.altitudeMeters, heartRateBpm: $0.heartRateBpm,
            cadenceStepsPerMinute: $0.cadenceStepsPerMinute)
        }),
      route: route.map {
        RoutePoint(
          offset: span($0.offsetNs),
          position: Position(
            latitude: $0.latitudeDegrees, longitude: $0.longitudeDegrees,
            horizontalAccuracyMeters: $0.horizontalAccuracyMeters),
          verdict: $0.verdict, altitudeMeters: $0.altitudeMeters, distanceMeters: $0.distanceMeters)
      })
  }
}
