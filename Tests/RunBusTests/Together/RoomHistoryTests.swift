import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("What rooms came to")
struct RoomHistoryTests {
  private static let month = CalendarMonth(year: 2026, month: 11)!

  @Test("Results are counted from the entries: wins, losses, draws and distances, under the newest nickname")
  func counted() async throws {
    let rooms = RanRooms(["Anna", "Ben"])
    let log = MemoryLog(clock: rooms.clock)
    _ = try await rooms.write(to: log, [7712, 7537])
    _ = try await rooms.write(to: log, [5000, 6000])
    rooms.rename(1, "Benny")
    _ = try await rooms.write(to: log, [4000, 4000])
    _ = try await rooms.write(to: log, nil)
    let history = try await rooms.history(log)
    #expect(history.rooms.count == 3)
    let tally = history.tally { _ in Self.month }
    #expect(tally.check() == nil)
    let (anna, ben) = (tally.score(of: rooms.id(0)), tally.score(of: rooms.id(1)))
    #expect([anna.won, anna.drawn, anna.lost] == [1, 1, 1] && [ben.won, ben.drawn, ben.lost] == [1, 1, 1])
    #expect(anna.decimetres == [Self.month: 16_712] && ben.decimetres == [Self.month: 17_537])
    let rows = Ranking.list(.month, of: history.runners(tally), month: Self.month)
    #expect(rows.map(\.runner.nickname.text) == ["Benny", "Anna"] && rows.map(\.rank) == [1, 2])
    // Another reader counts the same.
    #expect(try await rooms.history(log.another()) == history)
    await log.close()
  }

  @Test("A room counts when its last record is in, or when it is over; its month is that of its start")
  func settled() async throws {
    let rooms = RanRooms(["Anna", "Ben"])
    let log = MemoryLog(clock: rooms.clock)
    let before = try await log.now()
    let room = try await rooms.write(to: log, [7712, nil])
    #expect(try await rooms.history(log).rooms.isEmpty)
    rooms.pass(.seconds(24 * 3600))
    let settled = try #require(try await rooms.history(log).rooms.first)
    #expect(settled.room == room && settled.result.standing == .final)
    #expect(settled.result.rows.map(\.outcome) == [.won, .lost] && settled.result.rows[1].decimetres == nil)
    #expect((BusDuration.seconds(3)...BusDuration.seconds(10)).contains(settled.startsAt - before))
    #expect(settled.endsAt - settled.startsAt == .seconds(600))
    await log.close()
  }

  @Test("Entries that are not their author's, or of another fleet, change no result")
  func foreign() async throws {
    let rooms = RanRooms(["Anna", "Ben"])
    let log = MemoryLog(clock: rooms.clock)
    let room = try await rooms.write(to: log, [7712, 7537])
    let history = try await rooms.history(log)
    // Ben says of Anna that she ran less.
    let record = RoomRecord(
      version: 9, decimetres: 1, elapsed: .seconds(600), isFinished: true, run: .made(room: room, member: rooms.id(0)))
    let content = RoomContent(fleet: rooms.fleet, room: room, author: rooms.id(1), number: 4, ask: .record(record))
    try await log.append(EntrySigning(rooms.keys[1]).signed(content), author: rooms.id(0), to: room)
    let other = RoomContent(
      fleet: .made(name: "other"), room: room, author: rooms.id(0), number: 5, ask: .record(record))
    try await log.append(EntrySigning(rooms.keys[0]).signed(other), author: rooms.id(0), to: room)
    let again = try await rooms.history(log)
    #expect(again.rooms.map(\.result) == history.rooms.map(\.result))
    let judged = try await RoomFolds.judged(in: room, of: log, fleet: rooms.fleet)
    #expect(judged.count == 7 && judged.allSatisfy { $0.nickname != nil })
    await log.close()
  }

  @Test("Each entry has its verdict, in the order of the log")
  func judged() async throws {
    let rooms = RanRooms(["Anna", "Ben"])
    let log = MemoryLog(clock: rooms.clock)
    let room = try await rooms.write(to: log, [7712, 7_000_000])
    let judged = try await RoomFolds.judged(in: room, of: log, fleet: rooms.fleet)
    let verdicts: [RoomVerdict] = [
      .opened, .entered, .noted, .noted, .begun, .noted, .rejected(.implausible),
    ]
    #expect(judged.map(\.folded) == verdicts.map { Folded.verdict($0) })
    #expect(judged.map(\.entry.author) == [0, 1, 0, 1, 0, 0, 1].map(rooms.id))
    #expect(judged[1].nickname == Nickname("Ben"))
    await log.close()
  }

  @Test("A list reads the newest rooms, and one that somebody fills takes no other's place")
  func listed() async throws {
    func room(_ number: UInt64, _ count: Int) -> LogRoom {
      LogRoom(room: RoomID(high: 1, low: number), position: 5000 - number, time: .zero, count: count)
    }
    func listed(_ rooms: [LogRoom], _ entriesMax: Int = RoomFolds.entriesMax) -> [UInt64] {
      RoomFolds.listed(rooms, entriesMax: entriesMax).map(\.low).sorted()
    }
    #expect(listed([room(1, 50), room(2, 5), room(3, 5), room(4, 40)], 60) == [2, 3, 4])
    #expect(listed([room(1, 50), room(2, 5)], 55) == [1, 2])
    #expect(listed([room(1, 600)], 599) == [])
    #expect(listed((1...3000).map { room($0, 2) }) == Array(1...2048))
    #expect(listed([]) == [])

    let rooms = RanRooms(["Anna", "Ben"])
    let log = MemoryLog(clock: rooms.clock)
    let older = try await rooms.write(to: log, nil)
    let newer = try await rooms.write(to: log, nil)
    let list = try await RoomFolds.all(of: log, fleet: rooms.fleet)
    #expect(list.reports.map(\.room) == [newer, older] && list.unread.isEmpty)
    await log.close()
  }

  // MARK: Keeping

  @Test("A room without a run goes after four days; one with a run stays with its result, and goes after 400 days")
  func kept() async throws {
    try await withTestBus { bus in
      let rooms = RanRooms(["Anna", "Ben"])
      var log = SQLiteLog(bus.logPlace, options: rooms.options)
      func reopen() async {
        await log.close()
        log = SQLiteLog(bus.logPlace, options: rooms.options)
      }
      let ran = try await rooms.write(to: log, [7712, 7537])
      let idle = try await rooms.write(to: log, nil)
      let before = try await rooms.history(log)
      rooms.pass(.seconds(95 * 3600))
      await reopen()
      #expect(try await log.rooms().map(\.room) == [idle, ran])
      rooms.pass(.seconds(2 * 3600))
      await reopen()
      #expect(try await log.rooms().map(\.room) == [ran])
      let after = try await rooms.history(log)
      #expect(after.rooms.map(\.position) == before.rooms.map(\.position))
      #expect(after.rooms.map(\.result.rows) == before.rooms.map(\.result.rows))
      #expect(after.nickname(of: rooms.id(1)) == Nickname("Ben"))
      rooms.pass(.seconds(395 * 24 * 3600))
      await reopen()
      #expect(try await log.rooms().map(\.room) == [ran])
      rooms.pass(.seconds(2 * 24 * 3600))
      await reopen()
      #expect(try await log.rooms().isEmpty)
      await log.close()
    }
  }

  @Test("Of too many rooms with a run the oldest go, and a room of the last four days never does")
  func tooMany() async throws {
    try await withTestBus { bus in
      let rooms = RanRooms(["Anna", "Ben"])
      var options = rooms.options
      options.ranRooms = 2
      var log = SQLiteLog(bus.logPlace, options: options)
      func reopen() async throws -> [RoomID] {
        await log.close()
        log = SQLiteLog(bus.logPlace, options: options)
        return try await log.rooms().map(\.room)
      }
      var all: [RoomID] = []
      for _ in 0..<4 { all.insert(try await rooms.write(to: log, [7712, 7537]), at: 0) }
      rooms.pass(.seconds(100 * 3600))
      // They are looked at in one opening and counted in the next.
      #expect(try await reopen() == all)
      #expect(try await reopen() == Array(all.prefix(2)))
      let fresh = try await rooms.write(to: log, [7712, 7537])
      #expect(try await reopen() == [fresh] + all.prefix(2))
      await log.close()
    }
  }

  // MARK: Looking at a log, and its end

  @Test("Looking at a log changes no file of it, and says what it has")
  func health() async throws {
    try await withTestBus { bus in
      let (place, rooms) = (bus.logPlace, RanRooms(["Anna", "Ben"]))
      #expect(LogHealth(of: place, member: nil) == .absent)
      let log = SQLiteLog(place)
      _ = try await rooms.write(to: log, [7712, 7537])
      #expect(try await log.claim(Nickname("Anna")!, for: rooms.id(0)))
      guard case .sound(_, 1, "Anna") = LogHealth(of: place, member: rooms.id(0)) else {
        return #expect(LogHealth(of: place, member: rooms.id(0)) == .absent, "open, and sound")
      }
      await log.close()
      func files() throws -> [String: Data] {
        try FileManager.default.contentsOfDirectory(atPath: place.directory).reduce(into: [:]) {
          $0[$1] = try Data(contentsOf: URL(filePath: "\(place.directory)/\($1)"))
        }
      }
      let before = try files()
      guard case .sound(let bytes, 1, nil) = LogHealth(of: place, member: rooms.id(1)) else {
        return #expect(LogHealth(of: place, member: rooms.id(1)) == .absent, "closed, and sound")
      }
      #expect(bytes > 0)
      #expect(try files() == before)
      let damaged = try #require(FileHandle(forUpdatingAtPath: place.file))
      try damaged.seek(toOffset: 4096)
      try damaged.write(contentsOf: Data(repeating: 0x5A, count: 2048))
      try damaged.close()
      guard case .unusable(let reason) = LogHealth(of: place, member: nil) else {
        return #expect(LogHealth(of: place, member: nil) == .absent, "damaged")
      }
      #expect(reason.contains("is damaged") && !reason.contains("\n"))
    }
  }

  @Test("What a fleet has is not removed while somebody has it open, and completely afterwards")
  func remains() async throws {
    try await withTestBus { bus in
      let (place, rooms) = (bus.logPlace, RanRooms(["Anna", "Ben"]))
      #expect(FleetRemains(of: place).paths.isEmpty)
      let log = SQLiteLog(place)
      let room = try await rooms.write(to: log, nil)
      let feed = try await log.listen(room)
      log.shout([1], kind: .standing, room: room, author: rooms.id(0))
      _ = await feed.first { _ in true }
      let remains = FleetRemains(of: place)
      #expect(remains.paths == [place.directory, place.liveDirectory])
      #expect(throws: SharedLogError.busy) { try remains.erase() }
      #expect(try await log.rooms().count == 1)
      await log.close()
      try remains.erase()
      #expect(remains.paths.allSatisfy { !FileManager.default.fileExists(atPath: $0) })
      #expect(FleetRemains(of: place).paths.isEmpty)
    }
  }
}
