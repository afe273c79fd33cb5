@testable import RunCore
import Testing

@Suite("A run that was on when the hub died")
struct HubRecoveryTests {
  /// What the disk holds after ten seconds of a run and kill -9. The last sign of life is the tick at 9.5 s.
  private static func killed(_ presses: (BusTime, CommandKind)...) -> HubHistory {
    var hub = HubStage.with("watch")
    hub.startRun()
    for (time, kind) in presses {
      hub.passes(to: time)
      _ = hub.presses("watch", kind)
      hub.commitsAll()
    }
    hub.passes(to: .zero + .seconds(10))
    return history(of: hub)
  }

  private static func history(of hub: HubStage, after earlier: [StoreOperation] = []) -> HubHistory {
    var disk = HubDisk()
    disk.commit(earlier + hub.durable)
    return disk.history
  }

  private static let minute = BusTime.zero + .seconds(60)

  /// The parts of each commit.
  private static func parts(_ lines: [String]) -> [String] {
    lines.flatMap { line in
      line.hasPrefix("commit: ") ? line.dropFirst(8).split(separator: ", ").map(String.init) : []
    }
  }

  private func stage(
    _ recovery: RecoveryChoice, _ history: HubHistory, at now: BusTime = minute, downtime: Downtime = .paused
  )
    -> HubStage
  {
    HubStage(history: history, now: now, recovery: recovery, downtime: downtime)
  }

  // MARK: Recovery without asking

  @Test("Downtime that counts leaves no gap")
  func downtimeRunning() {
    var hub = stage(.resume, Self.killed(), downtime: .running)
    #expect(hub.feed(.started) == ["commit: term 2, clock, shift 50.5s"])
    hub.commitsAll()
    #expect(hub.core.authoritative.metrics.active == .seconds(60))
    #expect(hub.core.deadline == .zero + .seconds(63))
  }

  @Test("A paused run stays paused, and a resume pressed while the hub was dead counts from its return on")
  func paused() {
    let history = Self.killed((.zero + .seconds(5), .pause))
    var hub = stage(.resume, history)
    #expect(hub.feed(.started) == ["commit: term 2, clock, shift 54.5s, gap of 54.5s at 5.5s"])
    hub.commitsAll()
    #expect(hub.core.authoritative.phase == .paused)
    #expect(hub.core.authoritative.metrics.active == .seconds(5))
    #expect(hub.core.deadline == nil)
    _ = hub.feed(.opened(eventsEndpoint: "events"))
    _ = hub.hello("watch", nonce: 5)
    hub.commitsAll()
    _ = hub.sends("watch", hub.command(.resume, by: "watch", id: 70), sequence: 3, age: .seconds(20))
    hub.commitsAll()
    hub.passes(.seconds(10))
    #expect(hub.core.authoritative.order.revision == 3)
    #expect(hub.core.ledger.metrics(at: hub.now).active == .seconds(5 + 10))
    // Where downtime counts, a resume in it counts from its press.
    var running = stage(.resume, history, downtime: .running)
    #expect(running.feed(.started) == ["commit: term 2, clock, shift 54.5s"])
  }

  @Test("Finish stops the run at the hub's last sign of life, as a transition of the hub's own device")
  func finish() {
    var hub = stage(.finish, Self.killed())
    #expect(
      hub.feed(.started) == [
        "commit: term 2, clock, shift 50.5s, stop at 9.5s, window, judge stop applied 2, clock"
      ])
    let lines = hub.commits()
    #expect(lines.contains("finished after 50.5s"))
    #expect(lines.contains("show 2.2.1 completed"))
    #expect(!lines.contains { $0.contains("running") })
    #expect(lines.suffix(2) == ["open", "kept run 1v1"])
    let state = hub.core.authoritative
    #expect(state.metrics.active == .milliseconds(9500))
    #expect(state.metrics.elapsed == .milliseconds(9500))
    #expect(state.changedBy?.source == .recovery)
    #expect(state.changedBy?.deviceID == DeviceID("phone"))
    #expect(hub.core.deadline == nil)
  }

  @Test("Discard finishes the run and marks it durably, in one commit")
  func discard() {
    var hub = stage(.discard, Self.killed())
    #expect(
      hub.feed(.started) == [
        "commit: term 2, clock, shift 50.5s, discard, stop at 9.5s, window, judge stop applied 2, clock"
      ])
    #expect(hub.commits().contains("discarded after 50.5s"))
    #expect(hub.core.authoritative.phase == .completed)
    #expect(Self.history(of: hub, after: []).discarded == [hub.core.authoritative.runID!])
  }

  @Test("A run whose hub died more than a day ago is finished, or discarded if that is chosen")
  func overdue() {
    let day = BusTime.zero + .milliseconds(9500) + .seconds(86_400)
    for choice in RecoveryChoice.allCases {
      var late = stage(choice, Self.killed(), at: day + BusDuration(nanoseconds: 1))
      _ = late.feed(.started)
      let lines = late.commitsAll()
      let outcome = choice == .discard ? "discarded" : choice == .finish ? "finished" : "overdue"
      #expect(lines.contains { $0.hasPrefix("\(outcome) after 86400") }, "\(choice)")
      #expect(late.core.authoritative.phase == .completed)
      #expect(late.core.authoritative.metrics.active == .milliseconds(9500))
    }
    var inTime = stage(.resume, Self.killed(), at: day)
    _ = inTime.feed(.started)
    inTime.commitsAll()
    #expect(inTime.core.authoritative.phase == .running)
  }

  @Test("Late readings from before the hub's death count in a finished run; later readings do not")
  func samplesAfterFinish() {
    var hub = stage(.finish, Self.killed())
    _ = hub.feed(.started)
    hub.commitsAll()
    _ = hub.feed(.opened(eventsEndpoint: "events"))
    _ = hub.hello("watch", nonce: 5)
    hub.commitsAll()
    _ = hub.beats("watch", 150, from: 1, age: .seconds(52))
    _ = hub.beats("watch", 190, from: 2, age: .seconds(30))
    let lines = hub.passes(.seconds(4))
    #expect(lines.contains { $0.contains("watch 150 bpm at 8.0s, samples to 2") })
    #expect(!lines.contains { $0.contains("190 bpm") })
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 150)
    #expect(hub.core.authoritative.order.revision == 2)
  }

  @Test("A stop that the watch pressed meanwhile is coalesced into the hub's own")
  func stopMeanwhile() {
    var hub = stage(.finish, Self.killed())
    _ = hub.feed(.started)
    hub.commitsAll()
    _ = hub.feed(.opened(eventsEndpoint: "events"))
    _ = hub.hello("watch", nonce: 5)
    hub.commitsAll()
    let lines = hub.sends("watch", hub.command(.stop, by: "watch", id: 70), sequence: 2, age: .seconds(20))
    #expect((lines + hub.passes(.seconds(1))).contains { $0.contains("judge stop coalesced 2") })
  }

  @Test("A press that was accepted before the crash is judged before the run is finished")
  func acceptedFirst() {
    var first = HubStage.with("watch")
    first.startRun()
    first.passes(to: .zero + .seconds(5))
    _ = first.presses("watch", .pause)
    first.commitsAll()
    let moments: [BusTime] = [.zero + .milliseconds(5100), .zero + .seconds(60)]
    for now in moments {
      var hub = stage(.finish, Self.history(of: first), at: now)
      let lines = hub.feed(.started) + hub.commitsAll() + hub.passes(.seconds(1))
      let judged = Self.parts(lines).filter { $0.hasPrefix("judge") }
      #expect(judged == ["judge pause applied 2", "judge stop applied 3"], "\(now)")
      #expect(hub.core.authoritative.metrics.active == .seconds(5))
    }
  }

  @Test("The hub's downtime is left out also of a run whose start was accepted and not judged")
  func acceptedStart() {
    var first = HubStage.with("watch")
    first.now = .zero + .seconds(100)
    _ = first.presses("watch", .start)
    first.commitsAll()
    for away in [BusDuration.milliseconds(200), .seconds(60)] {
      var hub = stage(.resume, Self.history(of: first), at: .zero + .seconds(100) + away)
      _ = hub.feed(.started)
      hub.commitsAll()
      hub.passes(to: .zero + .seconds(200))
      let metrics = hub.core.ledger.metrics(at: hub.now)
      #expect(metrics.elapsed == .seconds(100))
      #expect(metrics.active == .seconds(100) - away, "\(away)")
    }
  }

  // MARK: Recovery with asking

  private func asked(_ history: HubHistory = killed(), at now: BusTime = minute, downtime: Downtime = .paused)
    -> HubStage
  {
    stage(.ask, history, at: now, downtime: downtime).met(by: "watch")
  }

  @Test("A hub that waits for a recovery decision shows the run as it was, and no time is active until the answer")
  func asking() {
    var hub = stage(.ask, Self.killed())
    #expect(hub.feed(.started) == ["commit: term 2, clock, shift 50.5s, unanswered since 9.5s"])
    #expect(
      hub.commits() == [
        "asked after 50.5s", "show 2.1.1 running recovering", "publish 2.1.1 running recovering", "open",
      ])
    #expect(hub.core.isRecovering)
    #expect(hub.core.authoritative.isRecovering)
    #expect(hub.core.deadline == nil)
    hub.now = .zero + .seconds(100)
    #expect(hub.core.ledger.metrics(at: hub.now).active == .milliseconds(9500))
    #expect(hub.core.ledger.metrics(at: hub.now).elapsed == .milliseconds(100_000))
  }

  @Test("The answer resume ends the gap, and the hub publishes ticks again")
  func answerResume() {
    var hub = asked()
    hub.now = .zero + .seconds(100)
    #expect(hub.feed(.recover(.resume)) == ["commit: answered, gap of 90.5s at 9.5s, clock"])
    #expect(hub.commits() == ["show 2.1.2 running", "publish 2.1.2 running"])
    hub.passes(.seconds(3))
    #expect(hub.core.authoritative.metrics.active == .milliseconds(12_500))
    #expect(hub.core.authoritative.order.tick == 3)
    #expect(hub.feed(.recover(.finish)) == ["note"])
  }

  @Test("With downtime that counts the answer leaves no gap")
  func answerResumeRunning() {
    var hub = asked(downtime: .running)
    #expect(hub.core.authoritative.metrics.active == .milliseconds(9500))
    hub.now = .zero + .seconds(100)
    #expect(hub.feed(.recover(.resume)) == ["commit: answered, clock"])
    hub.commitsAll()
    #expect(hub.core.authoritative.metrics.active == .seconds(100))
  }

  @Test("The answers finish and discard stop the run at the hub's death, however late they come")
  func answerFinish() {
    for answer in [RecoveryAnswer.finish, .discard] {
      var hub = asked()
      hub.now = .zero + .seconds(4000)
      let lines = hub.feed(.recover(answer)) + hub.commitsAll()
      #expect(lines.contains { $0.contains("stop at 9.5s") })
      #expect(lines.contains { $0.contains("commit: answered, discard") } == (answer == .discard))
      #expect(hub.core.authoritative.phase == .completed)
      #expect(!hub.core.authoritative.isRecovering)
      #expect(hub.core.authoritative.metrics.elapsed == .milliseconds(9500))
    }
  }

  @Test("A shell on the hub's machine may answer once; a peer may not")
  func inquiry() {
    var hub = asked()
    #expect(hub.says("watch", .inquire(.recover(.finish))) == ["watch ← answer failed"])
    _ = hub.feed(.inquire(.recover(.resume), 7))
    #expect(hub.commitsAll().last == "answer 7: done")
    #expect(hub.feed(.inquire(.recover(.resume), 8)) == ["answer 8: failed"])
  }

  @Test("While the hub waits for a decision, a stop finishes the run, and any other press resumes it first")
  func presses() {
    for kind in CommandKind.allCases {
      var hub = asked()
      hub.now = .zero + .seconds(100)
      var lines = hub.sends("watch", hub.command(kind, by: "watch", id: 70), sequence: 2)
      lines += hub.commitsAll() + hub.passes(.seconds(1))
      let judged = Self.parts(lines).filter { $0.hasPrefix("judge") || $0.hasPrefix("gap") }
      switch kind {
      case .stop: #expect(judged == ["judge stop applied 2"])
      case .pause: #expect(judged == ["gap of 90.5s at 9.5s", "judge pause applied 2"])
      case .resume: #expect(judged == ["gap of 90.5s at 9.5s", "judge resume coalesced 1"])
      case .start: #expect(judged == ["gap of 90.5s at 9.5s", "judge start coalesced 1"])
      case .lap: #expect(judged == ["gap of 90.5s at 9.5s", "judge lap applied 1"])
      }
      #expect(!hub.core.authoritative.isRecovering)
      #expect(hub.core.ledger.metrics(at: .zero + .seconds(100)).active == .milliseconds(9500))
    }
  }

  @Test("A press on the hub itself or from a script is also an answer")
  func ownPresses() {
    var own = asked()
    #expect(
      own.feed(.press(own.command(.pause, by: "phone", id: 80))).contains { $0.contains("answered, gap of 50.5s") })
    var script = asked()
    #expect(script.requests("script", .stop, id: 9).contains { $0.contains("answered, stop at 9.5s") })
  }

  @Test("A command for another run, or one pressed before the question was asked, is no answer")
  func noAnswers() {
    var hub = asked()
    let other = hub.command(.stop, by: "watch", id: 70, runID: RunID(high: 5, low: 5))
    _ = hub.sends("watch", other, sequence: 2)
    hub.commitsAll()
    hub.passes(.seconds(1))
    #expect(hub.core.authoritative.isRecovering)
    // Pressed before the last sign of life: judged as usual, and the question stays open.
    hub = asked()
    _ = hub.sends("watch", hub.command(.pause, by: "watch", id: 71), sequence: 2, age: .seconds(52))
    hub.commitsAll()
    #expect(hub.core.isRecovering)
    #expect(hub.core.authoritative.phase == .paused)
    #expect(hub.core.authoritative.order.revision == 2)
    #expect(hub.core.authoritative.metrics.active == .seconds(8))
  }

  @Test("A conditional press answers at the revision that stands only; at another one it waits for the answer")
  func conditionalAnswers() {
    var hub = asked()
    hub.now = .zero + .seconds(100)
    var (stop, pause) = (hub.command(.stop, by: "watch", id: 70), hub.command(.pause, by: "watch", id: 71))
    (stop.ifRevision, pause.ifRevision) = (7, 1)
    _ = hub.sends("watch", stop, sequence: 2)
    hub.commitsAll()
    hub.passes(.seconds(1))
    #expect(hub.core.isRecovering)
    #expect(hub.core.commands.verdict(of: stop.id) == nil)
    _ = hub.sends("watch", pause, sequence: 3)
    hub.commitsAll()
    hub.passes(.seconds(1))
    hub.commitsAll()
    #expect(!hub.core.isRecovering)
    #expect(hub.core.commands.verdict(of: stop.id)?.outcome == .rejected(.revisionChanged(7)))
    #expect(hub.core.commands.verdict(of: pause.id)?.outcome == .applied)
  }

  // Once broken: A stop that answered the question was told "already asked for", because the hub pressed stop itself,
  // and the person's stop repeated it.
  @Test("A stop that answers is the stop of the run: the person's, at the last sign of life")
  func stopThatAnswers() {
    var hub = asked()
    hub.now = .zero + .seconds(100)
    var lines = hub.sends("watch", hub.command(.stop, by: "watch", id: 70), sequence: 2)
    lines += hub.commitsAll() + hub.passes(.seconds(1))
    #expect(lines.contains { $0.contains("answered") && $0.contains("stop at 9.5s") })
    #expect(lines.contains { $0.contains("finished after 90.5s") })
    let state = hub.core.authoritative
    #expect(state.changedBy?.commandID == CommandID(high: 4, low: 70))
    #expect(state.changedBy?.deviceID == DeviceID("watch"))
    #expect(state.metrics.elapsed == .milliseconds(9500))
    #expect(hub.core.commands.verdict(of: CommandID(high: 4, low: 70))?.effectiveAt == .zero + .milliseconds(9500))
  }

  // MARK: Presses that nobody heard

  @Test("A press behind the last sign of life waits for the answer, and is judged after it", arguments: [20_000, 400])
  func waiting(_ milliseconds: Int64) {
    let verdicts: [CommandKind: [RecoveryAnswer: String]] = [
      // The start names the run that is on.
      .start: [.resume: "coalesced 1", .finish: "illegal"],
      .pause: [.resume: "applied 2", .finish: "illegal"],
      .resume: [.resume: "coalesced 1", .finish: "illegal"],
      .stop: [.resume: "applied 2", .finish: "coalesced 2"],
      .lap: [.resume: "applied 1", .finish: "illegal"],
    ]
    for (kind, outcomes) in verdicts {
      for (answer, outcome) in outcomes {
        var hub = asked()
        var lines = hub.sends(
          "watch", hub.command(kind, by: "watch", id: 70), sequence: 2, age: .milliseconds(milliseconds))
        lines += hub.commitsAll() + hub.passes(.seconds(10))
        #expect(!lines.contains { $0.contains("judge") }, "\(kind)")
        #expect(hub.core.isRecovering)
        #expect(hub.core.authoritative.order.revision == 1)
        lines = hub.feed(.recover(answer)) + hub.commitsAll() + hub.passes(.seconds(1))
        let judged = Self.parts(lines).last { $0.hasPrefix("judge \(kind.rawValue)") } ?? "nothing"
        #expect(judged.contains(outcome), "\(kind) \(answer): \(judged)")
        guard kind != .start else { continue }
        let isOn = answer == .resume && kind != .pause && kind != .stop
        let metrics = hub.core.ledger.metrics(at: hub.now)
        #expect(metrics.active == .milliseconds(9500) + (isOn ? .seconds(1) : .zero), "\(kind) \(answer)")
        if answer == .finish { #expect(metrics.elapsed == .milliseconds(9500)) }
      }
    }
  }

  // Once broken: `recover finish` counted the time without a phone as active when a pause had been pressed in it, and
  // took away a lap that was told "applied".
  @Test("A press that waits for the answer waits in the next incarnation as well, and a press behind it answers")
  func waitingOverRestart() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(to: .zero + .seconds(10))
    var written = hub.durable
    for seconds in [60, 100] as [Int64] {
      var disk = HubDisk()
      disk.commit(written)
      hub = stage(.ask, disk.history, at: .zero + .seconds(seconds))
      _ = hub.feed(.started)
      hub.commitsAll()
      _ = hub.feed(.opened(eventsEndpoint: "events"))
      _ = hub.hello("watch", nonce: 5)
      hub.commitsAll()
      if seconds == 60 {
        _ = hub.sends("watch", hub.command(.pause, by: "watch", id: 70), sequence: 2, age: .seconds(20))
        hub.commitsAll()
      }
      #expect(hub.core.isRecovering)
      #expect(hub.core.authoritative.order.revision == 1)
      written += hub.durable
    }
    let lines = hub.sends("watch", hub.command(.resume, by: "watch", id: 71), sequence: 3) + hub.commitsAll()
    let judged = Self.parts(lines + hub.passes(.seconds(1))).filter { $0.hasPrefix("judge") }
    #expect(judged == ["judge pause applied 2", "judge resume applied 3"])
    #expect(hub.core.ledger.metrics(at: .zero + .seconds(100)).active == .milliseconds(9500))
  }

  @Test("Readings measured while the hub waits for a decision do not count; earlier ones do")
  func samplesWhileAsking() {
    var hub = asked()
    _ = hub.beats("watch", 150, from: 1, age: .seconds(52))
    _ = hub.beats("watch", 190, from: 2)
    hub.passes(.seconds(4))
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 150)
    #expect(hub.core.authoritative.isRecovering)
    _ = hub.feed(.recover(.resume))
    hub.commitsAll()
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 150)
    _ = hub.beats("watch", 170, from: 3)
    hub.passes(.seconds(4))
    #expect(hub.core.authoritative.metrics.maxHeartRateBpm == 170)
  }

  // MARK: Repeated crashes

  @Test("A hub that dies while it asks asks again, and has been away since the first death")
  func crashWhileAsking() {
    let history = Self.killed()
    var first = asked(history)
    _ = first.beats("watch", 190, from: 1)
    first.passes(.seconds(10))
    var disk = HubDisk()
    disk.commit(first.durable)
    var again = history
    again.term = disk.history.term
    again.clock = disk.history.clock
    again.unanswered = disk.history.unanswered
    again.journal += disk.history.journal
    var second = stage(.ask, again, at: .zero + .seconds(200))
    #expect(second.feed(.started).first?.contains("unanswered since 9.5s") == true)
    second.commitsAll()
    #expect(second.core.authoritative.isRecovering)
    #expect(second.core.authoritative.metrics.active == .milliseconds(9500))
    #expect(second.feed(.recover(.resume)) == ["commit: answered, gap of 190.5s at 9.5s, clock"])
    var finishing = stage(.finish, again, at: .zero + .seconds(200))
    #expect(finishing.feed(.started).first?.contains("stop at 9.5s") == true)
  }

  @Test("Two consecutive recoveries leave two gaps and give the same numbers as two pauses")
  func twice() {
    var hub = HubStage.with("watch")
    hub.startRun()
    hub.passes(to: .zero + .milliseconds(9500))
    var written = hub.durable
    for (from, to) in [(9.5, 60.0), (69.0, 100.0)] {
      var disk = HubDisk()
      disk.commit(written)
      hub = HubStage(history: disk.history, now: .zero + BusDuration(seconds: to))
      #expect(hub.feed(.started).first?.contains("gap of \(to - from)s at \(from)s") == true)
      hub.commitsAll()
      hub.passes(.seconds(9))
      written += hub.durable
    }
    #expect(hub.core.authoritative.order.revision == 1)
    #expect(hub.core.authoritative.order.term == 3)
    #expect(hub.core.authoritative.metrics.active == .milliseconds(9500 + 9000 + 9000))
  }

  @Test("Wall time counts only across boots; a clock set back an hour gives no downtime, and never a negative one")
  func clockSetBack() {
    let history = Self.killed()
    guard var mark = history.clock else { return }
    mark = ClockMark(real: mark.real, bus: mark.bus, bootID: "first", wallSeconds: 1_000_000)
    func hub(_ bootID: String, real: BusTime, wall: Double) -> HubCore {
      var history = history
      history.clock = mark
      let clock = BusClock.continuing(mark, real: real, wallSeconds: wall, bootID: bootID, speed: .realTime)
      let settings = HubCore.Settings(
        deviceID: DeviceID("phone"), nodeID: NodeID(high: 1, low: 1), storeID: HubStage.storeID,
        debounce: HubStage.debounce, clock: clock)
      var core = HubCore(
        settings: settings, history: history, now: clock.bus(at: real), wallSeconds: wall, bootID: bootID)
      for action in core.receive(.started, at: clock.bus(at: real)) {
        if case .commit(let id, _) = action { _ = core.receive(.committed(id), at: clock.bus(at: real)) }
      }
      return core
    }
    // Within one boot only the monotonic clock counts.
    let sameBoot = hub("first", real: mark.real + .seconds(30), wall: 1_000_000 - 3600).authoritative
    #expect(sameBoot.metrics.active == .milliseconds(9500))
    #expect(sameBoot.metrics.elapsed == .milliseconds(39_500))
    // Another boot, with the wall clock set back an hour: no time has passed.
    let otherBoot = hub("second", real: .zero + .seconds(5), wall: 1_000_000 - 3600).authoritative
    #expect(otherBoot.phase == .running)
    #expect(otherBoot.metrics.active == .milliseconds(9500))
    #expect(otherBoot.metrics.elapsed == .milliseconds(9500))
    // Another boot, a minute later.
    let later = hub("third", real: .zero + .seconds(5), wall: 1_000_060).authoritative
    #expect(later.metrics.active == .milliseconds(9500))
    #expect(later.metrics.elapsed == .milliseconds(69_500))
  }
}
