import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// Somebody else writes to a log's file: what no reader takes for an entry takes nothing from anybody, and what is deleted
/// is noticed.
@Suite("A log's file with a hostile writer")
struct HostileLogTests {
  private let room = RoomID(high: 1, low: 1)
  private let other = RoomID(high: 2, low: 2)
  private let ann = MemberID.test(1)
  private static func days(_ count: Int64) -> BusDuration { .seconds(count * 24 * 3600) }

  /// A log whose machine is moved on by the test.
  private final class Machine: Sendable {
    let place: LogPlace
    private let passed = Mutexed(BusDuration.zero)

    init(_ bus: TestBus) { place = bus.logPlace }

    func pass(_ span: BusDuration) { passed.withLock { $0 = $0 + span } }

    var options: LogOptions {
      var options = LogOptions()
      options.machineClock = { [passed] in Loop.now + passed.withLock { $0 } }
      options.wallSeconds = { [passed] in Date().timeIntervalSince1970 + passed.withLock { $0.seconds } }
      return options
    }

    func log(keeping ranRooms: Int = LogKeeping.ranRooms) -> SQLiteLog {
      var options = options
      options.ranRooms = ranRooms
      return SQLiteLog(place, options: options)
    }

    /// Opens the log, and returns the rooms that are left.
    func reopen(keeping ranRooms: Int = LogKeeping.ranRooms) async throws -> Set<RoomID> {
      let log = log(keeping: ranRooms)
      let rooms = try await log.rooms().map(\.room)
      await log.close()
      return Set(rooms)
    }

    func edit(_ sql: String, _ arguments: StatementArguments = []) throws { try edit([(sql, arguments)]) }

    func edit(_ changes: [(sql: String, arguments: StatementArguments)], of file: String? = nil) throws {
      let queue = try DatabaseQueue(path: file ?? place.file)
      try queue.write { db in
        for change in changes { try db.execute(sql: change.sql, arguments: change.arguments) }
      }
      try queue.close()
    }

    /// Adds a row as it is.
    func insert(_ time: any DatabaseValueConvertible, _ room: RoomID, author: MemberID, _ body: [UInt8]) throws {
      try edit(
        "INSERT INTO entry (time, room, author, body) VALUES (?, ?, ?, ?)",
        [time, Data(room.bytes), Data(author.bytes), Data(body)])
    }
  }

  private func withMachine(_ body: @Sendable (Machine) async throws -> Void) async throws {
    try await withTestBus { try await body(Machine($0)) }
  }

  // MARK: Rooms that go

  @Test("An entry with an early time makes no room older")
  func earlyStamp() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      machine.pass(Self.days(10))
      try await log.append([2], author: ann, to: room)
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(2)
      try machine.insert(1, room, author: ann, [3])
      #expect(try await machine.reopen() == [room])
      try await log.append([4], author: ann, to: room)
      #expect(try await reader.rows(4).map(\.body) == [[1], [2], [3], [4]])
      #expect(reader.log.events.allSatisfy { $0.replacement == nil })
      #expect(try await log.rooms().map(\.time) == [reader.rows[3].time])
      await log.close()
    }
  }

  @Test("A room that is deleted before its time is missed, whatever the file says of what was deleted in order")
  func deleted() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(1)
      try machine.edit("DELETE FROM entry; UPDATE log SET swept = \(Int64.max - 1)")
      try await log.append([2], author: ann, to: other)
      try await reader.log.wait(for: "the word of it") { $0.first { $0.replacement != nil } }
      await log.close()
    }
  }

  @Test("A stamp far ahead moves the clock by seconds at most, and deletes no room")
  func lateStamp() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      let before = try await log.now()
      try machine.insert((before + Self.days(10)).nanoseconds, other, author: ann, [2])
      try machine.edit("UPDATE log SET last = ?", [(before + Self.days(10)).nanoseconds])
      #expect(try await log.now() - before < .seconds(120))
      #expect(try await machine.reopen() == [room, other])
      try await log.append([3], author: ann, to: room)
      let rows = try await log.rows(of: room, from: 0, count: 9)
      #expect(rows.count == 2 && rows[1].time - before < .seconds(120))
      // Who reads the anchor of the clock after it was changed has another clock, and deletes nothing all the same.
      try machine.edit("UPDATE clock SET anchor = anchor + ?", [(Self.days(10)).nanoseconds])
      #expect(try await machine.reopen() == [room, other])
      #expect(try await log.now() - before < .seconds(120))
      await log.close()
    }
  }

  @Test("Only an entry that is its author's says that a room had a run")
  func falseRun() async throws {
    try await withMachine { machine in
      let (log, runner) = (machine.log(), SigningRunner())
      try await log.append(runner.mark(1, in: room), author: runner.id, to: room)
      // The same bytes in another room, and under another key.
      try await log.append(runner.mark(1, in: room), author: runner.id, to: other)
      try await log.append(SigningRunner().mark(1, in: other), author: runner.id, to: other)
      await log.close()
      machine.pass(Self.days(5))
      #expect(try await machine.reopen() == [room])
    }
  }

  @Test("Rooms that only pass for ones with a run push none out")
  func crowd() async throws {
    try await withMachine { machine in
      let (log, runner) = (machine.log(), SigningRunner())
      try await log.append(runner.mark(1, in: room), author: runner.id, to: room)
      try await log.append(runner.mark(1, in: other), author: runner.id, to: other)
      let last = try await log.now()
      await log.close()
      machine.pass(Self.days(5))
      #expect(try await machine.reopen(keeping: 2) == [room, other])
      // Newer ones than those, and older than the time up to which rooms were looked at.
      for number in 1...5 as ClosedRange<Int64> {
        try machine.insert(
          last.nanoseconds + number, RoomID(high: 3, low: UInt64(number)), author: runner.id, runner.mark(1, in: room))
      }
      #expect(try await machine.reopen(keeping: 2) == [room, other])
    }
  }

  // MARK: Rows that are none

  @Test("A row that is no entry is one for no reader, and stops none: reading goes on behind hundreds of them")
  func oddRows() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      let reader = FeedReader(try await log.follow(room, from: 0))
      try await reader.rows(1)
      let now = try await log.now().nanoseconds
      let (id, member) = (Data(room.bytes), Data(ann.bytes))
      // Times, authors and bodies.
      let odd: [[(any DatabaseValueConvertible)?]] = [
        [now, "text", Data([9])], [now, String(repeating: "a", count: 32), Data([9])], [now, Data([1]), Data([9])],
        [now, 5, Data([9])], [now, member, "text"], [now, member, 5], [now, member, Data(count: 5000)],
        ["soon", member, Data([9])], [Data([1]), member, Data([9])], [1.5, member, Data([9])],
        [-1, member, Data([9])], [Int64.max, member, Data([9])],
      ]
      let insert = "INSERT INTO entry (room, time, author, body) VALUES (?, ?, ?, ?)"
      for _ in 0..<30 { try machine.edit(odd.map { (insert, StatementArguments([id] + $0)) }) }
      for position in [-5, 0] {
        try machine.edit(
          "INSERT INTO entry (pos, time, room, author, body) VALUES (?, ?, ?, ?, ?)",
          [position, now, id, member, Data([9])])
      }
      for room in ["text", 5, Data([1])] as [any DatabaseValueConvertible] {
        try machine.edit(insert, [room, now, member, Data([9])])
      }
      for number in 2...4 as ClosedRange<UInt8> { try await log.append([number], author: ann, to: room) }
      #expect(try await reader.rows(4).map(\.body) == [[1], [2], [3], [4]])
      #expect(reader.log.events.allSatisfy { $0.replacement == nil && $0.trouble == nil })
      let rows = try await log.rows(of: room, from: 0, count: 256)
      #expect(rows == reader.rows && zip(rows, rows.dropFirst()).allSatisfy { $0.time < $1.time })
      #expect(try await log.rows(of: room, from: rows[1].position, count: 2) == Array(rows[1...2]))
      let rooms = try await log.rooms()
      #expect(rooms.map(\.room) == [room] && rooms[0].count == 4 && rooms[0].time == rows[3].time)
      guard case .sound(_, 1, nil) = LogHealth(of: machine.place, member: ann) else {
        return #expect(LogHealth(of: machine.place, member: ann) == .absent, "sound, with one room")
      }
      // Who opens it next reads the same.
      let next = machine.log()
      #expect(try await next.rows(of: room, from: 0, count: 256) == rows)
      await next.close()
      await log.close()
    }
  }

  @Test("Positions that are used up to the last one are none, and appending goes on")
  func positions() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      try machine.edit(
        "INSERT INTO entry (pos, time, room, author, body) VALUES (?, 1, ?, ?, ?)",
        [Int64.max, Data(room.bytes), Data(ann.bytes), Data([9])])
      try await log.append([2], author: ann, to: room)
      #expect(try await log.rows(of: room, from: 0, count: 9).map(\.position) == [1, 2])
      try machine.edit(
        "INSERT INTO entry (pos, time, room, author, body) VALUES (?, 1, ?, ?, ?)",
        [LogBounds.positionMax, Data(room.bytes), Data(ann.bytes), Data([9])])
      do {
        try await log.append([3], author: ann, to: room)
        Issue.record("it was taken")
      } catch { #expect("\(error)".contains("positions are used up"), "\(error)") }
      await log.close()
      // Once broken: doctor called it sound.
      guard case .unusable(let reason) = LogHealth(of: machine.place, member: ann) else {
        return #expect(LogHealth(of: machine.place, member: ann) == .absent, "unusable")
      }
      #expect(reason.contains("positions are used up"), "\(reason)")
    }
  }

  // Once broken: a trigger wrote an earlier time into each entry, without any key, and undid a run.
  @Test(
    "A log with a trigger or with other tables takes no entry, and the error names the reason",
    arguments: [
      "CREATE TRIGGER late AFTER INSERT ON entry BEGIN UPDATE entry SET time = 1 WHERE pos = NEW.pos; END",
      "CREATE TABLE other (id INTEGER)", "CREATE VIEW other AS SELECT * FROM entry", "DROP INDEX entry_room",
    ])
  func otherTables(change: String) async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.append([1], author: ann, to: room)
      try machine.edit(change)
      await #expect { try await log.append([2], author: ann, to: room) } throws: {
        "\($0)".contains("its tables are not those of a log")
      }
      await #expect { try await log.announce([3], class: "c", author: ann) } throws: {
        "\($0)".contains("its tables are not those of a log")
      }
      await log.close()
      guard case .unusable = LogHealth(of: machine.place, member: ann) else {
        return #expect(LogHealth(of: machine.place, member: ann) == .absent, "unusable")
      }
    }
  }

  @Test("Numbers of the log that are none are taken for none")
  func oddNumbers() async throws {
    try await withMachine { machine in
      var log = machine.log()
      try await log.append([1], author: ann, to: room)
      let before = try await log.now()
      await log.close()
      try machine.edit(
        """
        UPDATE log SET last = 'late', wall = 'never', swept = x'01'; UPDATE clock SET anchor = 'far';
        UPDATE sqlite_sequence SET seq = 'many'
        """)
      log = machine.log()
      try await log.append([2], author: ann, to: room)
      let rows = try await log.rows(of: room, from: 0, count: 9)
      #expect(rows.map(\.position) == [1, 2] && rows[1].time > rows[0].time)
      #expect(try await log.now() > before)
      await log.close()
    }
  }

  @Test("An anchor that puts the clock behind where it was at the last opening is made anew")
  func lowAnchor() async throws {
    try await withMachine { machine in
      var log = machine.log()
      try await log.append([1], author: ann, to: room)
      let before = try await log.now()
      await log.close()
      try machine.edit("UPDATE clock SET anchor = anchor - ?", [(Self.days(10)).nanoseconds])
      log = machine.log()
      #expect(try await log.now() > before - .seconds(60))
      await log.close()
    }
  }

  @Test("A last opening that is put ahead moves the clock for nobody, whoever opens the log later")
  func lateLast() async throws {
    try await withMachine { machine in
      var log = machine.log()
      try await log.append([1], author: ann, to: room)
      let before = try await log.now()
      await log.close()
      try machine.edit("UPDATE log SET last = last + ?", [(Self.days(10)).nanoseconds])
      for _ in 0..<2 {
        log = machine.log()
        #expect(try await log.now() - before < .seconds(60))
        await log.close()
      }
    }
  }

  // MARK: Beside the log

  @Test("Adverts that are none, and those of a time that has not come, are left out and deleted")
  func oddAdverts() async throws {
    try await withMachine { machine in
      let log = machine.log()
      try await log.announce([1], class: "g30", author: ann)
      let now = try await log.now()
      let rows: [[(any DatabaseValueConvertible)?]] = [
        ["text", now.nanoseconds, Data([9])], [Data(ann.bytes.dropLast()), now.nanoseconds, Data([9])],
        [Data(MemberID.test(2).bytes), "soon", Data([9])], [Data(MemberID.test(3).bytes), now.nanoseconds, "text"],
        [Data(MemberID.test(4).bytes), (now + Self.days(1)).nanoseconds, Data([9])],
        [Data(MemberID.test(5).bytes), now.nanoseconds, Data(count: 5000)],
      ]
      for row in rows {
        try machine.edit(
          "INSERT INTO advert (author, class, time, body) VALUES (?, 'g30', ?, ?)", StatementArguments(row))
      }
      #expect(try await log.adverts(["g30", "g45"]).map(\.body) == [[1]])
      try await log.announce([2], class: "o", author: ann)
      let queue = try DatabaseQueue(path: machine.place.file)
      #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM advert") } == 2)
      try queue.close()
      await log.close()
    }
  }

  @Test("Of more adverts than are read those that were renewed last are")
  func manyAdverts() async throws {
    try await withMachine { machine in
      let log = machine.log()
      let now = try await log.now().nanoseconds
      try machine.edit(
        """
        WITH RECURSIVE row(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM row WHERE n < 10000)
        INSERT INTO advert (author, class, time, body) SELECT randomblob(32), 'g30', \(now - 1_000_000_000), x'09' FROM row
        """)
      try await log.announce([1], class: "g30", author: ann)
      let adverts = try await log.adverts(["g30"])
      #expect(adverts.count == LogBounds.advertsRead && adverts.last?.author == ann)
      await log.close()
    }
  }

  @Test("A nickname whose owner is no member is free")
  func oddNames() async throws {
    try await withMachine { machine in
      let log = machine.log()
      _ = try await log.now()
      try machine.edit("INSERT INTO name (nick, member) VALUES ('anna', 'nobody'), ('ben', x'01')")
      #expect(try await log.claim(Nickname("Anna")!, for: ann))
      #expect(try await log.claim(Nickname("Ben")!, for: .test(2)))
      #expect(try await log.claim(Nickname("Anna")!, for: .test(2)) == false)
      await log.close()
    }
  }

  @Test("Live messages go on when the numbers of their file are used up, and beside rows that are none")
  func live() async throws {
    try await withMachine { machine in
      let log = machine.log()
      let reader = FeedReader(try await log.listen(room))
      log.shout([1], kind: .standing, room: room, author: ann)
      try await reader.log.wait(for: "the first") { $0.first ?? nil }
      let insert = "INSERT INTO live (room, author, time, kind, body) VALUES (?, ?, ?, 'standing', x'09')"
      let odd: [[(any DatabaseValueConvertible)?]] = [
        [Data(count: 32), "soon"], ["text", Int64.max], [Data(count: 3), Int64.max],
      ]
      try machine.edit(
        odd.map { (insert, StatementArguments([Data(room.bytes)] + $0)) } + [
          ("UPDATE sqlite_sequence SET seq = \(Int64.max) WHERE name = 'live'", [])
        ], of: machine.place.liveFile)
      log.shout([2], kind: .standing, room: room, author: .test(2))
      try await reader.log.wait(for: "the next") { $0.compactMap { $0 }.flatMap { $0 }.first { $0.body == [2] } }
      #expect(reader.log.events.compactMap { $0 }.flatMap { $0 }.allSatisfy { $0.body != [9] })
      await log.close()
    }
  }
}
