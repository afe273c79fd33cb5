/// Takes accepted presses and decides what becomes of each: window, waiting line, settlement (design section 4).
///
/// - No window open can go to: open (a press arrives).
/// - Open can go to: none open (it settles and nothing waits), open (it settles and what waited opens the next).
///
/// Late presses never open a window: they are judged alone, in press order, whenever none is open.
public struct Arbiter: Sendable {
  private struct Waiting {
    let press: Press
    var pressClass: PressClass
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
  /// In order of arrival.
  private var waiting: [Waiting] = []

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
    control: ControlState = ControlState(), accepted: [(press: Press, class: PressClass)] = [],
    window: BusDuration, lateAfter: BusDuration, term: UInt64
  ) {
    self.control = control
    self.lateAfter = lateAfter
    self.term = term
    rule = Window.Rule(length: window)
    for (press, pressClass) in accepted {
      if pressClass == .window {
        admit(press)
      } else {
        waiting.append(Waiting(press: press, pressClass: pressClass))
      }
    }
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
    switch state {
    case .closed: waiting.count
    case .open(let window): waiting.count + window.presses.count
    }
  }

  /// How an accepted press stands; `nil` for one that does not wait.
  public func pressClass(of id: CommandID) -> PressClass? {
    if case .open(let window) = state, window.presses.contains(where: { $0.command.id == id }) { return .window }
    return waiting.first { $0.press.command.id == id }?.pressClass
  }

  /// A stream has gone on over places that hold nothing: a chain of it whose stop stood there has lost it and falls
  /// apart. Call ``judgeLate(at:)`` afterwards. The presses that stand otherwise now.
  public mutating func skip(_ stream: StreamID) -> [CommandID] {
    var fallen: [CommandID] = []
    for index in waiting.indices where waiting[index].pressClass == .held && waiting[index].press.stream == stream {
      waiting[index].pressClass = .late
      fallen.append(waiting[index].press.command.id)
    }
    return fallen
  }

  /// Takes in an accepted press and says how it stands. Call ``judgeLate(at:)`` and ``settle(at:)`` afterwards.
  public mutating func receive(_ press: Press) -> PressClass {
    let pressClass = classify(press)
    if pressClass == .window { admit(press) } else { waiting.append(Waiting(press: press, pressClass: pressClass)) }
    return pressClass
  }

  /// Judges what waits and needs no window to settle first. Nothing happens while a window is open.
  public mutating func judgeLate(at now: BusTime) -> Settlement {
    guard case .closed = state, !waiting.isEmpty else { return Settlement() }
    var judge = takeJudge()
    let admitted = drainWaiting(into: &judge, at: now)
    control = judge.state
    judge.settlement.admitted = admitted
    return judge.settlement
  }

  /// Settles the open window if its deadline has come, then judges the late presses that waited for it, then opens the
  /// next window for the rest. Empty when it is too early.
  public mutating func settle(at now: BusTime) -> Settlement {
    guard case .open(let window) = state, now >= window.deadline || rule.length == .zero else { return Settlement() }
    state = .closed
    var judge = WindowFold.settle(window.presses, window: window, by: takeJudge())
    let admitted = drainWaiting(into: &judge, at: now)
    control = judge.state
    judge.settlement.admitted = admitted
    return judge.settlement
  }

  /// The judge holds the control state until it has judged: with a second owner each settlement would copy the past.
  private mutating func takeJudge() -> Judge {
    let judge = Judge(state: control, term: term, windowLength: rule.length)
    control = ControlState()
    return judge
  }

  // MARK: Classes

  private func classify(_ press: Press) -> PressClass {
    let age = press.arrivedAt - press.pressedAt
    let isOld = age > max(rule.length, lateAfter)
    let sendersWaiting = waiting.filter { $0.press.deviceID == press.deviceID }
    // A chain waits for its stop, and what the sender pressed after its start waits with it. Other streams of its
    // device do not: its store may be lost, and the stop with it.
    let isBlocked = sendersWaiting.contains { $0.pressClass != .held || $0.press.stream == press.stream }
    if press.command.kind != .start, startOfChain(of: press, among: chainStarts) != nil { return .held }
    switch state {
    case .closed:
      if isOld { return startsChain(press) ? .held : .late }
      return isBlocked ? .next : .window
    case .open(let window):
      if isOld && press.pressedAt < window.first { return startsChain(press) ? .held : .late }
      return !isBlocked && window.admits(press) ? .window : .next
    }
  }

  private func startsChain(_ press: Press) -> Bool { press.command.kind == .start && press.stopFollows }

  private mutating func admit(_ press: Press) {
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

  /// Judges the late ones in press order, then lets the others open (and join) the next window, in press order.
  private mutating func drainWaiting(into judge: inout Judge, at now: BusTime) -> [CommandID] {
    for chain in takeWholeChains() { LateJudgement.judge(chain: chain, at: now, by: &judge) }
    let late = take { $0.pressClass == .late }
    for press in late { LateJudgement.judge(press, at: now, by: &judge) }
    var admitted: [CommandID] = []
    for press in take({ $0.pressClass == .next }) {
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
  private mutating func take(_ isWanted: (Waiting) -> Bool) -> [Press] {
    let taken = waiting.filter(isWanted).map(\.press)
    waiting.removeAll(where: isWanted)
    return taken.sorted(by: Press.precedes)
  }

  /// The starts of the held chains, in order of arrival.
  private var chainStarts: [Press] {
    waiting.filter { $0.pressClass == .held && startsChain($0.press) }.map(\.press)
  }

  /// The start of the chain that a press belongs to: it names its run, or it names none and came after it.
  private func startOfChain(of press: Press, among starts: [Press]) -> Press? {
    starts.last { start in
      guard start.deviceID == press.deviceID else { return false }
      if let run = press.command.runID { return run == start.runOfStart }
      return start.stream == press.stream && start.sequence < press.sequence || start.command.id == press.command.id
    }
  }

  /// Takes out the chains whose stop has arrived, each from its start to its stop, ordered by their starts. A chain
  /// whose stop is not coming any more falls apart into late presses.
  private mutating func takeWholeChains() -> [[Press]] {
    let held = waiting.filter { $0.pressClass == .held }.map(\.press)
    guard !held.isEmpty else { return [] }
    let starts = chainStarts
    var whole: [[Press]] = []
    var fallenApart: Set<CommandID> = []
    for (start, chain) in Dictionary(grouping: held, by: { startOfChain(of: $0, among: starts) }) {
      if let start, !chain.contains(where: { $0.command.kind == .stop }) {
        if hasLostItsStop(chain, begunBy: start, among: starts) { fallenApart.formUnion(chain.map(\.command.id)) }
      } else {
        whole.append(chain.sorted(by: Press.precedes))
      }
    }
    let taken = Set(whole.joined().map(\.command.id))
    waiting.removeAll { taken.contains($0.press.command.id) }
    for index in waiting.indices where fallenApart.contains(waiting[index].press.command.id) {
      waiting[index].pressClass = .late
    }
    return whole.sorted { Press.precedes($0[0], $1[0]) }
  }

  /// Half of what a hub holds unjudged: a chain that never ends must not keep the others out.
  private static let chainMax = 512

  /// The stop was cancelled or has expired: its stream has gone on without it.
  private func hasLostItsStop(_ chain: [Press], begunBy start: Press, among starts: [Press]) -> Bool {
    if chain.count > Self.chainMax || chain.contains(where: { !$0.stopFollows }) { return true }
    return waiting.contains {
      $0.press.stream == start.stream && $0.press.sequence > start.sequence
        && startOfChain(of: $0.press, among: starts) != start
    }
  }
}

extension Arbiter {
  /// A new hub life: verdicts carry its number from now on.
  public mutating func setTerm(_ term: UInt64) { self.term = term }
}
