import RunCore
import Testing

@Suite("A hub publishes every three seconds while running")
struct HubTickTests {
  @Test("Ticks are anchored to the last transition's commit and do not drift")
  func anchored() {
    var hub = HubStage.opened(debounce: .zero)
    hub.now = .zero + .seconds(10)
    _ = hub.feed(.press(hub.command(.start, by: "phone")))
    // The commit takes a quarter of a second, and the schedule begins at its end.
    hub.now = hub.now + .milliseconds(250)
    _ = hub.commits()
    #expect(hub.core.deadline == .zero + .milliseconds(13_250))
    // A late timer shifts only this tick.
    hub.now = .zero + .milliseconds(13_900)
    #expect(hub.feed(.deadline) == ["commit: clock"])
    _ = hub.commits()
    #expect(hub.core.deadline == .zero + .milliseconds(16_250))
    // A timer that is late by more than an interval skips the missed ticks.
    hub.now = .zero + .milliseconds(23_000)
    #expect(hub.feed(.deadline) == ["commit: clock"])
    _ = hub.commits()
    #expect(hub.core.deadline == .zero + .milliseconds(25_250))
    #expect(hub.passes(to: .zero + .seconds(100)).filter { $0.hasPrefix("publish") }.count == 25)
    #expect(hub.core.deadline == .zero + .milliseconds(100_250))
  }

  @Test("A transition restarts the schedule")
  func anew() {
    var hub = HubStage.opened(debounce: .zero)
    for kind in [CommandKind.start, .pause, .resume] {
      _ = hub.feed(.press(hub.command(kind, by: "phone")))
      hub.commitsAll()
      hub.passes(.seconds(1))
    }
    #expect(hub.core.deadline == .zero + .seconds(5))
  }

  @Test("Paused, idle and completed the timer is off")
  func off() {
    var hub = HubStage.opened(debounce: .zero)
    #expect(hub.core.deadline == nil)
    for (kind, isOn) in [(CommandKind.start, true), (.pause, false), (.resume, true), (.stop, false)] {
      _ = hub.feed(.press(hub.command(kind, by: "phone")))
      hub.commitsAll()
      #expect((hub.core.deadline != nil) == isOn, "after \(kind)")
      let published = hub.passes(.seconds(60)).filter { $0.hasPrefix("publish") }
      #expect(published.count == (isOn ? 20 : 0))
    }
  }

  @Test("A lap is published with the next tick number and does not change the schedule")
  func lap() {
    var hub = HubStage.opened(debounce: .zero)
    _ = hub.feed(.press(hub.command(.start, by: "phone")))
    hub.commitsAll()
    hub.passes(.seconds(1))
    _ = hub.feed(.press(hub.command(.lap, by: "phone")))
    #expect(hub.commitsAll().contains("publish 1.1.3 running"))
    #expect(hub.core.deadline == .zero + .seconds(3))
  }

  @Test("Each publication is ordered after all earlier ones, whatever happens")
  func onlyGrows() {
    var generator = SeededGenerator(seed: 7)
    var hub = HubStage.with("watch", "widget")
    var last = SnapshotOrder(term: 0, revision: 0, tick: 0)
    for _ in 0..<4000 {
      var actions: [HubCore.Action] = []
      switch Int.random(in: 0..<8, using: &generator) {
      case 0, 1:
        let kind = CommandKind.allCases.randomElement(using: &generator)!
        actions = hub.act(.press(hub.command(kind, by: "phone")))
      case 2: actions = hub.act(.sample(Sample(moment: .at(hub.now), value: .heartRate(bpm: 150))))
      case 3: _ = hub.hello("watch", nonce: .random(in: 0..<9, using: &generator))
      case 4: if let id = hub.inFlight?.id { actions = hub.act(.commitFailed(id)) }
      case 5:
        hub.now = hub.now + .milliseconds(.random(in: 0..<900, using: &generator))
        actions = hub.act(.deadline)
      default: if let id = hub.takeInFlight() { actions = hub.act(.committed(id)) }
      }
      for case .publish(.snapshot(let message)) in actions {
        #expect(message.snapshot.order > last)
        last = message.snapshot.order
      }
    }
    #expect(last.tick > 120)
  }

  @Test("At sixty times the speed the run uses bus time and the heartbeat real time")
  func speed() {
    var hub = HubStage.with("watch", debounce: .milliseconds(500), speed: 60)
    // A press 200 ms ago in real time is twelve seconds ago on the bus, and not late: 500 ms of real time are allowed.
    hub.now = .zero + .seconds(60)
    _ = hub.presses("watch", .start, age: .milliseconds(200))
    let lines = hub.passes(.seconds(1))
    #expect(lines.contains { $0.contains("start at 48.0s") })
    #expect(hub.core.authoritative.phase == .running)
    _ = hub.says("watch", .beat(1, within: .seconds(2)))
    let ticks = hub.passes(.seconds(60)).filter { $0.hasPrefix("publish 1") }
    #expect(ticks.count == 20)
    // The limit of six seconds of real silence is six minutes on the bus.
    let until = hub.passes(to: .zero + .seconds(60 + 359))
    #expect(!until.contains("publish watch gone"))
    #expect(hub.passes(.seconds(10)).contains("publish watch gone"))
  }
}
