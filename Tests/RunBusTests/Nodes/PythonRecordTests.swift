import Foundation
import RunBus
import TestSupport
import Testing

/// The client in Python reads records by docs/protocol.md alone.
@Suite(
  "Records at a client that uses only the published wire", .timeLimit(.minutes(5)),
  .enabled(if: Python.isWanted, Python.hint))
struct PythonRecordTests {
  @Test("Each vector decodes to its JSON, to the last field", arguments: ["short", "full", "conflicted"])
  func vector(name: String) async throws {
    try await withTestBus { place in
      let path = Checkout.path("Tests/Vectors/records/\(name)")
      let process = Python.spawn(["records.py", path + ".bin"], endpoint: "", place)
      let ending = try await process.ending()
      try #require(ending == .exited(0), "\(process.view.errors)")
      let expected = JSONValue(text: try String(contentsOfFile: path + ".json", encoding: .utf8))
      #expect(JSONValue(text: process.view.lines.joined(separator: "\n")) == expected)
    }
  }

  @Test("A watch in Python fetches the record of a run that is over from its hub")
  func fetch() async throws {
    try await withTestBus { place in
      let bus = try RunningBus(place, speed: BusSpeed(factor: 20)!)
      try await withRunning([bus.hub]) {
        let news = bus.hub.records.news()
        _ = try await within("start") { try await bus.hub.send(Command(.start, .phone)) }
        for second in 0..<2000 as Range<Int64> {
          let position = Position(latitude: 48 + Double(second) / 1e5, longitude: 11, horizontalAccuracyMeters: 4)
          try await bus.hub.add(Sample(moment: .runOffset(.milliseconds(second)), value: .position(position)))
        }
        _ = try await within("lap") { try await bus.hub.send(Command(.lap, .phone)) }
        _ = try await within("stop") { try await bus.hub.send(Command(.stop, .phone)) }
        let kept = try await within("the record") {
          for await case .kept(let summary) in news { return summary }
          throw CancellationError()
        }
        let lines = try await Python.run(
          "watch.py", "--device", "py", "--snapshots", "1", "--records", "1", on: bus, place)
        let record = try #require(lines.first { $0.hasPrefix("record") }, "\(lines)")
        let active = String(format: "%.3f", kept.active.seconds)
        #expect(
          record == "record \(kept.runID): version \(kept.version), \(active) s active, 1 laps, 2000 points, title ''")
      }
    }
  }
}
