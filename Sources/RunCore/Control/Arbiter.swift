/// Takes accepted presses and decides what becomes of each: window, waiting line, settlement (docs/protocol.md, "Judging").
///
/// - No window open can go to: open (a press arrives).
/// - Open can go to: none open (it settles and nothing waits), open (it settles and what waited opens the next).
///
/// Late presses never open a window: they are judged alone, in press order, whenever none is open.
public struct Arbiter: Sendable {
  /// How an accepted press stands, and what its arrival changed for others.
  public struct Reception: Hashable, Sendable {
    /// How it stands.
    public let pressClass: Admission
    /// Held presses of runs that fell apart for want of room: late ones now.
    public let fallen: [CommandID]
    /// Held presses of the run whose stop this one is: nothing but an open window keeps them from being judged.
    public let completed: [CommandID]
  }

  private struct Waiting {
    let press: AcceptedCommand
    let pressClass: Admission
  }
  private enum State {
    case closed
    case open(Window)
  }

  /// What it remembers of the past.
  public private(set) var control: ControlState
  private let rule: Window.Rule
  private let lateAfter: BusDuration
  private var term: UInt64
  private var state = State.closed
  /// Late ones and those of the next window, in order of arrival.
  private var waiting: [Waiting] = []
  private var held = HeldRuns()

  /// An arbiter with a past.
  ///
  /// - Parameters:
  ///   - control: what was decided in earlier lives.
  ///   - accepted: presses that were accepted and not yet judged, in order of acceptance: the window and the waiting
  ///     line are rebuilt from them.
  ///   - window: the length of a window, in bus time.
  ///   - lateAfter: 500 ms of real time, in bus time.
  ///   - term: the hub's life, for the verdicts.
  public init(
    control: ControlState = ControlState(), accepted: [(press: AcceptedCommand, class: Admission)] = [],
    window: BusDuration, lateAfter: BusDuration, term: UInt64
  ) {
    self.control = control
    self.lateAfter = lateAfter
    self.term = term
    rule = Window.Rule(length: window)
    for (press, pressClass) in accepted { place(press, pressClass) }
  }

  private mutating func place(_ press: AcceptedCommand, _ pressClass: Admission) {
    switch pressClass {
    case .window: admit(press)
    case .next, .late: waiting.append(Waiting(press: press, pressClass: pressClass))
    case .held: return held.hold(press)
    }
    held.goOn(press)
  }

  /// When the open window settles, or `nil` with none open.
  public var deadline: BusTime? {
    switch state {
    case .closed: nil
    case .open(let window): window.deadline
    }
  }

  /// How many presses wait for their verdict.
  public var unjudgedCount: Int {
    let inWindow = if case .open(let window) = state { window.presses.count } else { 0 }
    return inWindow + waiting.count + held.count
  }

  /// How many presses of runs without a stop are held.
  public var unfinishedCount: Int { held.unfinishedCount }

  /// Whether a press belongs to a run whose stop has not come.
  public func isUnfinished(_ id: CommandID) -> Bool { held.isUnfinished(id) }

  /// How an accepted press stands; `nil` for one that does not wait.
  public func pressClass(of id: CommandID) -> Admission? {
    if case .open(let window) = state, window.presses.contains(where: { $0.command.id == id }) { return .window }
    return held.contains(id) ? .held : waiting.first { $0.press.command.id == id }?.pressClass
  }

  /// A stream has gone on over places that hold nothing, or will not be heard again: its runs that still wait for their
  /// stop fall apart. Call ``judgeLate(at:isPast:)`` afterwards. The presses that are late now.
  public mutating func abandon(_ stream: StreamID) -> [CommandID] { makeLate(held.abandon(stream)) }

  private mutating func makeLate(_ presses: [AcceptedCommand]) -> [CommandID] {
    for press in presses { waiting.append(Waiting(press: press, pressClass: .late)) }
    return presses.map(\.command.id)
  }

  /// Takes in an accepted press and says how it stands. Call ``judgeLate(at:isPast:)`` and ``settle(at:isPast:)``
  /// afterwards.
  ///
  /// - Parameter hasPlaces: the devices whose unfinished runs fall apart last, for want of room.
  public mutating func receive(_ press: AcceptedCommand, hasPlaces: (DeviceID) -> Bool = { _ in true }) -> Reception {
    let pressClass = classify(press)
    place(press, pressClass)
    guard pressClass == .held else { return Reception(pressClass: pressClass, fallen: [], completed: []) }
    let own = held.runs.last { $0.presses.last?.command.id == press.command.id }
    let completed = own?.isWhole == true ? own?.presses.map(\.command.id) ?? [] : []
    let fallen = makeLate(held.trim(press.deviceID, hasPlaces: hasPlaces))
    return Reception(pressClass: pressClass, fallen: fallen, completed: completed)
  }

  /// Judges what waits and needs no window to settle first. Nothing happens while a window is open.
  ///
  /// - Parameter isPast: whether there is a record of a run, was one, or is to be one.
  public mutating func judgeLate(
    at now: BusTime, isPast: @escaping (RunID) -> Bool = { _ in false }
  ) -> Settlement {
    guard case .closed = state, !waiting.isEmpty || !held.runs.isEmpty else { return Settlement() }
    return finish(takeJudge(isPast), at: now)
  }

  /// Settles the open window if its deadline has come, then judges the late presses that waited for it, then opens the
  /// next window for the rest. Empty when it is too early. For `isPast` see ``judgeLate(at:isPast:)``.
  public mutating func settle(at now: BusTime, isPast: @escaping (RunID) -> Bool = { _ in false }) -> Settlement {
    guard case .open(let window) = state, now >= window.deadline || rule.length == .zero else { return Settlement() }
    state = .closed
    return finish(WindowFold.settle(window.presses, window: window, by: takeJudge(isPast)), at: now)
  }

  private mutating func finish(_ judge: consuming Judge, at now: BusTime) -> Settlement {
    let admitted = drainWaiting(into: &judge, at: now)
    control = judge.state
    judge.settlement.admitted = admitted
    return judge.settlement
  }

  /// The judge holds the control state until it has judged: with a second owner each settlement would copy the past.
  private mutating func takeJudge(_ isPast: @escaping (RunID) -> Bool) -> Judge {
    var judge = Judge(
      state: control, term: term, windowLength: rule.length, grace: max(rule.length, lateAfter), isPast: isPast)
    judge.toCome = Set(held.runs.map(\.start.runOfStart))
    control = ControlState()
    return judge
  }

  // MARK: Classes

  private func classify(_ press: AcceptedCommand) -> Admission {
    let isOld = press.arrivedAt - press.pressedAt > max(rule.length, lateAfter)
    if press.command.kind != .start, held.claims(press) { return .held }
    // A sender's presses keep their order: one that waits holds up those behind it. A run that waits for its stop holds
    // up its own stream alone: the sender's store may be lost, and the stop with it.
    let isBlocked = waiting.contains { $0.press.deviceID == press.deviceID } || held.waits(on: press.stream)
    let late = press.command.kind == .start && press.stopFollows ? Admission.held : .late
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
      // Let go of the state's copy, or each press would copy the whole window.
      state = .closed
      window.admit(press)
      state = .open(window)
    }
  }

  // MARK: The waiting line

  /// Judges whole runs and late presses in press order, then lets the others open (and join) the next window, in press
  /// order.
  private mutating func drainWaiting(into judge: inout Judge, at now: BusTime) -> [CommandID] {
    for run in held.takeWhole() {
      judge.toCome.remove(run.start.runOfStart)
      LateJudgement.judge(wholeRun: run.presses, at: now, by: &judge)
    }
    _ = makeLate(held.takeLost())
    judge.toCome = Set(held.runs.map(\.start.runOfStart))
    for press in take(.late) { LateJudgement.judge(press, at: now, by: &judge) }
    var admitted: [CommandID] = []
    for press in take(.next) {
      switch state {
      case .open(let window) where !window.admits(press) || rule.length == .zero:
        waiting.append(Waiting(press: press, pressClass: .next))
      case .open, .closed:
        admit(press)
        admitted.append(press.command.id)
      }
    }
    return admitted
  }

  /// Takes out the waiting presses of a class, in press order.
  private mutating func take(_ pressClass: Admission) -> [AcceptedCommand] {
    let taken = waiting.filter { $0.pressClass == pressClass }.map(\.press)
    if !taken.isEmpty { waiting.removeAll { $0.pressClass == pressClass } }
    return taken.sorted(by: AcceptedCommand.precedes)
  }
}

extension Arbiter {
  /// A new hub life: verdicts carry its number from now on.
  public mutating func setTerm(_ term: UInt64) { self.term = term }

  /// The readings of a run are gone, and with them every other name that it had.
  public mutating func forgetAliases(of run: RunID) { control.forgetAliases(of: run) }
}
