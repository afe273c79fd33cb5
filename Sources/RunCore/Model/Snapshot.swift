/// Orders publications for every observer: it only ever grows.
public struct SnapshotOrder: Hashable, Comparable, Sendable, Codable {
  /// Counts hub lives.
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

/// Who changed the run last.
public struct Author: Hashable, Sendable, Codable {
  /// Who gave the command.
  public let source: ControlSource
  /// The device it came from.
  public let deviceID: DeviceID
  /// The command.
  public let commandID: CommandID

  /// A change from its parts.
  public init(source: ControlSource, deviceID: DeviceID, commandID: CommandID) {
    self.source = source
    self.deviceID = deviceID
    self.commandID = commandID
  }
}

/// The whole shareable state at one moment.
public struct Snapshot: Hashable, Sendable, Codable {
  /// Its place among all publications.
  public var order: SnapshotOrder
  /// Where the run stands.
  public var phase: RunPhase
  /// The run; `nil` while none was ever started.
  public var runID: RunID?
  /// Who changed it last; `nil` while nobody has.
  public var changedBy: Author?
  /// The origin of run time, on the hub's time line; `nil` while none was ever started.
  public var startedAt: BusTime?
  /// The moment that the metrics speak of, on the hub's time line.
  public var capturedAt: BusTime
  /// The numbers.
  public var metrics: RunMetrics
  /// The hub died while the run was on, and waits for somebody to say what is to become of it: meanwhile the run stands
  /// in the phase that it had.
  public var isRecovering: Bool

  /// A snapshot from its parts.
  public init(
    order: SnapshotOrder, phase: RunPhase, runID: RunID?, changedBy: Author?, startedAt: BusTime?,
    capturedAt: BusTime, metrics: RunMetrics, isRecovering: Bool = false
  ) {
    self.order = order
    self.phase = phase
    self.runID = runID
    self.changedBy = changedBy
    self.startedAt = startedAt
    self.capturedAt = capturedAt
    self.metrics = metrics
    self.isRecovering = isRecovering
  }
}

extension Snapshot {
  /// What a node shows before it has heard anything: idle, and before every publication.
  public static let none = Snapshot(
    order: SnapshotOrder(term: 0, revision: 0, tick: 0), phase: .idle, runID: nil, changedBy: nil, startedAt: nil,
    capturedAt: .zero, metrics: RunMetrics())
}
