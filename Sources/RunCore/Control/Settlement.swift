/// The decisions of one settlement. The hub stores them in one commit, then publishes one snapshot and all verdicts.
package struct Settlement: Hashable, Sendable {
  /// A verdict, with the press that it answers.
  package struct Answer: Hashable, Sendable {
    /// The verdict.
    package let verdict: Verdict
    /// The press that it answers.
    package let press: AcceptedCommand
  }
  /// An entry for a run's ledger.
  package struct Line: Hashable, Sendable {
    /// The run.
    package let runID: RunID
    /// When it happened.
    package let time: BusTime
    /// What happened.
    package let event: LedgerEvent
  }

  /// The verdicts, in order of judgement.
  package var answers: [Answer] = []
  /// New entries of the ledgers, in the order in which they were made.
  package var lines: [Line] = []
  /// Ids that became aliases, with the runs that they name.
  package var aliases: [RunID: RunID] = [:]
  /// The windows that settled and applied something.
  package var windows: [SettledWindow] = []
  /// Waiting presses that moved into the next window.
  package var admitted: [CommandID] = []
  /// Whole runs that became runs of their own.
  package var wholeRuns: [WholeRun] = []

  /// Whether there is neither an answer nor a press that joined a window.
  package var isEmpty: Bool { answers.isEmpty && admitted.isEmpty }
}

/// Records each decision both in the control state and in the settlement, so that the two cannot differ.
struct Judge {
  var state: ControlState
  let term: UInt64
  let windowLength: BusDuration
  /// How long before its run's start a lap may be pressed, because the clocks of devices differ.
  let grace: BusDuration
  /// Whether a run has a record, had one, or will get one.
  let isPast: (RunID) -> Bool
  /// The ids of the held runs. No other command may begin such a run, and such an id never becomes an alias.
  var heldStarts: Set<RunID> = []
  var settlement = Settlement()

  init(
    state: ControlState, term: UInt64, windowLength: BusDuration, grace: BusDuration,
    isPast: @escaping (RunID) -> Bool
  ) {
    self.state = state
    self.term = term
    self.windowLength = windowLength
    self.grace = grace
    self.isPast = isPast
  }

  /// Whether an id is that of a known run, of a held run, or an alias.
  func knows(_ run: RunID) -> Bool {
    state.aliases[run] != nil || state.knows(run) || heldStarts.contains(run) || isPast(run)
  }

  /// The run that a start would begin, aliases resolved; `nil` unless that run is known.
  func knownRun(of start: AcceptedCommand) -> RunID? {
    knows(start.runOfStart) ? state.canonical(start.runOfStart) : nil
  }

  /// Whether a lap was pressed before the start of the present run by more than clocks may differ.
  func isBeforeStart(_ press: AcceptedCommand) -> Bool {
    state.startedAt.map { press.pressedAt < $0 - grace } ?? false
  }

  /// Whether a press counts at another revision than the present one only. The transitions of a window are made when
  /// all its presses are judged, so in a window this is the revision before it.
  func isUnexpected(_ press: AcceptedCommand) -> Bool {
    press.command.ifRevision.map { $0 != state.revision } ?? false
  }

  /// The run that a press names, aliases resolved, or else the given one.
  func run(of press: AcceptedCommand, orElse run: RunID?) -> RunID? {
    press.command.runID.map(state.canonical) ?? run
  }

  /// Makes a transition with the next revision. It takes effect at the press time, but not before the last transition.
  mutating func make(_ press: AcceptedCommand, run: RunID) -> PastTransition {
    let effectiveAt = max(press.pressedAt, state.lastEffectiveAt ?? press.pressedAt)
    let transition = PastTransition(
      kind: press.command.kind, revision: state.revision + 1, change: press.change, runID: run,
      effectiveAt: effectiveAt)
    state.make(transition)
    write(transition, goal: press.command.goal)
    return transition
  }

  /// Inserts a transition, without a new revision, into a run that is over or into a whole run.
  mutating func amend(_ press: AcceptedCommand, run: RunID) -> PastTransition {
    let transition = PastTransition(
      kind: press.command.kind, revision: state.revision, change: press.change, runID: run,
      effectiveAt: press.pressedAt)
    state.amend(transition)
    write(transition, goal: press.command.goal)
    return transition
  }

  /// Marks a lap and returns when it takes effect.
  mutating func mark(_ press: AcceptedCommand, run: RunID) -> BusTime {
    // The clocks of devices differ: a lap that was pressed before its run's start counts at the start.
    let start = run == state.runID ? state.startedAt : state.history(of: run).first?.effectiveAt
    let time = max(press.pressedAt, start ?? press.pressedAt)
    settlement.lines.append(.init(runID: run, time: time, event: .lap(press.change)))
    return time
  }

  /// Makes the run id of a coalesced start an alias of the run that goes on, because its sender may name that id later.
  /// The id of a known run never becomes an alias.
  mutating func alias(_ press: AcceptedCommand, to run: RunID) {
    guard press.command.kind == .start, let own = press.command.runID, own != run, !knows(own),
      state.setAlias(own, of: run, by: press.deviceID)
    else { return }
    settlement.aliases[own] = run
  }

  /// Remembers a window if it applied something.
  mutating func remember(first: BusTime, deadline: BusTime, applied: [SettledWindow.Applied]) {
    guard !applied.isEmpty, first < deadline else { return }
    let window = SettledWindow(first: first, deadline: deadline, applied: applied)
    state.remember(window)
    settlement.windows.append(window)
  }

  /// Answers a press with a verdict.
  ///
  /// - Parameter revision: the revision that the verdict carries; `nil` for the present one.
  mutating func answer(
    _ press: AcceptedCommand, _ outcome: Outcome, run: RunID?, revision: UInt64? = nil, effectiveAt: BusTime? = nil
  ) {
    let verdict = Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: outcome,
      runID: run, term: term, revision: revision ?? state.revision, effectiveAt: effectiveAt)
    state.remember(verdict, of: press)
    settlement.answers.append(.init(verdict: verdict, press: press))
  }

  /// - Parameter goal: The goal that a start names. Judging does not look at it: it is the run's, which the ledger has.
  private mutating func write(_ transition: PastTransition, goal: RunGoal?) {
    settlement.lines.append(
      .init(
        runID: transition.runID, time: transition.effectiveAt,
        event: .transition(
          Transition(
            kind: transition.kind, revision: transition.revision, change: transition.change, goal: goal))))
  }
}

extension AcceptedCommand {
  /// Who made the change, as the ledger keeps it.
  var change: Author { Author(source: command.source, deviceID: deviceID, commandID: command.id) }
}

extension PastTransition {
  /// The transition as a settled window remembers it.
  var applied: SettledWindow.Applied {
    .init(kind: kind, commandID: change.commandID, runID: runID, revision: revision, effectiveAt: effectiveAt)
  }
}
