@testable import RunCore
import Testing

@Suite("What a peer shows of its hub")
struct PeerViewTests {
  private var turns = PartTurns<PeerCore.Action>()
  private var view = PeerView(
    HubView(nil, termSeen: 0), failureDetector: HubFailureDetector(limit: .seconds(60), mark: HubFailureMark()))
  /// When the hub was heard, in seconds.
  private var heardAt: Int64 = 0

  private var hearing: HubHearing {
    var hearing = HubHearing(silence: Heartbeat.silence(Heartbeat.quick))
    hearing.hear(at: .zero + .seconds(heardAt))
    return hearing
  }

  private mutating func lines(
    at seconds: Int64 = 0, _ body: (inout PeerView, inout PeerCore.Turn) -> Void
  ) -> [String] {
    turns.lines(at: .zero + .seconds(seconds), \.line) { body(&view, &$0) }
  }

  private mutating func observe(_ snapshot: Snapshot, isNewSession: Bool = false, at seconds: Int64 = 0) -> [String] {
    lines(at: seconds) {
      _ = $0.observe(StateMessage(snapshot: snapshot, age: .zero), isNewSession: isNewSession, in: &$1)
    }
  }

  /// The end of a turn: looks for silence, then draws the lock screen.
  private mutating func look(at seconds: Int64, pending: Set<CommandKind> = []) -> [String] {
    let hearing = hearing
    view.pass(to: .zero + .seconds(seconds), hearing: hearing)
    return lines(at: seconds) {
      $0.check(hub: .phone, hearing: hearing, in: &$1)
      $0.draw(pending: pending, hearing: hearing, in: &$1)
    }
  }

  private mutating func push(_ snapshot: Snapshot, number: UInt64) throws {
    let content = try #require(LiveContent(snapshot, pending: []))
    view.receive(
      LivePush(
        order: snapshot.order, content: content, number: number, kind: .phase, pushedAt: .zero,
        staleAt: .zero + .seconds(1_000), budgetLeft: 9, activity: 1))
  }

  @Test("A snapshot is heard, stored and shown once; an older one changes nothing")
  mutating func observe() {
    view.open(term: 1, speed: .realTime)
    let running = PeerStage.snapshot(1, 1, 2, .running, run: 7)
    let lines = observe(running, isNewSession: true)
    #expect(lines == ["commit: view 1.1.2 running, term 1", "hear 1.1.2 running", "show 1.1.2 running"])
    #expect(observe(running) == [])
    #expect(observe(PeerStage.snapshot(1, 0, 1)) == [])
    #expect(view.isContinued(by: running.order) && !view.isContinued(by: PeerStage.snapshot(1, 0, 1).order))
    #expect(NodeLines.line(view.claimTerm()) == "term 2")
  }

  @Test("Silence makes view and lock screen stale, then raises one alarm, which the app gets when it is durable")
  mutating func silence() throws {
    view.start(at: .zero)
    let running = PeerStage.snapshot(1, 1, 2, .running, run: 7)
    view.open(term: 1, speed: .realTime)
    _ = observe(running, isNewSession: true)
    try push(running, number: 1)
    #expect(look(at: 1).count == 1, "the push is drawn")
    #expect(look(at: 1, pending: [.lap]).count == 1, "and what waits for a verdict")
    var lines: [String] = []
    for second in stride(from: 5, through: 60, by: 5) { lines += look(at: Int64(second)) }
    #expect(lines.contains { $0.hasPrefix("stale") } && lines.contains("commit: alarmed"), "\(lines)")
    #expect(view.lastHubLost == nil)
    #expect(self.lines { $0.raiseAlarm(2, in: &$1) } == [])
    #expect(self.lines { $0.raiseAlarm(1, in: &$1) }.count == 1)
    #expect(view.lastHubLost?.runID == RunID(high: 9, low: 7))
    #expect(self.lines { $0.noteSignOfLife(in: &$1) } == ["later: armed"])
  }

  @Test("A goodbye is no failure: the view is stale at once, and no alarm follows")
  mutating func goodbye() {
    view.start(at: .zero)
    _ = observe(PeerStage.snapshot(1, 1, 2, .running, run: 7), isNewSession: true)
    #expect(lines { $0.dismiss(in: &$1) } == ["commit: dismissed"])
    #expect(view.state(hearing: hearing, at: .zero).isHubOffDuty)
    var lines: [String] = []
    for second in stride(from: 5, through: 300, by: 5) { lines += look(at: Int64(second)) }
    #expect(!lines.contains { $0.contains("alarmed") }, "\(lines)")
  }
}
