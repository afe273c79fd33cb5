/// Judges the presses of one window, in press order (docs/protocol.md, "Rules of a window").
///
/// The first pass decides the fate of each press. The second makes the transitions and verdicts. Two passes are needed
/// because a later press can undo a transition, and an undone transition makes no revision.
struct WindowFold {
  /// What the first pass decides about a press. `Int` is the index of another press of the window.
  private enum Fate {
    /// Makes a transition of this run.
    case kept(RunID)
    /// Is coalesced into another press of the window.
    case joins(Int)
    /// Is coalesced into a command before the window: its id and run, and the revision and time of its effect.
    case repeatsPast(CommandID, RunID?, revision: UInt64, effectiveAt: BusTime?)
    case undone(by: Int, RunID?)
    /// Marks a lap in this run.
    case marks(RunID)
    case rejected(RejectionReason, RunID?)
  }

  /// A transition that stays unless it is undone, with the phase and run that undoing restores.
  private struct Kept {
    let index: Int
    let phaseBefore: RunPhase
    let runBefore: RunID?
  }

  private let presses: [AcceptedCommand]
  private var judge: Judge
  private var machine: RunMachine
  private var run: RunID?
  private var kept: [Kept] = []
  private var marks: [(index: Int, run: RunID)] = []
  /// The transition of this window that a conditional press made or asked for as well, and the kind of that press. No
  /// later press undoes it, and no conditional press of another kind counts beside it.
  private var won: (index: Int, kind: CommandKind)?
  private var fates: [Fate] = []
  /// The runs that this window starts.
  private var minted: Set<RunID> = []
  /// The runs that this window stops.
  private var stopped: Set<RunID> = []

  /// Judges a window's presses and returns the judge with the result.
  static func settle(_ presses: some Collection<AcceptedCommand>, window: Window, by judge: consuming Judge) -> Judge {
    var fold = WindowFold(presses: presses.sorted(by: AcceptedCommand.precedes), judge: judge)
    for index in fold.presses.indices { fold.fates.append(fold.project(index)) }
    fold.write(window)
    return fold.judge
  }

  private init(presses: [AcceptedCommand], judge: consuming Judge) {
    self.presses = presses
    machine = RunMachine(phase: judge.state.phase)
    run = judge.state.runID
    self.judge = judge
  }

  // MARK: The first pass

  private mutating func project(_ index: Int) -> Fate {
    let press = presses[index]
    let kind = press.command.kind
    // A start means the projected run here, so that it is never rejected as `otherRun`.
    let meant = kind == .start ? run : judge.run(of: press, orElse: run)

    if let expected = press.command.ifRevision, !isExpected(press) {
      return .rejected(.revisionChanged(expected), run)
    }
    if let past = judge.state.applied(kind, at: press.pressedAt, run: judge.run(of: press, orElse: nil)) {
      judge.alias(press, to: past.runID)
      return .repeatsPast(past.commandID, past.runID, revision: past.revision, effectiveAt: past.effectiveAt)
    }
    if kind == .lap { return mark(index, meant: meant) }
    guard meant == run || run == nil else { return .rejected(.otherRun, meant) }
    // As `ControlState.isOver`, after the presses of this window so far.
    if kind == .start, let known = knownRun(of: press), known != (machine.phase.isOn ? run : nil) {
      return .rejected(.illegal(.completed), known)
    }

    if machine.isRepeat(kind) { return join(press, maker: kept.last) }
    if let last = kept.last, last.index != won?.index, undoes(kind, presses[last.index].command.kind) {
      kept.removeLast()
      supersede(last.index, by: index)
      machine = RunMachine(phase: last.phaseBefore)
      run = last.runBefore
      return join(press, maker: kept.last)
    }
    let before = Kept(index: index, phaseBefore: machine.phase, runBefore: run)
    guard machine.apply(kind) else { return .rejected(.illegal(machine.phase), run) }
    kept.append(before)
    if press.command.ifRevision != nil { won = (index, kind) }
    if kind == .start {
      minted.insert(press.runOfStart)
      run = press.runOfStart
    }
    if kind == .stop, let run { stopped.insert(run) }
    // A legal command that is not a start requires a run that is on, so `run` is never `nil` here.
    return run.map(Fate.kept) ?? .rejected(.illegal(.idle), nil)
  }

  /// Whether the condition of a press holds: the run was at its revision before the window, no conditional press of
  /// another kind has changed the run since, and the press would not undo another one.
  private func isExpected(_ press: AcceptedCommand) -> Bool {
    guard !judge.isUnexpected(press) else { return false }
    let kind = press.command.kind
    if let won { return kind == won.kind && kept.last?.index == won.index && machine.isRepeat(kind) }
    return !(kept.last.map { undoes(kind, presses[$0.index].command.kind) } ?? false)
  }

  /// The run that a start would begin; `nil` unless it began in this window or is known from before.
  private func knownRun(of start: AcceptedCommand) -> RunID? {
    minted.contains(start.runOfStart) ? start.runOfStart : judge.knownRun(of: start)
  }

  private mutating func mark(_ index: Int, meant: RunID?) -> Fate {
    let press = presses[index]
    guard let meant else { return .rejected(.illegal(machine.phase), nil) }
    // The control state does not contain this window's stop yet.
    if stopped.contains(meant) { return .rejected(.illegal(.completed), meant) }
    if let other = marks.last(where: { $0.run == meant }) { return .joins(other.index) }
    let isPresent = meant == run && machine.allows(.lap)
    if isPresent, !minted.contains(meant), judge.isBeforeStart(press) { return .rejected(.illegal(.idle), meant) }
    // A lap of another run, or of one that is over, counts if that run was on at the press time.
    guard isPresent || judge.state.phase(of: meant, at: press.pressedAt).isOn else {
      return run == nil || meant == run ? .rejected(.illegal(machine.phase), run) : .rejected(.otherRun, meant)
    }
    marks.append((index, meant))
    return .marks(meant)
  }

  /// Coalesces a press into the one that made the projected phase: one of this window, or else the last transition.
  private mutating func join(_ press: AcceptedCommand, maker: Kept?) -> Fate {
    if let run { judge.alias(press, to: run) }
    if let maker {
      if press.command.ifRevision != nil, won == nil { won = (maker.index, press.command.kind) }
      return .joins(maker.index)
    }
    guard let past = judge.state.transitions.last else { return .rejected(.illegal(machine.phase), run) }
    return .repeatsPast(
      past.change.commandID, past.runID, revision: past.revision, effectiveAt: past.effectiveAt)
  }

  private func undoes(_ kind: CommandKind, _ last: CommandKind) -> Bool {
    (last, kind) == (.pause, .resume) || (last, kind) == (.resume, .pause)
  }

  /// Marks a press as undone, and everything that was coalesced into it, directly or through other presses.
  private mutating func supersede(_ index: Int, by undoer: Int) {
    fates[index] = .undone(by: undoer, run)
    for other in fates.indices {
      if case .joins(index) = fates[other] { supersede(other, by: undoer) }
    }
  }

  // MARK: The second pass

  private mutating func write(_ window: Window) {
    var made: [Int: SettledWindow.Applied] = [:]
    for (index, fate) in fates.enumerated() {
      switch fate {
      case .kept(let run): made[index] = judge.make(presses[index], run: run).applied
      case .marks, .joins, .repeatsPast, .undone, .rejected: break
      }
    }
    // A lap carries the revision after all transitions of the window, wherever it stands in the window.
    for (index, fate) in fates.enumerated() {
      switch fate {
      case .marks(let run):
        let press = presses[index]
        made[index] = .init(
          kind: .lap, commandID: press.command.id, runID: run, revision: judge.state.revision,
          effectiveAt: judge.mark(press, run: run))
      case .kept, .joins, .repeatsPast, .undone, .rejected: break
      }
    }
    for (index, fate) in fates.enumerated() {
      let press = presses[index]
      switch fate {
      case .kept, .marks:
        guard let own = made[index] else { continue }
        judge.answer(press, .applied, run: own.runID, revision: own.revision, effectiveAt: own.effectiveAt)
      case .joins(let target):
        let joined = made[target]
        judge.answer(
          press, .coalesced(into: presses[target].command.id), run: joined?.runID, revision: joined?.revision,
          effectiveAt: joined?.effectiveAt)
      case .repeatsPast(let id, let run, let revision, let effectiveAt):
        judge.answer(press, .coalesced(into: id), run: run, revision: revision, effectiveAt: effectiveAt)
      case .undone(let undoer, let run):
        judge.answer(press, .superseded(by: presses[undoer].command.id), run: run)
      case .rejected(let reason, let run):
        judge.answer(press, .rejected(reason), run: run)
      }
    }
    judge.remember(
      first: window.first, deadline: window.deadline, applied: made.sorted { $0.key < $1.key }.map(\.value))
  }
}
