/// The position of a snapshot among all publications of a hub. It only grows.
public struct SnapshotOrder: Hashable, Comparable, Sendable {
  /// Counts the starts of the hub.
  public let term: UInt64
  /// Counts the phase transitions of the authoritative run state.
  public let revision: UInt64
  /// Counts publications within a term.
  public let tick: UInt64

  /// An order from its parts.
  public init(term: UInt64, revision: UInt64, tick: UInt64) {
    self.term = term
    self.revision = revision
    self.tick = tick
  }
  /// By term, then revision, then tick.
  public static func < (left: Self, right: Self) -> Bool {
    (left.term, left.revision, left.tick) < (right.term, right.revision, right.tick)
  }
}

/// The command that changed a run, with its source and device.
public struct Author: Hashable, Sendable {
  /// Who gave the command.
  public let source: ControlSource
  /// The device it came from.
  public let deviceID: DeviceID
  /// The command.
  public let commandID: CommandID

  /// An author from its parts.
  public init(source: ControlSource, deviceID: DeviceID, commandID: CommandID) {
    self.source = source
    self.deviceID = deviceID
    self.commandID = commandID
  }
}

/// The hub's state at one moment, as it publishes it to all nodes.
public struct Snapshot: Hashable, Sendable {
  /// Its position among all publications.
  public var order: SnapshotOrder
  /// The goal of the run, which the start that began it named; `nil` in a run without one. What remains of it is
  /// ``remaining``.
  public var goal: RunGoal?
  /// The run's phase.
  public var phase: RunPhase
  /// The present run; `nil` before the first start.
  public var runID: RunID?
  /// The command that changed the phase last; `nil` before the first change.
  public var changedBy: Author?
  /// The start of the run and origin of run time, on the hub's time line; `nil` before the first start.
  public var startedAt: BusTime?
  /// The moment of the metrics, on the hub's time line.
  public var capturedAt: BusTime
  /// The run's metrics at `capturedAt`.
  public var metrics: RunMetrics
  /// Whether the hub died while the run was on and now waits for a ``RecoveryAnswer``. The run keeps its phase
  /// meanwhile.
  public var isRecovering: Bool
  /// Whether active time stands whatever the phase is, because the hub has not decided yet what becomes of a run that
  /// was on when it died: it judges earlier presses first, or ``isRecovering``. A hub of an earlier version never says
  /// so.
  public var isClockStopped: Bool

  /// A snapshot from its parts.
  public init(
    order: SnapshotOrder, phase: RunPhase, runID: RunID?, changedBy: Author?, startedAt: BusTime?,
    capturedAt: BusTime, metrics: RunMetrics, isRecovering: Bool = false,
    isClockStopped: Bool = false, goal: RunGoal? = nil
  ) {
    self.order = order
    self.goal = goal
    self.phase = phase
    self.runID = runID
    self.changedBy = changedBy
    self.startedAt = startedAt
    self.capturedAt = capturedAt
    self.metrics = metrics
    self.isRecovering = isRecovering
    self.isClockStopped = isClockStopped
  }
}

extension Snapshot {
  /// What a peer shows before it has heard from a hub: idle, and ordered before every publication.
  public static let none = Snapshot(
    order: SnapshotOrder(term: 0, revision: 0, tick: 0), phase: .idle, runID: nil, changedBy: nil, startedAt: nil,
    capturedAt: .zero, metrics: RunMetrics())
}
