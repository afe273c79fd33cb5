// What becomes of a run that was on when the hub died.
extension HubCore {
  /// Whether a run waits for a recovery decision.
  package var isRecovering: Bool { run.isAsking }

  private mutating func endRecovery() {
    run.endRecovery()
    commands.decided()
  }

  /// Decides the recovery once every press that the last incarnation accepted is judged.
  mutating func decideRecovery(in turn: inout Turn) {
    guard let unfinished = run.unfinished, case .settling(let presses) = unfinished.stage,
      presses.allSatisfy({ commands.unjudged[$0] == nil })
    else { return }
    let control = commands.control
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
      run.ask(about: runID, since: turn.now)
      commands.waitForDecision(about: runID, diedAt: unfinished.diedAt, isAsked: true)
      turn.write(
        [.setUnanswered(runID, since: unfinished.diedAt)],
        then: [.act(.recovered(run.report(.asked, of: runID, at: turn.now)))])
    case .resume:
      turn.write(goOn(from: unfinished.backAt), then: [])
      judgeLate(in: &turn)
    }
  }

  /// Carries out a recovery decision; `false` if no run waits for one.
  mutating func recover(_ answer: RecoveryAnswer, in turn: inout Turn) -> Bool {
    guard case .asking(let runID, _)? = run.unfinished?.stage else { return false }
    let answered = StoreOperation.setUnanswered(runID, since: nil)
    switch answer {
    case .resume:
      let operations = [answered] + goOn(from: turn.now)
      run.suspendTicks()
      publishNow(operations, then: [.anchor], in: &turn)
      judgeLate(in: &turn)
    case .finish, .discard:
      turn.write([answered], then: [])
      stop(runID, answer == .discard ? .discarded : .finished, in: &turn)
    }
    return true
  }

  /// Treats a press on the run, made while the hub asks, as the decision: a stop finishes the run, any other press
  /// resumes it. A press made before the question waits for the decision, and so does a conditional press that counts
  /// at another revision.
  ///
  /// - Returns: the press as it is to be judged. A stop that answers is the stop of the run, at the last sign of life.
  mutating func receiveAsAnswer(_ press: AcceptedCommand, in turn: inout Turn) -> AcceptedCommand {
    guard case .asking(let runID, let since)? = run.unfinished?.stage, press.pressedAt >= since,
      !commands.isOfHeldRun(press), press.command.ifRevision.map({ $0 == commands.control.revision }) ?? true
    else { return press }
    let command = press.command
    if command.kind == .start {
      // This start begins a whole run that was made out of reach, so it does not refer to the unfinished run.
      guard !press.stopFollows else { return press }
    } else if let meant = command.runID {
      guard commands.control.canonical(meant) == runID else { return press }
    }
    guard command.kind == .stop, let diedAt = run.unfinished?.diedAt else {
      _ = recover(.resume, in: &turn)
      return press
    }
    run.beginStop(of: runID)
    turn.write(
      [.setUnanswered(runID, since: nil)],
      then: [.act(.recovered(run.report(.finished, of: runID, at: turn.now)))])
    return press.moved(to: diedAt)
  }

  /// Lets the run go on from a moment, and returns the write for the gap before it in which the hub was dead.
  private mutating func goOn(from moment: BusTime) -> [StoreOperation] {
    let writes = run.goOn(commands.control.runID, from: moment)
    commands.decided()
    return writes
  }

  /// Stops the run at the hub's last sign of life. The stop is a press as any other: it joins the window that is open,
  /// and is durable before that window settles.
  private mutating func stop(_ runID: RunID, _ outcome: RunRecovery.Outcome, in turn: inout Turn) {
    guard let diedAt = run.unfinished?.diedAt else { return }
    run.beginStop(of: runID)
    var operations: [StoreOperation] = []
    if outcome == .discarded { operations.append(records.discard(runID)) }
    turn.write(operations, then: [.act(.recovered(run.report(outcome, of: runID, at: turn.now)))])
    let stop = commands.recoveryStop(
      of: runID, at: diedAt, on: settings.deviceID, generator: &turn.generator)
    accept(stop, in: &turn)
  }
}
