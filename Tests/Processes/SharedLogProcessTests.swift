import Foundation
import GRDB
import RunBus
import Testing
import TestSupport

// Serialized, so that each has all cores of the machine.
@Suite("The log of a machine, written by several processes", .serialized)
struct SharedLogProcessTests {
  /// `make soak LOGKILLS=200` kills more often than `make test`; 250 are the most, because each life has an author.
  private static let kills = ProcessInfo.processInfo.environment["RUNBUS_SOAK_LOG_KILLS"].flatMap { Int($0) } ?? 20

  private func place(_ bus: TestBus) -> LogPlace {
    LogPlace("crew", environment: ["XDG_STATE_HOME": bus.stateDirectory, "XDG_RUNTIME_DIR": bus.runtimeDirectory])
  }

  private func scribe(_ bus: TestBus, _ arguments: String...) -> NodeProcess {
    bus.spawn(executable: TestBus.program("scribe"), arguments)
  }

  /// What a follower has read: for each author the numbers in the order in which they came, and all positions and times.
  private struct Reading {
    var numbers: [String: [Int]] = [:]
    var places: [(position: Int, time: Int)] = []

    init(_ lines: [JSONValue]) {
      for line in lines where line["event"]?.string == "read" {
        guard let author = line["author"]?.string, let number = line["number"]?.int, let time = line["time"]?.int,
          let position = line["position"]?.int
        else { continue }
        numbers[author, default: []].append(number)
        places.append((position, time))
      }
    }
    var isInOrder: Bool {
      zip(places, places.dropFirst()).allSatisfy { $0.position < $1.position && $0.time < $1.time }
    }
  }

  @Test("Four processes write, and each of them reads all, in one order and without holes")
  func four() async throws {
    try await withTestBus { bus in
      let processes = (1...4).map { scribe(bus, "--author", "0\($0)", "--count", "50", "--follow") }
      var readings: [Reading] = []
      for process in processes {
        try await process.wait(for: "all entries") { view in
          view.json.count { $0["event"]?.string == "read" } == 200 ? true : nil
        }
        readings.append(Reading(process.view.json))
        #expect(process.view.json.count { $0["event"]?.string == "acked" } == 50)
      }
      for reading in readings {
        #expect(reading.isInOrder)
        #expect(reading.numbers.count == 4 && reading.numbers.values.allSatisfy { $0 == Array(1...50) })
        #expect(reading.places.map(\.position) == readings[0].places.map(\.position))
        #expect(reading.places.map(\.time) == readings[0].places.map(\.time))
      }
      for process in processes {
        process.closeInput()
        #expect(try await process.ending() == .exited(0), "\(process.view.errors)")
      }
    }
  }

  @Test("Killed while they write, processes lose no entry that was acknowledged, and the file stays whole")
  func killed() async throws {
    try await withTestBus { bus in
      let reader = scribe(bus, "--follow")
      try await reader.event("its start") { $0["event"]?.string == "ready" }
      // Each life has an author of its own, because an author's entries are bounded.
      var acknowledged: [Int: Int] = [:]
      var lives = 0
      func life() -> (author: Int, process: NodeProcess) {
        lives += 1
        let author = 1 + lives % 255
        return (
          author, scribe(bus, "--author", String(author, radix: 16), "--room", "\(1 + lives / 255)", "--count", "0")
        )
      }
      var writers = (0..<4).map { _ in life() }
      var generator = SystemRandomNumberGenerator()
      for _ in 0..<Self.kills {
        let victim = Int.random(in: 0..<writers.count, using: &generator)
        let least = Int.random(in: 1...30, using: &generator)
        try await writers[victim].process.wait(for: "some entries of a writer") { view in
          view.json.count { $0["event"]?.string == "acked" } >= least ? true : nil
        }
        writers[victim].process.signal(SIGKILL)
        _ = try await writers[victim].process.ending()
        acknowledged[writers[victim].author] = acked(writers[victim].process)
        writers[victim] = life()
      }
      for writer in writers {
        writer.process.closeInput()
        _ = try await writer.process.ending()
        acknowledged[writer.author] = acked(writer.process)
      }
      try await check(bus, acknowledged, reader)
    }
  }

  private func acked(_ process: NodeProcess) -> Int {
    process.view.json.filter { $0["event"]?.string == "acked" }.compactMap { $0["number"]?.int }.max() ?? 0
  }

  /// Compares what the file has with what was acknowledged, and with what a follower has read.
  private func check(_ bus: TestBus, _ acknowledged: [Int: Int], _ reader: NodeProcess) async throws {
    let log = SQLiteLog(place(bus))
    var rows: [LogRow] = []
    for room in try await log.rooms() {
      var from: UInt64 = 0
      while true {
        let page = try await log.rows(of: room.room, from: from, count: 256)
        rows += page
        guard page.count == 256, let last = page.last else { break }
        from = last.position + 1
      }
    }
    await log.close()
    rows.sort { $0.position < $1.position }
    #expect(zip(rows, rows.dropFirst()).allSatisfy { $0.time < $1.time })
    var total = 0
    for (author, count) in acknowledged {
      let numbers = rows.filter { $0.author.bytes.first == UInt8(truncatingIfNeeded: author) }
        .map { $0.body.prefix(8).reduce(0) { $0 << 8 | Int($1) } }
      #expect(numbers.starts(with: count == 0 ? [] : Array(1...count)), "author \(author)")
      // One that was not acknowledged may be there.
      #expect(numbers.count <= count + 1, "author \(author)")
      total += count
    }
    #expect(total > 0)
    let inRoom = try await within("the rows of the room") {
      let log = SQLiteLog(self.place(bus))
      let count = try await log.rooms().first { $0.room == RoomID(high: 0, low: 1) }?.count ?? 0
      await log.close()
      return count
    }
    try await reader.wait(for: "all entries of the room") { view in
      view.json.count { $0["event"]?.string == "read" } >= inRoom ? true : nil
    }
    let reading = Reading(reader.view.json)
    #expect(reading.isInOrder && reading.places.count == inRoom)
    #expect(reading.numbers.values.allSatisfy { $0 == Array(1...$0.count) })
    reader.closeInput()
    #expect(try await reader.ending() == .exited(0))
    let queue = try DatabaseQueue(path: place(bus).file)
    #expect(try await queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") } == ["ok"])
    try queue.close()
  }

  #if os(Linux)
    @Test("While a process keeps the turn to write, others are told that the log is busy, and then go on")
    func kept() async throws {
      try await withTestBus { bus in
        let writer = scribe(bus, "--count", "0", "--gap", "20", "--stubborn", "--follow")
        try await writer.event("an entry") { $0["event"]?.string == "acked" }
        let lock = place(bus).directory + "/lock"
        let keeper = bus.spawn(executable: "/usr/bin/env", ["flock", lock, "sh", "-c", "echo held; cat"])
        try await keeper.wait(for: "the turn") { $0.lines.contains("held") ? true : nil }
        let refused = try await writer.event("a refusal") { $0["event"]?.string == "refused" }
        #expect(refused["text"]?.string?.contains("another process writes") == true)
        keeper.closeInput()
        let last = refused["number"]?.int ?? 0
        try await writer.event("an entry after it") {
          $0["event"]?.string == "acked" && $0["number"]?.int ?? 0 > last
        }
        writer.closeInput()
        #expect(try await writer.ending() == .exited(0))
      }
    }
  #endif
}
