import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("A log in memory, with what can go wrong")
struct MemoryLogTests {
  private let room = RoomID(high: 1, low: 1)
  private let ann = MemberID.test(1)

  @Test("An append whose answer is lost is in the log, and its author reads it there")
  func lostAnswer() async throws {
    let log = MemoryLog()
    let reader = FeedReader(try await log.follow(room, from: 0))
    log.faults.losesAnswers = true
    await #expect(throws: SharedLogError.self) { try await log.append([1], author: ann, to: room) }
    #expect(try await reader.rows(1).map(\.body) == [[1]])
    await log.close()
  }

  @Test("A member out of reach is told once, and gets each entry once when it is back, also what is read again")
  func stop() async throws {
    let (log, writer) = { ($0, $0.another()) }(MemoryLog())
    let reader = FeedReader(try await log.follow(room, from: 0))
    for number in 0..<5 as Range<UInt8> { try await writer.append([number], author: ann, to: room) }
    try await reader.rows(5)
    var faults = MemoryLog.Faults()
    (faults.isStopped, faults.rereads) = (true, 3)
    log.faults = faults
    await #expect(throws: SharedLogError.self) { try await log.append([9], author: ann, to: room) }
    for number in 5..<8 as Range<UInt8> { try await writer.append([number], author: ann, to: room) }
    try await reader.log.wait(for: "the word of it") { $0.first { $0.trouble != nil } }
    faults.isStopped = false
    log.faults = faults
    #expect(try await reader.rows(8).map(\.body) == (0..<8).map { [$0] })
    try await writer.append([8], author: ann, to: room)
    #expect(try await reader.rows(9).map(\.body) == (0..<9).map { [$0] })
    #expect(reader.log.events.filter { $0.trouble != nil }.count == 1)
    // That it is back is told also when there is nothing new.
    faults.isStopped = true
    log.faults = faults
    try await reader.log.wait(for: "the word of it") { $0.filter { $0.trouble != nil }.count == 2 ? true : nil }
    faults.isStopped = false
    log.faults = faults
    try await reader.log.wait(for: "the word of its end") {
      if case .rows(let batch)? = $0.last ?? nil { batch.rows.isEmpty ? true : nil } else { nil }
    }
    await log.close()
  }

  @Test("Entries of a late log are told later, each once")
  func delay() async throws {
    let log = MemoryLog()
    log.faults.delay = .milliseconds(5)
    let reader = FeedReader(try await log.follow(room, from: 0))
    for number in 0..<5 as Range<UInt8> { try await log.append([number], author: ann, to: room) }
    #expect(try await reader.rows(5).map(\.body) == (0..<5).map { [$0] })
    await log.close()
  }

  @Test("Times stand while a log's clock that was set back catches up, and leap with one that was set forward")
  func steps() async throws {
    let now = Mutexed(BusTime.zero + .seconds(3600))
    let log = MemoryLog { now.withLock { $0 } }
    var times: [LogTime] = []
    for (step, passed) in [(0, 0), (-60, 1), (0, 10), (0, 60), (100, 1)] as [(Int64, Int64)] {
      log.step(by: .seconds(step))
      now.withLock { $0 = $0 + .seconds(passed) }
      try await log.append([1], author: ann, to: room)
      times = try await log.rows(of: room, from: 0, count: 9).map(\.time)
    }
    let small = BusDuration(nanoseconds: 1)
    let spans = zip(times, times.dropFirst()).map { $1 - $0 }
    #expect(spans == [small, small, .seconds(11) - small - small, .seconds(101)])
    await log.close()
  }
}
