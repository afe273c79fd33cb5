import Foundation
import GRDB
import RunCore
import SystemC
import TestSupport
import Testing

@testable import RunBus

@Suite("A log in a file")
struct SQLiteLogTests {
  private let room = RoomID(high: 1, low: 1)
  private let ann = MemberID.test(1)

  /// Runs a test with a place for a log.
  private func withPlace(_ body: @Sendable (LogPlace) async throws -> Void) async throws {
    try await withTestBus { try await body($0.logPlace) }
  }

  /// Makes a log with some entries, and closes it.
  private func make(_ place: LogPlace, entries: UInt8 = 3, options: LogOptions = LogOptions()) async throws {
    let log = SQLiteLog(place, options: options)
    for number in 0..<entries { try await log.append([number], author: ann, to: room) }
    await log.close()
  }

  /// The sentence with which a log refuses.
  private func refusal(_ place: LogPlace) async throws -> String {
    let log = SQLiteLog(place)
    do {
      try await log.append([1], author: ann, to: room)
      Issue.record("it was taken")
      return ""
    } catch {
      await log.close()
      guard case .unavailable(let sentence) = error else { throw error }
      #expect(!sentence.contains("\n") && sentence.contains(place.directory), "\(sentence)")
      return sentence
    }
  }

  private func edit(_ place: LogPlace, _ sql: String) throws {
    let queue = try DatabaseQueue(path: place.file)
    try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
    try queue.close()
  }

  private func bytes(_ place: LogPlace) throws -> Data { try Data(contentsOf: URL(filePath: place.file)) }

  @Test("Its files are for their owner only")
  func modes() async throws {
    try await withPlace { place in
      let log = SQLiteLog(place)
      try await log.append([1], author: ann, to: room)
      let feed = try await log.follow(room, from: 0)
      log.shout([1], kind: .standing, room: room, author: ann)
      _ = await (try await log.listen(room)).first { _ in true }
      for directory in [place.directory, place.liveDirectory] {
        var info = stat()
        #expect(stat(directory, &info) == 0 && info.st_mode & 0o777 == 0o700)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
          #expect(stat("\(directory)/\(name)", &info) == 0 && info.st_mode & 0o077 == 0, "\(name)")
        }
      }
      _ = feed
      await log.close()
    }
  }

  @Test("Another program's file, one of a later version, and other things are refused in one line and left alone")
  func foreign() async throws {
    try await withPlace { place in
      try await make(place)
      let whole = try bytes(place)
      func expect(_ words: String, _ line: Int = #line, _ change: () throws -> Void) async throws {
        try change()
        let before = try? bytes(place)
        let sentence = try await refusal(place)
        #expect(sentence.contains(words), "line \(line): \(sentence)")
        #expect((try? bytes(place)) == before, "line \(line)")
        try? FileManager.default.removeItem(atPath: place.file)
        for suffix in ["-wal", "-shm"] { unlink(place.file + suffix) }
        try whole.write(to: URL(filePath: place.file))
      }
      try await expect("newer RunBus") { try edit(place, "PRAGMA user_version = 2") }
      try await expect("no log of rooms") { try edit(place, "PRAGMA application_id = 7") }
      try await expect("no log of rooms") { try Data("a letter\n".utf8).write(to: URL(filePath: place.file)) }
      try await expect("is empty") { try Data().write(to: URL(filePath: place.file)) }
      try await expect("is not a file") {
        unlink(place.file)
        mkdir(place.file, 0o700)
      }
      try await expect("-wal is there") {
        unlink(place.file)
        try Data([1]).write(to: URL(filePath: place.file + "-wal"))
      }
      try await expect("tables are not those") { try edit(place, "CREATE TABLE more (x)") }
      try await expect("tables are not those") {
        // A bit of the text of a table.
        var damaged = whole
        let text = try #require(damaged.range(of: Data("body BLOB NOT NULL)".utf8)))
        damaged[text.lowerBound] ^= 1
        try damaged.write(to: URL(filePath: place.file))
      }
    }
  }

  @Test("A directory that others may enter is refused")
  func open() async throws {
    try await withPlace { place in
      try await make(place)
      chmod(place.directory, 0o755)
      #expect(try await refusal(place).contains("chmod 700"))
      chmod(place.directory, 0o700)
      try await make(place)
    }
  }

  @Test("Damaged pages are told in one line, or their entries are as they were", arguments: 0..<12)
  func damage(_ seed: Int) async throws {
    try await withPlace { place in
      let body = [UInt8](repeating: 5, count: 900)
      let log = SQLiteLog(place)
      for _ in 0..<40 { try await log.append(body, author: ann, to: room) }
      await log.close()
      let whole = try bytes(place)
      var damaged = whole
      var generator = SeededGenerator(seed: UInt64(seed))
      let start = Int.random(in: 0..<(damaged.count / 4096), using: &generator) * 4096
      for _ in 0..<64 {
        damaged[start + Int.random(in: 0..<4096, using: &generator)] = .random(in: 0...255, using: &generator)
      }
      try damaged.write(to: URL(filePath: place.file))
      let again = SQLiteLog(place)
      do {
        // What SQLite takes for whole may have other bytes: the signature of an entry says so to its reader.
        let rows = try await again.rows(of: room, from: 0, count: 100)
        #expect(rows.count <= 40)
      } catch {
        guard case .unavailable(let sentence) = error as? SharedLogError else { throw error }
        #expect(sentence.contains("damaged") && !sentence.contains("\n"), "\(sentence)")
        #expect(try bytes(place) == damaged)
      }
      await again.close()
    }
  }

  @Test("While another process has the turn to write, appends are busy after a while, and reading goes on")
  func busy() async throws {
    try await withPlace { place in
      var options = LogOptions()
      options.patience = .milliseconds(300)
      let log = SQLiteLog(place, options: options)
      try await log.append([1], author: ann, to: room)
      let turn = try LogTurn(path: place.directory + "/lock")
      #expect(turn.take())
      let refused = Task { try await log.append([2], author: ann, to: room) }
      #expect(try await log.rows(of: room, from: 0, count: 9).count == 1)
      await #expect(throws: SharedLogError.busy) { try await refused.value }
      turn.giveBack()
      try await log.append([3], author: ann, to: room)
      #expect(try await log.rows(of: room, from: 0, count: 9).map(\.body) == [[1], [3]])
      await log.close()
    }
  }

  @Test("A wall clock that is set changes no time, and another boot goes on from where the last one was")
  func clock() async throws {
    try await withPlace { place in
      let (machine, wall) = (Mutexed(BusTime(nanoseconds: 1_000_000_000_000)), Mutexed(1.8e9))
      var options = LogOptions()
      options.boot = "one"
      options.machineClock = { machine.withLock { $0 } }
      options.wallSeconds = { wall.withLock { $0 } }
      var log = SQLiteLog(place, options: options)
      let start = try await log.now()
      try await log.append([1], author: ann, to: room)
      wall.withLock { $0 -= 86_400 }
      machine.withLock { $0 = $0 + .seconds(10) }
      try await log.append([2], author: ann, to: room)
      // The machine's clock never steps back; if it did, times would still grow.
      machine.withLock { $0 = $0 - .seconds(1) }
      try await log.append([3], author: ann, to: room)
      let rows = try await log.rows(of: room, from: 0, count: 9)
      #expect(rows.map { $0.time - start } == [.zero, .seconds(10), .seconds(10) + BusDuration(nanoseconds: 1)])
      await log.close()

      for (boot, moved, least) in [("two", 3600.0, 3600.0), ("three", -7200.0, 0)] {
        options.boot = boot
        machine.withLock { $0 = BusTime(nanoseconds: 5_000_000_000) }
        // The mark of the wall clock is of the last opening, a day before it was set back.
        if boot == "two" { wall.withLock { $0 += 86_400 } }
        wall.withLock { $0 += moved }
        let before = try await SQLiteLogTests.last(place, room)
        log = SQLiteLog(place, options: options)
        try await log.append([4], author: ann, to: room)
        let after = try await SQLiteLogTests.last(place, room)
        #expect(after > before && after - before >= BusDuration(seconds: least - 60), "\(boot)")
        #expect(after - before <= BusDuration(seconds: least + 60), "\(boot)")
        await log.close()
      }
    }
  }

  private static func last(_ place: LogPlace, _ room: RoomID) async throws -> LogTime {
    let queue = try DatabaseQueue(path: place.file)
    defer { try? queue.close() }
    return LogTime(
      nanoseconds: try await queue.read { try Int64.fetchOne($0, sql: "SELECT MAX(time) FROM entry") ?? 0 })
  }

  @Test("Rooms without an entry for four days are deleted at an opening, and no position is used again")
  func sweeping() async throws {
    try await withPlace { place in
      let passed = Mutexed(BusDuration.zero)
      var options = LogOptions()
      options.machineClock = { Loop.now + passed.withLock { $0 } }
      options.wallSeconds = { Date().timeIntervalSince1970 + passed.withLock { $0.seconds } }
      try await make(place, options: options)
      passed.withLock { $0 = .seconds(95 * 3600) }
      var log = SQLiteLog(place, options: options)
      let other = RoomID(high: 2, low: 2)
      try await log.append([9], author: ann, to: other)
      #expect(try await log.rooms().map(\.count) == [1, 3])
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(3)
      passed.withLock { $0 = .seconds(97 * 3600) }
      let second = SQLiteLog(place, options: options)
      #expect(try await second.rooms().map(\.room) == [other])
      await second.close()
      try await log.append([10], author: ann, to: room)
      #expect(try await reader.rows(4).map(\.position) == [1, 2, 3, 5])
      #expect(reader.log.events.allSatisfy { $0.replacement == nil })
      await log.close()
      passed.withLock { $0 = .seconds(300 * 3600) }
      log = SQLiteLog(place, options: options)
      #expect(try await log.rooms().isEmpty)
      try await log.append([11], author: ann, to: room)
      #expect(try await log.rows(of: room, from: 0, count: 9).map(\.position) == [6])
      await log.close()
    }
  }

  @Test("A follower of a log that becomes unreadable is told once, and goes on when it can be read again")
  func trouble() async throws {
    try await withPlace { place in
      let log = SQLiteLog(place)
      try await log.append([1], author: ann, to: room)
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(1)
      #expect(rename(place.file, place.file + ".aside") == 0)
      try Data("a letter\n".utf8).write(to: URL(filePath: place.file + ".letter"))
      #expect(rename(place.file + ".letter", place.file) == 0)
      try await reader.log.wait(for: "the word of it") {
        $0.first { $0.trouble?.contains("belongs to the former file") ?? false }
      }
      await #expect(throws: SharedLogError.self) { try await log.append([2], author: ann, to: room) }
      #expect(rename(place.file + ".aside", place.file) == 0)
      try await log.append([3], author: ann, to: room)
      #expect(try await reader.rows(2).map(\.body) == [[1], [3]])
      let told = reader.log.events.compactMap(\.trouble)
      #expect(Set(told).count == told.count, "\(told)")
      await log.close()
    }
  }

  @Test("A file that takes the log's place does not get the former one's write-ahead log")
  func stray() async throws {
    try await withPlace { place in
      let log = SQLiteLog(place)
      try await log.append([1], author: ann, to: room)
      let queue = try DatabaseQueue(path: place.file)
      try await queue.writeWithoutTransaction { [copy = place.file + ".copy"] in
        try $0.execute(sql: "VACUUM INTO ?", arguments: [copy])
      }
      try queue.close()
      for _ in 0..<20 { try await log.append([2], author: ann, to: room) }
      #expect(rename(place.file + ".copy", place.file) == 0)
      let copy = try bytes(place)
      do {
        try await log.append([3], author: ann, to: room)
        Issue.record("it was taken")
      } catch { #expect("\(error)".contains("belongs to the former file"), "\(error)") }
      #expect(try bytes(place) == copy)
      for suffix in ["-wal", "-shm"] { unlink(place.file + suffix) }
      try await log.append([4], author: ann, to: room)
      #expect(try await log.rows(of: room, from: 0, count: 9).map(\.body) == [[1], [4]])
      await log.close()
    }
  }

  @Test(
    "On a full disk appends say so, nothing that was appended is lost, and with room they go on",
    .enabled(if: SmallDisk.canBeMade, "a file system is mounted: needs root on Linux"))
  func fullDisk() async throws {
    let disk = try SmallDisk(kilobytes: 1024)
    defer { disk.remove() }
    chmod(disk.path, 0o700)
    try await withTestBus { bus in
      let place = LogPlace(
        "crew", environment: ["XDG_STATE_HOME": disk.path, "XDG_RUNTIME_DIR": bus.runtimeDirectory])
      let log = SQLiteLog(place)
      try await log.append([0], author: ann, to: room)
      let filler = disk.path + "/filler"
      let file = try #require(fopen(filler, "w"))
      let block = [UInt8](repeating: 0, count: 512)
      while fwrite(block, 1, block.count, file) == block.count, fflush(file) == 0 {}
      fclose(file)
      var taken = 1
      var sentence = ""
      while taken < 600, sentence.isEmpty {
        do {
          try await log.append([UInt8](repeating: 1, count: 2000), author: ann, to: room)
          taken += 1
        } catch { sentence = "\(error)" }
      }
      #expect(sentence.contains("is full: make room"), "\(sentence)")
      #expect(try await log.rows(of: room, from: 0, count: 256).count == taken)
      unlink(filler)
      try await log.append([7], author: ann, to: room)
      await log.close()
      let again = SQLiteLog(place)
      #expect(try await again.rows(of: room, from: 0, count: 256).count == taken + 1)
      await again.close()
    }
  }

  @Test("What takes the file's place and what damages it leaves live messages alone, and the other way round")
  func liveDamage() async throws {
    try await withPlace { place in
      let log = SQLiteLog(place)
      log.shout([1], kind: .standing, room: room, author: ann)
      let listener = FeedReader(try await log.listen(room))
      try await listener.log.wait(for: "the first") { $0.first ?? nil }
      await log.close()
      try Data(repeating: 7, count: 9000).write(to: URL(filePath: place.liveFile))
      let again = SQLiteLog(place)
      again.shout([2], kind: .standing, room: room, author: ann)
      let other = FeedReader(try await again.listen(room))
      let rows = try await other.log.wait(for: "the next") { $0.first ?? nil }
      #expect(rows.map(\.body) == [[2]])
      await again.close()
    }
  }
}
