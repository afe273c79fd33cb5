package import RunCore

/// What a lock screen gets of a recording: the hub's pushes in a replay, without nodes. Every three seconds of run time
/// the pusher gets a snapshot, as a hub publishes it.
package struct LiveReplay: Sendable {
  /// The pushes, in order.
  package private(set) var pushes: [LivePush] = []
  /// The longest time for which the visible numbers differed from those of the hub's last snapshot.
  package private(set) var worstAge = BusDuration.zero
  /// The longest time for which a screen that did not say that it was stale showed another phase than the hub.
  package private(set) var wrongPhase = BusDuration.zero
  /// The largest difference between the clock on the screen and the hub's.
  package private(set) var worstClock = BusDuration.zero
  /// The length of the run.
  package private(set) var duration = BusDuration.zero

  private static let beat = BusDuration.seconds(3)
  private var pusher: LivePusher
  private var ledger: RunLedger
  private var machine = RunMachine(phase: .idle)
  private var revision: UInt64 = 0
  private var tick: UInt64 = 0
  private var wrongSince: BusTime?
  private var wrongPhaseSince: BusTime?

  /// Replays a recording.
  package init(_ recording: Recording, policy: LivePolicy = LivePolicy()) {
    pusher = LivePusher(policy)
    ledger = RunLedger(settings: MetricsSettings())
    _ = pusher.follow(at: .zero, speed: .realTime)
    var entries = recording.ledgerEntries(runStartedAt: .zero)
    entries.sort(by: LedgerEntry.precedes)
    var rest = entries[...]
    var now = BusTime.zero
    while true {
      var isTransition = false
      while let next = rest.first, next.time <= now {
        rest.removeFirst()
        ledger.insert(next)
        guard case .transition(let transition) = next.event else { continue }
        _ = machine.apply(transition.kind)
        revision += 1
        isTransition = true
      }
      if isTransition || machine.phase == .running { publish(at: now) }
      if machine.phase == .completed || rest.isEmpty { break }
      // A transition is published when it happens; readings wait for the next beat.
      let change = rest.first { if case .transition = $0.event { true } else { false } }?.time ?? .distantFuture
      let beat = machine.phase == .running ? now + Self.beat : BusTime.distantFuture
      let wake = min(change, min(beat, pusher.deadline ?? .distantFuture))
      guard wake < .distantFuture else { break }
      now = max(wake, now + BusDuration(nanoseconds: 1))
      if wake == pusher.deadline, wake < min(change, beat), let push = pusher.push(at: now) { pushes.append(push) }
    }
    duration = now - .zero
  }

  private mutating func publish(at now: BusTime) {
    tick += 1
    let snapshot = Snapshot(
      order: SnapshotOrder(term: 1, revision: revision, tick: tick), phase: machine.phase,
      runID: RunID(high: 0, low: 1), changedBy: nil, startedAt: .zero, capturedAt: now,
      metrics: ledger.metrics(at: now))
    look(at: snapshot)
    pusher.observe(snapshot)
    if let push = pusher.push(at: now) { pushes.append(push) }
    settle(snapshot)
  }

  /// Looks at the screen in the moment before a snapshot reaches it.
  private mutating func look(at snapshot: Snapshot) {
    guard let shown = pusher.last?.content, snapshot.phase == shown.phase else { return }
    let difference = shown.clock.active(at: snapshot.capturedAt) - snapshot.metrics.active
    // A clock that a gap or an auto-pause has stopped is told of by this very snapshot.
    guard shown.clock.isTicking == snapshot.isActiveTimeRunning else { return }
    worstClock = max(worstClock, max(difference, .zero - difference))
  }

  /// Measures how long the screen has been behind, after what was pushed.
  private mutating func settle(_ snapshot: Snapshot) {
    guard let shown = pusher.last?.content else { return }
    let now = snapshot.capturedAt
    if shown.numbers.looksLike(LiveNumbers(snapshot.metrics)) {
      wrongSince = nil
    } else {
      wrongSince = wrongSince ?? now
      worstAge = max(worstAge, now - (wrongSince ?? now))
    }
    wrongPhaseSince = shown.phase == snapshot.phase ? nil : wrongPhaseSince ?? now
    if let since = wrongPhaseSince { wrongPhase = max(wrongPhase, now - since) }
  }
}
