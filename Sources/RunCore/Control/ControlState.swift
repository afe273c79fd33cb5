import DequeModule

/// What the hub remembers of past commands in order to judge the next one. Every part is bounded.
package struct ControlState: Hashable, Sendable {
  /// The phase of the present run.
  package private(set) var phase: RunPhase = .idle
  /// The present run: the one that is on, or the last one.
  package private(set) var runID: RunID?
  /// When the present run started.
  package private(set) var startedAt: BusTime?
  /// The number of phase transitions of all runs so far, amendments excepted.
  package private(set) var revision: UInt64 = 0
  /// Past transitions that made a revision, oldest first, at most ``ControlHistory/transitionsMax``.
  private(set) var transitions: Deque<PastTransition> = []
  /// Transitions without a revision: those inserted into runs that were over, and those of whole runs. At most
  /// ``ControlHistory/transitionsMax``.
  private(set) var amendments: Deque<PastTransition> = []
  /// Settled windows that applied something, oldest first, at most ``ControlHistory/windowsMax``.
  private(set) var windows: Deque<SettledWindow> = []
  /// Aliases of runs, at most ``ControlHistory/aliasesMax`` for each run.
  package private(set) var aliases: [RunID: RunID] = [:]
  private struct AliasCount: Hashable, Sendable {
    var all = 0
    var given: [DeviceID: Int] = [:]
  }
  /// How many aliases each run has, and how many of them each device gave.
  private var aliasCounts: [RunID: AliasCount] = [:]
  /// The press time of a device's latest command that was not rejected, laps excepted. Two devices suffice, those with
  /// the latest press times: the rule asks only whether some device other than the sender pressed later.
  package private(set) var lastSettled: [DeviceID: BusTime] = [:]
  /// For each device the highest revision in its `applied` and `coalesced` verdicts, laps and amendments excepted. Kept
  /// for the ``ControlHistory/devicesMax`` devices with the highest ones.
  package private(set) var verdictRevision: [DeviceID: UInt64] = [:]

  /// A state without a past: idle, at revision 0.
  package init() {}

  /// Who made the last transition; `nil` before the first.
  package var changedBy: Author? { transitions.last?.change }
  /// When the last transition took effect; `nil` before the first.
  package var lastEffectiveAt: BusTime? { transitions.last?.effectiveAt }

  /// The run that is on: running or paused. `nil` while none is.
  package var runOn: RunID? { phase.isOn ? runID : nil }

  /// Whether a run is over. This is the hub's only definition of it: at most one run is on, the present one until its
  /// stop is made, and every other run is over. That includes runs that this state has forgotten and whole runs, which
  /// are never on.
  ///
  /// It says nothing about whether a run is known (``knows(_:)``), or what is kept of it (`RecordKeeping`).
  ///
  /// - Parameter run: a run, aliases resolved.
  package func isOver(_ run: RunID) -> Bool { run != runOn }

  /// The run that an id names: an alias is resolved, any other id is returned unchanged.
  package func canonical(_ id: RunID) -> RunID { aliases[id] ?? id }

  /// Remembers a transition that makes a revision.
  mutating func make(_ transition: PastTransition) {
    if transition.kind == .start {
      runID = transition.runID
      startedAt = transition.effectiveAt
    }
    phase = transition.kind.targetPhase ?? phase
    revision = transition.revision
    Self.append(transition, to: &transitions, max: ControlHistory.transitionsMax)
  }

  /// Remembers a transition without a revision: one inserted into a finished run, or one of a whole run.
  mutating func amend(_ transition: PastTransition) {
    Self.append(transition, to: &amendments, max: ControlHistory.transitionsMax)
  }

  /// Makes an id an alias of a run.
  ///
  /// - Returns: `false`, with nothing changed, when the run has too many aliases in all or from this device.
  mutating func setAlias(_ id: RunID, of run: RunID, by device: DeviceID) -> Bool {
    let count = aliasCounts[run] ?? AliasCount()
    guard count.all < ControlHistory.aliasesMax,
      count.given[device, default: 0] < ControlHistory.aliasesOfDeviceMax
    else { return false }
    aliases[id] = run
    countAlias(of: run, by: device)
    return true
  }

  private mutating func countAlias(of run: RunID, by device: DeviceID?) {
    aliasCounts[run, default: AliasCount()].all += 1
    if let device { aliasCounts[run]?.given[device, default: 0] += 1 }
  }

  /// Forgets the aliases of a run.
  mutating func forgetAliases(of run: RunID) {
    guard aliasCounts.removeValue(forKey: run) != nil else { return }
    aliases = aliases.filter { $0.value != run }
  }

  /// Remembers a window that applied something.
  mutating func remember(_ window: SettledWindow) {
    Self.append(window, to: &windows, max: ControlHistory.windowsMax)
  }

  /// Remembers what a verdict says about its sender.
  mutating func remember(_ verdict: Verdict, of press: AcceptedCommand) {
    guard verdict.kind != .lap else { return }
    switch verdict.outcome {
    case .applied: raiseBase(of: press.deviceID, to: verdict.revision, madeBy: verdict.commandID)
    case .coalesced(let maker): raiseBase(of: press.deviceID, to: verdict.revision, madeBy: maker)
    case .superseded: break
    case .rejected, .unknown: return
    }
    lastSettled[press.deviceID] = max(lastSettled[press.deviceID] ?? press.pressedAt, press.pressedAt)
    Self.keepHighest(2, of: &lastSettled)
  }

  /// Raises the revision that a device was told of. A command that made none (an amendment, one of a whole run) is
  /// skipped: its verdict states the present revision, whose transitions the sender may not have seen.
  private mutating func raiseBase(of sender: DeviceID, to revision: UInt64, madeBy maker: CommandID) {
    guard transitions.last(where: { $0.change.commandID == maker }) != nil else { return }
    verdictRevision[sender] = max(verdictRevision[sender] ?? 0, revision)
    Self.keepHighest(ControlHistory.devicesMax, of: &verdictRevision)
  }

  private static func keepHighest<Value: Comparable>(_ count: Int, of values: inout [DeviceID: Value]) {
    guard values.count > count, let least = values.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
    values[least.key] = nil
  }

  private static func append<Element>(_ element: Element, to list: inout Deque<Element>, max: Int) {
    list.append(element)
    if list.count > max { list.removeFirst(list.count - max) }
  }
}

extension ControlState {
  /// The control state of an earlier term, rebuilt from what the store kept.
  ///
  /// A stored transition is an amendment if its revision is not above those of all before it.
  ///
  /// - Parameters:
  ///   - transitions: transitions and amendments, in the order in which they were made.
  ///   - windows: settled windows, in the order in which they were remembered.
  ///   - aliases: aliases, with the runs that they name.
  ///   - verdicts: kept verdicts in order of judgement, each with the press that it answers.
  package init(
    transitions: [PastTransition], windows: [SettledWindow], aliases: [RunID: RunID],
    verdicts: [(verdict: Verdict, press: AcceptedCommand)]
  ) {
    self.init()
    for transition in transitions {
      if transition.revision > revision { make(transition) } else { amend(transition) }
    }
    for window in windows { remember(window) }
    restore(aliases, verdicts)
    for (verdict, press) in verdicts { remember(verdict, of: press) }
  }

  /// Restores the aliases and finds in the verdicts of starts which device gave each. An alias whose verdict is no
  /// longer kept counts for its run and for no device.
  private mutating func restore(_ aliases: [RunID: RunID], _ verdicts: [(verdict: Verdict, press: AcceptedCommand)]) {
    self.aliases = aliases
    var givers: [RunID: DeviceID] = [:]
    for (verdict, press) in verdicts where verdict.kind == .start {
      if case .rejected = verdict.outcome { continue }
      guard let own = press.command.runID, givers[own] == nil, aliases[own] == verdict.runID else { continue }
      givers[own] = press.deviceID
    }
    for (alias, run) in aliases { countAlias(of: run, by: givers[alias]) }
  }
}

// The state of runs at a past moment.
extension ControlState {
  /// The phase of a run at a moment, amendments included; `idle` before its start.
  func phase(of run: RunID, at moment: BusTime) -> RunPhase {
    let past = history(of: run).last { $0.effectiveAt <= moment }
    return past?.kind.targetPhase ?? .idle
  }

  /// Whether a transition or amendment of a run is remembered.
  func knows(_ run: RunID) -> Bool {
    transitions.contains { $0.runID == run } || amendments.contains { $0.runID == run }
  }

  /// The run that was on at a moment, or else the last one before it.
  func run(at moment: BusTime) -> RunID? { transitions.last { $0.effectiveAt <= moment }?.runID }

  /// All transitions and amendments of a run, ordered by effective time.
  func history(of run: RunID) -> [PastTransition] {
    let all = transitions.filter { $0.runID == run } + amendments.filter { $0.runID == run }
    // The offset makes the sort stable: of two with the same effective time the earlier made one stays first.
    return all.enumerated().sorted {
      ($0.element.effectiveAt, $0.offset) < ($1.element.effectiveAt, $1.offset)
    }.map(\.element)
  }

  /// The stop of a run; `nil` when it has none.
  func stop(of run: RunID) -> PastTransition? { history(of: run).last { $0.kind == .stop } }

  /// Finds the command of a kind that was applied by a settled window around a moment. A late press at that moment is
  /// coalesced into it, so that a burst of presses counts once even if one of them arrives later.
  ///
  /// - Parameter run: for anything but a start, the run that the applied command must have; `nil` for any run.
  func applied(_ kind: CommandKind, at moment: BusTime, run: RunID?) -> SettledWindow.Applied? {
    let contrary: CommandKind? = kind == .pause ? .resume : kind == .resume ? .pause : nil
    for window in windows.reversed() where window.first <= moment && moment < window.deadline {
      let found = window.applied.last {
        $0.kind == kind && (kind == .start || run == nil || run == $0.runID)
          && !(Self.endsWithStop(kind) && window.hasStopped($0.runID, by: moment))
      }
      if let found { return found }
      // This window applied the opposite. After pause, resume, pause, each judged alone, the second pause must not
      // count as a repeat of the first.
      let isUndone = window.applied.contains { $0.kind == contrary && (run == nil || run == $0.runID) }
      if isUndone { return nil }
    }
    return nil
  }
}

extension ControlState {
  /// Whether a press of this kind after the stop does not belong to the run, even if the window applied one before.
  private static func endsWithStop(_ kind: CommandKind) -> Bool { kind != .start && kind != .stop }
}

extension SettledWindow {
  /// Whether the window stopped a run at or before a moment.
  fileprivate func hasStopped(_ run: RunID, by moment: BusTime) -> Bool {
    applied.contains { $0.kind == .stop && $0.runID == run && $0.effectiveAt <= moment }
  }
}

/// A transition that the hub has made.
package struct PastTransition: Hashable, Sendable {
  /// What made it.
  package let kind: CommandKind
  /// The revision that it made; for an amendment the revision at that time, which did not change.
  package let revision: UInt64
  /// Who made it.
  package let change: Author
  /// The run to which it belongs.
  package let runID: RunID
  /// When it took effect.
  package let effectiveAt: BusTime

  /// A past transition from its parts.
  package init(kind: CommandKind, revision: UInt64, change: Author, runID: RunID, effectiveAt: BusTime) {
    self.kind = kind
    self.revision = revision
    self.change = change
    self.runID = runID
    self.effectiveAt = effectiveAt
  }
}

/// A window that has settled, with the commands that it applied.
package struct SettledWindow: Hashable, Sendable {
  /// One command that the window applied.
  package struct Applied: Hashable, Sendable {
    /// The kind of the command.
    package let kind: CommandKind
    /// The id of the command.
    package let commandID: CommandID
    /// The run to which it was applied.
    package let runID: RunID
    /// The revision that it made; for a lap or an amendment the revision at that time.
    package let revision: UInt64
    /// When it took effect.
    package let effectiveAt: BusTime

    /// An applied command from its parts.
    package init(kind: CommandKind, commandID: CommandID, runID: RunID, revision: UInt64, effectiveAt: BusTime) {
      self.kind = kind
      self.commandID = commandID
      self.runID = runID
      self.revision = revision
      self.effectiveAt = effectiveAt
    }
  }
  /// The press time of the window's earliest command.
  package let first: BusTime
  /// The window's end: a press before it belongs to the window.
  package let deadline: BusTime
  /// The commands that it applied, in press order.
  package let applied: [Applied]

  /// A settled window from its parts.
  package init(first: BusTime, deadline: BusTime, applied: [Applied]) {
    self.first = first
    self.deadline = deadline
    self.applied = applied
  }
}

/// The bounds of what the hub remembers of past commands.
package enum ControlHistory {
  /// One day of bus time: the hub rejects older late commands and may delete the readings of a run that ended before.
  package static let age = BusDuration.seconds(86_400)
  /// More transitions than a person makes in a day. A device that chatters pushes out the oldest ones.
  package static let transitionsMax = 512
  /// More windows that apply something than a person makes in a day.
  package static let windowsMax = 512
  /// How many aliases of one run one device may give, and how many all devices together. A coalesced start gives one.
  package static let (aliasesOfDeviceMax, aliasesMax) = (16, 1024)
  /// For how many devices the hub remembers the highest revision in their verdicts.
  package static let devicesMax = 256
  /// For how many terms the hub remembers which change numbers it skipped. It uses them to detect that a peer's last
  /// change belongs to a history that the hub has lost; a peer that was away for longer is believed.
  package static let skipsMax = 1024
  /// Two days of bus time: how long the hub keeps a verdict, for senders that ask again and to recognize a command that
  /// a request repeats.
  package static let verdictAge = BusDuration.seconds(2 * 86_400)
}
