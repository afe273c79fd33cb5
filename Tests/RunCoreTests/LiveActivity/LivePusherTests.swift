import RunCore
import Testing

/// A pusher with a run that a test moves second by second.
private struct PushedRun {
  var pusher: LivePusher
  var now = BusTime.zero + .seconds(1000)
  var snapshot: Snapshot
  let startedAt: BusTime
  /// The numbers of every snapshot.
  var history: [(at: BusTime, numbers: LiveNumbers)] = []

  init(_ policy: LivePolicy = LivePolicy()) {
    pusher = LivePusher(policy)
    startedAt = now
    snapshot = Snapshot(
      order: SnapshotOrder(term: 1, revision: 1, tick: 1), phase: .running, runID: RunID(high: 9, low: 1),
      changedBy: nil,
      startedAt: now, capturedAt: now, metrics: RunMetrics())
    _ = pusher.follow(at: now, speed: .realTime)
  }

  /// Publishes a snapshot and returns what is pushed with it.
  mutating func publish(_ change: (inout Snapshot) -> Void = { _ in }) -> LivePush? {
    if snapshot.isActiveTimeRunning { snapshot.metrics.active = snapshot.active(at: now) }
    snapshot.metrics.elapsed = snapshot.elapsed(at: now)
    snapshot.capturedAt = now
    change(&snapshot)
    snapshot.order = SnapshotOrder(
      term: 1, revision: snapshot.order.revision, tick: snapshot.order.tick + 1)
    pusher.observe(snapshot)
    history.append((now, LiveNumbers(snapshot.metrics)))
    return pusher.push(at: now)
  }

  /// Lets time pass with a snapshot every three seconds while the run runs, and returns what is pushed.
  mutating func pass(_ seconds: Int64, _ change: (inout Snapshot) -> Void = { _ in }) -> [LivePush] {
    let end = now + .seconds(seconds)
    var pushes: [LivePush] = []
    while now < end {
      let tick = snapshot.phase == .running ? now + .seconds(3) : BusTime.distantFuture
      now = min(end, min(tick, pusher.deadline ?? .distantFuture))
      let push = now == tick ? publish(change) : pusher.push(at: now)
      if let push { pushes.append(push) }
      #expect(pusher.deadline.map { $0 > now } ?? true, "the deadline stays where it was met")
    }
    return pushes
  }
}

@Suite("What the hub pushes to lock screens")
struct LivePusherTests {
  @Test("Nothing is pushed before somebody follows")
  func unfollowed() {
    var pusher = LivePusher()
    pusher.observe(PushedRun().snapshot)
    #expect(pusher.push(at: .zero + .seconds(2000)) == nil && pusher.deadline == nil)
  }

  @Test("Without a run there is no activity")
  func idle() {
    var pusher = LivePusher()
    _ = pusher.follow(at: .zero, speed: .realTime)
    pusher.observe(.none)
    #expect(pusher.push(at: .zero) == nil && pusher.deadline == nil)
  }

  @Test("A change of the phase is pushed at once, even without a budget")
  func phases() {
    var policy = LivePolicy()
    policy.budgetMax = 1
    var run = PushedRun(policy)
    #expect(run.publish()?.kind == .phase)
    for count in 1...50 {
      run.now = run.now + .seconds(1)
      let phase: RunPhase = count % 2 == 1 ? .paused : .running
      let push = run.publish { $0.phase = phase }
      #expect(push?.kind == .phase && push?.content.phase == phase && push?.budgetLeft == 0)
    }
    run.now = run.now + .seconds(1)
    let last = run.publish { $0.phase = .completed }
    #expect(last?.kind == .final && last?.isFinal == true && last?.staleAt == nil)
  }

  @Test("An auto-pause stops the clock on the screen at once")
  func autoPause() {
    var run = PushedRun()
    _ = run.publish()
    run.now = run.now + .seconds(3)
    let push = run.publish { $0.metrics.isAutoPaused = true }
    #expect(push?.kind == .phase && push?.content.clock.isTicking == false)
  }

  @Test("A clock that goes on as the screen draws it is no change")
  func clock() {
    var run = PushedRun()
    _ = run.publish()
    #expect(run.pass(44) == [])
  }

  @Test("Numbers are pushed at most every 15 s, and only when they look different")
  func numbers() {
    var run = PushedRun()
    _ = run.publish()
    let pushes = run.pass(120) { $0.metrics.distanceMeters = ($0.metrics.distanceMeters ?? 0) + 9 }
    #expect(pushes.allSatisfy { $0.kind == .numbers })
    #expect(pushes.map { Int(($0.pushedAt - run.startedAt).seconds) } == [15, 30, 45, 60, 75, 90, 105, 120])
    // 4 m are not visible.
    _ = run.pass(15) { $0.metrics.distanceMeters = 500 }
    #expect(run.pass(30) { $0.metrics.distanceMeters = 504 } == [])
  }

  // Once broken: The lock screen of a finished run showed the pace of its last half minute, because what describes the
  // present went only when it was stale.
  @Test("A run that is over shows its average pace, not the one of its last half minute")
  func finalPace() {
    var run = PushedRun()
    let paces: (inout Snapshot) -> Void = {
      $0.metrics.distanceMeters = 1000
      $0.metrics.moments.distance = $0.metrics.elapsed
      ($0.metrics.currentPaceSecondsPerKilometer, $0.metrics.averagePaceSecondsPerKilometer) = (270, 271)
    }
    #expect(run.publish(paces)?.content.numbers.paceSecondsPerKilometer == 270)
    let last = run.publish {
      paces(&$0)
      $0.phase = .completed
    }?.content.numbers
    #expect(last?.paceSecondsPerKilometer == nil && last?.averagePaceSecondsPerKilometer == 271)
  }

  @Test("In the long run the budget allows a push of numbers every 30 s")
  func budget() {
    var run = PushedRun()
    _ = run.publish()
    let pushes = run.pass(7200) { $0.metrics.distanceMeters = ($0.metrics.distanceMeters ?? 0) + 9 }
    let late = pushes.filter { $0.pushedAt - run.startedAt > .seconds(3600) }
    #expect((119...121).contains(late.count))
    #expect(pushes.count <= 240 + 30)
    #expect(pushes.allSatisfy { $0.budgetLeft >= 0 })
  }

  @Test("When nothing visible changes, a push keeps the screen from becoming stale, also in a pause")
  func alive() {
    var run = PushedRun()
    _ = run.publish()
    let running = run.pass(600)
    #expect(running.map(\.kind) == Array(repeating: .alive, count: 600 / 45))
    _ = run.publish { $0.phase = .paused }
    let paused = run.pass(3600)
    #expect(paused.map(\.kind) == Array(repeating: .alive, count: 3600 / 450))
    for push in running + paused { #expect(push.staleAt! > push.pushedAt) }
  }

  @Test("A hub whose numbers stand still does not call them fresh")
  func stuck() {
    var run = PushedRun()
    _ = run.publish()
    // No snapshot becomes durable for ten minutes.
    var pushes: [LivePush] = []
    while let deadline = run.pusher.deadline, deadline < run.startedAt + .seconds(600) {
      run.now = deadline
      if let push = run.pusher.push(at: run.now) { pushes.append(push) }
    }
    #expect(pushes.count <= 1)
  }

  @Test("A press is pushed while it waits, and when it has its verdict")
  func pending() {
    var run = PushedRun()
    _ = run.publish()
    let id = CommandID(high: 1, low: 1)
    run.pusher.accept(id, .pause)
    #expect(run.pusher.push(at: run.now)?.content.pending == [.pause])
    run.pusher.judge(id)
    let push = run.publish { $0.phase = .paused }
    #expect(push?.kind == .phase && push?.content.pending == [])
    // A lap changes no phase, and its end is shown even without a budget.
    run.pusher.accept(CommandID(high: 1, low: 2), .lap)
    #expect(run.pusher.push(at: run.now)?.kind == .pending)
    run.pusher.judge(CommandID(high: 1, low: 2))
    #expect(run.pusher.push(at: run.now)?.content.pending == [])
  }

  @Test("A press that begins to wait is not pushed without a budget, and is when there is one")
  func pendingWithoutBudget() {
    var policy = LivePolicy()
    policy.budgetMax = 1
    var run = PushedRun(policy)
    _ = run.publish { $0.phase = .paused }
    run.pusher.accept(CommandID(high: 1, low: 1), .resume)
    #expect(run.pusher.push(at: run.now) == nil)
    let pushes = run.pass(31)
    #expect(pushes.map(\.kind) == [.pending])
  }

  @Test("Another activity takes over before the eight hours of the system are over")
  func renewal() {
    var run = PushedRun()
    _ = run.publish()
    let pushes = run.pass(16 * 3600)
    let renewals = pushes.filter { $0.kind == .renewal }
    #expect(renewals.map(\.activity) == [2, 3])
    #expect(renewals.map { Int(($0.pushedAt - run.startedAt).seconds) / 900 } == [31, 62])
    #expect(pushes.last?.activity == 3)
    _ = run.publish { $0.phase = .completed }
    #expect(run.pass(16 * 3600) == [], "a run that is over is not renewed")
    #expect(run.pusher.last?.activity == 3)
  }

  @Test("Late readings of a run that is over bring its numbers")
  func late() {
    var run = PushedRun()
    _ = run.publish()
    run.now = run.now + .seconds(100)
    _ = run.publish { $0.phase = .completed }
    #expect(run.publish { $0.metrics.distanceMeters = 1000 } == nil)
    let pushes = run.pass(60)
    #expect(pushes.map(\.kind) == [.numbers] && pushes.first?.content.numbers.distanceMeters == 1000)
    #expect(pushes.first.map { $0.pushedAt - run.startedAt } == .seconds(115))
  }

  @Test("A new subscriber gets the last push with its age, and many get it at most ten times a second")
  func subscribers() {
    var run = PushedRun()
    _ = run.publish()
    run.now = run.now + .seconds(7)
    let again = run.pusher.follow(at: run.now, speed: .realTime)
    #expect(again?.age == .seconds(7) && again?.push == run.pusher.last)
    #expect(run.pusher.follow(at: run.now + .milliseconds(1), speed: .realTime) == nil)
    #expect(run.pusher.deadline == run.now + .milliseconds(100))
    #expect(run.pusher.dueRepetition(at: run.now + .milliseconds(100), speed: .realTime) != nil)
    #expect(run.pusher.dueRepetition(at: run.now + .milliseconds(200), speed: .realTime) == nil)
  }

  /// The property that makes a lock screen honest: in a random run, whatever happens, a screen that does not say that it
  /// is stale shows the phase of the last snapshot, a clock within half a second of the hub's, and numbers that were right
  /// at most 33 s ago (the price of a push and a beat).
  @Test("Nothing visible is wrong by more than the policy allows", arguments: 0..<40)
  func honest(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var run = PushedRun()
    _ = run.publish()
    let policy = LivePolicy()
    for _ in 0..<2000 {
      let wait = Int64.random(in: 0...8, using: &random)
      _ = run.pass(wait) { snapshot in
        if snapshot.phase == .running { snapshot.metrics.distanceMeters = (snapshot.metrics.distanceMeters ?? 0) + 9 }
      }
      switch Int.random(in: 0..<20, using: &random) {
      case 0: _ = run.publish { $0.phase = $0.phase == .running ? .paused : .running }
      case 1: _ = run.publish { $0.metrics.isAutoPaused.toggle() }
      case 2: _ = run.publish { $0.metrics.heartRateBpm = Double.random(in: 60...190, using: &random) }
      case 3: run.pusher.accept(CommandID(high: 0, low: .random(in: 0..<3, using: &random)), .lap)
      case 4: run.pusher.judge(CommandID(high: 0, low: .random(in: 0..<3, using: &random)))
      default: break
      }
      _ = run.pusher.push(at: run.now)
      guard let last = run.pusher.last else { Issue.record("nothing was pushed"); return }
      #expect(last.content.phase == run.snapshot.phase)
      #expect(last.staleAt! > run.now, "the screen is stale while the hub is well")
      let shown = last.content.clock.active(at: run.now)
      let right = run.snapshot.active(at: run.now)
      #expect(abs((shown - right).seconds) <= 0.5)
      let allowed = run.now - max(policy.numbersInterval, .seconds(30)) - .seconds(3)
      let since = run.history.lastIndex { $0.at <= allowed } ?? 0
      #expect(run.history[since...].contains { $0.numbers.looksLike(last.content.numbers) }, "older than \(allowed)")
      if run.history.count > 200 { run.history.removeFirst(100) }
    }
  }
}
