import Foundation
import RunBus
import RunRecordings
import TestSupport
import Testing

@Suite("The modelled runner")
struct SyntheticRunTests {
  @Test("The same seed gives the same run, another seed another one")
  func seeds() {
    #expect(SyntheticRun(seed: 7).recording() == SyntheticRun(seed: 7).recording())
    #expect(SyntheticRun(seed: 7).recording().samples != SyntheticRun(seed: 8).recording().samples)
  }

  @Test("Five minutes of the model look like a run", arguments: 0..<20 as Range<UInt64>)
  func looksLikeARun(seed: UInt64) throws {
    let recording = SyntheticRun(seed: seed).recording()
    let metrics = measure(recording)
    let summary = try #require(recording.summary)
    #expect(recording.duration == .seconds(300))
    #expect(recording.timerStops.count == 1)
    #expect(metrics.active.seconds == summary.timerSeconds)
    #expect(metrics.active < metrics.elapsed)
    let distance = try #require(metrics.distanceMeters)
    let truth = try #require(summary.distanceMeters)
    #expect(abs(distance - truth) < 0.08 * truth)
    #expect((280...450).contains(try #require(metrics.averagePaceSecondsPerKilometer)))
    #expect((120...165).contains(try #require(metrics.averageHeartRateBpm)))
    #expect((150...195).contains(try #require(metrics.maxHeartRateBpm)))
    #expect((4...40).contains(try #require(metrics.elevationGainMeters)))
    #expect(recording.samples.contains { if case .cadence(let steps) = $0.value { steps == 0 } else { false } })
    #expect(
      recording.samples.contains {
        if case .position(let position) = $0.value { position.horizontalAccuracyMeters ?? 0 < 15 } else { false }
      })
  }

  @Test("Any duration gives a recording", arguments: [-5, 0, 10, 59, 60, 61, 301, 900, 3601])
  func durations(seconds: Int64) {
    let recording = SyntheticRun(seed: 1, duration: .seconds(seconds)).recording()
    #expect(recording.duration == .seconds(max(seconds, 10)))
    #expect(SyntheticRun(seed: 1, duration: .seconds(200_000)).duration == .seconds(86400))
    #expect(recording.timerStops.allSatisfy { $0.resumedAt < recording.duration })
  }

  @Test("A written recording is read back", arguments: 0..<10 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var recording = SyntheticRun(seed: seed, duration: .seconds(400)).recording()
    recording.name = "<A> & \"B\" \u{1}"
    let back = try Recording.read(Array(GPXWriter.document(recording).utf8), name: "f")
    #expect(back.name == "<A> & \"B\" \u{FFFD}")
    #expect(back.samples == recording.samples)
    #expect(back.timerStops == recording.timerStops)
    #expect(back.duration == recording.duration)
    #expect(back.startedAtUnixNanoseconds == recording.startedAtUnixNanoseconds)
    #expect(back.warnings.isEmpty)
    #expect(measure(back) == measure(recording))
  }

  @Test("The file that ships with the project is the run of seed 1")
  func shippedFile() throws {
    let file = Checkout.root.appending(path: "examples/runs/synthetic.gpx")
    let recording = SyntheticRun(seed: 1).recording()
    // Writes the file again after a change of the model.
    if ProcessInfo.processInfo.environment["RUNBUS_WRITE_EXAMPLES"] != nil {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try GPXWriter.document(recording).write(to: file, atomically: true, encoding: .utf8)
    }
    let shipped = try Recording.read(contentsOf: file.path)
    #expect(shipped.name == "Synthetic run 1")
    #expect(shipped.samples == recording.samples)
    #expect(shipped.timerStops == recording.timerStops)
  }
}
