import Foundation
import GRDB
import SystemC
import TestSupport
import Testing

@Suite("A log of rooms that is out of reach, from a shell")
struct RoomLogTroubleTests {
  @Test("A command says that the log is out of reach and why: what is stored is queued, the rest to be asked again")
  func outOfReach() async throws {
    try await withTestBus { bus in
      let phone = bus.spawn(
        "phone", "--json", "--bus", "a", "--together", "crew", "--nick", "Anna", "--synthetic", "--speed", "60")
      try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
      #expect(try await bus.run("room", "open", "--bus", "a", "--goal", "2m", "--speed", "60").ending == .exited(0))
      let file = try bus.runBusState() + "/_together/crew/log.sqlite"
      for suffix in ["-wal", "-shm", ""] { #expect(rename(file + suffix, file + suffix + ".aside") == 0) }
      #expect(mkdir(file, 0o700) == 0)

      let stored = try await bus.run("room", "ready", "--bus", "a", "--timeout", "2s", "--json")
      #expect(stored.ending == .exited(5), "\(stored)")
      #expect(stored.json.first?["outcome"]?.string == "queued")
      let sentence = stored.json.first?["message"]?.string ?? ""
      #expect(sentence.contains("out of reach") && sentence.contains("is not a file"), "\(sentence)")
      for ask in ["leave", "cancel"] {
        let refused = try await bus.run("room", ask, "--bus", "a")
        #expect(refused.ending == .exited(6), "\(refused)")
        let line = refused.lines.first ?? ""
        for words in ["out of reach", "is not a file", "ask again"] { #expect(line.contains(words), "\(line)") }
      }
      let shown = try await bus.run("room", "show", "--bus", "a")
      #expect(shown.lines.contains { $0.hasPrefix("warning   the log is out of reach: ") }, "\(shown)")

      #expect(rmdir(file) == 0)
      for suffix in ["-wal", "-shm", ""] { #expect(rename(file + suffix + ".aside", file + suffix) == 0) }
      // The phone looks by itself. A log that was moved under a running phone may come back as an older copy, in which the
      // room is not: then the phone says so.
      try await within("an answer") {
        while true {
          let ending = try await bus.run("room", "leave", "--bus", "a").ending
          if ending == .exited(0) || ending == .exited(3) { break }
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      phone.signal(SIGTERM)
      _ = try await phone.ending()
    }
  }

  @Test("What one fleet's log has, or that it cannot be read, keeps nobody from the rooms of another")
  func otherFleet() async throws {
    try await withTestBus { bus in
      func phone(_ name: String, _ fleet: String) async throws -> NodeProcess {
        let phone = bus.spawn(
          "phone", "--json", "--bus", name, "--together", fleet, "--nick", "Anna", "--synthetic", "--speed", "60")
        try await phone.event("its first snapshot") { $0["event"]?.string == "snapshot" }
        return phone
      }
      func open(_ name: String) async throws -> String {
        let opened = try await bus.run("room", "open", "--bus", name, "--goal", "2m")
        #expect(opened.ending == .exited(0), "\(opened)")
        return try #require(try await bus.run("room", "show", "--bus", name, "--json").json.first?["room"]?.string)
      }
      let (anna, other) = (try await phone("a", "crew"), try await phone("b", "other"))
      let room = try await open("a")
      _ = try await open("b")
      other.signal(SIGTERM)
      _ = try await other.ending()

      // A row that nobody has signed, with the id of a room of the first fleet.
      let directory = try bus.runBusState() + "/_together/other"
      let id = try #require(Data(hex: room))
      try await DatabaseQueue(path: directory + "/log.sqlite").write { db in
        try db.execute(
          sql: "INSERT INTO entry (time, room, author, body) SELECT time, ?, author, x'78' FROM entry LIMIT 1",
          arguments: [id])
      }
      #expect(try await bus.run("room", "log", room).ending == .exited(0))

      try FileManager.default.removeItem(atPath: directory + "/log.sqlite")
      #expect(mkdir(directory + "/log.sqlite", 0o700) == 0)
      let listed = try await bus.run("room", "ls")
      #expect(listed.ending == .exited(0) && listed.lines.contains { $0.hasPrefix(room.prefix(8)) }, "\(listed)")
      #expect(listed.errors.contains { $0.contains("the log of the rooms of other") }, "\(listed)")
      #expect(try await bus.run("room", "log", room).ending == .exited(0))
      for shown in [try await bus.run("ranking"), try await bus.run("badges", "--bus", "a")] {
        #expect(shown.ending == .exited(0), "\(shown)")
        #expect(shown.errors.contains { $0.contains("the log of the rooms of other") }, "\(shown)")
      }
      anna.signal(SIGTERM)
      _ = try await anna.ending()
    }
  }
}

extension Data {
  /// Bytes from hexadecimal digits.
  fileprivate init?(hex: String) {
    var bytes: [UInt8] = []
    var digits = hex[...]
    while let first = digits.popFirst(), let second = digits.popFirst() {
      guard let byte = UInt8("\(first)\(second)", radix: 16) else { return nil }
      bytes.append(byte)
    }
    self.init(bytes)
  }
}
