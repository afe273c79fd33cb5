@testable import RunCore
import Testing

@Suite("A peer's view of its hub")
struct HubViewTests {
  private var view = HubView(nil, termSeen: 3)

  private mutating func observe(
    _ term: UInt64, _ revision: UInt64, _ tick: UInt64, _ phase: RunPhase = .idle, run: UInt64? = nil
  ) -> HubView.Change? {
    let snapshot = PeerStage.snapshot(term, revision, tick, phase, run: run, by: run)
    return view.observe(StateMessage(snapshot: snapshot, age: .zero), isNewSession: false, at: .zero)
  }

  private mutating func kept(_ change: HubView.Change?) -> [String] {
    change.map { _ in view.keep().map(NodeLines.line) } ?? ["nothing new"]
  }

  @Test("The view moves forward only, and tells a transition from new numbers")
  mutating func forward() {
    #expect(observe(4, 1, 1)?.isTransition == true)
    #expect(observe(4, 1, 1) == nil)
    #expect(observe(3, 9, 9) == nil)
    #expect(observe(4, 2, 2, .running, run: 7)?.isTransition == true)
    #expect(view.isRunOn)
    #expect(observe(4, 2, 3, .running, run: 7)?.isTransition == false)
    #expect(observe(5, 2, 1, .running, run: 7)?.isTransition == true)
  }

  @Test("The store keeps each snapshot that is shown, and a higher term")
  mutating func keep() {
    #expect(kept(observe(3, 1, 5, .running, run: 7)) == ["view 3.1.5 running"])
    #expect(kept(observe(3, 1, 6, .running, run: 7)) == ["view 3.1.6 running"])
    #expect(kept(observe(4, 1, 1, .running, run: 7)) == ["view 4.1.1 running", "term 4"])
    #expect(view.termSeen == 4)
  }

  // Once broken: A watch that was opened again without its phone showed a snapshot with tick 0 and 0.0 s after one with
  // tick 22 and 60.5 s, and did not say that it was old, because the store of a peer kept only transitions, without
  // numbers.
  @Test("A snapshot that the store kept is shown again once when the hub confirms it, and nothing before it ever")
  mutating func confirmed() {
    var metrics = RunMetrics()
    metrics.active = .seconds(60)
    var snapshot = PeerStage.snapshot(4, 1, 22, .running, run: 7)
    snapshot.metrics = metrics
    view = HubView(snapshot, termSeen: 4)
    #expect(view.authoritative == snapshot)
    #expect(observe(4, 1, 21, .running, run: 7) == nil)
    #expect(observe(4, 1, 22, .running, run: 7)?.isTransition == false)
    #expect(observe(4, 1, 22, .running, run: 7) == nil)
  }

  @Test("A press names the revision that is shown, and none before the first snapshot")
  mutating func base() {
    #expect(view.base == nil)
    _ = observe(4, 2, 1, .running, run: 7)
    #expect(view.base == ObservedRevision(revision: 2, commandID: CommandID(high: 4, low: 7)))
  }

  @Test("A hub that shows less of the same term has lost history, and is asked for a higher term")
  mutating func claim() {
    _ = observe(4, 2, 1)
    #expect(view.isContinued(by: SnapshotOrder(term: 4, revision: 2, tick: 1)))
    #expect(view.isContinued(by: SnapshotOrder(term: 3, revision: 0, tick: 1)))
    #expect(!view.isContinued(by: SnapshotOrder(term: 4, revision: 1, tick: 9)))
    #expect(NodeLines.line(view.claimTerm()) == "term 5")
    #expect(NodeLines.line(view.claimTerm()) == "term 6")
  }

  @Test("Only a term that no hub comes to is forgotten, and then any snapshot is shown")
  mutating func forget() {
    _ = observe(4, 2, 1, .running, run: 7)
    #expect(view.forgetTerm() == nil)
    _ = kept(observe(HubTerm.seenMax + 1, 0, 1))
    #expect(view.forgetTerm()?.map(NodeLines.line) == ["term 0", "view 0.0.0 idle"])
    #expect(observe(1, 0, 1) != nil)
  }

  @Test("The clock follows the message that was fastest, and begins anew with a session")
  mutating func clock() {
    func message(age: Int64) -> StateMessage {
      StateMessage(snapshot: PeerStage.snapshot(1, 0, 1), age: .seconds(age))
    }
    func bus() -> BusDuration? { view.clock.map { $0.bus(at: .zero) - PeerStage.origin } }
    _ = view.observe(message(age: 5), isNewSession: true, at: .zero)
    _ = view.observe(message(age: 3), isNewSession: false, at: .zero)
    #expect(bus() == .seconds(5))
    _ = view.observe(message(age: 8), isNewSession: false, at: .zero)
    #expect(bus() == .seconds(8))
    _ = view.observe(message(age: 2), isNewSession: true, at: .zero)
    #expect(bus() == .seconds(2))
  }
}
