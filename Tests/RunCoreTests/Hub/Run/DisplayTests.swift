@testable import RunCore
import Testing

@Suite("What a hub shows to screens")
struct DisplayTests {
  private var turns = PartTurns<HubCore.Action>()
  private var display = Display(LivePolicy())

  private mutating func act(
    at seconds: Int64, _ body: (inout Display, inout HubCore.Turn) -> Void
  ) -> [String] {
    turns.act(at: .zero + .seconds(seconds)) { body(&display, &$0) }.actions.map { action in
      switch action {
      case .show: "show"
      case .publish(.snapshot(let message)): "snapshot of \(Int(message.age.seconds)) s"
      case .publish(.live(let message)): "live \(message.push.number)"
      case .showLive(let activity): "lock screen \(activity.push.content.phase)"
      default: "\(action)"
      }
    }
  }

  private mutating func capture(_ phase: RunPhase) -> Snapshot {
    var snapshot = display.capture(
      ControlState(), term: 1, goal: nil, metrics: RunMetrics(), isRecovering: false, isClockStopped: false, at: .zero)
    snapshot = Snapshot(
      order: snapshot.order, phase: phase, runID: RunID(high: 0, low: 1), changedBy: nil, startedAt: .zero,
      capturedAt: .zero, metrics: RunMetrics(), isRecovering: false, isClockStopped: false)
    return snapshot
  }

  @Test("A durable snapshot goes to the app, to screens with its age, and to lock screens at the end of the turn")
  mutating func show() {
    let snapshot = capture(.running)
    #expect(display.published == nil && display.isPublishing)
    // A lock screen follows.
    #expect(act(at: 0) { $0.repeatLive(speed: .realTime, in: &$1) } == [])
    let lines = act(at: 2) {
      $0.show(snapshot, in: &$1)
      $0.pushLive(speed: .realTime, in: &$1)
    }
    #expect(lines == ["show", "snapshot of 2 s", "live 1", "lock screen running"])
    #expect(display.published == snapshot && !display.isPublishing && display.lockScreen?.number == 1)
  }

  @Test("Subscribers who come together are shown the last snapshot and lock screen once more")
  mutating func subscribers() {
    let before = act(at: 0) {
      $0.repeatSnapshot(speed: .realTime, in: &$1)
      $0.repeatLive(speed: .realTime, in: &$1)
    }
    #expect(before == [], "nothing was shown yet")
    let snapshot = capture(.running)
    _ = act(at: 0) {
      $0.show(snapshot, in: &$1)
      $0.pushLive(speed: .realTime, in: &$1)
    }
    let first = act(at: 10) { $0.repeatSnapshot(speed: .realTime, in: &$1) }
    let second = act(at: 10) { $0.repeatSnapshot(speed: .realTime, in: &$1) }
    #expect(first == ["snapshot of 10 s"] && second == [] && display.deadline != nil)
    let live = act(at: 10) { $0.repeatLive(speed: .realTime, in: &$1) }
    #expect(live == ["live 1"])
    let due = act(at: 60) { $0.repeatWhenDue(speed: .realTime, in: &$1) }
    #expect(due == ["snapshot of 60 s"])
  }
}
