/// A run that was on when the hub died, until its recovery is decided.
///
/// Until then the run's clock stands at the hub's death (``RunLedger/stopClock(at:)``). The decision makes the downtime
/// an entry of the ledger, because its end is known then.
///
/// - `settling` (presses that the last incarnation accepted are judged first) can go to: `asking`, `stopping`, over.
/// - `asking` (the app or a shell is to decide) can go to: `stopping`, over.
/// - `stopping` (the stop is pressed and its window has not settled) can go to: over.
struct UnfinishedRun: Sendable {
  enum Stage: Sendable {
    /// These presses of the last incarnation are not judged yet.
    case settling(Set<CommandID>)
    /// A decision is awaited since this moment of the present incarnation.
    case asking(RunID, since: BusTime)
    case stopping(RunID)
  }
  /// The last sign of life of the incarnation that had the run.
  let diedAt: BusTime
  /// When the present incarnation began.
  let backAt: BusTime
  var stage: Stage
}

// What becomes of a run that was on when the hub died.
extension HubCore {
  /// The last sign of life in a history: the clock mark, a transition, an entry, a press or a verdict, whichever is
  /// latest. `nil` for a store without a clock mark.
  static func death(of history: HubHistory, control: ControlState, ledger: RunLedger, now: BusTime) -> BusTime? {
    guard let mark = history.clock else { return nil }
    // An incarnation that asked and got no decision does not count: the hub died in the one before it.
    if let asked = control.runOn.flatMap({ history.unanswered[$0] }) { return min(asked, now) }
    let signs = [
      control.lastEffectiveAt, control.runOn == nil ? nil : ledger.entries.last?.time,
      history.accepted.map(\.press.arrivedAt).max(), history.verdicts.last?.judgedAt,
    ]
    return min(now, signs.compactMap { $0 }.reduce(mark.bus, max))
  }

  /// Whether a run waits for a recovery decision.
  package var isRecovering: Bool {
    if case .asking = unfinished?.stage { true } else { false }
  }

  /// Whether the run's clock runs and its snapshots are published on schedule.
  var isTicking: Bool { arbiter.control.phase == .running && unfinished == nil }

  private mutating func endRecovery() {
    unfinished = nil
    presentRun.releaseClock()
    arbiter.decided()
  }

  /// Decides the recovery once every press that the last incarnation accepted is judged.
  mutating func decideRecovery(in turn: inout Turn) {
    guard let unfinished, case .settling(let presses) = unfinished.stage,
      presses.allSatisfy({ book.unjudged[$0] == nil })
    else { return }
    let control = arbiter.control
    guard let runID = control.runOn, let startedAt = control.startedAt, startedAt <= unfinished.diedAt else {
      endRecovery()
      return judgeLate(in: &turn)
    }
    let isOverdue = turn.now - unfinished.diedAt > settings.recoveryAgeMax
    switch settings.recovery {
    case .discard: stop(runID, .discarded, in: &turn)
    case .finish: stop(runID, .finished, in: &turn)
    case .ask where isOverdue, .resume where isOverdue: stop(runID, .overdue, in: &turn)
    case .ask:
      self.unfinished?.stage = .asking(runID, since: turn.now)
      arbiter.waitForDecision(about: runID, diedAt: unfinished.diedAt, isAsked: true)
      turn.write(
        [.setUnanswered(runID, since: unfinished.diedAt)], then: [tellRecovery(of: runID, .asked, at: turn.now)])
    case .resume:
      turn.write(goOn(from: unfinished.backAt), then: [])
      judgeLate(in: &turn)
    }
  }

  /// Carries out a recovery decision; `false` if no run waits for one.
  mutating func recover(_ answer: RecoveryAnswer, in turn: inout Turn) -> Bool {
    guard case .asking(let runID, _)? = unfinished?.stage else { return false }
    let answered = StoreOperation.setUnanswered(runID, since: nil)
    switch answer {
    case .resume:
      let operations = [answered] + goOn(from: turn.now)
      publisher.suspendTicks()
      publishNow(operations, then: [.anchor], in: &turn)
      judgeLate(in: &turn)
    case .finish, .discard:
      turn.write([answered], then: [])
      stop(runID, answer == .discard ? .discarded : .finished, in: &turn)
    }
    return true
  }

  /// Treats a press on the run, made while the hub asks, as the decision: a stop finishes the run, any other press
  /// resumes it. A press made before the question waits for the decision.
  ///
  /// - Returns: the press as it is to be judged. A stop that answers is the stop of the run, at the last sign of life.
  mutating func receiveAsAnswer(_ press: AcceptedCommand, in turn: inout Turn) -> AcceptedCommand {
    guard case .asking(let runID, let since)? = unfinished?.stage, press.pressedAt >= since,
      !arbiter.isOfHeldRun(press)
    else { return press }
    let command = press.command
    if command.kind == .start {
      // This start begins a whole run that was made out of reach, so it does not refer to the unfinished run.
      guard !press.stopFollows else { return press }
    } else if let meant = command.runID {
      guard arbiter.control.canonical(meant) == runID else { return press }
    }
    guard command.kind == .stop, let diedAt = unfinished?.diedAt else {
      _ = recover(.resume, in: &turn)
      return press
    }
    unfinished?.stage = .stopping(runID)
    turn.write([.setUnanswered(runID, since: nil)], then: [tellRecovery(of: runID, .finished, at: turn.now)])
    return press.moved(to: diedAt)
  }

  /// Ends the recovery if the run is over or another one has begun. Call it after transitions were made.
  ///
  /// - Returns: the writes for that.
  mutating func leaveRecovery() -> [StoreOperation] {
    let (unfinishedRun, wasAsked): (RunID, Bool)
    switch unfinished?.stage {
    case nil, .settling: return []
    case .asking(let runID, _): (unfinishedRun, wasAsked) = (runID, true)
    case .stopping(let runID): (unfinishedRun, wasAsked) = (runID, false)
    }
    guard arbiter.control.isOver(unfinishedRun) else { return [] }
    endRecovery()
    return wasAsked ? [.setUnanswered(unfinishedRun, since: nil)] : []
  }

  /// Lets the run go on from a moment, and returns the write for the gap before it in which the hub was dead.
  private mutating func goOn(from moment: BusTime) -> [StoreOperation] {
    guard let diedAt = unfinished?.diedAt else { return [] }
    endRecovery()
    // A paused run gets the gap as well, because a resume that was pressed during it may still arrive.
    guard settings.downtime == .paused, diedAt < moment, let runID = arbiter.control.runID else { return [] }
    let entry = presentRun.entry(at: diedAt, .gap(moment - diedAt))
    presentRun.insert(entry)
    return [.append(runID, entry)]
  }

  /// Stops the run at the hub's last sign of life. The stop is a press as any other: it joins the window that is open,
  /// and is durable before that window settles.
  private mutating func stop(_ runID: RunID, _ outcome: RunRecovery.Outcome, in turn: inout Turn) {
    guard let diedAt = unfinished?.diedAt else { return }
    unfinished?.stage = .stopping(runID)
    var operations: [StoreOperation] = []
    if outcome == .discarded { operations.append(records.discard(runID)) }
    turn.write(operations, then: [tellRecovery(of: runID, outcome, at: turn.now)])
    accept(
      AcceptedCommand(
        command: Command(id: turn.generator.identifier(), kind: .stop, source: .recovery, runID: runID, base: base),
        deviceID: settings.deviceID, origin: .ownButton, sequence: book.nextOwnSequence(), pressedAt: diedAt,
        arrivedAt: diedAt),
      mark: nil, in: &turn)
  }

  private func tellRecovery(of runID: RunID, _ outcome: RunRecovery.Outcome, at now: BusTime) -> Durable {
    .act(.recovered(RunRecovery(runID: runID, outcome: outcome, downtime: now - (unfinished?.diedAt ?? now))))
  }
}
