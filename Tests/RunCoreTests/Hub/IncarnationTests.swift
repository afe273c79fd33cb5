@testable import RunCore
import Testing

@Suite("What is known of one life of a hub")
struct IncarnationTests {
  private static let settings = HubCore.Settings(
    deviceID: .phone, nodeID: NodeID(high: 1, low: 1), storeID: StoreID(high: 1, low: 1), debounce: .zero,
    clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime), seed: 1)
  private static func history(term: UInt64, boot: String = "boot") -> HubHistory {
    var history = HubHistory()
    history.term = term
    history.clock = ClockMark(real: .zero + .seconds(100), bus: .zero + .seconds(100), bootID: boot, wallSeconds: 1000)
    return history
  }

  @Test("Each life has the next term, and a raise goes above what was seen")
  func terms() {
    var life = Incarnation(
      Self.settings, after: Self.history(term: 4), now: .zero + .seconds(200), wallSeconds: 1100, bootID: "boot")
    #expect(life.term == 5 && life.shift == nil)
    life.raise(above: 9)
    #expect(life.term == 10)
  }

  @Test("After a reboot stored monotonic times are moved, and the wall clock goes on from the beginning")
  func reboot() {
    let life = Incarnation(
      Self.settings, after: Self.history(term: 1, boot: "earlier"), now: .zero + .seconds(5), wallSeconds: 1010,
      bootID: "boot")
    #expect(life.shift == .seconds(5 - 110))
    #expect(life.wallSeconds(at: .zero + .seconds(8)) == 1013)
  }

  @Test("A listener has an endpoint and limits once its sockets are open")
  func listeners() {
    var life = Incarnation(Self.settings, after: HubHistory(), now: .zero, wallSeconds: 0, bootID: "boot")
    let limits = ConnectionLimits(carriesRecords: false)
    life.open(1, eventsEndpoint: "events", limits: limits)
    let connections = (0...1).map { ConnectionID(route: [1], isRequest: false, listener: $0) }
    #expect(connections.map { life.eventsEndpoint(for: $0) } == ["", "events"])
    #expect(connections.map { life.limits(of: $0) } == [.full, limits])
  }

  @Test("Devices raise the term sixteen times a minute at most")
  func raises() {
    var raises = TermRaises()
    let admitted = (0..<20).filter { _ in raises.admit(at: .zero) }
    #expect(admitted.count == 16)
    let later = [59, 60].map { raises.admit(at: .zero + .seconds($0)) }
    #expect(later == [false, true])
  }

  @Test("Verdicts are kept for two days, at most 100,000 of them")
  func archive() {
    func verdict(_ number: UInt64) -> Verdict {
      Verdict(
        commandID: CommandID(high: 1, low: number), kind: .lap, source: .watch, outcome: .applied, runID: nil, term: 1,
        revision: number, effectiveAt: nil)
    }
    var archive = VerdictArchive([])
    for number in 0...100_000 as ClosedRange<UInt64> { archive.keep(verdict(number), judgedAt: .zero + .seconds(1)) }
    archive.keep(verdict(200_000), judgedAt: .zero + .seconds(2))
    // Others of the same moment stay, so the moment itself is not named.
    let through = archive.prune(at: .zero + .seconds(2))
    #expect(through == .zero + .seconds(1))
    #expect(archive[CommandID(high: 1, low: 1)] == nil && archive[CommandID(high: 1, low: 2)] == verdict(2))
    let again = archive.prune(at: .zero + .seconds(2))
    #expect(again == nil)
    let old = archive.prune(at: .zero + .seconds(2) + ControlHistory.verdictAge)
    #expect(old != nil)
    #expect(archive[CommandID(high: 1, low: 2)] == nil && archive[CommandID(high: 1, low: 200_000)] != nil)
  }

  @Test("A connection is owed sixteen answers at most, all together 1,024, and each that is sent makes room")
  func owed() {
    var owed = OwedAnswers()
    let first = ConnectionID(route: [0, 0], isRequest: false)
    for _ in 0..<16 { owed.owe(to: first) }
    #expect(!owed.hasRoom(for: first) && owed.isOwed(first))
    owed.pay(first)
    #expect(owed.hasRoom(for: first) && owed.total == 15)
    for number in 0..<1009 {
      owed.owe(to: ConnectionID(route: [1, UInt8(number % 256), UInt8(number / 256)], isRequest: false))
    }
    #expect(!owed.hasRoom(for: first) && owed.total == OwedAnswers.totalMax)
    owed.pay(ConnectionID(route: [9], isRequest: false))
    #expect(owed.total == OwedAnswers.totalMax)
  }

  @Test("An answer about a command is owed until it is sent, in the order of the requests")
  func owedAbout() {
    var owed = OwedAnswers()
    let connection = ConnectionID(route: [0, 0], isRequest: false)
    let (first, second) = (CommandID(high: 1, low: 1), CommandID(high: 1, low: 2))
    owed.owe(to: connection, about: first)
    owed.owe(to: connection)
    owed.owe(to: connection, about: second)
    owed.pay(connection)
    #expect(!owed.isOwed(connection, about: first) && owed.isOwed(connection, about: second))
    owed.pay(connection)
    owed.pay(connection)
    #expect(!owed.isOwed(connection) && !owed.isOwed(connection, about: second) && owed.total == 0)
  }
}
