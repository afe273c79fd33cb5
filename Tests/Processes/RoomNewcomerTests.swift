import Foundation
import SystemC
import Testing
import TestSupport

@Suite("What a runner who is new to rooms sees and is told")
struct RoomNewcomerTests {
  /// Starts a phone that takes part in rooms, with text on its terminal, and waits for its first line.
  private func phone(_ bus: TestBus, _ name: String, _ nick: String, _ more: String...) async throws -> NodeProcess {
    let phone = bus.spawn(
      executable: TestBus.busnode,
      ["phone", "--bus", name, "--together", "crew", "--nick", nick, "--synthetic", "--speed", "60"] + more)
    try await phone.wait(for: "its first line") { $0.lines.first }
    return phone
  }

  /// Asks for something in a room, and returns what is said.
  private func ask(_ bus: TestBus, _ words: String..., status: Int32 = 0) async throws -> String {
    let process = bus.spawn(executable: TestBus.busnode, ["room"] + words)
    #expect(try await process.ending() == .exited(status), "\(words): \(process.view)")
    return (process.view.lines + process.view.errors).first ?? ""
  }

  private func open(_ bus: TestBus, _ more: String...) async throws -> String {
    let process = bus.spawn(executable: TestBus.busnode, ["room", "open", "--bus", "a"] + more)
    #expect(try await process.ending() == .exited(0), "\(process.view)")
    return String(try #require(process.view.lines.first?.firstMatch(of: /room ([0-9a-f]{8})/)?.1))
  }

  @Test("Watch and phone print a line for each change of the room, and none for standings")
  func lines() async throws {
    try await withTestBus { bus in
      let (anna, ben) = (try await phone(bus, "a", "Anna"), try await phone(bus, "b", "Ben", "--seed", "2"))
      let watch = bus.spawn("watch", "--bus", "a")
      try await watch.wait(for: "the phone") { $0.lines.contains("the hub answers") ? true : nil }
      // Without --speed the room's time passes as the phone's.
      let room = try await open(bus, "--goal", "5m")
      _ = try await ask(bus, "enter", room, "--bus", "b")
      _ = try await ask(bus, "ready", "--bus", "b")
      _ = try await ask(bus, "ready", "--bus", "a")
      _ = try await ask(bus, "begin", "--bus", "a")
      for node in [anna, watch] {
        try await node.wait(for: "the result") { $0.lines.contains { $0.contains("result complete") } ? true : nil }
        let told = node.view.lines.filter { $0.hasPrefix("room \(room): ") }.map { $0.dropFirst(15).description }
        let begins = [
          "recruiting · goal 5:00 · 1 of 4 · waits for: another runner",
          "recruiting · goal 5:00 · 2 of 4 · waits for: you, Ben (not ready)",
          "recruiting · goal 5:00 · 2 of 4 · waits for: you (not ready)",
          "recruiting · goal 5:00 · 2 of 4 · all is ready: begin it",
        ]
        #expect(Array(told.prefix(4)) == begins, "\(told)")
        let rest = told.dropFirst(4).filter { !$0.hasSuffix("is ahead of you now") }
        let beginnings = ["starts in ", "the run of the room has started", "settling, result provisional · "]
        #expect(rest.count >= 4 && zip(rest, beginnings).allSatisfy { $0.hasPrefix($1) }, "\(told)")
        #expect(rest.count { $0.hasPrefix("settling, result complete · ") } == 1, "\(told)")
        try await node.wait(for: "the outcome") {
          $0.lines.contains { $0.hasSuffix("you have won") || $0.hasSuffix("you have lost") } ? true : nil
        }
        // The goal is reached to the second.
        #expect(node.view.lines.contains { $0.contains("completed 5:00") && $0.contains("goal 5:00 reached") })
      }
      #expect(!watch.view.lines.contains { $0.contains("is here") })
      _ = ben
    }
  }

  @Test("room show shows the present room, --all every one, and says what holds the runner")
  func show() async throws {
    try await withTestBus { bus in
      _ = try await phone(bus, "a", "Anna")
      let ben = try await phone(bus, "b", "Ben")
      let first = try await open(bus, "--goal", "5m")
      _ = try await ask(bus, "cancel", "--bus", "a")
      let room = try await open(bus, "--goal", "1h")
      func shown(_ more: String...) async throws -> [String] {
        let process = bus.spawn(executable: TestBus.busnode, ["room", "show", "--bus", "a"] + more)
        #expect(try await process.ending() == .exited(0), "\(process.view)")
        return process.view.lines.filter { $0.hasPrefix("room") }
      }
      #expect(try await shown() == ["room      \(room)"])
      #expect(try await shown("--all") == ["room      \(room)", "room      \(first)"])
      #expect(try await bus.run("room", "show", "--bus", "a", "--all", "--follow").ending == .exited(64))

      // Who is removed is named as a person may write it, and nobody removes itself.
      _ = try await ask(bus, "enter", String(room.prefix(4)), "--bus", "b")
      let none = try await ask(bus, "remove", "Bem", "--bus", "a", status: 3)
      #expect(none.hasSuffix("no Bem is in the room: there are Anna, Ben"), "\(none)")
      let own = try await ask(bus, "remove", "anna", "--bus", "a", status: 3)
      #expect(own == "that is you: busnode room leave gives up your place")
      #expect(try await ask(bus, "remove", "BEN", "--bus", "a").hasPrefix("removed, for good"))
      _ = try await ask(bus, "cancel", "--bus", "a")

      let last = try await open(bus, "--goal", "1h")
      _ = try await ask(bus, "enter", last, "--bus", "b")
      for name in ["a", "b"] { _ = try await ask(bus, "ready", "--bus", name) }
      _ = try await ask(bus, "begin", "--bus", "a")
      try await ben.wait(for: "the run") { $0.lines.contains { $0.contains(" running ") } ? true : nil }
      let stopped = try await bus.run("send", "stop", "--bus", "b")
      #expect(stopped.ending == .exited(0), "\(stopped)")
      let held = try await bus.run("room", "show", "--bus", "b").lines
      #expect(held.contains { $0.hasPrefix("you       in it until its run is over, in ") }, "\(held)")
      ben.signal(SIGTERM)
      #expect(try await ben.ending() == .exited(0))
      let said = ben.view.errors.last ?? ""
      #expect(said.hasPrefix("busnode: the run of room \(last) is not over"), "\(said)")
    }
  }

  @Test("A search says that it is one, how it ended, and a phone that ends too early what its room still lacks")
  func search() async throws {
    try await withTestBus { bus in
      let anna = try await phone(bus, "a", "Anna")
      let started = try await bus.run("match", "--bus", "a", "--goal", "5m", "--left", "10s")
      #expect(started.lines.first?.contains("busnode room show says what comes of it") == true, "\(started)")
      _ = try await bus.shell("until $BUSNODE room ls | grep -q '  search  5:00  1/2  Anna'; do sleep 0.05; done")
      let line = try await anna.wait(for: "the end of the search") { view in
        view.lines.first { $0.contains(": cancelled (a search)") }
      }
      #expect(line.hasPrefix("room "))
      // The phone tells it by the clock, before the log says so.
      _ = try await bus.shell(
        "until $BUSNODE room show --bus a | grep -qx 'stage     cancelled, nobody was found'; do sleep 0.05; done")

      let ben = try await phone(bus, "b", "Ben", "--speed", "1")
      let room = try await open(bus, "--goal", "1s", "--speed", "60")
      let other = try await ask(bus, "enter", room, "--bus", "b", status: 3)
      #expect(other == "the room's time passes at another speed than this phone's")
      ben.signal(SIGTERM)
      _ = try await ben.ending()
      _ = try await ask(bus, "cancel", "--bus", "a")
    }
  }

  @Test("A phone that ends before its record is in the room says so")
  func provisional() async throws {
    try await withTestBus { bus in
      // In real time the record is stated a minute after the run.
      func phone(_ name: String, _ nick: String) async throws -> NodeProcess {
        let phone = bus.spawn("phone", "--bus", name, "--together", "crew", "--nick", nick, "--json")
        try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
        return phone
      }
      let phones = [try await phone("a", "Anna"), try await phone("b", "Ben")]
      let room = try await open(bus, "--goal", "1s", "--countdown", "3s")
      _ = try await ask(bus, "enter", room, "--bus", "b")
      for name in ["a", "b"] { _ = try await ask(bus, "ready", "--bus", name) }
      _ = try await ask(bus, "begin", "--bus", "a")
      for phone in phones {
        try await phone.event("the room in its line") {
          $0["event"]?.string == "room" && $0["stage"]?.string == "settling"
        }
        phone.signal(SIGTERM)
        #expect(try await phone.ending() == .exited(0))
        let said = phone.view.errors.last
        #expect(said?.hasPrefix("busnode: room \(room) has no record of this phone's run yet") == true, "\(said ?? "")")
      }
      let result = try await bus.run("room", "result", room, "--bus", "a").lines
      #expect(result.contains { $0.hasPrefix("missing   the records of Anna, Ben") }, "\(result)")
    }
  }

  @Test("Wrong arguments of rooms are refused with what is right")
  func wrong() async throws {
    try await withTestBus { bus in
      func refused(_ words: String...) async throws -> String {
        let process = bus.spawn(executable: TestBus.busnode, words)
        process.closeInput()
        #expect(try await process.ending() == .exited(64), "\(words): \(process.view)")
        return process.view.errors.first ?? ""
      }
      let place = try await refused("room", "open", "--goal", "5m", "--start", "91,10")
      let rule = "a place is degrees north (-90 to 90) and east (-180 to 180), as 37.566,126.978"
      #expect(place.contains(rule), "\(place)")
      let south = try await refused("room", "open", "--goal", "5m", "--start", "-33.8,200")
      #expect(south.contains("'-33.8,200' is not what --start takes"), "\(south)")
      let level = try await refused("phone", "--level", "3")
      #expect(level.contains("--nick, --level, --gender and --circle go with --together"), "\(level)")
      func help(_ words: String...) async throws -> String {
        let process = bus.spawn(executable: TestBus.busnode, words + ["--help"])
        _ = try await process.ending()
        return process.view.lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
      }
      #expect(try await help("room", "open").contains("all phones of the room (default: as on this one)."))
      let phone = try await help("phone")
      #expect(phone.contains("How strong the runner is, 1 to 10 (default: 1). --gender"), "\(phone)")
    }
  }
}
