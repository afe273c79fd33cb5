import Foundation
import GRDB
import RunCore
import TestSupport
import Testing

@testable import RunBus

/// What somebody can do to a log who writes to its file past its rules.
@Suite("The clock of a log in a file that somebody writes to")
struct LogClockTamperingTests {
  private let room = RoomID(high: 1, low: 1)
  private let ann = MemberID.test(1)

  /// A log whose machine's clock a test moves.
  private struct Stage {
    let place: LogPlace
    let machine = Mutexed(BusTime(nanoseconds: 1_000_000_000_000))
    let wall = Mutexed(1.8e9)
    var options = LogOptions()

    init(_ place: LogPlace) {
      self.place = place
      options.boot = "one"
      options.machineClock = { [machine] in machine.withLock { $0 } }
      options.wallSeconds = { [wall] in wall.withLock { $0 } }
    }
    func passes(_ span: BusDuration) {
      machine.withLock { $0 = $0 + span }
      wall.withLock { $0 += span.seconds }
    }
    func edit(_ sql: String) throws {
      let queue = try DatabaseQueue(path: place.file)
      try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
      try queue.close()
    }
  }

  private func withStage(_ body: @Sendable (Stage) async throws -> Void) async throws {
    try await withTestBus { try await body(Stage($0.logPlace)) }
  }

  /// Times of the entries of the room, in whole seconds after a moment.
  private func times(_ log: SQLiteLog, since start: LogTime) async throws -> [Int64] {
    try await log.rows(of: room, from: 0, count: 9).map { ($0.time - start).nanoseconds / 1_000_000_000 }
  }

  @Test(
    "A row that is ten days ahead, in whatever room, moves the log's clock for nobody",
    arguments: [
      "UPDATE entry SET time = time + 864000000000000", "UPDATE entry SET time = 9223372036854775807",
      "INSERT INTO entry (time, room, author, body) SELECT time + 864000000000000, x'07', x'07', x'07' FROM entry",
      "UPDATE log SET last = last + 864000000000000", "UPDATE clock SET anchor = anchor + 864000000000000",
      "UPDATE clock SET anchor = anchor - 864000000000000", "DELETE FROM clock",
    ])
  func rows(_ change: String) async throws {
    try await withStage { stage in
      let log = SQLiteLog(stage.place, options: stage.options)
      let start = try await log.now()
      try await log.append([1], author: ann, to: room)
      try stage.edit(change)
      stage.passes(.seconds(10))
      #expect(try await log.now() - start == .seconds(10))
      try await log.append([2], author: ann, to: room)
      stage.passes(.seconds(10))
      try await log.append([3], author: ann, to: room)
      #expect(try await times(log, since: start).suffix(2) == [10, 20])
      await log.close()
    }
  }

  @Test("After the next boot a row that is more than a day ahead is not followed, and one of a clock that was set is")
  func boot() async throws {
    for (ahead, wall, isFollowed) in [(90_000.0, 60.0, false), (80_000.0, 60.0, true), (90_000.0, -60.0, true)] {
      try await withStage { stage in
        let log = SQLiteLog(stage.place, options: stage.options)
        let start = try await log.now()
        try await log.append([1], author: ann, to: room)
        await log.close()
        try stage.edit("UPDATE entry SET time = time + \(Int64(ahead) * 1_000_000_000)")
        stage.machine.withLock { $0 = BusTime(nanoseconds: 5_000_000_000) }
        stage.wall.withLock { $0 += wall }
        var options = stage.options
        options.boot = "two"
        let next = SQLiteLog(stage.place, options: options)
        let now = try await next.now() - start
        #expect((now > .seconds(70_000)) == isFollowed, "\(ahead) s ahead, the wall clock at \(wall): \(now.seconds)")
        await next.close()
      }
    }
  }

  @Test("The last possible time ends no process at the next boot")
  func overflow() async throws {
    try await withStage { stage in
      let log = SQLiteLog(stage.place, options: stage.options)
      try await log.append([1], author: ann, to: room)
      await log.close()
      try stage.edit("UPDATE entry SET time = 9223372036854775807; UPDATE log SET last = 9223372036854775807")
      var options = stage.options
      options.boot = "two"
      let next = SQLiteLog(stage.place, options: options)
      try await next.append([2], author: ann, to: room)
      // A row with such a time is none.
      #expect(try await next.rows(of: room, from: 0, count: 9).map(\.body) == [[2]])
      await next.close()
    }
  }

  @Test("What a follower reads has the log's clock beside it, by which a row that is ahead is recognized")
  func beside() async throws {
    try await withStage { stage in
      let log = SQLiteLog(stage.place, options: stage.options)
      try await log.append([1], author: ann, to: room)
      try stage.edit("UPDATE entry SET time = time + 864000000000000")
      stage.passes(.seconds(10))
      for await case .rows(let batch) in try await log.follow(room, from: 0) {
        #expect(batch.rows.map(\.body) == [[1]] && LogStamps.isAhead(batch.rows[0].time, of: batch.clock))
        break
      }
      await log.close()
    }
  }
}
