import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("A log is compared with what was read of it")
struct RoomProofTests {
  private let key = MemberKey.random()
  private let fleet = FleetID.made(name: "club")
  private let room = RoomID(high: 1, low: 1)

  private func append(_ numbers: ClosedRange<UInt64>, to log: MemoryLog) async throws {
    for number in numbers {
      let content = RoomContent(fleet: fleet, room: room, author: key.id, number: number, ask: .tick)
      try await log.append(EntrySigning(key).signed(content), author: key.id, to: room)
    }
  }
  /// The digest that a reader has after all entries up to a position.
  private func read(_ log: MemoryLog, through position: UInt64) async throws -> LogHash {
    try await RoomFolds.entries(of: room, in: log, fleet: fleet).last { $0.entry.position <= position }?.digest
      ?? EntryDigest.none.hash
  }

  @Test(
    "As long as nobody changes what was read the digest is that of its reader, however often and up to whatever place")
  func same() async throws {
    let log = MemoryLog()
    var proof = RoomProof(room: room, fleet: fleet, batch: 8)
    #expect(try await proof.digest(in: log, through: 7) == EntryDigest.none.hash)
    try await append(1...14, to: log)
    // What is not its author's says nothing, and may go.
    try await log.append([7], author: key.id, to: room)
    try await append(15...16, to: log)
    for position in [16, 16, 3, 17, 17, 0, 8] as [UInt64] {
      #expect(try await proof.digest(in: log, through: position) == read(log, through: position), "\(position)")
    }
    let before = try await read(log, through: 17)
    log.tamper(with: room) { $0.removeAll { $0.body == [7] } }
    #expect(try await proof.digest(in: log, through: 17) == before)
    await log.close()
  }

  @Test("An entry that is gone, moved, dated anew or replaced makes another digest", arguments: 0..<4)
  func changed(_ change: Int) async throws {
    let log = MemoryLog()
    try await append(1...5, to: log)
    for isKnown in [true, false] {
      var proof = RoomProof(room: room, fleet: fleet)
      let rows = try await log.rows(of: room, from: 0, count: 9)
      let before = try await read(log, through: 5)
      if isKnown { #expect(try await proof.digest(in: log, through: 5) == before) }
      log.tamper(with: room) { rows in
        let (one, two) = (rows[1], rows[2])
        switch change {
        case 0: rows.remove(at: 2)
        case 1:
          rows[1] = LogRow(position: one.position, time: one.time, author: two.author, body: two.body)
          rows[2] = LogRow(position: two.position, time: two.time, author: one.author, body: one.body)
        case 2:
          let time = two.time - BusDuration(nanoseconds: 1)
          rows[2] = LogRow(position: two.position, time: time, author: two.author, body: two.body)
        default: rows[2] = LogRow(position: two.position, time: two.time, author: one.author, body: one.body)
        }
      }
      #expect(try await proof.digest(in: log, through: 5) != before)
      log.tamper(with: room) { $0 = rows }
      #expect(try await proof.digest(in: log, through: 5) == before)
    }
    await log.close()
  }

  @Test("A log that is out of reach is compared the next time")
  func away() async throws {
    let log = MemoryLog()
    try await append(1...2, to: log)
    var proof = RoomProof(room: room, fleet: fleet)
    log.faults.isStopped = true
    await #expect(throws: SharedLogError.self) { try await proof.digest(in: log, through: 2) }
    log.faults.isStopped = false
    #expect(try await proof.digest(in: log, through: 2) == read(log, through: 2))
    await log.close()
  }
}
