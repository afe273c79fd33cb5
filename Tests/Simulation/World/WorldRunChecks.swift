import RunCore

/// A snapshot that the hub published.
struct WorldPublication {
  let life: UInt64
  let order: SnapshotOrder
  let phase: RunPhase
  let isRecovering: Bool
  let at: BusTime
}

/// The presses in the open window, with the time at which each would settle alone.
struct WorldWindow {
  var dues: [CommandID: BusTime] = [:]
}

// Checks of snapshots and windows.
extension World {
  // MARK: Snapshots

  /// The hub publishes a running run every 3.0 s of bus time, within half a second, unless its disk was slow.
  private static let betweenMax = BusDuration.milliseconds(3500)
  private static let betweenMin = BusDuration.milliseconds(2500)

  mutating func checkSchedule(_ snapshot: Snapshot, at time: BusTime) {
    if let last = lastPublication, isScheduled(last), snapshot.phase == .running, !snapshot.isRecovering,
      time - last.at < Self.betweenMin, now - hub.changedAt > Self.betweenMax
    {
      faults.append("a snapshot after \((time - last.at).seconds) s of a run in which nothing happened")
    }
    let publication = WorldPublication(
      life: hub.life, order: snapshot.order, phase: snapshot.phase, isRecovering: snapshot.isRecovering,
      at: time)
    lastPublication = publication
  }

  /// Notes a change of the run, which the hub publishes at once instead of at the next tick.
  mutating func noteChange(_ operations: [StoreOperation]) {
    let changes = operations.contains {
      switch $0 {
      case .append(_, let entry): if case .sample = entry.event { false } else { true }
      case .setTerm: true
      default: false
      }
    }
    if changes { hub.changedAt = now }
  }

  mutating func checkSchedule(at time: BusTime) {
    guard let last = lastPublication, isScheduled(last), time - last.at > Self.betweenMax else { return }
    faults.append("no snapshot for \((time - last.at).seconds) s of a running run")
  }

  private func isScheduled(_ last: WorldPublication) -> Bool {
    last.life == hub.life && last.phase == .running && !last.isRecovering && speed == .realTime
      && now > hub.isTroubledUntil
  }

  // MARK: Windows

  /// A window settles when its last press is due, however often its commands are sent again.
  mutating func checkWindows(_ operations: [StoreOperation]) {
    for case .accept(let press, .window) in operations { window.dues[press.command.id] = due(press) }
    // A press that is judged in the commit that would have accepted it has no row.
    var last = window.dues.values.max() ?? .zero
    for case .judge(_, let press, _) in operations { last = max(last, due(press)) }
    for case .judge(let verdict, _, let judgedAt) in operations {
      guard window.dues.removeValue(forKey: verdict.commandID) != nil, debounce > .zero else { continue }
      // A hub that was hung settles the window when it continues.
      let awakeSince = hub.busClock.bus(at: hub.clock.reading(at: hub.isHungUntil))
      guard judgedAt > awakeSince + .milliseconds(1), now > owner.windowsBrokenUntil else { continue }
      if judgedAt - last > speed.bus(fromReal: .milliseconds(100)) {
        faults.append("\(verdict.commandID) was judged \((judgedAt - last).seconds) s after its window was due")
      }
    }
  }

  /// When a press would settle alone in its window: a press that was old on arrival is due at once.
  private func due(_ press: AcceptedCommand) -> BusTime { max(press.pressedAt + debounce, press.arrivedAt) }

  /// Where the hub asks for a recovery decision, the runner answers after a while.
  mutating func note(_ recovery: RunRecovery) {
    tally.count("recovery \(recovery.outcome)")
    guard recovery.outcome == .asked else { return }
    let answer = RecoveryAnswer.allCases.randomElement(using: &random)!
    schedule(.answersRecovery(life: hub.life, answer), in: milliseconds(500...15_000))
  }
}
