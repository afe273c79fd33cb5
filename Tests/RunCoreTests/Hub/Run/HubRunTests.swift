@testable import RunCore
import Testing

@Suite("The run that a hub shows, as one part")
struct HubRunTests {
  private static let runID = RunID(high: 0, low: 1)
  private static let store = StoreID(high: 1, low: 7)
  private static let clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  private var turns = PartTurns<HubCore.Action>()
  private var run = Self.made(HubHistory(), control: ControlState())
  private var control = ControlState()

  private static func made(
    _ history: HubHistory, control: ControlState, downtime: Downtime = .paused, at now: BusTime = .zero
  ) -> HubRun {
    HubRun(
      history,
      rules: HubRun.Rules(
        deviceID: .phone, clock: clock, metrics: MetricsSettings(), ledgerEntriesMax: 100, pastReadingsMax: 100,
        downtime: downtime),
      live: LivePolicy(), control: control, now: now)
  }

  private static func start(at seconds: Int64) -> PastTransition {
    PastTransition(
      kind: .start, revision: 1,
      change: Author(source: .phone, deviceID: .phone, commandID: CommandID(high: 0, low: 1)), runID: runID,
      effectiveAt: .zero + .seconds(seconds))
  }

  /// A run begins at a second.
  private mutating func begin(at seconds: Int64) -> HubRun.Change {
    let start = Self.start(at: seconds)
    control.make(start)
    var settlement = Settlement()
    settlement.lines = [
      .init(
        runID: Self.runID, time: start.effectiveAt,
        event: .transition(Transition(kind: .start, revision: 1, change: start.change)))
    ]
    return run.enter(settlement, shown: Self.runID)
  }

  private mutating func lines(at seconds: Int64, _ body: (inout HubRun, inout HubCore.Turn) -> Void) -> [String] {
    turns.lines(at: .zero + .seconds(seconds), NodeLines.line) { body(&run, &$0) }
  }

  @Test("A start opens the ledger and asks for a snapshot and a new schedule")
  mutating func start() {
    let change = begin(at: 1)
    #expect(change.operations.count == 1 && change.isVisible && change.hasTransition)
    #expect(run.isTicking(control) && run.ledger.entries.count == 1)
  }

  @Test("Readings of a peer gather, and are committed and acknowledged together")
  mutating func readings() {
    _ = begin(at: 1)
    let stream = StreamID(sender: Self.store, kind: .samples)
    let control = control
    let gathered = lines(at: 3) { run, turn in
      for sequence in 1...2 as ClosedRange<UInt64> {
        #expect(run.receive(sequence, in: stream) == .next)
        let reading = HubRun.Reading(
          value: .heartRate(bpm: 150), time: .zero + .seconds(2), device: .watch, run: nil, stream: (stream, sequence))
        run.enter(reading, control: control, in: &turn, accepts: { _ in true }, expect: { _ in nil })
      }
    }
    #expect(gathered == [] && run.hasReadings(of: Self.store) && run.intakeDeadline == .zero + .seconds(6))
    let committed = lines(at: 6) { $0.commitReadings(control, term: 1, in: &$1) }
    #expect(committed.count == 1 && !run.hasReadings)
    for durable in turns.commit() {
      switch durable {
      case .processed(let stream, let mark, _, _): run.makeDurable(mark, of: stream)
      case .acknowledge(let stream): run.acknowledge(stream)
      default: Issue.record("\(durable)")
      }
    }
    #expect(run.mark(of: Self.store).sequence == 2 && run.takeAcknowledgements().map(\.sequence) == [2])
  }

  @Test("A reading of a run that takes none moves the mark and enters no ledger")
  mutating func refused() {
    _ = begin(at: 1)
    let stream = StreamID(sender: Self.store, kind: .samples)
    let control = control
    _ = lines(at: 3) { run, turn in
      let reading = HubRun.Reading(
        value: .heartRate(bpm: 150), time: .zero + .seconds(2), device: .watch, run: nil, stream: (stream, 1))
      run.enter(reading, control: control, in: &turn, accepts: { _ in false }, expect: { _ in nil })
    }
    #expect(run.ledger.entries.count == 1 && run.hasReadings(of: Self.store) && !run.hasReadings)
  }

  @Test("A run that was on when the hub died stands at the last sign of life, and goes on behind a gap")
  mutating func recovery() {
    var history = HubHistory()
    history.clock = ClockMark(real: .zero + .seconds(50), bus: .zero + .seconds(50), bootID: "", wallSeconds: 0)
    control.make(Self.start(at: 10))
    run = Self.made(history, control: control, at: .zero + .seconds(200))
    #expect(run.isSettling && run.unfinished?.diedAt == .zero + .seconds(50) && !run.isTicking(control))
    run.ask(about: Self.runID, since: .zero + .seconds(200))
    #expect(run.isAsking)
    let gap = run.goOn(Self.runID, from: .zero + .seconds(300))
    #expect(gap.map(NodeLines.line).count == 1 && run.unfinished == nil && run.isTicking(control))
  }
}
