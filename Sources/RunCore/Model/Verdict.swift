/// Why a command was refused: one closed list.
public enum RejectionReason: Hashable, Sendable, Codable {
  /// The run's phase does not allow it.
  case illegal(RunPhase)
  /// It was meant for a run that is not the one that is on.
  case otherRun
  /// Another device changed the run after the person pressed.
  case staleRevision
  /// Pressed more than a day ago.
  case tooOld
  /// The hub's queue of unjudged commands is full.
  case busy
  /// The hub does not know this kind of command.
  case unsupported
  /// Taken back by its sender before it was sent.
  case cancelled
  /// Never sent within its lifetime.
  case expired
  /// It kept failing and was set aside.
  case quarantined

  /// The reason as it stands on the wire and in JSON.
  public var code: String {
    switch self {
    case .illegal: "illegal"
    case .otherRun: "otherRun"
    case .staleRevision: "staleRevision"
    case .tooOld: "tooOld"
    case .busy: "busy"
    case .unsupported: "unsupported"
    case .cancelled: "cancelled"
    case .expired: "expired"
    case .quarantined: "quarantined"
    }
  }
}

/// What became of a command.
public enum Outcome: Hashable, Sendable, Codable {
  /// It made a transition (or a mark).
  case applied
  /// It asked for what another command had already made, and shares that one's fate.
  case coalesced(into: CommandID)
  /// It was undone within its own window.
  case superseded(by: CommandID)
  /// It was refused.
  case rejected(RejectionReason)
}

/// The hub's answer to one command: exactly one, whatever dies in between.
public struct Verdict: Hashable, Sendable, Codable {
  /// The command that is answered.
  public let commandID: CommandID
  /// What it asked.
  public let kind: CommandKind
  /// Who asked.
  public let source: ControlSource
  /// What became of it.
  public let outcome: Outcome
  /// The run that it fell on; `nil` when there was none.
  public let runID: RunID?
  /// The hub life in which it was judged.
  public let term: UInt64
  /// The revision from which on a snapshot reflects this verdict.
  public let revision: UInt64
  /// When it took effect, on the hub's time line; `nil` when it had none.
  public let effectiveAt: BusTime?

  /// A verdict from its parts.
  public init(
    commandID: CommandID, kind: CommandKind, source: ControlSource, outcome: Outcome, runID: RunID?, term: UInt64,
    revision: UInt64, effectiveAt: BusTime?
  ) {
    self.commandID = commandID
    self.kind = kind
    self.source = source
    self.outcome = outcome
    self.runID = runID
    self.term = term
    self.revision = revision
    self.effectiveAt = effectiveAt
  }

  /// One sentence for a person.
  public var message: String {
    switch outcome {
    case .applied: kind == .lap ? "lap was marked" : "\(kind.rawValue) was applied"
    case .coalesced: "\(kind.rawValue) was already asked for: it counts once"
    case .superseded: "\(kind.rawValue) was undone by a later press before it took effect"
    case .rejected(let reason): "\(kind.rawValue) was rejected: \(Self.explain(reason, kind))"
    }
  }

  private static func explain(_ reason: RejectionReason, _ kind: CommandKind) -> String {
    switch reason {
    case .illegal(.idle): "no run has been started"
    case .illegal(.running): "the run is already on"
    case .illegal(.paused): kind == .start ? "a run is already on, and paused" : "the run is paused"
    case .illegal(.completed): "the run is already completed"
    case .otherRun: "it was meant for another run"
    case .staleRevision: "another device changed the run after it was pressed"
    case .tooOld: "it was pressed more than a day ago"
    case .busy: "too many commands wait to be judged; try again"
    case .unsupported: "the hub does not know this command; update the hub"
    case .cancelled: "it was cancelled before it was sent"
    case .expired: "it was never sent and has expired"
    case .quarantined: "it kept failing and was set aside"
    }
  }
}

/// A stage that a sender sees of its command.
public enum ReceiptStage: Hashable, Sendable, Codable {
  /// Durable here.
  case queued
  /// Durable at the hub.
  case pending
  /// Judged: the last stage.
  case verdict(Verdict)
}

/// One stage of one command.
public struct Receipt: Hashable, Sendable, Codable {
  /// The command.
  public let commandID: CommandID
  /// What it asks.
  public let kind: CommandKind
  /// Who asks.
  public let source: ControlSource
  /// How far it is.
  public let stage: ReceiptStage
  /// How long ago it took effect, at the time of this receipt; `nil` when it had no effect.
  public var effectiveAge: BusDuration?

  /// A receipt from its parts.
  public init(
    commandID: CommandID, kind: CommandKind, source: ControlSource, stage: ReceiptStage,
    effectiveAge: BusDuration? = nil
  ) {
    self.commandID = commandID
    self.kind = kind
    self.source = source
    self.stage = stage
    self.effectiveAge = effectiveAge
  }
}
