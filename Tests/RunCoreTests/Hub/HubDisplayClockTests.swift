@testable import RunCore
import Testing

@Suite("The clock on screen, from what a hub publishes")
struct HubDisplayClockTests {
  /// A line "elapsed active" in seconds for this moment, by the published snapshot. The hub's ledger has to agree.
  private func shows(_ hub: HubStage) -> String {
    let shown = hub.core.authoritative
    let metrics = hub.core.ledger.metrics(at: hub.now)
    let (elapsed, active) = (shown.elapsed(at: hub.now), shown.active(at: hub.now))
    #expect(elapsed == metrics.elapsed && active == metrics.active, "at \(hub.now)")
    return "\(elapsed.seconds) \(active.seconds)"
  }

  private func history(of hub: HubStage) -> HubHistory {
    var disk = HubDisk()
    disk.commit(hub.durable)
    return disk.history
  }

  /// A run that has been on for ten seconds when its hub is killed. The last sign of life is the tick at 9.5 s.
  private func killed() -> HubHistory {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(to: .zero + .seconds(10))
    return history(of: hub)
  }

  @Test("It goes through a start, a pause, a resume and a stop, also between two snapshots")
  func pause() {
    var hub = HubStage.with("watch")
    #expect(shows(hub) == "0.0 0.0")
    hub.startRun()
    #expect(shows(hub) == "0.5 0.5")
    hub.passes(to: .zero + .milliseconds(12_345))
    #expect(shows(hub) == "12.345 12.345")
    _ = hub.presses("watch", .pause)
    hub.commitsAll()
    hub.passes(to: .zero + .seconds(20))
    #expect(shows(hub) == "20.0 12.345")
    _ = hub.presses("watch", .resume)
    hub.commitsAll()
    hub.passes(to: .zero + .seconds(21))
    #expect(shows(hub) == "21.0 13.345")
    _ = hub.presses("watch", .stop)
    hub.commitsAll()
    hub.passes(to: .zero + .seconds(60))
    #expect(shows(hub) == "21.0 13.345")
  }

  @Test("A pause that arrives late counts from its press on")
  func latePause() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(to: .zero + .seconds(30))
    #expect(shows(hub) == "30.0 30.0")
    _ = hub.presses("watch", .pause, age: .seconds(20))
    hub.commitsAll()
    #expect(shows(hub) == "30.0 10.0")
    hub.passes(to: .zero + .seconds(40))
    #expect(shows(hub) == "40.0 10.0")
  }

  @Test("A run that goes on after its hub's death has the gap in elapsed time only")
  func gap() {
    var hub = HubStage(history: killed(), now: .zero + .seconds(60))
    _ = hub.feed(.started)
    hub.commitsAll()
    #expect(shows(hub) == "60.0 9.5")
    hub.passes(to: .zero + .seconds(61))
    #expect(shows(hub) == "61.0 10.5")
  }

  @Test("While the hub asks about the run, active time stands; after the answer it goes on")
  func recovery() {
    var hub = HubStage(history: killed(), now: .zero + .seconds(60), recovery: .ask)
    _ = hub.feed(.started)
    hub.commitsAll()
    hub.passes(to: .zero + .seconds(100))
    #expect(hub.core.authoritative.isClockStopped)
    #expect(shows(hub) == "100.0 9.5")
    _ = hub.feed(.recover(.resume))
    hub.commitsAll()
    #expect(!hub.core.authoritative.isClockStopped)
    hub.passes(to: .zero + .seconds(102))
    #expect(shows(hub) == "102.0 11.5")
  }

  @Test("While a new hub judges presses that the last one had accepted, active time stands, although nobody is asked")
  func settling() {
    var first = HubStage.with("watch")
    first.startRun()
    first.passes(to: .zero + .seconds(5))
    _ = first.presses("watch", .lap)
    first.commitsAll()
    var history = history(of: first)
    // In another boot the open window would settle at once.
    history.clock = history.clock.map {
      ClockMark(real: $0.real, bus: $0.bus, bootID: "boot 2", wallSeconds: $0.wallSeconds)
    }
    var hub = HubStage(history: history, now: .zero + .milliseconds(5_100))
    #expect(hub.bootID == "boot 2")
    _ = hub.feed(.started)
    hub.commitsAll()
    #expect(hub.core.authoritative.isClockStopped && !hub.core.authoritative.isRecovering)
    hub.now = .zero + .milliseconds(5_400)
    #expect(shows(hub) == "5.4 5.0")
    hub.passes(to: .zero + .seconds(7))
    #expect(!hub.core.authoritative.isClockStopped)
    #expect(shows(hub) == "7.0 6.9")
  }

  @Test("In a replay, presses count at their run time, and the clock runs with the bus")
  func replay() {
    var hub = HubStage.with("watch", speed: 60)
    hub.startRun()
    hub.passes(to: .zero + .seconds(300))
    var pause = hub.command(.pause, by: "watch")
    pause.runOffset = .seconds(290)
    _ = hub.sends("watch", pause)
    hub.commitsAll()
    hub.passes(to: .zero + .seconds(310))
    #expect(shows(hub) == "310.0 290.0")
    // The person who looks at the screen a real second later sees a minute more.
    let later = hub.clock.bus(at: .zero + .milliseconds(6_167))
    #expect(hub.core.authoritative.elapsed(at: later) == .milliseconds(370_020))
  }
}
