import Foundation
import Testing
import TestSupport
import SystemC

@Suite("What rooms came to, from a shell")
struct RoomResultsTests {
  /// A phone of a runner in the fleet `crew`.
  private func phone(_ bus: TestBus, _ name: String, _ nick: String, seed: Int) async throws -> NodeProcess {
    let phone = bus.spawn(
      "phone", "--json", "--bus", name, "--together", "crew", "--nick", nick, "--synthetic", "--seed", "\(seed)",
      "--speed", "60")
    try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
    return phone
  }

  private func ask(_ bus: TestBus, _ words: String...) async throws {
    let process = bus.spawn(executable: TestBus.busnode, ["room"] + words)
    #expect(try await process.ending() == .exited(0), "\(words): \(process.view)")
  }

  @Test("A run together has one result, is in the log, the rankings and the badges, and goes with the fleet")
  func together() async throws {
    try await withTestBus { bus in
      let phones = [
        try await phone(bus, "a", "Anna", seed: 1), try await phone(bus, "b", "Ben", seed: 2),
      ]
      #expect(try await bus.run("room", "result", "--bus", "a").ending == .exited(1))
      #expect(try await bus.run("ranking").lines.first?.hasPrefix("nobody has run in a room in ") == true)
      try await ask(bus, "open", "--bus", "a", "--goal", "2m", "--speed", "60", "--countdown", "3s")
      let room = try #require(try await bus.run("room", "ls", "--json").json.first?["room"]?.string)
      let early = try await bus.run("room", "result", room, "--bus", "a", "--wait", "--timeout", "1s", "--json")
      #expect(early.ending == .exited(6) && early.lines.isEmpty)
      try await ask(bus, "enter", room, "--bus", "b")
      try await ask(bus, "ready", "--bus", "a")
      try await ask(bus, "ready", "--bus", "b")
      try await ask(bus, "begin", "--bus", "a")

      // The phones, and the log without them.
      let results = [
        try await bus.run("room", "result", "--bus", "a", "--wait", "--json"),
        try await bus.run("room", "result", "--bus", "b", "--wait", "--timeout", "1m", "--json"),
        try await bus.run("room", "result", String(room.prefix(8)), "--bus", "b", "--json"),
      ]
      #expect(results.allSatisfy { $0.ending == .exited(0) }, "\(results.map(\.errors))")
      let lines = results.compactMap(\.json.first)
      #expect(lines.count == 3 && lines.allSatisfy { $0["standing"]?.string == "complete" })
      #expect(Set(lines.prefix(2).map { $0["ownOutcome"]?.string }) == ["won", "lost"])
      #expect(lines[1]["ownOutcome"] == lines[2]["ownOutcome"])
      // A busy machine measures the last metres late, and the record is amended.
      let rows = try await within("one result on both phones, in the log and in the ranking") {
        while true {
          let rows = [
            try await bus.run("room", "result", "--bus", "a", "--json").json.first?["rows"]?.array,
            try await bus.run("room", "result", room, "--bus", "b", "--json").json.first?["rows"]?.array,
          ]
          let month = try await bus.run("ranking", "--together", "crew", "--json").json
          if let first = rows[0], rows[1] == first,
            month.map({ $0["distanceMeters"] }) == first.map({ $0["distanceMeters"] })
          {
            return first
          }
        }
      }
      let winner = try #require(rows.first?["nickname"]?.string)

      let entries = try await bus.run("room", "log", room, "--json").json
      #expect(entries.first?["ask"]?.string == "open" && entries.first?["verdict"]?.string == "opened")
      let noted = entries.filter { $0["ask"]?.string == "record" && $0["verdict"]?.string == "noted" }
      #expect(Set(noted.map { $0["nickname"]?.string }) == ["Anna", "Ben"])
      #expect(Set(entries.map { $0["nickname"]?.string }) == ["Anna", "Ben"])
      #expect(try await bus.run("room", "log", "ffffffffffff").ending == .exited(3))

      let wins = try await bus.run("ranking", "wins", "--json").json
      #expect(wins.map { $0["nickname"]?.string } == [winner] && wins.first?["won"]?.int == 1)
      #expect(try await bus.run("ranking", "losses").lines.count == 2)
      #expect(try await bus.run("ranking", "--month", "2020-01").lines == ["nobody has run in a room in 2020-01"])
      #expect(try await bus.run("ranking", "wins", "--month", "2020-01").ending == .exited(64))
      #expect(try await bus.run("ranking", "--together", "none").ending == .exited(69))

      try await badges(bus, of: winner == "Anna" ? "a" : "b")
      try await end(bus, phones)
    }
  }

  private func badges(_ bus: TestBus, of winner: String) async throws {
    let given = try await bus.run("badges", "--bus", winner, "--json").json
    #expect(given.map { $0["badge"]?.string } == ["firstRun", "firstWin"], "\(given)")
    let run = try #require(given.first?["runId"]?.string)
    #expect(given.allSatisfy { $0["runId"]?.string == run })
    #expect(try await bus.run("records", "rm", run, "--bus", winner, "--yes").ending == .exited(0))
    #expect(try await bus.run("badges", "--bus", winner, "--json").json == given, "a badge that was given stays")
    // The run of the other is removed before anybody asks.
    let other = winner == "a" ? "b" : "a"
    let lost = try #require(try await bus.run("records", "ls", "--bus", other, "--json").json.first?["runId"]?.string)
    #expect(try await bus.run("records", "rm", lost, "--bus", other, "--yes").ending == .exited(0))
    let kept = try await bus.run("badges", "--bus", other, "--json").json
    #expect(kept.map { $0["badge"]?.string } == ["firstRun"] && kept.first?["runId"]?.string == lost)
  }

  /// The fleet ends: not before its phones.
  private func end(_ bus: TestBus, _ phones: [NodeProcess]) async throws {
    let state = try bus.runBusState() + "/_together/crew"
    func rooms() async throws -> [JSONValue] {
      try await bus.run("doctor", "--bus", "a", "--json").json.filter { $0["subject"]?.string == "rooms" }
    }
    // A phone that does not start takes no nickname away.
    let second = try await bus.run("phone", "--bus", "a", "--together", "crew", "--nick", "Zoe")
    #expect(second.ending == .exited(75), "\(second)")
    let sound = try await rooms()
    #expect(sound.count == 1 && sound[0]["text"]?.string?.contains("crew: the log is sound") == true)
    #expect(sound.first?["text"]?.string?.hasSuffix("1 room); the runner is called Anna there") == true, "\(sound)")
    let refused = try await bus.run("erase", "--together", "crew", "--yes")
    #expect(refused.ending == .exited(75) && FileManager.default.fileExists(atPath: state + "/log.sqlite"))
    // Both have removed their records, and so has the room: nobody has won any more.
    try await within("the amended result") {
      while try await !bus.run("ranking", "wins", "--json").json.isEmpty {}
    }
    for phone in phones {
      phone.signal(SIGTERM)
      #expect(try await phone.ending() == .exited(0))
    }
    // Without phones the lists are the same.
    #expect(try await bus.run("ranking", "wins", "--json").json.isEmpty)
    #expect(chmod(state + "/log.sqlite", 0o640) == 0)
    let open = try await rooms()
    #expect(open.count == 1 && open[0]["text"]?.string?.hasSuffix("run: chmod 600 '\(state)/log.sqlite'") == true)
    let erased = try await bus.run("erase", "--bus", "b", "--yes")
    #expect(erased.lines.last?.contains("busnode erase --together crew") == true, "\(erased)")
    #expect(try await bus.run("erase", "--together", "crew", "--bus", "a", "--yes").ending == .exited(64))
    #expect(try await bus.run("erase", "--together", "crew").ending == .exited(64))
    #expect(try await bus.run("erase", "--together", "crew", "--yes").ending == .exited(0))
    #expect(!FileManager.default.fileExists(atPath: state))
    #expect(try await rooms().isEmpty)
    #expect(try await bus.run("erase", "--together", "crew", "--yes").ending == .exited(0))
  }
}
