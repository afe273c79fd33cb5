/// A run that was on when the hub died, until it is clear what is to become of it.
///
/// - `settling` (the presses that the last life had accepted come first) can go to: `asking`, `stopping`, over.
/// - `asking` can go to: `stopping`, over.
/// - `stopping` (the stop is pressed and its window has not settled) can go to: over.
struct UnfinishedRun: Sendable {
  enum Stage: Sendable {
    /// These presses of the last life are not judged yet.
    case settling(Set<CommandID>)
    /// Somebody is to say; since when, in this life.
    case asking(RunID, since: BusTime)
    case stopping(RunID)
  }
  /// The last sign of life of the hub that had the run.
  let diedAt: BusTime
  /// When this life began.
  let backAt: BusTime
  var stage: Stage
  /// Stands for the downtime in the ledger while its end is not known: never durable.
  var hold: (runID: RunID, entry: LedgerEntry)?
}

// What becomes of a run that was on when the hub died.
extension HubCore {
  /// The last sign of life in a history: the clock's mark, a transition, an entry or a press, whichever is latest.
  static func death(of history: HubHistory, control: ControlState, ledger: RunLedger, now: BusTime) -> BusTime? {
    guard let mark = history.clock else { return nil }
    // A life that only asked was none: the run has been without a hub since the one before.
    if control.phase.isOn, let asked = control.runID.flatMap({ history.unanswered[$0] }) { return min(asked, now) }
    let signs = [
      control.lastEffectiveAt, control.phase.isOn ? ledger.entries.last?.time : nil,
      history.accepted.map(\.press.arrivedAt).max(), history.verdicts.last?.judgedAt,
    ]
    return min(now, signs.compactMap { $0 }.reduce(mark.bus, max))
  }

  /// A run waits for somebody to say what is to become of it.
  public var isRecovering: Bool {
    if case .asking = unfinished?.stage { true } else { false }
  }

  /// The run's clock runs, and its snapshots go out on schedule.
  var isTicking: Bool { arbiter.control.phase == .running && unfinished == nil }

  /// Lets no time from the hub's death on count as active, until it is known how long it lasted.
  mutating func holdClock() {
    guard let diedAt = unfinished?.diedAt, let runID = arbiter.control.runID else { return }
    lastPosition += 1
    let entry = LedgerEntry(
      time: diedAt, position: lastPosition, event: .gap(BusDuration(nanoseconds: .max)))
    ledger.insert(entry)
    unfinished?.hold = (runID, entry)
  }

  private mutating func releaseClock() {
    guard let hold = unfinished?.hold else { return }
    unfinished?.hold = nil
    if hold.runID == arbiter.control.runID { ledger.remove(hold.entry) }
  }

  /// Decides once everything is judged that the last life had accepted.
  mutating func decideRecovery(at now: BusTime) {
    guard let unfinished, case .settling(let presses) = unfinished.stage,
      presses.allSatisfy({ unjudged[$0] == nil })
    else { return }
    let control = arbiter.control
    guard control.phase.isOn, let runID = control.runID, let startedAt = control.startedAt,
      startedAt <= unfinished.diedAt
    else {
      releaseClock()
      self.unfinished = nil
      return
    }
    let isOverdue = now - unfinished.diedAt > settings.recoveryAgeMax
    switch settings.recovery {
    case .discard: stop(runID, .discarded, at: now)
    case .finish: stop(runID, .finished, at: now)
    case .ask where isOverdue, .resume where isOverdue: stop(runID, .overdue, at: now)
    case .ask:
      self.unfinished?.stage = .asking(runID, since: now)
      commits.add(
        [.setUnanswered(runID, since: unfinished.diedAt)], then: [tellRecovery(of: runID, .asked, at: now)])
    case .resume: commits.add(goOn(from: unfinished.backAt), then: [])
    }
  }

  /// Somebody says what is to become of the run; `false` when nobody was asked.
  mutating func recover(_ answer: RecoveryAnswer, at now: BusTime) -> Bool {
    guard case .asking(let runID, _)? = unfinished?.stage else { return false }
    let answered = StoreOperation.setUnanswered(runID, since: nil)
    switch answer {
    case .resume:
      let operations = [answered] + goOn(from: now)
      nextTick = nil
      publishNow(operations, then: [.anchor], at: now)
    case .finish, .discard:
      commits.add([answered], then: [])
      stop(runID, answer == .discard ? .discarded : .finished, at: now)
    }
    return true
  }

  /// A button that is pressed while the hub asks says it, too: a stop finishes the run, anything else goes on with it.
  /// What was pressed earlier did not know of the question, and is judged as if there were none.
  mutating func receiveAsAnswer(_ press: AcceptedCommand, at now: BusTime) {
    guard case .asking(let runID, let since)? = unfinished?.stage, press.pressedAt >= since else { return }
    let command = press.command
    if command.kind == .start {
      // The first of a whole run that was out of reach: a run of its own.
      guard !press.stopFollows else { return }
    } else if let meant = command.runID {
      guard arbiter.control.canonical(meant) == runID else { return }
    }
    _ = recover(command.kind == .stop ? .finish : .resume, at: now)
  }

  /// The run is over, or another one has begun: there is nothing left to recover. Call it when transitions were made.
  mutating func leaveRecovery() -> [StoreOperation] {
    let (unfinishedRun, wasAsked): (RunID, Bool)
    switch unfinished?.stage {
    case nil, .settling: return []
    case .asking(let runID, _): (unfinishedRun, wasAsked) = (runID, true)
    case .stopping(let runID): (unfinishedRun, wasAsked) = (runID, false)
    }
    let control = arbiter.control
    guard control.runID != unfinishedRun || !control.phase.isOn else { return [] }
    releaseClock()
    unfinished = nil
    return wasAsked ? [.setUnanswered(unfinishedRun, since: nil)] : []
  }

  /// Settles the windows that are due.
  mutating func settleDueWindows(at now: BusTime) {
    while let deadline = arbiter.deadline, deadline <= now { settle(at: now, now: now) }
  }

  /// The run goes on from a moment: what is to be written about the time before it, in which the hub was dead.
  private mutating func goOn(from moment: BusTime) -> [StoreOperation] {
    guard let diedAt = unfinished?.diedAt else { return [] }
    releaseClock()
    unfinished = nil
    // In a paused run, too: a resume that was pressed meanwhile may still come.
    guard settings.downtime == .paused, diedAt < moment, let runID = arbiter.control.runID else { return [] }
    lastPosition += 1
    let entry = LedgerEntry(time: diedAt, position: lastPosition, event: .gap(moment - diedAt))
    ledger.insert(entry)
    return [.append(runID, entry)]
  }

  /// Stops the run at the hub's last sign of life. It is a press as any other: it joins the window that is open, and is
  /// durable before that settles.
  private mutating func stop(_ runID: RunID, _ outcome: RunRecovery.Outcome, at now: BusTime) {
    guard let diedAt = unfinished?.diedAt else { return }
    unfinished?.stage = .stopping(runID)
    var operations: [StoreOperation] = []
    if outcome == .discarded {
      records.discarded.insert(runID)
      operations.append(.discard(runID))
    }
    commits.add(operations, then: [tellRecovery(of: runID, outcome, at: now)])
    ownSequence += 1
    let isAlone = arbiter.deadline == nil
    accept(
      AcceptedCommand(
        command: Command(id: generator.identifier(), kind: .stop, source: .recovery, runID: runID, base: base),
        deviceID: settings.deviceID, stream: ownStream, sequence: ownSequence, pressedAt: diedAt, arrivedAt: diedAt),
      mark: nil, at: now)
    // A window of its own waits for nobody: what is pressed after the stop is illegal in it as well as behind it.
    if isAlone, let deadline = arbiter.deadline, deadline > now { settle(at: deadline, now: now) }
    settleDueWindows(at: now)
  }

  private func tellRecovery(of runID: RunID, _ outcome: RunRecovery.Outcome, at now: BusTime) -> Effect {
    .act(.recovered(RunRecovery(runID: runID, outcome: outcome, downtime: now - (unfinished?.diedAt ?? now))))
  }
}
