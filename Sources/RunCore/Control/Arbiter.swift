/// Puts each accepted press into a window or lets it wait, and judges it (docs/protocol.md, "Judging").
///
/// - No window is open: a press that is not late opens one.
/// - A window is open: when it settles, a press that waits for the next window opens one.
///
/// A late press never opens a window. The arbiter judges late presses one by one, in press order, while none is open.
package struct Arbiter: Sendable {
  /// How an accepted press waits, and how its arrival changed other presses.
  package struct Reception: Hashable, Sendable {
    /// How the press waits.
    package let admission: Admission
    /// Held presses that are late now, because their run fell apart for lack of room.
    package let fallen: [CommandID]
    /// The presses of the held run that this press made whole. They are judged as soon as no window is open.
    package let completed: [CommandID]
  }

  private struct Waiting {
    let press: AcceptedCommand
    let admission: Admission
  }
  private enum State {
    case closed
    case open(Window)
  }

  /// What the arbiter remembers of past settlements.
  package private(set) var control: ControlState
  private let rule: Window.Rule
  private let lateAfter: BusDuration
  private var term: UInt64
  private var state = State.closed
  /// Late presses and presses for the next window, in order of arrival.
  private var waiting: [Waiting] = []
  private var held = HeldRuns()
  /// The run of which it is not decided yet what becomes of it; `nil` while there is none.
  private var undecided: UndecidedRun?

  /// An arbiter that goes on from a stored state.
  ///
  /// - Parameters:
  ///   - control: what was decided in earlier terms.
  ///   - accepted: presses that were accepted and not yet judged, in order of acceptance. The arbiter rebuilds the open
  ///     window, the waiting presses and the held runs from them.
  ///   - window: the length of a window, in bus time.
  ///   - lateAfter: the age above which a press is late unless a window is longer: 500 ms of real time, in bus time.
  ///   - term: the hub's present term, which verdicts carry.
  package init(
    control: ControlState = ControlState(), accepted: [(press: AcceptedCommand, class: Admission)] = [],
    window: BusDuration, lateAfter: BusDuration, term: UInt64
  ) {
    self.control = control
    self.lateAfter = lateAfter
    self.term = term
    rule = Window.Rule(length: window)
    for (press, admission) in accepted { place(press, admission) }
  }

  private mutating func place(_ press: AcceptedCommand, _ admission: Admission) {
    switch admission {
    case .window: admit(press)
    case .next, .late: waiting.append(Waiting(press: press, admission: admission))
    case .held: return held.hold(press)
    }
    held.goOn(press)
  }

  /// When the open window settles, or `nil` with none open.
  package var deadline: BusTime? {
    switch state {
    case .closed: nil
    case .open(let window): window.deadline
    }
  }

  /// How many presses wait for their verdict.
  package var unjudgedCount: Int {
    let inWindow = if case .open(let window) = state { window.presses.count } else { 0 }
    return inWindow + waiting.count + held.count
  }

  /// How many held presses belong to runs whose stop has not arrived.
  package var unfinishedCount: Int { held.unfinishedCount }

  /// Whether a press is held and belongs to a run whose stop has not arrived.
  package func isUnfinished(_ id: CommandID) -> Bool { held.isUnfinished(id) }

  /// How an accepted press waits; `nil` when it does not wait (any more).
  package func admission(of id: CommandID) -> Admission? {
    if case .open(let window) = state, window.presses.contains(where: { $0.command.id == id }) { return .window }
    return held.contains(id) ? .held : waiting.first { $0.press.command.id == id }?.admission
  }

  /// Makes the unfinished runs of a stream fall apart. The hub calls it when a tombstone follows or the stream has
  /// ended, because the stop cannot arrive any more. Call ``judgeLate(at:isPast:)`` afterwards.
  ///
  /// - Returns: the presses that are late now.
  package mutating func abandon(_ stream: StreamID) -> [CommandID] { makeLate(held.abandon(stream)) }

  private mutating func makeLate(_ presses: [AcceptedCommand]) -> [CommandID] {
    for press in presses { waiting.append(Waiting(press: press, admission: .late)) }
    return presses.map(\.command.id)
  }

  /// Adds an accepted press. Call ``judgeLate(at:isPast:)`` and ``settle(at:isPast:)`` afterwards.
  ///
  /// - Parameters:
  ///   - press: the press, with its times on the hub's bus clock.
  ///   - hasSlots: whether a device has slots of its own in the command queue. When held runs exceed their bound,
  ///     those of such devices fall apart last.
  /// - Returns: how the press waits, and how its arrival changed other presses.
  package mutating func receive(_ press: AcceptedCommand, hasSlots: (DeviceID) -> Bool = { _ in true }) -> Reception {
    let admission = classify(press)
    place(press, admission)
    guard admission == .held else { return Reception(admission: admission, fallen: [], completed: []) }
    let own = held.runs.last { $0.presses.last?.command.id == press.command.id }
    let completed = own?.isWhole == true ? own?.presses.map(\.command.id) ?? [] : []
    let fallen = makeLate(held.trim(press.deviceID, hasSlots: hasSlots))
    return Reception(admission: admission, fallen: fallen, completed: completed)
  }

  /// Judges whole runs and late presses, then opens a window for the other waiting presses. It does nothing while a
  /// window is open.
  ///
  /// - Parameters:
  ///   - now: the present bus time.
  ///   - isPast: whether a run has a record, had one, or will get one.
  package mutating func judgeLate(
    at now: BusTime, isPast: @escaping (RunID) -> Bool = { _ in false }
  ) -> Settlement {
    guard case .closed = state, !waiting.isEmpty || !held.runs.isEmpty else { return Settlement() }
    return finish(takeJudge(isPast), at: now)
  }

  /// Settles the open window if its deadline has passed, then judges whole runs and late presses, then opens the next
  /// window for the rest.
  ///
  /// - Parameters:
  ///   - now: the present bus time.
  ///   - isPast: see ``judgeLate(at:isPast:)``.
  /// - Returns: the decisions; empty before the deadline.
  package mutating func settle(at now: BusTime, isPast: @escaping (RunID) -> Bool = { _ in false }) -> Settlement {
    guard case .open(let window) = state, now >= window.deadline || rule.length == .zero else { return Settlement() }
    state = .closed
    return finish(WindowFold.settle(window.presses, window: window, by: takeJudge(isPast)), at: now)
  }

  /// Rejects unjudged presses, because their sender may give no commands any more. Call ``judgeLate(at:isPast:)``
  /// afterwards: the open window closes if it has no other presses.
  ///
  /// - Parameter isMeant: which presses to reject.
  package mutating func reject(
    _ reason: RejectionReason, where isMeant: (AcceptedCommand) -> Bool
  ) -> Settlement {
    var rejected: [AcceptedCommand] = []
    if case .open(let window) = state {
      let (out, kept) = (window.presses.filter(isMeant), window.presses.filter { !isMeant($0) })
      if !out.isEmpty {
        state = .closed
        for press in kept { admit(press) }
        rejected += out
      }
    }
    rejected += waiting.map(\.press).filter(isMeant)
    waiting.removeAll { isMeant($0.press) }
    rejected += held.remove(where: isMeant)
    guard !rejected.isEmpty else { return Settlement() }
    var judge = takeJudge { _ in false }
    for press in rejected.sorted(by: AcceptedCommand.precedes) {
      judge.answer(press, .rejected(reason), run: judge.run(of: press, orElse: nil))
    }
    control = judge.state
    return judge.settlement
  }

  private mutating func finish(_ judge: consuming Judge, at now: BusTime) -> Settlement {
    let admitted = drainWaiting(into: &judge, at: now)
    control = judge.state
    judge.settlement.admitted = admitted
    return judge.settlement
  }

  /// Moves the control state into the judge until `finish`. If both held it, each settlement would copy its arrays.
  private mutating func takeJudge(_ isPast: @escaping (RunID) -> Bool) -> Judge {
    var judge = Judge(
      state: control, term: term, windowLength: rule.length, grace: max(rule.length, lateAfter), isPast: isPast)
    judge.heldStarts = Set(held.runs.map(\.start.runOfStart))
    control = ControlState()
    return judge
  }

  // MARK: Classes

  private func classify(_ press: AcceptedCommand) -> Admission {
    let isOld = press.arrivedAt - press.pressedAt > max(rule.length, lateAfter)
    if isOfHeldRun(press) { return .held }
    // Once the question is asked, a press that does not answer it waits for the answer, however young it is.
    let opensHeldRun = press.command.kind == .start && press.stopFollows
    if undecided?.isAsked == true, !opensHeldRun, waitsForDecision(press, control) { return .late }
    // A device's presses keep their order, so a waiting one blocks those after it. A held run blocks only its own
    // stream: if the device has lost its store, the stop never arrives and a new stream must not wait for it.
    let isBlocked =
      waiting.contains { $0.press.deviceID == press.deviceID && !waitsForDecision($0.press, control) }
      || held.waits(on: press.stream)
    let late = opensHeldRun ? Admission.held : .late
    switch state {
    case .closed:
      if isOld { return late }
      return isBlocked ? .next : .window
    case .open(let window):
      if isOld && press.pressedAt < window.first { return late }
      return !isBlocked && window.admits(press) ? .window : .next
    }
  }

  private mutating func admit(_ press: AcceptedCommand) {
    switch state {
    case .closed: state = .open(Window(openedBy: press, rule: rule))
    case .open(var window):
      // Release the copy in `state`, or each press would copy the whole window.
      state = .closed
      window.admit(press)
      state = .open(window)
    }
  }

  // MARK: The waiting line

  /// Judges whole runs, then late presses, then lets the presses for the next window open and join one; each group in
  /// press order.
  private mutating func drainWaiting(into judge: inout Judge, at now: BusTime) -> [CommandID] {
    let undecided = undecided
    for run in held.takeWhole(where: { run in !run.presses.contains { undecided?.covers($0) == true } }) {
      judge.heldStarts.remove(run.start.runOfStart)
      LateJudgement.judge(wholeRun: run.presses, at: now, by: &judge)
    }
    _ = makeLate(held.takeLost())
    judge.heldStarts = Set(held.runs.map(\.start.runOfStart))
    for press in take(.late, judge.state) { LateJudgement.judge(press, at: now, by: &judge) }
    var admitted: [CommandID] = []
    for press in take(.next, judge.state) {
      switch state {
      case .open(let window) where !window.admits(press) || rule.length == .zero:
        waiting.append(Waiting(press: press, admission: .next))
      case .open, .closed:
        admit(press)
        admitted.append(press.command.id)
      }
    }
    return admitted
  }

  /// Removes and returns the waiting presses of a class, in press order. Those that wait for a decision stay.
  private mutating func take(_ admission: Admission, _ state: ControlState) -> [AcceptedCommand] {
    let isTaken = waiting.map { $0.admission == admission && !waitsForDecision($0.press, state) }
    let taken = zip(waiting, isTaken).filter(\.1).map(\.0.press)
    if !taken.isEmpty { waiting = zip(waiting, isTaken).filter { !$1 }.map(\.0) }
    return taken.sorted(by: AcceptedCommand.precedes)
  }
}

/// A run that was on when the hub died, until it is decided what becomes of it.
private struct UndecidedRun: Sendable {
  let run: RunID
  /// The last sign of life of the hub that had the run.
  let diedAt: BusTime
  /// Whether the question about the run was asked.
  let isAsked: Bool

  /// Whether a press was made after the last sign of life.
  func covers(_ press: AcceptedCommand) -> Bool { press.pressedAt > diedAt }
}

// Presses that were made while the hub of the run was dead.
extension Arbiter {
  /// Lets the presses on a run that were made behind its hub's last sign of life wait until ``decided()``. A decision may
  /// end the run before them. Until the question is asked, this holds for late presses alone. A press that answers the
  /// question is received after ``decided()``.
  package mutating func waitForDecision(about run: RunID, diedAt: BusTime, isAsked: Bool) {
    undecided = UndecidedRun(run: run, diedAt: diedAt, isAsked: isAsked)
  }

  /// It is decided what becomes of the run. Call ``judgeLate(at:isPast:)`` afterwards.
  package mutating func decided() { undecided = nil }

  /// Whether a press belongs to a held run, and so to no run that the hub knows.
  package func isOfHeldRun(_ press: AcceptedCommand) -> Bool { press.command.kind != .start && held.claims(press) }

  /// Whether a press was made after the hub's last sign of life, and may mean the undecided run, or one whose start waits
  /// for the decision.
  private func waitsForDecision(_ press: AcceptedCommand, _ state: ControlState) -> Bool {
    guard let undecided, undecided.covers(press) else { return false }
    guard press.command.kind != .start, let named = press.command.runID else { return true }
    return state.canonical(named) == undecided.run
      || waiting.contains { $0.press.command.kind == .start && $0.press.runOfStart == named }
  }
}

extension Arbiter {
  /// What is wrong by its own rules; empty when it is good: each press waits in one place, and those of a window belong
  /// into it.
  package func check() -> [String] {
    var wrong: [String] = []
    var ids = waiting.map(\.press.command.id) + held.runs.flatMap { $0.presses.map(\.command.id) }
    if case .open(let window) = state {
      ids += window.presses.map(\.command.id)
      if window.presses.isEmpty { wrong.append("an open window has no press") }
      if window.presses.contains(where: { $0.pressedAt < window.first || $0.pressedAt > window.last }) {
        wrong.append("a press lies outside its window")
      }
    }
    if Set(ids).count < ids.count { wrong.append("a press waits in two places") }
    return wrong
  }

  /// Sets the hub's term, which verdicts carry from now on.
  package mutating func setTerm(_ term: UInt64) { self.term = term }

  /// Forgets the aliases of a run. The hub calls it when it deletes the run's readings.
  package mutating func forgetAliases(of run: RunID) { control.forgetAliases(of: run) }
}
