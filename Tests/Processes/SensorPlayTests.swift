import Foundation
import RunBus
import Testing
import TestSupport

@testable import busnode

@Suite("A recording in a node")
struct SensorPlayTests {
  /// A run that has been on since a moment.
  private func running(since: BusTime) -> Snapshot {
    var snapshot = Snapshot.none
    snapshot.order = SnapshotOrder(term: 1, revision: 1, tick: 1)
    snapshot.phase = .running
    snapshot.runID = .random()
    snapshot.startedAt = since
    return snapshot
  }

  private static let second = Timeline(
    (0..<10).map { Sample(moment: .runOffset(.seconds($0)), value: .heartRate(bpm: 150)) })

  @Test("A node that joins a run plays its recording from there on, and reports its end once")
  func late() {
    let start = BusTime.zero + .seconds(100)
    var playback = Playback(Self.second)
    let isNews = playback.observe(running(since: start), now: start + .seconds(7))
    #expect(isNews)
    #expect(playback.ranOutAt == nil)
    let due = playback.takeDue(now: start + .seconds(8))
    #expect(due.map(\.moment) == [.runOffset(.seconds(7)), .runOffset(.seconds(8))])
    #expect(playback.nextDue == start + .seconds(9))
    let last = playback.takeDue(now: start + .seconds(20))
    #expect(last.count == 1)
    #expect(playback.ranOutAt == .seconds(9))
  }

  // Once broken: A watch with `--synthetic` or `--replay` that was started again during a run sent no heart rate until
  // the stop.
  @Test("A watch that is killed and restarted during a run continues to send its heart rate, each time")
  func restart() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--stdin", "--speed", "10")
      try await phone.snapshot("its first snapshot") { _ in true }
      phone.write("start")
      try await phone.shows("running", revision: 1)
      for life in 1...4 {
        let watch = bus.spawn("watch", "--synthetic", "--json")
        try await watch.snapshot("the run") { $0["phase"]?.string == "running" }
        let before = phone.snapshots.last?["metrics"]?["elapsedSeconds"]?.number ?? 0
        try await phone.snapshot("a heart rate of the watch's life \(life)") { snapshot in
          guard let elapsed = snapshot["metrics"]?["elapsedSeconds"]?.number,
            let age = snapshot["metrics"]?["ages"]?["heartRateSeconds"]?.number
          else { return false }
          return elapsed - age > before
        }
        watch.signal(SIGKILL)
        _ = try await watch.ending()
      }
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }

  @Test("A phone reports once that its recording has ended and that the run continues")
  func ended() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn("phone", "--json", "--stdin", "--synthetic", "--duration", "10", "--speed", "20")
      try await phone.snapshot("its first snapshot") { _ in true }
      phone.write("start")
      let ended = try await phone.event("its word that the recording has ended") {
        $0["event"]?.string == "recordingEnded"
      }
      #expect(ended["elapsedSeconds"]?.number == 10)
      try await phone.snapshot("a later snapshot") { $0["metrics"]?["elapsedSeconds"]?.number ?? 0 > 20 }
      phone.write("stop")
      try await phone.event("its word that all samples are in") { $0["event"]?.string == "sensorsDone" }
      #expect(phone.view.json.filter { $0["event"]?.string == "recordingEnded" }.count == 1)
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
  }
}
