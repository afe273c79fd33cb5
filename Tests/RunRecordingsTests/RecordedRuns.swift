import Foundation
import RunBus
import RunRecordings
import TestSupport
import Testing

/// Real recordings with reference figures, if the development folder is there.
enum RecordedRuns {
  static let folder = Checkout.recordings
  static let missing: Comment = "there are no recordings beside the checkout (shared/runs)"

  /// The figures of the device and of other tools for each file; empty without the folder.
  static let references: [Reference] = {
    guard let folder, let data = try? Data(contentsOf: folder.appendingPathComponent("reference.json")) else {
      return []
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return (try? decoder.decode(Document.self, from: data))?.files.map { Reference($0) } ?? []
  }()

  static func recording(_ file: String) throws -> Recording {
    try Recording.read(contentsOf: (folder ?? URL(fileURLWithPath: "/")).appendingPathComponent(file).path)
  }

  /// The figures of one file, whatever kind of summary they come from.
  struct Reference: Sendable, CustomTestStringConvertible {
    let file: String
    let distanceMeters: Double
    let timerSeconds: Double
    let averageHeartRateBpm: Double?
    let maxHeartRateBpm: Double?
    /// The mean of the file's own points, weighted by time.
    let pointsHeartRateBpm: Double?
    let ascentMeters: Double?
    let gpxpyAscentMeters: Double?
    let laps: [Lap]
    var testDescription: String { file }

    struct Lap: Sendable {
      let meters: Double?
      let seconds: Double?
    }
  }
}

/// The used part of reference.json.
private struct Document: Decodable {
  struct File: Decodable {
    let file: String
    let recordedSummary: Summary
    let heartRateBpm: HeartRate?
    let elevation: Elevation?
  }
  struct HeartRate: Decodable { let avgTimeWeighted: Double }
  struct Elevation: Decodable { let gpxpyUphillM: Double? }
  struct Summary: Decodable {
    let timerTimeS: Double?
    let distanceM: Double?
    let avgHrTimeWeightedOverLaps: Double?
    let maxHr: Double?
    let perLap: [Lap]?
    let session: [Session]?
  }
  struct Lap: Decodable {
    let timeS: Double?
    let distanceM: Double?
  }
  struct Session: Decodable {
    let totalTimerTime: Double
    let totalDistance: Double
    let avgHeartRate: Double
    let maxHeartRate: Double
    let totalAscent: Double?
  }
  let files: [File]
}

extension RecordedRuns.Reference {
  fileprivate init(_ file: Document.File) {
    let summary = file.recordedSummary
    let session = summary.session?.first
    self.init(
      file: file.file, distanceMeters: session?.totalDistance ?? summary.distanceM ?? .nan,
      timerSeconds: session?.totalTimerTime ?? summary.timerTimeS ?? .nan,
      averageHeartRateBpm: session?.avgHeartRate ?? summary.avgHrTimeWeightedOverLaps,
      maxHeartRateBpm: session?.maxHeartRate ?? summary.maxHr, pointsHeartRateBpm: file.heartRateBpm?.avgTimeWeighted,
      ascentMeters: session?.totalAscent, gpxpyAscentMeters: file.elevation?.gpxpyUphillM,
      laps: (summary.perLap ?? []).map { Lap(meters: $0.distanceM, seconds: $0.timeS) })
  }
}
