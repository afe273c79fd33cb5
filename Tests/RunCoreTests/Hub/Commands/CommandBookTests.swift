@testable import RunCore
import Testing

@Suite("The commands that a hub has accepted")
struct CommandBookTests {
  private static let store = StoreID(high: 1, low: 1)
  private var book = CommandBook(HubHistory())

  private static func press(_ number: UInt64, at milliseconds: Int64 = 0) -> AcceptedCommand {
    AcceptedCommand(
      command: Command(id: .number(number), kind: .lap, source: .watch), deviceID: .watch,
      origin: .store(store), sequence: number, pressedAt: .milliseconds(milliseconds),
      arrivedAt: .milliseconds(milliseconds))
  }

  private static func verdict(_ number: UInt64) -> Verdict {
    Verdict(
      commandID: .number(number), kind: .lap, source: .watch, outcome: .applied, runID: nil, term: 1, revision: 1,
      effectiveAt: nil)
  }

  private static func other(_ number: UInt64) -> StoreID { StoreID(high: 2, low: number) }

  @Test("A command is unknown, then unjudged, then judged")
  mutating func stages() {
    #expect(!book.knows(.number(1)))
    book.accept(Self.press(1), from: .device(.watch), isHeld: false)
    guard case .unjudged(let press)? = book.stage(of: .number(1)) else { return #expect(Bool(false)) }
    #expect(press == Self.press(1) && book.verdict(of: .number(1)) == nil)
    #expect(book.judge(Self.verdict(1), at: .zero) == [])
    guard case .judged(let verdict)? = book.stage(of: .number(1)) else { return #expect(Bool(false)) }
    #expect(verdict == Self.verdict(1) && book.unjudged.isEmpty)
  }

  @Test("Stores that send a known command are owed its verdict, in their order, at most eight of them")
  mutating func claims() {
    book.accept(Self.press(1), from: .device(.watch), isHeld: false)
    func isKnown(_ claim: CommandBook.Claim) -> Bool { if case .known = claim { true } else { false } }
    #expect(isKnown(book.claim(.number(1), by: Self.store)))
    for number in 1...8 as ClosedRange<UInt64> {
      #expect(book.hasRoom(forClaimOf: .number(1), by: Self.other(number)))
      #expect(!isKnown(book.claim(.number(1), by: Self.other(number))))
      #expect(isKnown(book.claim(.number(1), by: Self.other(number))))
    }
    #expect(!book.hasRoom(forClaimOf: .number(1), by: Self.other(9)))
    #expect(book.hasRoom(forClaimOf: .number(1), by: Self.other(8)))
    #expect(book.count(owedTo: Self.other(8)) == 1 && book.count(owedTo: Self.other(9)) == 0)
    #expect(book.judge(Self.verdict(1), at: .zero) == (1...8).map(Self.other))
    #expect(book.claimsOfOneMax == 0)
    guard case .judged = book.claim(.number(1), by: Self.other(9)) else { return #expect(Bool(false)) }
  }

  @Test("At most sixteen connections wait for one verdict, each once")
  mutating func connections() {
    let connections = (1...17).map { ConnectionID.named("shell\($0)") }
    for connection in connections.prefix(16) {
      #expect(book.hasRoom(for: connection, awaiting: .number(1)))
      book.register(connection, for: .number(1))
      book.register(connection, for: .number(1))
    }
    #expect(book.hasRoom(for: connections[0], awaiting: .number(1)))
    #expect(!book.hasRoom(for: connections[16], awaiting: .number(1)))
    #expect(book.connections(awaiting: .number(1)) == Array(connections.prefix(16)))
    #expect(book.takeConnections(awaiting: .number(1)) == Array(connections.prefix(16)))
    #expect(book.takeConnections(awaiting: .number(1)) == [])
  }

  @Test("Press times of one stream never decrease, until the stream is forgotten")
  mutating func pressTimes() {
    let stream = StreamID(sender: Self.store, kind: .commands)
    let now = BusTime.milliseconds(100)
    #expect(book.order(.milliseconds(50), in: stream, at: now) == .milliseconds(50))
    #expect(book.order(.milliseconds(20), in: stream, at: now) == .milliseconds(50))
    book.forget(stream)
    #expect(book.order(.milliseconds(20), in: stream, at: now) == .milliseconds(20))
  }

  @Test("The slots of a device's unjudged commands are bounded, and a verdict frees one")
  mutating func slots() {
    func here(_: DeviceID) -> Bool { true }
    var count: UInt64 = 0
    while book.hasSlot(for: .device(.watch), isHere: here), count < 2000 {
      count += 1
      book.accept(Self.press(count), from: .device(.watch), isHeld: false)
    }
    #expect(count == UInt64(CommandQueue.senderMax))
    #expect(book.hasSlot(for: .own, isHere: here) == true)
    #expect(book.foreignCount == Int(count))
    _ = book.judge(Self.verdict(1), at: .zero)
    #expect(book.hasSlot(for: .device(.watch), isHere: here) == true)
  }

  @Test("A restarted hub knows the last press time of each stream and the claims")
  func restored() {
    var history = HubHistory()
    history.accepted = [(Self.press(1, at: 70), .window)]
    history.claims = [.number(1): [Self.other(1)]]
    var book = CommandBook(history)
    book.accept(Self.press(1, at: 70), from: .device(.watch), isHeld: false)
    let stream = StreamID(sender: Self.store, kind: .commands)
    #expect(book.order(.milliseconds(20), in: stream, at: .milliseconds(100)) == .milliseconds(70))
    #expect(book.judge(Self.verdict(1), at: .zero) == [Self.other(1)])
  }
}
