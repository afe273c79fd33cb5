/// Judges late presses one by one, and whole runs (docs/protocol.md, "Rules for late commands" and "Whole runs").
enum LateJudgement {
  /// Judges one late press.
  static func judge(_ press: AcceptedCommand, at now: BusTime, by judge: inout Judge) {
    let kind = press.command.kind
    let run = judge.run(of: press, orElse: judge.state.run(at: press.pressedAt))

    if let expected = press.command.ifRevision, judge.isUnexpected(press) {
      return judge.answer(press, .rejected(.revisionChanged(expected)), run: run)
    }
    if joinsSettledWindow(press, by: &judge) { return }
    let machine = RunMachine(phase: judge.state.phase)
    if kind != .start, machine.isRepeat(kind), run == judge.state.runID, joinsPresent(press, by: &judge) { return }
    if now - press.pressedAt > ControlHistory.age { return judge.answer(press, .rejected(.tooOld), run: run) }
    if kind == .start, let known = judge.knownRun(of: press), judge.state.isOver(known) {
      // A repeated start of a run that is over: it must not begin that run again, nor become an alias of the next one.
      return judge.answer(press, .rejected(.illegal(.completed)), run: known)
    }
    if kind == .start, machine.phase.isOn, joinsRun(press, by: &judge) { return }
    if amends(press, run: run, by: &judge) { return }
    if kind != .lap, isStale(press, state: judge.state) {
      return judge.answer(press, .rejected(.staleRevision), run: run)
    }
    apply(press, run: run, by: &judge)
  }

  // MARK: The rules, in their order

  /// Coalesces a press into a command of the same kind that a settled window applied around its press time.
  private static func joinsSettledWindow(_ press: AcceptedCommand, by judge: inout Judge) -> Bool {
    let kind = press.command.kind
    let run = judge.run(of: press, orElse: nil)
    guard let past = judge.state.applied(kind, at: press.pressedAt, run: run) else { return false }
    judge.alias(press, to: past.runID)
    judge.answer(
      press, .coalesced(into: past.commandID), run: past.runID, revision: past.revision,
      effectiveAt: past.effectiveAt)
    return true
  }

  /// Coalesces a repeat of the present phase into the last transition.
  private static func joinsPresent(_ press: AcceptedCommand, by judge: inout Judge) -> Bool {
    guard let maker = judge.state.transitions.last else { return false }
    return join(press, maker, by: &judge)
  }

  /// Coalesces a start while a run is on into the start of that run, even if the run is paused.
  private static func joinsRun(_ press: AcceptedCommand, by judge: inout Judge) -> Bool {
    let start = judge.state.transitions.last { $0.kind == .start }
    guard let maker = start ?? judge.state.transitions.last else { return false }
    return join(press, maker, by: &judge)
  }

  private static func join(_ press: AcceptedCommand, _ maker: PastTransition, by judge: inout Judge) -> Bool {
    judge.alias(press, to: maker.runID)
    judge.answer(
      press, .coalesced(into: maker.change.commandID), run: maker.runID, revision: maker.revision,
      effectiveAt: maker.effectiveAt)
    return true
  }

  /// Amends a run that is over with a lap of any device, or with a pause or resume that the device that stopped it
  /// pressed before the stop.
  private static func amends(_ press: AcceptedCommand, run: RunID?, by judge: inout Judge) -> Bool {
    guard let run, judge.state.isOver(run), let stop = judge.state.stop(of: run) else { return false }
    let kind = press.command.kind
    let machine = RunMachine(phase: judge.state.phase(of: run, at: press.pressedAt))
    switch kind {
    case .lap:
      guard machine.allows(.lap) else { return false }
      mark(press, run: run, by: &judge)
      return true
    case .pause, .resume:
      guard stop.change.deviceID == press.deviceID, press.pressedAt < stop.effectiveAt else { return false }
      if machine.isRepeat(kind) {
        let maker = judge.state.history(of: run).last { $0.effectiveAt <= press.pressedAt }
        guard let maker else { return false }
        judge.answer(
          press, .coalesced(into: maker.change.commandID), run: run, revision: maker.revision,
          effectiveAt: maker.effectiveAt)
      } else if machine.allows(kind) {
        let made = judge.amend(press, run: run)
        judge.answer(press, .applied, run: run, effectiveAt: made.effectiveAt)
        remember(press, made.applied, by: &judge)
      } else {
        judge.answer(press, .rejected(.illegal(machine.phase)), run: run)
      }
      return true
    case .start, .stop:
      return false
    }
  }

  /// Whether another device pressed later and was not rejected, or changed the run since the state that the sender saw.
  /// The base alone would not do: it says what the person saw, and not what was pressed afterwards.
  private static func isStale(_ press: AcceptedCommand, state: ControlState) -> Bool {
    if state.lastSettled.contains(where: { $0.key != press.deviceID && $0.value > press.pressedAt }) { return true }
    guard let base = press.command.base, matches(base, state: state) else {
      return state.transitions.contains { $0.effectiveAt > press.pressedAt }
    }
    let seen = max(base.revision, state.verdictRevision[press.deviceID] ?? 0)
    return state.transitions.contains { $0.revision > seen && $0.change.deviceID != press.deviceID }
  }

  /// Whether a base belongs to this hub's history. A hub that has lost history makes the same revisions again, so the
  /// command must match as well.
  private static func matches(_ base: ObservedRevision, state: ControlState) -> Bool {
    guard base.revision > 0 else { return base.commandID == nil }
    return state.transitions.contains { $0.revision == base.revision && $0.change.commandID == base.commandID }
  }

  /// Applies a press at its press time if the present run is its run and the phase allows it, and rejects it otherwise.
  private static func apply(_ press: AcceptedCommand, run: RunID?, by judge: inout Judge) {
    let kind = press.command.kind
    var machine = RunMachine(phase: judge.state.phase)
    if kind != .start, let present = judge.state.runID, run != present {
      return judge.answer(press, .rejected(run == nil ? .illegal(.idle) : .otherRun), run: run)
    }
    let isTooEarly = kind == .lap && machine.phase.isOn && judge.isBeforeStart(press)
    if isTooEarly { return judge.answer(press, .rejected(.illegal(.idle)), run: run) }
    guard machine.apply(kind) else {
      return judge.answer(press, .rejected(.illegal(machine.phase)), run: run)
    }
    guard let run = kind == .start ? press.runOfStart : judge.state.runID else {
      return judge.answer(press, .rejected(.illegal(machine.phase)), run: nil)
    }
    if kind == .lap { return mark(press, run: run, by: &judge) }
    let made = judge.make(press, run: run)
    judge.answer(press, .applied, run: run, revision: made.revision, effectiveAt: made.effectiveAt)
    remember(press, made.applied, by: &judge)
  }

  private static func mark(_ press: AcceptedCommand, run: RunID, by judge: inout Judge) {
    let time = judge.mark(press, run: run)
    judge.answer(press, .applied, run: run, effectiveAt: time)
    remember(
      press,
      .init(
        kind: .lap, commandID: press.command.id, runID: run, revision: judge.state.revision, effectiveAt: time),
      by: &judge)
  }

  /// Remembers a press that was judged alone as a settled window, so that a late repeat within a window's length is
  /// coalesced into it.
  private static func remember(_ press: AcceptedCommand, _ applied: SettledWindow.Applied, by judge: inout Judge) {
    judge.remember(first: press.pressedAt, deadline: press.pressedAt + judge.windowLength, applied: [applied])
  }

  // MARK: Whole runs

  /// Judges a whole run, whose presses are in press order. The present run, phase and revision do not change.
  static func judge(wholeRun presses: [AcceptedCommand], at now: BusTime, by judge: inout Judge) {
    guard let start = presses.first, isOwnRun(start, judge) else {
      // The first press is not the start, the start was applied already, or the run is known: judge the presses singly.
      for press in presses { Self.judge(press, at: now, by: &judge) }
      return
    }
    let run = start.runOfStart
    let end = presses[presses.count - 1].pressedAt
    judge.settlement.wholeRuns.append(
      WholeRun(
        runID: run, deviceID: start.deviceID, startedAt: start.pressedAt, stoppedAt: end,
        isConflicted: overlapsAnother(from: start.pressedAt, to: end, state: judge.state)))
    var machine = RunMachine()
    var maker: PastTransition?
    for press in presses {
      let kind = press.command.kind
      if machine.isRepeat(kind), let maker {
        judge.answer(
          press, .coalesced(into: maker.change.commandID), run: run, effectiveAt: maker.effectiveAt)
      } else if kind == .lap, machine.allows(.lap) {
        mark(press, run: run, by: &judge)
      } else if kind != .start || maker == nil, machine.apply(kind) {
        let made = judge.amend(press, run: run)
        maker = made
        judge.answer(press, .applied, run: run, effectiveAt: made.effectiveAt)
      } else {
        judge.answer(press, .rejected(.illegal(machine.phase)), run: run)
      }
    }
  }

  private static func isOwnRun(_ start: AcceptedCommand, _ judge: Judge) -> Bool {
    start.command.kind == .start && judge.knownRun(of: start) == nil
      && judge.state.applied(.start, at: start.pressedAt, run: nil) == nil
  }

  private static func overlapsAnother(from: BusTime, to: BusTime, state: ControlState) -> Bool {
    let runs = Set((state.transitions + state.amendments).map(\.runID))
    return runs.contains { run in
      let history = state.history(of: run)
      guard let start = history.first?.effectiveAt else { return false }
      let stop = state.stop(of: run)?.effectiveAt ?? .distantFuture
      return start < to && from < stop
    }
  }
}
