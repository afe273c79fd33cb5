/// Folds one window: a set of presses, sorted, from the current phase (docs/protocol.md, "Rules of a window").
///
/// Two passes: the first projects what would happen and finds who undoes whom, the second writes it down, because a
/// transition has a revision only once it is known to stay.
struct WindowFold {
  /// What the first pass thinks of a press.
  private enum Fate {
    /// Makes a transition of this run.
    case kept(RunID)
    /// Shares the fate of another press of the window.
    case joins(Int)
    /// Was asked for before the window; the revision and moment of what it joins.
    case repeatsPast(CommandID, RunID?, revision: UInt64, effectiveAt: BusTime?)
    case undone(by: Int, RunID?)
    /// Marks a lap in this run.
    case marks(RunID)
    case rejected(RejectionReason, RunID?)
  }

  /// A transition that is to stay unless it is undone, with what it would restore.
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
  private var fates: [Fate] = []
  /// The runs that this window starts.
  private var minted: Set<RunID> = []
  /// The runs that it stops.
  private var stopped: Set<RunID> = []

  /// Settles a window's presses and returns the judge that wrote the result down.
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
    // A start means the run it mints: whether another is on is asked below.
    let meant = kind == .start ? run : judge.run(of: press, orElse: run)

    if let past = judge.state.applied(kind, at: press.pressedAt, run: judge.run(of: press, orElse: nil)) {
      judge.alias(press, to: past.runID)
      return .repeatsPast(past.commandID, past.runID, revision: past.revision, effectiveAt: past.effectiveAt)
    }
    if kind == .lap { return mark(index, meant: meant) }
    guard meant == run || run == nil else { return .rejected(.otherRun, meant) }
    if kind == .start, let known = knownRun(of: press), known != run || !machine.phase.isOn {
      return .rejected(.illegal(.completed), known)
    }

    if machine.isRepeat(kind) { return join(press, maker: kept.last) }
    if let last = kept.last, undoes(kind, presses[last.index].command.kind) {
      kept.removeLast()
      supersede(last.index, by: index)
      machine = RunMachine(phase: last.phaseBefore)
      run = last.runBefore
      return join(press, maker: kept.last)
    }
    let before = Kept(index: index, phaseBefore: machine.phase, runBefore: run)
    guard machine.apply(kind) else { return .rejected(.illegal(machine.phase), run) }
    kept.append(before)
    if kind == .start {
      minted.insert(press.runOfStart)
      run = press.runOfStart
    }
    if kind == .stop, let run { stopped.insert(run) }
    // Legal and not a start: a run is on, so there is one.
    return run.map(Fate.kept) ?? .rejected(.illegal(.idle), nil)
  }

  /// The run that a start would begin, when it has begun already, in this window or before it.
  private func knownRun(of start: AcceptedCommand) -> RunID? {
    minted.contains(start.runOfStart) ? start.runOfStart : judge.knownRun(of: start)
  }

  private mutating func mark(_ index: Int, meant: RunID?) -> Fate {
    let press = presses[index]
    guard let meant else { return .rejected(.illegal(machine.phase), nil) }
    // The ledger does not know yet that this window has stopped the run.
    if stopped.contains(meant) { return .rejected(.illegal(.completed), meant) }
    if let other = marks.last(where: { $0.run == meant }) { return .joins(other.index) }
    let isPresent = meant == run && machine.allows(.lap)
    if isPresent, !minted.contains(meant), judge.isBeforeStart(press) { return .rejected(.illegal(.idle), meant) }
    // A lap of a run that is over counts when it was pressed while that run was on.
    guard isPresent || judge.state.phase(of: meant, at: press.pressedAt).isOn else {
      return run == nil || meant == run ? .rejected(.illegal(machine.phase), run) : .rejected(.otherRun, meant)
    }
    marks.append((index, meant))
    return .marks(meant)
  }

  /// A repeat joins the press that made the projected phase: one of the window, or the last transition before it.
  private mutating func join(_ press: AcceptedCommand, maker: Kept?) -> Fate {
    if let run { judge.alias(press, to: run) }
    if let maker { return .joins(maker.index) }
    guard let past = judge.state.transitions.last else { return .rejected(.illegal(machine.phase), run) }
    return .repeatsPast(
      past.change.commandID, past.runID, revision: past.revision, effectiveAt: past.effectiveAt)
  }

  private func undoes(_ kind: CommandKind, _ last: CommandKind) -> Bool {
    (last, kind) == (.pause, .resume) || (last, kind) == (.resume, .pause)
  }

  /// What was coalesced into an undone press shares its fate, however deep.
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
    // A lap is reflected by the snapshot of this settlement, whatever its place in the window.
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

extension AcceptedCommand {
  /// The run that a start mints. A sender that named none gets one made of the command's own id: unique, and the same
  /// whenever it is asked.
  var runOfStart: RunID { command.runOfStart }
}

extension Command {
  /// See ``AcceptedCommand/runOfStart``.
  var runOfStart: RunID { runID ?? RunID(high: id.high, low: id.low) }
}
