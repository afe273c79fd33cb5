@testable import RunCore
import Testing

@Suite("The commands, readings and verdicts of a peer together")
struct PeerOutboxTests {
  private static let hub = StoreID(high: 1, low: 1)
  private static let shown = SnapshotOrder(term: 1, revision: 4, tick: 9)
  private static let run = RunID(high: 9, low: 2)
  private var turns = PartTurns<PeerCore.Action>()
  private var view = HubView(PeerStage.snapshot(1, 4, 9, .running, run: 7), termSeen: 1)
  private var outbox = PeerOutbox(
    stream: { OutboundStream(OutboundStreamID(receiver: Self.hub, kind: $0), bounds: $1) },
    verdicts: VerdictInbox(from: Self.hub, durable: .start), bootID: "boot")

  private mutating func lines(
    at seconds: Int64 = 0, _ body: (inout PeerOutbox, HubView, inout PeerCore.Turn) -> Void
  ) -> [String] {
    turns.lines(at: .zero + .seconds(seconds), \.line) { body(&outbox, view, &$0) }
  }

  private mutating func press(_ kind: CommandKind, _ id: UInt64, link: UInt64? = 1) -> [String] {
    var command = Command(id: CommandID(high: 4, low: id), kind: kind, source: .watch)
    if kind == .start { command.runID = Self.run }
    return lines { _ = $0.press(command, shown: $1, over: link, in: &$2) }
  }

  private mutating func read(link: UInt64? = 1) -> [String] {
    let sample = Sample(moment: .at(.zero), value: .heartRate(bpm: 150))
    return lines { $0.add([sample], shown: $1, over: link, in: &$2) }
  }

  /// All writes are durable.
  private mutating func commits(link: UInt64? = 1) -> [String] {
    turns.commit().flatMap { durable in
      lines { outbox, _, turn in
        if case .act(let action) = durable { turn.act(action) } else { outbox.carryOut(durable, over: link, in: &turn) }
      }
    }
  }

  private mutating func hears(_ message: DeliveryMessage) -> [String] {
    lines { outbox, _, turn in outbox.receive(message, shown: Self.shown, over: 1, in: &turn) }
  }

  private func verdict(_ kind: CommandKind, _ id: UInt64, at sequence: UInt64) -> DeliveryMessage {
    let verdict = Verdict(
      commandID: CommandID(high: 4, low: id), kind: kind, source: .watch, outcome: .applied, runID: Self.run, term: 1,
      revision: 5, effectiveAt: nil)
    return .verdicts([VerdictTransmission(sequence: sequence, receipt: Receipt(verdict, at: .zero))])
  }

  @Test("A press is told and sent when it is durable; one of the same id is the same press")
  mutating func press() {
    #expect(press(.lap, 1) == ["commit: owe commands 1"])
    #expect(press(.lap, 1) == ["commit: "])
    #expect(commits() == ["lap queued", "1 lap 0.0s", "lap queued"])
    #expect(press(.pause, 2, link: nil) == ["commit: owe commands 2"])
    #expect(commits(link: nil) == ["pause queued"])
    #expect(outbox.unjudgedCount == 2 && outbox.unjudgedKinds == [.lap, .pause])
  }

  @Test("The verdict of a start accepts it and lets the readings of its run go; it is acknowledged when it is durable")
  mutating func start() {
    _ = press(.start, 1)
    #expect(commits() == ["start queued", "1 start 0.0s"])
    #expect(read() == ["commit: reserve samples 4096"])
    #expect(commits() == [], "the hub does not know the run yet")
    #expect(
      hears(verdict(.start, 1, at: 1)) == [
        "later: acknowledged commands 1, remove commands 1, verdicts to 1", "start pending", "start applied 5",
        "samples 1",
      ])
    #expect(commits() == ["verdicts to 1"])
    #expect(hears(verdict(.start, 1, at: 1)) == ["verdicts to 1"], "known: the acknowledgement may be lost")
    #expect(outbox.predicted(from: .idle) == .running, "until a snapshot shows it")
    outbox.dropShown(by: SnapshotOrder(term: 1, revision: 5, tick: 10))
    #expect(outbox.predicted(from: .idle) == .idle)
  }

  @Test("Out of reach everything waits; a session counts the tries, then sends commands, the spool, and readings")
  mutating func session() {
    _ = press(.lap, 1, link: nil)
    _ = read(link: nil)
    let spooled = ForwardedCommand(
      command: Command(id: CommandID(high: 4, low: 9), kind: .stop, source: .phone), deviceID: DeviceID("shell"),
      since: .zero, isUncertain: false)
    _ = lines { outbox, _, turn in outbox.add([spooled], over: nil, in: &turn) }
    #expect(commits(link: nil) == ["lap queued"])
    #expect(outbox.flushAt == .zero + .seconds(3) && outbox.readingCount == 1)
    #expect(
      lines { outbox, _, turn in outbox.open(received: [:], shown: Self.shown, over: 1, in: &turn) }
        == ["commit: try commands 1...1", "request stop 0.0s"])
    #expect(lines { outbox, _, turn in outbox.sendSamples(over: 1, in: &turn) } == ["samples 1"])
    #expect(commits() == ["1 lap 0.0s"])
    outbox.close()
    #expect(outbox.retryAt == nil)
  }

  @Test("A command in the spool is cancelled before it is sent; with its verdict its file can go")
  mutating func spool() {
    let id = CommandID(high: 4, low: 9)
    let spooled = ForwardedCommand(
      command: Command(id: id, kind: .stop, source: .phone), deviceID: DeviceID("shell"),
      since: .zero, isUncertain: false)
    var answers: [String] = []
    func cancel(_ outbox: inout PeerOutbox, _ turn: inout PeerCore.Turn) {
      switch outbox.cancel(id.message, shown: Self.shown, in: &turn) {
      case .atOnce(let answer)?: answers.append(NodeLines.line(answer))
      case nil: answers.append("unknown")
      default: answers.append("durable")
      }
    }
    _ = lines { outbox, _, turn in cancel(&outbox, &turn) }
    _ = lines { outbox, _, turn in outbox.add([spooled], over: nil, in: &turn) }
    _ = lines { outbox, _, turn in cancel(&outbox, &turn) }
    _ = lines { outbox, _, turn in outbox.add([spooled], over: 1, in: &turn) }
    _ = lines { outbox, _, turn in cancel(&outbox, &turn) }
    #expect(answers.count == 3 && answers[0] == "unknown" && answers[1] != answers[2], "\(answers)")
    guard case .verdicts(let transmissions) = verdict(.stop, 9, at: 1), let receipt = transmissions[0].receipt else {
      return
    }
    let told = lines { outbox, _, turn in outbox.receive(receipt, shown: Self.shown, over: 1, in: &turn) }
    #expect(told == ["settled 9"])
  }

  @Test("For another hub commands and readings begin anew; a verdict of the old stream does not count")
  mutating func renumber() {
    _ = press(.lap, 1)
    _ = read()
    _ = commits()
    _ = hears(verdict(.lap, 7, at: 1))
    let other = StoreID(high: 1, low: 2)
    #expect(NodeLines.line(outbox.renumberCommands(to: other)) == "rebind commands")
    #expect(outbox.renumberSamples(to: other).writes.map(NodeLines.line) == ["drop samples", "owe samples 1"])
    #expect(commits() == [], "the mark was of the stream before")
    #expect(outbox.verdictMark == .start && outbox.acknowledged == [.commands: 0, .samples: 0])
    #expect(hears(.acknowledge(.verdicts, through: 1)) == ["note"])
  }
}
