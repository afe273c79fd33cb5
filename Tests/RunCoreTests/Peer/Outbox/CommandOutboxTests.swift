@testable import RunCore
import Testing

@Suite("The commands of a peer")
struct CommandOutboxTests {
  private static let hub = StoreID(high: 1, low: 1)
  private static let shown = SnapshotOrder(term: 1, revision: 4, tick: 9)
  private var generator = SeededGenerator(seed: 1)
  private var turns = PartTurns<PeerCore.Action>()
  private var outbox = CommandOutbox(
    OutboundStream(OutboundStreamID(receiver: Self.hub, kind: .commands), bounds: .commands))

  /// A call of the outbox as lines. Its write becomes durable at once.
  private mutating func lines(
    at now: BusTime = .zero, _ body: (inout CommandOutbox, inout PeerCore.Turn) -> Void
  ) -> [String] {
    turns.lines(at: now, \.line) { body(&outbox, &$0) } + commits()
  }

  private mutating func commits() -> [String] {
    turns.commit().flatMap { durable in
      turns.lines(\.line) { turn in
        switch durable {
        case .act(let action): turn.act(action)
        case .sendable(_, let sequence, let durabilityGeneration):
          outbox.makeSendable(through: sequence, durabilityGeneration: durabilityGeneration)
        default: break
        }
      }
    }
  }

  private mutating func press(_ kind: CommandKind, _ id: UInt64, run: UInt64? = nil, at seconds: Int64 = 0) -> [String]
  {
    var command = Command(id: CommandID(high: 4, low: id), kind: kind, source: .watch)
    command.runID = run.map { RunID(high: 9, low: $0) }
    return lines(at: .zero + .seconds(seconds)) { $0.add(command, isGoing: false, in: &$1) }
  }

  private mutating func sent(at seconds: Int64 = 0) -> [String] {
    outbox.nextMessages(at: .zero + .seconds(seconds), generator: &generator).map { message in
      let line = NodeLines.line(message)
      guard case .command(let transmission) = message, transmission.stopFollows else { return line }
      return "\(line), stop follows"
    }
  }

  private mutating func accept(through sequence: UInt64) -> [String] {
    lines { $0.accept(through: sequence, in: &$1) }
  }

  private mutating func judge(_ kind: CommandKind, _ id: UInt64, revision: UInt64, run: UInt64? = nil) -> String? {
    let id = CommandID(high: 4, low: id)
    let verdict = Verdict(
      commandID: id, kind: kind, source: .watch, outcome: .applied, runID: run.map { RunID(high: 9, low: $0) },
      term: 1, revision: revision, effectiveAt: nil)
    return outbox.judge(verdict, of: id, shown: Self.shown).map(NodeLines.line)
  }

  private mutating func cancel(_ low: UInt64) -> [String] {
    let id = id(low)
    return lines { _ = $0.cancel(id, shown: Self.shown, in: &$1) }
  }

  private func id(_ low: UInt64) -> MessageID { MessageID(high: 4, low: low) }

  @Test("A command is durable, is sent, is accepted, and leaves with its verdict")
  mutating func way() {
    #expect(press(.start, 1) == ["commit: owe commands 1", "start queued"])
    #expect(lines { $0.countFirstTries(in: &$1) } == ["commit: try commands 1...1"])
    #expect(sent(at: 3) == ["1 start 3.0s"])
    #expect(sent(at: 3) == [])
    #expect(accept(through: 1) == ["later: acknowledged commands 1", "start pending"])
    #expect(accept(through: 1) == [])
    #expect(outbox.unjudgedCount == 1)
    #expect(judge(.start, 1, revision: 5) == "remove commands 1")
    #expect(judge(.start, 1, revision: 5) == nil)
    #expect(outbox.unjudgedCount == 0)
  }

  @Test("A judged command stays in the prediction until a snapshot shows its revision")
  mutating func prediction() {
    _ = press(.pause, 1)
    #expect(outbox.predicted(from: .running) == .paused)
    _ = judge(.pause, 1, revision: 5)
    #expect(outbox.predicted(from: .running) == .paused)
    outbox.dropShown(by: SnapshotOrder(term: 1, revision: 4, tick: 10))
    #expect(outbox.predicted(from: .running) == .paused)
    outbox.dropShown(by: SnapshotOrder(term: 1, revision: 5, tick: 11))
    #expect(outbox.predicted(from: .running) == .running)
    // This one is in the shown revision already.
    _ = press(.pause, 2)
    _ = judge(.pause, 2, revision: 4)
    #expect(outbox.predicted(from: .running) == .running)
  }

  @Test("The next command refers to the run of the last start: the pressed one, the judged one, or else the shown one")
  mutating func run() {
    let shown = RunID(high: 9, low: 1)
    #expect(outbox.predictedRun(shown: shown) == shown)
    _ = press(.start, 1, run: 2)
    _ = press(.lap, 2, run: 3)
    #expect(outbox.predictedRun(shown: shown) == RunID(high: 9, low: 2))
    _ = judge(.start, 1, revision: 5, run: 4)
    #expect(outbox.predictedRun(shown: shown) == RunID(high: 9, low: 4))
    outbox.dropJudged()
    #expect(outbox.predictedRun(shown: shown) == shown)
  }

  @Test("Readings of a run wait until the hub has judged its start")
  mutating func unjudgedRuns() {
    _ = press(.start, 1, run: 2)
    _ = sent()
    _ = accept(through: 1)
    #expect(outbox.unjudgedRuns == [RunID(high: 9, low: 2)])
    _ = judge(.start, 1, revision: 5, run: 2)
    #expect(outbox.unjudgedRuns.isEmpty)
  }

  @Test("A command says that the stop of its run follows once the stop is durable")
  mutating func stopFollows() {
    _ = press(.pause, 1, run: 2)
    _ = press(.lap, 2, run: 3)
    let stop = Command(id: CommandID(high: 4, low: 3), kind: .stop, source: .watch, runID: RunID(high: 9, low: 2))
    _ = turns.lines(\.line) { outbox.add(stop, isGoing: false, in: &$0) }
    #expect(sent() == ["1 pause 0.0s", "2 lap 0.0s"])
    _ = commits()
    outbox.goBack(to: 1)
    #expect(sent() == ["1 pause 0.0s, stop follows", "2 lap 0.0s", "3 stop 0.0s"])
  }

  @Test("Only a command that was never sent is cancelled; its tombstone goes when the hub has passed it")
  mutating func cancel() {
    for id in [1, 2] as [UInt64] { _ = press(.lap, id) }
    #expect(cancel(9) == [])
    #expect(cancel(1) == ["commit: bury commands 1", "lap cancelled 4"])
    #expect(!outbox.holds(id(1)))
    _ = lines { $0.countFirstTries(in: &$1) }
    #expect(cancel(2) == [])
    #expect(sent() == ["no commands 1...1", "2 lap 0.0s"])
    #expect(
      accept(through: 2) == ["later: acknowledged commands 2, remove commands 1", "lap pending"])
  }

  @Test("A command that was not sent within the lifetime expires")
  mutating func expire() {
    _ = press(.lap, 1)
    _ = press(.lap, 2, at: 10)
    let now = BusTime.zero + .seconds(35)
    #expect(
      lines(at: now) { $0.expire(after: .seconds(30), shown: Self.shown, in: &$1) } == [
        "commit: bury commands 1", "lap expired 4",
      ])
  }

  @Test("After a renumbering nothing goes before that is durable, though all was tried before")
  mutating func renumber() {
    for id in [1, 2] as [UInt64] { _ = press(.lap, id) }
    _ = lines { $0.countFirstTries(in: &$1) }
    _ = judge(.lap, 1, revision: 4)
    #expect(NodeLines.line(outbox.renumber(to: StoreID(high: 1, low: 2))) == "rebind commands")
    #expect(outbox.check(StreamMark(sequence: 1)) == .good)
    #expect(outbox.check(StreamMark(sequence: 2)) == .senderLost)
    outbox.open(received: .start)
    #expect(sent() == [])
    #expect(lines { $0.countFirstTries(in: &$1) } == ["commit: "])
    #expect(sent() == ["1 lap 0.0s"])
  }

  @Test("A resend counts one more try")
  mutating func retry() {
    _ = press(.lap, 1)
    _ = sent()
    let due = outbox.retryAt!
    #expect(lines(at: due) { $0.retry(in: &$1) } == ["later: try commands 1...1"])
    #expect(outbox.nextMessages(at: due, generator: &generator).count == 1)
    outbox.close()
    #expect(outbox.retryAt == nil)
  }
}
