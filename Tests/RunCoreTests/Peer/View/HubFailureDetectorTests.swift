@testable import RunCore
import Testing

@Suite("The hub failure detector")
struct HubFailureDetectorTests {
  private static let running = PeerStage.snapshot(1, 1, 2, .running, run: 7)
  private var detector = HubFailureDetector(limit: .seconds(60), mark: HubFailureMark())
  private var turns = PartTurns<PeerCore.Action>()
  /// The peer's interval between pings, if it is not that of the phase.
  private var interval: BusDuration?

  /// Wakes the detector at a moment and writes what it wants.
  private mutating func wake(at seconds: Int64, _ view: Snapshot = Self.running, heardAt: Int64? = 0) -> [String] {
    let now = BusTime.zero + .seconds(seconds)
    let hearing = hearing(view, heardAt: heardAt)
    detector.pass(to: now, isRunOn: view.phase.isOn, hearing: hearing)
    return turns.lines(at: now, \.line) {
      detector.check(view, hearing: hearing, hub: DeviceID("phone"), in: &$0)
    }
  }

  private func hearing(_ view: Snapshot, heardAt: Int64?) -> HubHearing {
    var hearing = HubHearing(silence: Heartbeat.silence(interval ?? Heartbeat.first(isRunOn: view.phase.isOn)))
    if let heardAt { hearing.hear(at: .zero + .seconds(heardAt)) }
    return hearing
  }

  /// Wakes it every five seconds and returns the lines with their seconds.
  private mutating func wake(from: Int64, through: Int64, _ view: Snapshot = Self.running) -> [String] {
    stride(from: from, through: through, by: 5).flatMap { second in wake(at: second, view).map { "\(second): \($0)" } }
  }

  private func deadline(_ view: Snapshot = Self.running) -> BusDuration? {
    detector.deadline(of: view, hearing: hearing(view, heardAt: 0)).map { $0 - .zero }
  }

  @Test("A silent hub makes the view stale after three beats and raises one alarm at the limit")
  mutating func silence() {
    detector.start(at: .zero)
    #expect(deadline() == .seconds(5))
    #expect(wake(from: 5, through: 200) == ["10: stale 10.0s", "60: commit: alarmed"])
    #expect(deadline() == nil)
    #expect(detector.lastTold == nil)
    #expect(detector.takePending(2) == nil)
    #expect(detector.takePending(1)?.silence == .seconds(60))
    #expect(detector.takePending(1) == nil)
    #expect(detector.lastTold?.runID == RunID(high: 9, low: 7))
  }

  @Test("Without a run no silence counts, but the view becomes stale")
  mutating func idle() {
    let idle = PeerStage.snapshot(1, 0, 1)
    detector.start(at: .zero)
    #expect(deadline(idle) == .seconds(30))
    #expect(wake(from: 5, through: 500, idle) == ["30: stale 30.0s"])
    #expect(deadline(idle) == nil)
  }

  @Test("A hub that is heard before the alarm was told takes it back")
  mutating func heard() {
    detector.start(at: .zero)
    _ = wake(from: 5, through: 60)
    #expect(detector.hear().map(NodeLines.line) == "armed")
    #expect(detector.takePending() == nil)
    #expect(detector.hear().map(NodeLines.line) == nil)
    #expect(wake(at: 62, heardAt: 60) == ["fresh 2.0s"])
  }

  @Test("After a goodbye there is no alarm until the hub is heard")
  mutating func goodbye() {
    detector.start(at: .zero)
    #expect(detector.dismiss().map(NodeLines.line) == "dismissed")
    #expect(detector.dismiss().map(NodeLines.line) == nil)
    #expect(wake(from: 5, through: 200) == ["5: off duty 5.0s"])
    #expect(detector.hear().map(NodeLines.line) == "armed")
  }

  @Test("Time asleep, and time disconnected, is no silence")
  mutating func asleep() {
    detector.start(at: .zero)
    _ = wake(from: 5, through: 55)
    // The device slept. The hub has six seconds to be heard.
    #expect(wake(at: 5000) == [])
    #expect(wake(at: 5005) == [])
    detector.setListening(false, hearing: hearing(Self.running, heardAt: 0))
    #expect(wake(at: 5010) == [])
    detector.setListening(true, hearing: hearing(Self.running, heardAt: 0))
    #expect(wake(at: 5015) == [])
    #expect(wake(at: 5016) == ["commit: alarmed"])
  }

  @Test("The limit of the alarm and the time after a sleep follow the interval: three beats of the present one")
  mutating func longInterval() {
    detector.start(at: .zero)
    interval = .seconds(30)
    #expect(deadline() == .seconds(5))
    #expect(wake(from: 5, through: 85) == [])
    #expect(wake(at: 5000) == ["stale 5000.0s"])
    #expect(wake(from: 5005, through: 5085) == [])
    #expect(wake(at: 5090) == ["commit: alarmed"])
  }

  @Test("A detector that was not started watches nothing")
  mutating func notStarted() {
    #expect(deadline() == nil)
    #expect(wake(from: 5, through: 200) == [])
    #expect(detector.dismiss().map(NodeLines.line) == nil)
  }
}
