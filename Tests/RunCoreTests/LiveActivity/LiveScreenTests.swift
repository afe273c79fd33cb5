import RunCore
import Testing

@Suite("What a lock screen shows")
struct LiveScreenTests {
  private static let origin = BusTime.zero + .seconds(1000)

  private func push(
    _ number: UInt64, term: UInt64 = 1, revision: UInt64 = 1, phase: RunPhase = .running,
    pending: [CommandKind] = [], staleAfter: Int64? = 60
  ) -> LivePush {
    LivePush(
      order: SnapshotOrder(term: term, revision: revision, tick: number),
      content: LiveContent(
        runID: RunID(high: 9, low: 1), phase: phase,
        clock: LiveClock(active: .seconds(10), at: Self.origin, isTicking: phase == .running), pending: pending),
      number: number, kind: .phase, pushedAt: Self.origin, staleAt: staleAfter.map { Self.origin + .seconds($0) },
      budgetLeft: 9, activity: 1)
  }

  private func look(
    _ screen: inout LiveScreen, at seconds: Int64 = 0, isStale: Bool = false, isHubLost: Bool = false,
    pending: Set<CommandKind> = []
  ) -> LiveActivity? {
    screen.look(at: Self.origin + .seconds(seconds), isStale: isStale, isHubLost: isHubLost, pending: pending)
  }

  @Test("It shows nothing before the first push, each change once, and no older push")
  func changes() {
    var screen = LiveScreen()
    #expect(look(&screen) == nil && screen.staleAt == nil)
    screen.receive(push(2))
    #expect(look(&screen)?.push.number == 2)
    #expect(look(&screen) == nil)
    screen.receive(push(1))
    #expect(look(&screen) == nil)
    screen.receive(push(1, term: 2))
    #expect(look(&screen)?.push.order.term == 2)
  }

  @Test("In a new session it shows what the hub pushes, whatever was counted before")
  func session() {
    var screen = LiveScreen()
    screen.receive(push(9, term: 7))
    _ = look(&screen)
    screen.beginSession(term: 3)
    screen.receive(push(1, term: 3))
    #expect(look(&screen)?.push.order.term == 3)
  }

  // Once broken: A lock screen showed an earlier tick after a kill of the phone, because the first push of a session
  // was shown whatever it was, also one that the dead phone had sent.
  @Test("A push on its way when the hub died is not shown after its next incarnation, nor an earlier one of that")
  func killedHub() {
    var screen = LiveScreen()
    screen.receive(push(8))
    _ = look(&screen)
    screen.beginSession(term: 2)
    screen.catchUp(with: snapshot(.paused, term: 2))
    #expect(look(&screen)?.push.order == SnapshotOrder(term: 2, revision: 2, tick: 1))
    screen.receive(push(9))
    #expect(look(&screen) == nil)
    // Of revision 1, which was over when the session began.
    screen.receive(push(1, term: 2))
    #expect(look(&screen) == nil)
  }

  /// A snapshot of the run of ``push(_:term:phase:pending:staleAfter:)``.
  private func snapshot(_ phase: RunPhase, term: UInt64 = 1, revision: UInt64 = 2) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: term, revision: revision, tick: 1), phase: phase,
      runID: phase == .idle ? nil : RunID(high: 9, low: 1), changedBy: nil, startedAt: Self.origin,
      capturedAt: Self.origin + .seconds(20), metrics: RunMetrics())
  }

  // Once broken: A lock screen went on to show a run that was over, as stale, when the last push was lost, because
  // nothing is pushed after the end of a run.
  @Test("A snapshot of a later revision stands in for a push that was lost; an earlier or the same one changes nothing")
  func catchUp() {
    var screen = LiveScreen()
    screen.catchUp(with: snapshot(.completed))
    #expect(look(&screen) == nil)
    screen.receive(push(4))
    _ = look(&screen)
    screen.catchUp(with: snapshot(.completed, revision: 1))
    #expect(look(&screen) == nil)
    screen.catchUp(with: snapshot(.completed))
    let shown = look(&screen, at: 30)
    #expect(shown?.push.content.phase == .completed && shown?.push.kind == .final && shown?.isStale == false)
    // The push itself, if it comes after all.
    screen.receive(push(5, revision: 2, phase: .completed))
    #expect(look(&screen, at: 30)?.push.number == 5)
  }

  @Test("When the hub has lost its store a lock screen shows no run any more")
  func lostStore() {
    var screen = LiveScreen()
    screen.receive(push(4))
    screen.catchUp(with: snapshot(.idle, term: 2, revision: 0))
    #expect(look(&screen)?.push.content.phase == .idle)
    screen.receive(push(1, term: 2))
    #expect(look(&screen)?.push.content.phase == .running)
  }

  @Test("It becomes stale by itself when its push is no longer good, and fresh with the next one")
  func stale() {
    var screen = LiveScreen()
    screen.receive(push(1))
    #expect(look(&screen, at: 59)?.isStale == false)
    #expect(screen.staleAt == Self.origin + .seconds(60))
    #expect(look(&screen, at: 60)?.isStale == true)
    #expect(screen.staleAt == nil)
    screen.receive(push(2, staleAfter: 120))
    #expect(look(&screen, at: 61)?.isStale == false)
  }

  @Test("A silent hub makes it stale, and an alarm says that the hub is lost; a run that is over is neither")
  func silence() {
    var screen = LiveScreen()
    screen.receive(push(1))
    #expect(look(&screen, isStale: true)?.isStale == true)
    let lost = look(&screen, isStale: true, isHubLost: true)
    #expect(lost?.isHubLost == true)
    screen.receive(push(2, phase: .completed, staleAfter: nil))
    let over = look(&screen, at: 100_000, isStale: true, isHubLost: true)
    #expect(over?.isStale == false && over?.isHubLost == false)
  }

  @Test("Its own presses wait beside those that the hub knows, each kind once")
  func pending() {
    var screen = LiveScreen()
    screen.receive(push(1, pending: [.pause]))
    #expect(look(&screen, pending: [.pause, .lap])?.pending == [.lap, .pause])
    #expect(look(&screen)?.pending == [.pause])
  }
}

@Suite("A peer that is a lock screen")
struct LockScreenPeerTests {
  private func live(_ number: UInt64, _ tick: UInt64, revision: UInt64 = 1, phase: RunPhase = .running) -> BusEvent {
    .live(
      LiveMessage(
        push: LivePush(
          order: SnapshotOrder(term: 1, revision: revision, tick: tick),
          content: LiveContent(
            runID: RunID(high: 9, low: 1), phase: phase,
            clock: LiveClock(active: .zero, at: PeerStage.origin, isTicking: phase == .running)),
          number: number, kind: .numbers, pushedAt: PeerStage.origin, staleAt: PeerStage.origin + .seconds(60),
          budgetLeft: 3, activity: 1)))
  }

  private func up(_ topics: [Topic]) -> PeerStage {
    var peer = PeerStage(topics: topics)
    _ = peer.feed(.started)
    peer.commits()
    _ = peer.feed(.linkUp)
    _ = peer.welcome(session: 1, PeerStage.snapshot(1, 1, 5, .running, run: 1))
    peer.commits()
    peer.forgetSent()
    return peer
  }

  @Test("It shows a push and asks for the state that belongs to it")
  func asks() {
    var peer = up([.live])
    let lines = peer.feed(.event(live(1, 9)))
    #expect(lines.contains { $0.hasPrefix("show push 1") })
    #expect(peer.sent.contains { $0.message == .query })
  }

  @Test("It does not ask for the numbers of a running run that a pong tells of, but for another phase it does")
  func pongs() {
    var peer = up([.live])
    _ = peer.feed(
      .frame(
        HubFrame(
          session: 1, message: .pong(1, SnapshotOrder(term: 1, revision: 1, tick: 8), recordsThrough: 0))))
    #expect(!peer.sent.contains { $0.message == .query })
    _ = peer.feed(
      .frame(
        HubFrame(
          session: 1, message: .pong(2, SnapshotOrder(term: 1, revision: 2, tick: 9), recordsThrough: 0))))
    #expect(peer.sent.contains { $0.message == .query })
  }

  @Test("A peer with snapshots does not ask for them with each push")
  func both() {
    var peer = up([.snapshots, .live])
    _ = peer.feed(.event(live(1, 9)))
    #expect(!peer.sent.contains { $0.message == .query })
  }

  @Test("A hub that is silent makes its screen stale by itself")
  func stale() {
    var peer = up([.live])
    _ = peer.feed(.event(live(1, 9)))
    var lines: [String] = []
    while let deadline = peer.core.deadline, deadline < peer.now + .seconds(120) {
      peer.now = max(peer.now, deadline)
      lines += peer.feed(.deadline)
      peer.commits()
      if peer.core.liveActivity?.isStale == true { break }
    }
    #expect(peer.core.liveActivity?.isStale == true)
    #expect(lines.contains { $0.hasPrefix("show stale push 1") })
  }
}
