/// Why a command was rejected, or a message of an app was not delivered. Later versions add reasons, which this version
/// knows by their numbers only.
public enum RejectionReason: Hashable, Sendable {
  /// The run's phase, given here, does not allow the command.
  case illegal(RunPhase)
  /// The command names a run that is not the one that is on.
  case otherRun
  /// Another device changed the run after the person pressed.
  case staleRevision
  /// The person pressed more than a day before the command arrived.
  case tooOld
  /// A bounded queue is full: the hub's unjudged commands, a peer's outbox, or the receiver's latest values.
  case busy
  /// The hub does not know this kind of command.
  case unsupported
  /// The sender cancelled it before it was sent.
  case cancelled
  /// It could not be sent within its lifetime.
  case expired
  /// The receiver's handler refused the message five times, and the sender set it aside. Commands never have this
  /// reason.
  case quarantined
  /// The sender may not give this command: its key does not have the command's source, or was taken back.
  case forbidden
  /// The command counts only at this revision of the run (`busnode send --if-revision`), and the run is at another one,
  /// which the verdict has.
  case revisionChanged(UInt64)
  /// A reason of a later version, by its number on the wire.
  case unknown(Int32)

  /// The reason's name in JSON and in stores; the number of a reason that this version does not know.
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
    case .forbidden: "forbidden"
    case .revisionChanged: "revisionChanged"
    case .unknown(let number): "\(number)"
    }
  }

  /// A reason that its code describes completely: all but `illegal` and `revisionChanged`.
  public init?(plainCode code: String) {
    let reasons: [RejectionReason] = [
      .otherRun, .staleRevision, .tooOld, .busy, .unsupported, .cancelled, .expired, .quarantined, .forbidden,
    ]
    guard let reason = reasons.first(where: { $0.code == code }) ?? Int32(code).map(Self.unknown) else { return nil }
    self = reason
  }
}

/// How the hub decided on a command.
public enum Outcome: Hashable, Sendable {
  /// The command made a transition or marked a lap.
  case applied
  /// Another command had already asked for the same, so the two count once.
  case coalesced(into: CommandID)
  /// A later command of the same window undid it before it took effect.
  case superseded(by: CommandID)
  /// The hub refused the command.
  case rejected(RejectionReason)
  /// The hub decided in a way of a later version, which this version does not know.
  case unknown
}

/// The hub's answer to one command. Each command gets exactly one, even if nodes crash in between.
public struct Verdict: Hashable, Sendable {
  /// The command that is answered.
  public let commandID: CommandID
  /// The command's kind.
  public let kind: CommandKind
  /// Who gave the command.
  public let source: ControlSource
  /// How the hub decided.
  public let outcome: Outcome
  /// The run that the command was judged against; `nil` when there was none.
  public let runID: RunID?
  /// The term in which the hub judged it.
  public let term: UInt64
  /// Snapshots with this revision or a later one reflect the verdict.
  public let revision: UInt64
  /// When the command took effect, on the hub's time line; `nil` when it had no effect.
  public let effectiveAt: BusTime?
  /// Fields of a later version, as its bytes on the wire. This version passes them on with the value.
  package var unknown: [UInt8] = []

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
    case .rejected(let reason): "\(kind.rawValue) was rejected: \(Self.explain(reason, kind, at: revision))"
    case .unknown: "\(kind.rawValue) was judged in a way that this version does not know; update this node"
    }
  }

  private static func explain(_ reason: RejectionReason, _ kind: CommandKind, at revision: UInt64) -> String {
    switch reason {
    case .illegal(.idle): "no run has been started"
    case .illegal(.running): "the run is already on"
    case .illegal(.paused): kind == .start ? "a run is already on, and paused" : "the run is paused"
    case .illegal(.completed): "the run is already completed"
    case .illegal(.unknown): "the run's phase does not allow it"
    case .otherRun: "it was meant for another run"
    case .staleRevision: "the run was changed meanwhile, by another device or by its recovery"
    case .tooOld: "it was pressed more than a day ago"
    case .busy: "too many commands wait to be judged; try again"
    case .unsupported: "the hub does not know this command; update the hub"
    case .cancelled: "it was cancelled before it was sent"
    case .expired: "it was never sent and has expired"
    case .quarantined: "it kept failing and was set aside"
    case .forbidden: "its sender may not give it (busnode devices, on the hub)"
    case .revisionChanged(let expected) where expected == revision:
      "the run was not at revision \(expected) when its turn came"
    case .revisionChanged(let expected): "the run is at revision \(revision), not \(expected)"
    case .unknown(let number): "reason \(number)"
    }
  }
}

/// A stage of a command as its sender sees it.
public enum ReceiptStage: Hashable, Sendable {
  /// Durable in the sender's store.
  case queued
  /// Durable in the hub's store, not yet judged.
  case pending
  /// Judged; the last stage.
  case verdict(Verdict)
}

/// One stage of one command.
public struct Receipt: Hashable, Sendable {
  /// The command.
  public let commandID: CommandID
  /// The command's kind.
  public let kind: CommandKind
  /// Who gave the command.
  public let source: ControlSource
  /// The stage that it has reached.
  public let stage: ReceiptStage
  /// The time from the command's effect to this receipt; `nil` when it had no effect.
  public var effectiveAge: BusDuration?
  /// The phase of the run when the hub sent this receipt. Only the verdict that answers a request has it.
  public var phase: RunPhase?

  /// A receipt from its parts.
  public init(
    commandID: CommandID, kind: CommandKind, source: ControlSource, stage: ReceiptStage,
    effectiveAge: BusDuration? = nil, phase: RunPhase? = nil
  ) {
    self.phase = phase
    self.commandID = commandID
    self.kind = kind
    self.source = source
    self.stage = stage
    self.effectiveAge = effectiveAge
  }
}
