/// What the control path remembers of the past: enough to judge the next command, and bounded.
public struct ControlState: Hashable, Sendable {
  /// Where the run stands.
  public private(set) var phase: RunPhase = .idle
  /// The run that is on, or the last one.
  public private(set) var runID: RunID?
  /// When that run started.
  public private(set) var startedAt: BusTime?
  /// Counts the phase transitions of all runs.
  public private(set) var revision: UInt64 = 0
  /// Past transitions, oldest first, at most ``ControlHistory/transitionsMax``.
  public private(set) var transitions: [PastTransition] = []
  /// What was inserted into runs after they were over, and whole runs that arrived after the fact: no revisions of
  /// their own; at most ``ControlHistory/transitionsMax``.
  public private(set) var amendments: [PastTransition] = []
  /// Settled windows that applied something, oldest first, at most ``ControlHistory/windowsMax``.
  public private(set) var windows: [SettledWindow] = []
  /// Run ids that are another name for a run: at most ``ControlHistory/aliasesMax`` of each.
  public private(set) var aliases: [RunID: RunID] = [:]
  private struct AliasCount: Hashable, Sendable {
    var all = 0
    var given: [DeviceID: Int] = [:]
  }
  /// How many names each run has, and how many of them each device gave.
  private var aliasCounts: [RunID: AliasCount] = [:]
  /// The latest press that was settled other than rejected, laps excepted, of the two devices for which that is latest:
  /// the question is always whether a device other than the asking one pressed later.
  public private(set) var lastSettled: [DeviceID: BusTime] = [:]
  /// For each device the highest revision in an `applied` or `coalesced` verdict of its, laps and amendments excepted: of
  /// ``ControlHistory/devicesMax`` devices, those that were told most.
  public private(set) var verdictRevision: [DeviceID: UInt64] = [:]

  /// Idle, and nothing has ever happened.
  public init() {}

  /// Who changed the run last; `nil` while nobody has.
  public var changedBy: Author? { transitions.last?.change }
  /// When the last transition took effect.
  public var lastEffectiveAt: BusTime? { transitions.last?.effectiveAt }

  /// The run behind an id that may be an alias.
  public func canonical(_ id: RunID) -> RunID { aliases[id] ?? id }

  /// Remembers a transition that makes the next revision.
  mutating func make(_ transition: PastTransition) {
    if transition.kind == .start {
      runID = transition.runID
      startedAt = transition.effectiveAt
    }
    phase = transition.kind.targetPhase ?? phase
    revision = transition.revision
    Self.append(transition, to: &transitions, max: ControlHistory.transitionsMax)
  }

  /// Remembers a transition that a finished run was amended by, or one of a run that arrived whole.
  mutating func amend(_ transition: PastTransition) {
    Self.append(transition, to: &amendments, max: ControlHistory.transitionsMax)
  }

  /// Remembers that an id is another name for a run; `false` when the run, or the device that gives it, has too many.
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

  /// Forgets the other names of a run.
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
    case .rejected: return
    }
    lastSettled[press.deviceID] = max(lastSettled[press.deviceID] ?? press.pressedAt, press.pressedAt)
    Self.keepHighest(2, of: &lastSettled)
  }

  /// What made no revision (an amendment, a run that arrived whole) says nothing about what its sender knows.
  private mutating func raiseBase(of sender: DeviceID, to revision: UInt64, madeBy maker: CommandID) {
    guard transitions.last(where: { $0.change.commandID == maker }) != nil else { return }
    verdictRevision[sender] = max(verdictRevision[sender] ?? 0, revision)
    Self.keepHighest(ControlHistory.devicesMax, of: &verdictRevision)
  }

  private static func keepHighest<Value: Comparable>(_ count: Int, of values: inout [DeviceID: Value]) {
    guard values.count > count, let least = values.min(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return }
    values[least.key] = nil
  }

  private static func append<Element>(_ element: Element, to list: inout [Element], max: Int) {
    list.append(element)
    if list.count > max { list.removeFirst(list.count - max) }
  }
}

extension ControlState {
  /// What the control path remembered when it last stopped, from what the store kept.
  ///
  /// A kept transition whose revision is not above all before it is an amendment.
  public init(
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

  /// The verdict of a start tells which device gave a name. A name whose verdict is no longer kept counts for the run and
  /// for no device.
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

// What the ledger shows at a past moment.
extension ControlState {
  /// The phase of a run at a moment, its amendments included; `idle` before its start.
  func phase(of run: RunID, at moment: BusTime) -> RunPhase {
    let past = history(of: run).last { $0.effectiveAt <= moment }
    return past?.kind.targetPhase ?? .idle
  }

  /// Whether a run has ever begun.
  func knows(_ run: RunID) -> Bool {
    transitions.contains { $0.runID == run } || amendments.contains { $0.runID == run }
  }

  /// The run that was on, or had last been on, at a moment.
  func run(at moment: BusTime) -> RunID? { transitions.last { $0.effectiveAt <= moment }?.runID }

  /// All transitions of a run in order of when they took effect.
  func history(of run: RunID) -> [PastTransition] {
    let all = transitions.filter { $0.runID == run } + amendments.filter { $0.runID == run }
    // A stable sort: at one instant the one that was made first stays first.
    return all.enumerated().sorted {
      ($0.element.effectiveAt, $0.offset) < ($1.element.effectiveAt, $1.offset)
    }.map(\.element)
  }

  /// The stop of a run, when it has one.
  func stop(of run: RunID) -> PastTransition? { history(of: run).last { $0.kind == .stop } }

  /// What a settled window applied of a kind at a moment that lies in it: a press there counts once, however late.
  func applied(_ kind: CommandKind, at moment: BusTime, run: RunID?) -> SettledWindow.Applied? {
    let contrary: CommandKind? = kind == .pause ? .resume : kind == .resume ? .pause : nil
    for window in windows.reversed() where window.first <= moment && moment < window.deadline {
      let found = window.applied.last {
        $0.kind == kind && (kind == .start || run == nil || run == $0.runID)
          && !(Self.endsWithStop(kind) && window.hasStopped($0.runID, by: moment))
      }
      if let found { return found }
      // Pause, resume, pause, each judged alone: the second pause is no repeat of the first.
      let isUndone = window.applied.contains { $0.kind == contrary && (run == nil || run == $0.runID) }
      if isUndone { return nil }
    }
    return nil
  }
}

extension ControlState {
  /// A press behind the stop is none of the run, whatever the window applied before it.
  private static func endsWithStop(_ kind: CommandKind) -> Bool { kind != .start && kind != .stop }
}

extension SettledWindow {
  /// Whether it stopped a run at a moment or before.
  fileprivate func hasStopped(_ run: RunID, by moment: BusTime) -> Bool {
    applied.contains { $0.kind == .stop && $0.runID == run && $0.effectiveAt <= moment }
  }
}

/// A transition that was made.
public struct PastTransition: Hashable, Sendable, Codable {
  /// What made it.
  public let kind: CommandKind
  /// The revision it made; for an amendment the revision that stayed.
  public let revision: UInt64
  /// Who asked.
  public let change: Author
  /// The run it belongs to.
  public let runID: RunID
  /// When it took effect.
  public let effectiveAt: BusTime

  /// A past transition from its parts.
  public init(kind: CommandKind, revision: UInt64, change: Author, runID: RunID, effectiveAt: BusTime) {
    self.kind = kind
    self.revision = revision
    self.change = change
    self.runID = runID
    self.effectiveAt = effectiveAt
  }
}

/// A window that has settled, with what it applied.
public struct SettledWindow: Hashable, Sendable, Codable {
  /// One command that the window applied.
  public struct Applied: Hashable, Sendable, Codable {
    /// What it was.
    public let kind: CommandKind
    /// Its id.
    public let commandID: CommandID
    /// The run it fell on.
    public let runID: RunID
    /// The revision that reflects it.
    public let revision: UInt64
    /// When it took effect.
    public let effectiveAt: BusTime

    /// An applied command from its parts.
    public init(kind: CommandKind, commandID: CommandID, runID: RunID, revision: UInt64, effectiveAt: BusTime) {
      self.kind = kind
      self.commandID = commandID
      self.runID = runID
      self.revision = revision
      self.effectiveAt = effectiveAt
    }
  }
  /// The first press admitted.
  public let first: BusTime
  /// The deadline: presses before it belong to the window.
  public let deadline: BusTime
  /// What it applied, in order.
  public let applied: [Applied]

  /// A settled window from its parts.
  public init(first: BusTime, deadline: BusTime, applied: [Applied]) {
    self.first = first
    self.deadline = deadline
    self.applied = applied
  }
}

/// The bounds of what is remembered.
public enum ControlHistory {
  /// A day: what is older can no longer be amended.
  public static let age = BusDuration.seconds(86_400)
  /// More transitions than a person makes in a day; a chattering device forgets its own past first.
  public static let transitionsMax = 512
  /// Likewise for windows.
  public static let windowsMax = 512
  /// Other names of one run, given by one device and by all: a start that is not needed gives one.
  public static let (aliasesOfDeviceMax, aliasesMax) = (16, 1024)
  /// Devices of which is remembered what their verdicts told them.
  public static let devicesMax = 256
  /// Lives of a hub that changed records, of which is remembered how far each went: a peer that was away for longer is
  /// believed.
  public static let skipsMax = 1024
  /// How long a verdict is kept for senders that ask again, and for dedupe of one-shot senders.
  public static let verdictAge = BusDuration.seconds(2 * 86_400)
}
