@testable import RunCore
import Testing

@Suite("The commands of a hub, as one part")
struct HubCommandsTests {
  private static let store = StoreID(high: 1, low: 7)
  private var turns = PartTurns<HubCore.Action>()
  private var commands = HubCommands(
    HubHistory(),
    rules: HubCommands.Rules(
      clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime), debounce: .milliseconds(500),
      owedVerdictsMax: 65_536),
    term: 1, shift: nil)

  private static func hello() -> Hello {
    Hello(deviceID: .watch, role: .watch, nodeID: NodeID(high: 2, low: 2), storeID: store, nonce: 1, termSeen: 0)
  }

  private func press(_ kind: CommandKind, _ id: UInt64, sequence: UInt64) -> IncomingCommand {
    var table = SessionTable(term: 1, clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime))
    let connection = ConnectionID(route: [1], isRequest: false)
    table.open(Self.hello(), sentAt: .zero, on: connection, isRunOn: false, at: .zero)
    return IncomingCommand(
      command: Command(id: CommandID(high: 0, low: id), kind: kind, source: .watch),
      origin: .stream(table[connection]!, connection, sequence: sequence, stopFollows: false), deviceID: .watch,
      identity: .localOwner, pressed: .age(.milliseconds(100), arrival: .zero + .seconds(1)), isUncertain: false)
  }

  private mutating func lines(
    at now: BusTime, _ body: (inout HubCommands, inout HubCore.Turn) -> Void
  ) -> [String] {
    turns.lines(at: now, NodeLines.line) { body(&commands, &$0) }
  }

  @Test("A command is accepted with its mark in one commit, judged when its window settles, and owed to its sender")
  mutating func way() {
    let start = press(.start, 1, sequence: 1)
    let accepted = lines(at: .zero + .seconds(1)) {
      guard $0.stage(of: start.command.id) == nil, $0.isNext(start, in: &$1), $0.canWait(start, for: nil) else {
        return
      }
      $0.take($0.acceptance(of: start, at: $1.now), in: &$1)
    }
    #expect(accepted.count == 1 && accepted[0].hasPrefix("commit: "), "\(accepted)")
    #expect(commands.unjudged.count == 1 && commands.waitingStores == [Self.store] && commands.check().isEmpty)
    let due = commands.windowDeadline
    #expect(due == .zero + .milliseconds(1400), "the window begins with the press, 100 ms before it came")
    let settlement = commands.settle(at: due!) { _ in false }
    var (operations, then): ([StoreOperation], [HubCore.Durable]) = ([], [])
    commands.answer(settlement, &operations, &then, at: due!) { _, _ in false }
    #expect(commands.control.phase == .running && commands.waitingCount(of: Self.store) == 1)
    #expect(operations.count == 2 && then.count == 2, "the verdict and its row; its receipt and its delivery")
    #expect(commands.unjudged.isEmpty && commands.check().isEmpty)
  }

  @Test("Nothing is owed to a store that its device has left")
  mutating func givenUp() {
    let start = press(.start, 1, sequence: 1)
    _ = lines(at: .zero + .seconds(1)) { $0.take($0.acceptance(of: start, at: $1.now), in: &$1) }
    let settlement = commands.settle(at: .zero + .seconds(2)) { _ in false }
    var (operations, then): ([StoreOperation], [HubCore.Durable]) = ([], [])
    commands.answer(settlement, &operations, &then, at: .zero + .seconds(2)) { _, _ in true }
    #expect(operations.count == 1 && commands.waitingCount(of: Self.store) == 0)
  }

  @Test("A command behind a gap waits for its sender, and one at the mark is acknowledged again")
  mutating func order() {
    let (first, third) = (press(.start, 1, sequence: 1), press(.pause, 2, sequence: 3))
    let gap = lines(at: .zero + .seconds(1)) { _ = $0.isNext(third, in: &$1) }
    #expect(gap == ["note"])
    _ = lines(at: .zero + .seconds(1)) { $0.take($0.acceptance(of: first, at: $1.now), in: &$1) }
    for durable in turns.commit() {
      if case .processed(let stream, let mark, _, _) = durable { commands.makeDurable(mark, of: stream) }
    }
    #expect(commands.mark(of: Self.store).sequence == 1)
    #expect(lines(at: .zero + .seconds(1)) { _ = $0.isNext(first, in: &$1) } == [])
    #expect(commands.takeAcknowledgements().map(\.sequence) == [1])
  }
}
