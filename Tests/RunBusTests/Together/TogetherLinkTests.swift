import RunCore
import TestSupport
import Testing

@testable import RunBus

@Suite("A hub's link with the log of its fleet")
struct TogetherLinkTests {
  private let room = RoomID(high: 1, low: 1)

  private func link(
    _ log: any SharedLog, _ runner: SigningRunner, _ news: EventLog<String>, _ complaints: EventLog<String>
  ) -> TogetherLink {
    TogetherLink(log, key: runner.key, fleet: runner.fleet) { told in
      switch told {
      case .read(_, let entries, _, _, _): news.append("read \(entries.count)")
      case .refused(_, let number): news.append("refused \(number)")
      case .unreachable(_, let reason): news.append("unreachable: \(reason)")
      case .ask, .heard, .replaced, .proved, .adverts, .keys: break
      }
    } complain: {
      complaints.append($0)
    }
  }

  private func content(_ number: UInt64, of runner: SigningRunner) -> RoomContent {
    RoomContent(fleet: runner.fleet, room: room, author: runner.id, number: number, ask: .stay)
  }

  @Test("A log that takes no more of the hub's entries is complained of once, whatever is read meanwhile")
  func full() async throws {
    let (log, runner) = (MemoryLog(capacity: LogFleet.capacity), SigningRunner())
    let (news, complaints) = (EventLog<String>(), EventLog<String>())
    let count = UInt64(LogFleet.capacity.entriesOfAuthor)
    for number in 1...count {
      try await log.append(runner.entry(number, in: room), author: runner.id, to: room)
    }
    let link = link(log, runner, news, complaints)
    link.carryOut(.follow(room, RoomReading(number: 1, from: 0, digest: nil)))
    for number in count + 1...count + 3 {
      link.carryOut(.append(content(number, of: runner)))
      try await news.wait(for: "the refusal") { $0.first { $0 == "refused \(number)" } }
      let before = news.events.count { $0.hasPrefix("read") }
      try await log.append([1], author: .test(1), to: room)
      try await news.wait(for: "the reading") { told in
        told.count { $0.hasPrefix("read") } > before ? true : nil
      }
    }
    #expect(complaints.events.count == 1 && complaints.events[0].contains("600"), "\(complaints.events)")
    link.end()
    await log.close()
  }

  @Test("The hub is told why a room's log cannot be read, and why it takes no entry")
  func unreachable() async throws {
    let (log, runner) = (MemoryLog(), SigningRunner())
    let (news, complaints) = (EventLog<String>(), EventLog<String>())
    log.faults.isStopped = true
    let link = link(log, runner, news, complaints)
    link.carryOut(.follow(room, RoomReading(number: 1, from: 0, digest: nil)))
    try await news.wait(for: "the word of it") { $0.first { $0 == "unreachable: the log is out of reach" } }
    log.faults.isStopped = false
    try await news.wait(for: "the reading") { $0.first { $0 == "read 0" } }
    log.faults.losesAnswers = true
    link.carryOut(.append(content(1, of: runner)))
    try await news.wait(for: "the word of it") { $0.first { $0.contains("answer of the log was lost") } }
    try await news.wait(for: "the entry") { $0.first { $0 == "read 1" } }
    #expect(complaints.events.count == 2)
    link.end()
    await log.close()
  }
}
