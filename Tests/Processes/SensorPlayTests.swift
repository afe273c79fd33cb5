import Foundation
import RunBus
import Testing
import TestSupport

@Suite("A recording in a node")
struct SensorPlayTests {
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
