import Foundation
import RunBus
import Testing

/// Real recordings with reference figures, where the development folder is at hand.
private enum RecordedRuns {
  static let folder: URL? = {
    var folder = URL(fileURLWithPath: #filePath)
    while folder.path != "/" {
      folder.deleteLastPathComponent()
      let runs = folder.appendingPathComponent("shared/runs")
      if FileManager.default.fileExists(atPath: runs.appendingPathComponent("reference.json").path) { return runs }
    }
    return nil
  }()

  struct Reference: Decodable {
    struct File: Decodable {
      let file: String
      let strictXmlError: String?
      let recordedSummary: Summary
      let heartRateBpm: HeartRate?
    }
    struct HeartRate: Decodable { let avgTimeWeighted: Double }
    struct Summary: Decodable {
      let timerTimeS: Double?
      let distanceM: Double?
      let avgHrTimeWeightedOverLaps: Double?
      let maxHr: Double?
      let session: [Session]?
    }
    struct Session: Decodable {
      let totalTimerTime: Double
      let totalDistance: Double
      let avgHeartRate: Double
      let maxHeartRate: Double
    }
    let files: [File]
  }

  static func reference() throws -> Reference {
    guard let folder else { return Reference(files: []) }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(Reference.self, from: Data(contentsOf: folder.appendingPathComponent("reference.json")))
  }
}

@Suite("Real recordings", .enabled(if: RecordedRuns.folder != nil))
struct RecordedRunsTests {
  @Test("Our figures lie near the recording device's own")
  func figures() throws {
    let folder = try #require(RecordedRuns.folder)
    let files = try RecordedRuns.reference().files
    #expect(!files.isEmpty)
    for file in files {
      let recording = try Recording.read(contentsOf: folder.appendingPathComponent(file.file).path)
      let metrics = measure(recording)
      let summary = file.recordedSummary
      let session = summary.session?.first
      let distance = try #require(session?.totalDistance ?? summary.distanceM)
      let timer = try #require(session?.totalTimerTime ?? summary.timerTimeS)
      let meters = try #require(metrics.distanceMeters)
      #expect(abs(meters - distance) < 0.05 * distance, "\(file.file): \(meters) m against \(distance) m")
      #expect(
        abs(metrics.active.seconds - timer) < 0.01 * timer,
        "\(file.file): \(metrics.active.seconds) s against \(timer) s")
      // One device's lap contradicts its own points by 9 bpm; there the points are the reference.
      let points = file.heartRateBpm?.avgTimeWeighted
      let device = session?.avgHeartRate ?? summary.avgHrTimeWeightedOverLaps
      let expected = [points, device].compactMap { $0 }
      guard let bpm = metrics.averageHeartRateBpm else {
        #expect(expected.isEmpty, "\(file.file)")
        continue
      }
      #expect(expected.contains { abs(bpm - $0) < 2 }, "\(file.file): \(bpm) bpm against \(expected)")
      let highest = try #require(metrics.maxHeartRateBpm)
      let deviceHighest = try #require(session?.maxHeartRate ?? summary.maxHr)
      #expect(abs(highest - deviceHighest) <= 1, "\(file.file)")
    }
  }

  @Test("The file with an undeclared prefix is read whole, and says so")
  func undeclaredPrefix() throws {
    let folder = try #require(RecordedRuns.folder)
    let recording = try Recording.read(
      contentsOf: folder.appendingPathComponent("malformed-undeclared-prefix.tcx").path)
    #expect(recording.warnings == ["1 undeclared XML prefix ignored (first at line 4653)"])
    #expect(recording.duration == .seconds(1992))
    #expect(recording.timerStops.isEmpty)
  }
}
