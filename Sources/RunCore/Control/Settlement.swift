/// What a settlement decided: one commit, one snapshot, all verdicts.
public struct Settlement: Hashable, Sendable {
  /// One answer.
  public struct Answer: Hashable, Sendable {
    /// The verdict.
    public let verdict: Verdict
    /// The press that it answers.
    public let press: AcceptedCommand
  }
  /// One line for a run's ledger.
  public struct Line: Hashable, Sendable {
    /// The run.
    public let runID: RunID
    /// When it happened.
    public let time: BusTime
    /// What happened.
    public let event: LedgerEvent
  }

  /// The verdicts, in order of judgement.
  public var answers: [Answer] = []
  /// What the ledgers gain, in order.
  public var lines: [Line] = []
  /// Ids that became another name for a run.
  public var aliases: [RunID: RunID] = [:]
  /// The windows that applied something.
  public var windows: [SettledWindow] = []
  /// Waiting presses that moved into the next window.
  public var admitted: [CommandID] = []
  /// Runs that arrived whole after the fact.
  public var wholeRuns: [WholeRun] = []

  /// Nothing was decided.
  public var isEmpty: Bool { answers.isEmpty && admitted.isEmpty }
}

/// The one place where decisions are written down: into the control state and into the settlement alike.
struct Judge {
  var state: ControlState
  let term: UInt64
  let windowLength: BusDuration
  /// So much before its run's start a press is still one of that run: clocks differ.
  let grace: BusDuration
  /// Whether there is a record of a run, was one, or is to be one.
  let isPast: (RunID) -> Bool
  /// The held runs. No other command begins one of them, and their ids never become names of another run.
  var toCome: Set<RunID> = []
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

  /// Whether a run has ever begun, under this name or another one.
  func knows(_ run: RunID) -> Bool {
    state.aliases[run] != nil || state.knows(run) || toCome.contains(run) || isPast(run)
  }

  /// The run that a start would begin, when that has begun already.
  func knownRun(of start: AcceptedCommand) -> RunID? {
    knows(start.runOfStart) ? state.canonical(start.runOfStart) : nil
  }

  /// Whether a lap was pressed before the present run began, and not only on a clock that runs ahead.
  func isBeforeStart(_ press: AcceptedCommand) -> Bool {
    state.startedAt.map { press.pressedAt < $0 - grace } ?? false
  }

  /// The run that a command means, aliases resolved: its own, or else the one given.
  func run(of press: AcceptedCommand, orElse run: RunID?) -> RunID? {
    press.command.runID.map(state.canonical) ?? run
  }

  /// Makes a transition at a press, never before the last one, and returns it.
  mutating func make(_ press: AcceptedCommand, run: RunID) -> PastTransition {
    let effectiveAt = max(press.pressedAt, state.lastEffectiveAt ?? press.pressedAt)
    let transition = PastTransition(
      kind: press.command.kind, revision: state.revision + 1, change: press.change, runID: run,
      effectiveAt: effectiveAt)
    state.make(transition)
    write(transition)
    return transition
  }

  /// Inserts a transition into a run that is over, or that arrived whole: the revision stays.
  mutating func amend(_ press: AcceptedCommand, run: RunID) -> PastTransition {
    let transition = PastTransition(
      kind: press.command.kind, revision: state.revision, change: press.change, runID: run,
      effectiveAt: press.pressedAt)
    state.amend(transition)
    write(transition)
    return transition
  }

  /// Marks a lap at a press and returns when it counts.
  mutating func mark(_ press: AcceptedCommand, run: RunID) -> BusTime {
    // The start of a run is its first moment: a lap pressed on a clock that ran ahead of it is a lap at the start.
    let start = run == state.runID ? state.startedAt : state.history(of: run).first?.effectiveAt
    let time = max(press.pressedAt, start ?? press.pressedAt)
    settlement.lines.append(.init(runID: run, time: time, event: .lap(press.change)))
    return time
  }

  /// A start that was not needed names the run that goes on, while that has room for names. A run that has begun keeps
  /// its own.
  mutating func alias(_ press: AcceptedCommand, to run: RunID) {
    guard press.command.kind == .start, let own = press.command.runID, own != run, !knows(own),
      state.setAlias(own, of: run, by: press.deviceID)
    else { return }
    settlement.aliases[own] = run
  }

  /// Remembers a window, when it applied something.
  mutating func remember(first: BusTime, deadline: BusTime, applied: [SettledWindow.Applied]) {
    guard !applied.isEmpty, first < deadline else { return }
    let window = SettledWindow(first: first, deadline: deadline, applied: applied)
    state.remember(window)
    settlement.windows.append(window)
  }

  /// Answers a press.
  mutating func answer(
    _ press: AcceptedCommand, _ outcome: Outcome, run: RunID?, revision: UInt64? = nil, effectiveAt: BusTime? = nil
  ) {
    let verdict = Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: outcome,
      runID: run, term: term, revision: revision ?? state.revision, effectiveAt: effectiveAt)
    state.remember(verdict, of: press)
    settlement.answers.append(.init(verdict: verdict, press: press))
  }

  private mutating func write(_ transition: PastTransition) {
    settlement.lines.append(
      .init(
        runID: transition.runID, time: transition.effectiveAt,
        event: .transition(
          Transition(kind: transition.kind, revision: transition.revision, change: transition.change))))
  }
}

extension AcceptedCommand {
  /// Who asks, as the ledger keeps it.
  var change: Author { Author(source: command.source, deviceID: deviceID, commandID: command.id) }
}

extension PastTransition {
  /// What a settled window remembers of it.
  var applied: SettledWindow.Applied {
    .init(kind: kind, commandID: change.commandID, runID: runID, revision: revision, effectiveAt: effectiveAt)
  }
}
