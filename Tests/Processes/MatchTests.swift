import Foundation
import Testing
import TestSupport

@Suite("match finds another runner")
struct MatchTests {
  /// Starts a phone that takes part in rooms, and waits until it shows a snapshot.
  private func phone(_ name: String, _ nick: String, on bus: TestBus, _ arguments: String...) async throws
    -> NodeProcess
  {
    let phone = bus.spawn(
      executable: TestBus.busnode,
      ["phone", "--json", "--stdin", "--bus", name, "--together", "club", "--nick", nick, "--speed", "60"] + arguments)
    try await phone.snapshot("its first snapshot") { _ in true }
    return phone
  }

  @Test("Two who fit are matched and run, the third finds nobody, and Ctrl-C and --stop end a search")
  func match() async throws {
    try await withTestBus { bus in
      let anna = try await phone("a", "Anna", on: bus, "--level", "3", "--gender", "female")
      let ben = try await phone("b", "Ben", on: bus, "--level", "3")
      _ = try await phone("c", "Cleo", on: bus, "--level", "8", "--gender", "female")

      let third = bus.spawn("match", "--bus", "c", "--goal", "5m", "--left", "10s", "--wait", "--json")
      let first = bus.spawn("match", "--bus", "a", "--goal", "5m", "--wait", "--json")
      let second = try await bus.run("match", "--bus", "b", "--goal", "5m", "--gender", "female", "--wait", "--json")
      #expect(second.ending == .exited(0), "\(second.errors) \(second.lines)")
      #expect(try await first.ending() == .exited(0), "\(first.view.errors) \(first.view.lines)")
      let (one, other) = (try #require(first.view.json.first), try #require(second.json.first))
      #expect(one["ask"]?.string == "match" && one["outcome"]?.string == "done" && one["room"] == other["room"])
      #expect(one["message"]?.string?.hasPrefix("matched with Ben (room ") == true, "\(one)")
      #expect(other["message"]?.string?.hasPrefix("matched with Anna (room ") == true, "\(other)")
      // Nobody has got ready by hand.
      for phone in [anna, ben] { try await phone.snapshot("the run") { $0["phase"]?.string == "running" } }

      #expect(try await third.ending() == .exited(3), "\(third.view.errors) \(third.view.lines)")
      #expect(third.view.json.first?["message"]?.string == "nobody was found within 10 s")
      let none = try await bus.run("match", "--bus", "c", "--stop")
      #expect(none.ending == .exited(3) && none.lines == ["no search is on"])

      let interrupted = bus.spawn("match", "--bus", "c", "--goal", "5m", "--wait")
      _ = try await bus.shell("until $BUSNODE room show --bus c | grep -q recruiting; do sleep 0.05; done")
      let denied = try await bus.run("room", "open", "--bus", "c", "--goal", "5m", "--speed", "60")
      #expect(denied.ending == .exited(3) && denied.lines == ["a search is on: busnode match --stop ends it"])
      interrupted.signal(SIGINT)
      #expect(try await interrupted.ending() == .exited(130))
      #expect(interrupted.view.lines == ["the search is over"])

      let started = try await bus.run("match", "--bus", "c", "--goal", "45m", "--left", "10m")
      #expect(started.ending == .exited(0))
      let says = "busnode room show says what comes of it, busnode match --stop ends it"
      #expect(started.lines == ["searching for 10 min: \(says)"])
      let stopped = try await bus.run("match", "--bus", "c", "--stop")
      #expect(stopped.ending == .exited(0) && stopped.lines == ["the search is over"], "\(stopped)")
    }
  }
}
