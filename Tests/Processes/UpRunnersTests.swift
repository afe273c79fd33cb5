import Foundation
import RunBus
import Testing
import TestSupport

@Suite("up --runners plays a run together")
struct UpRunnersTests {
  @Test("Three runners gather, run and agree on everything, and nothing of them stays")
  func together() async throws {
    try await withTestBus { bus in
      let up = try await bus.run("up", "--runners", "3", "--goal", "30s", "--gather", "--speed", "10", "--json")
      #expect(up.ending == .exited(0), "\(up.errors) \(up.lines.suffix(1))")
      let summary = try #require(up.json.last)
      #expect(summary["event"]?.string == "summary" && summary["agreed"]?.bool == true)
      #expect(try #require(summary["startSkewSeconds"]?.number) < 0.05)

      let results = up.json.filter { $0["event"]?.string == "result" }
      #expect(results.compactMap { $0["nickname"]?.string } == ["Anna", "Ben", "Cleo"])
      #expect(results.allSatisfy { $0["result"] == results[0]["result"] && $0["digest"] == results[0]["digest"] })
      #expect(up.json.contains { $0["event"]?.string == "gathering" && $0["missing"]?.array?.isEmpty == false })
      for event in ["phones", "roster", "countdown", "running"] {
        #expect(up.json.contains { $0["event"]?.string == event }, "\(event)")
      }
      let left = try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())
      let fleet = try #require(up.json.first?["fleet"]?.string)
      #expect(!left.contains { $0.hasPrefix("runbus-\(fleet)-") })
    }
  }

  @Test("A phone that dies is named, and Ctrl-C ends up and its phones", arguments: [true, false])
  func ends(byDeath: Bool) async throws {
    try await withTestBus { bus in
      let up = bus.spawn("up", "--runners", "2", "--goal", "10m", "--json")
      try await up.event("the phones") { $0["event"]?.string == "phones" }
      let id = try #require(up.view.processID)
      let children = try await bus.shell("pgrep -P \(id)").lines
      #expect(children.count == 2)
      if byDeath {
        _ = try await bus.shell("kill -9 $(pgrep -P \(id) -f 'nick Ben')")
        #expect(try await up.ending() == .exited(1))
        let error = up.view.errors.compactMap { JSONValue(text: $0) }.last?["error"]
        #expect(error?["message"]?.string == "the phone of Ben died: it was ended by signal 9")
      } else {
        up.signal(SIGINT)
        #expect(try await up.ending() == .exited(130))
      }
      #expect(
        try await bus.shell("ps -o stat= -p \(children.joined(separator: ","))").lines.allSatisfy { $0.hasPrefix("Z") })
    }
  }
}
