/// What the control path remembers of the past: enough to judge the next command, and bounded.
public struct ControlState: Hashable, Sendable {
  /// Where the run stands.
  public var phase: RunPhase = .idle
  /// The run that is on, or the last one.
  public var runID: RunID?
  /// When that run started.
  public var startedAt: BusTime?
  /// Counts the phase transitions of all runs.
  public var revision: UInt64 = 0
  /// Past transitions, oldest first: those of the last day, at most ``ControlHistory/transitionsMax``.
  public var transitions: [PastTransition] = []
  /// Settled windows, oldest first: those of the last day that applied something, at most
  /// ``ControlHistory/windowsMax``.
  public var windows: [SettledWindow] = []
  /// For each device the latest press of it that was settled other than rejected, laps excepted.
  public var lastSettled: [DeviceID: BusTime] = [:]
  /// For each device the highest revision in an `applied` or `coalesced` verdict of its.
  public var verdictRevision: [DeviceID: UInt64] = [:]

  /// Idle, and nothing has ever happened.
  public init() {}

  /// Who changed the run last.
  public var changedBy: Change? { transitions.last?.change }
}

/// A transition that was made.
public struct PastTransition: Hashable, Sendable, Codable {
  /// What made it.
  public let kind: CommandKind
  /// The revision it made.
  public let revision: UInt64
  /// Who asked.
  public let change: Change
  /// The run it belongs to.
  public let runID: RunID
  /// When it took effect.
  public let effectiveAt: BusTime

  /// A past transition from its parts.
  public init(kind: CommandKind, revision: UInt64, change: Change, runID: RunID, effectiveAt: BusTime) {
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
}
