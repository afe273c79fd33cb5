public import RunCore

/// The keys of a receipt and of a verdict.
private enum ReceiptKey: String, CodingKey {
  case commandId, command, source, receipt, runId, term, revision, coalescedInto, supersededBy, reason, illegalPhase,
    expectedRevision, effectiveAtBusNanoseconds, effectiveAgeSeconds, phase, message
}

/// The receipt as `busnode send --json` writes it.
///
/// `message`, the sentence for a person, is written for readers and not read, because it follows from the other fields.
extension Receipt: Codable {
  /// Reads a receipt that ``encode(to:)`` or `busnode` has written.
  ///
  /// A verdict of a later version reads as ``RunCore/Outcome/unknown``, a reason of a later version that is not a
  /// number as ``RunCore/RejectionReason/unknown(_:)`` with 0.
  ///
  /// - Throws: `DecodingError`, also for a kind of command and for a stage before the verdict that this version does
  ///   not know. The wire drops both.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: ReceiptKey.self)
    let (commandID, kind): (CommandID, CommandKind) = (try container.need(.commandId), try container.need(.command))
    let source = ControlSource(rawValue: try container.need(.source))
    let stage: ReceiptStage
    switch try container.decode(String.self, forKey: .receipt) {
    case "queued": stage = .queued
    case "pending": stage = .pending
    case let word:
      guard let term: UInt64 = try container.read(.term) else {
        throw container.flaw(.receipt, "no stage that this version knows: \(word)")
      }
      stage = .verdict(
        Verdict(
          commandID: commandID, kind: kind, source: source, outcome: try Self.outcome(word, in: container),
          runID: try container.read(.runId), term: term, revision: try container.need(.revision),
          effectiveAt: try container.readNanoseconds(.effectiveAtBusNanoseconds)))
    }
    let phase: String? = try container.read(.phase)
    self.init(
      commandID: commandID, kind: kind, source: source, stage: stage,
      effectiveAge: try container.readSeconds(.effectiveAgeSeconds),
      phase: phase.map { RunPhase(rawValue: $0) ?? .unknown })
  }

  private static func outcome(_ word: String, in container: KeyedDecodingContainer<ReceiptKey>) throws -> Outcome {
    switch word {
    case "applied": .applied
    case "coalesced": .coalesced(into: try container.need(.coalescedInto))
    case "superseded": .superseded(by: try container.need(.supersededBy))
    case "rejected": .rejected(try reason(container.need(.reason), in: container))
    default: .unknown
    }
  }

  private static func reason(
    _ code: String, in container: KeyedDecodingContainer<ReceiptKey>
  ) throws -> RejectionReason {
    let phase: String? = try container.read(.illegalPhase)
    if let expected: UInt64 = try container.read(.expectedRevision),
      code == RejectionReason.revisionChanged(expected).code
    {
      return .revisionChanged(expected)
    }
    return code == RejectionReason.illegal(.unknown).code
      ? .illegal(phase.flatMap { RunPhase(rawValue: $0) } ?? .unknown)
      : RejectionReason(plainCode: code) ?? .unknown(0)
  }

  /// Writes the receipt in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: ReceiptKey.self)
    try container.write(commandID, .commandId)
    try container.write(kind, .command)
    try container.write(source.rawValue, .source)
    var verdict: Verdict?
    switch stage {
    case .queued: try container.write("queued", .receipt)
    case .pending: try container.write("pending", .receipt)
    case .verdict(let judged):
      verdict = judged
      try container.write(judged.outcome.word, .receipt)
    }
    try container.write(verdict?.runID, .runId)
    try container.write(verdict?.term, .term)
    try container.write(verdict?.revision, .revision)
    try container.write(verdict?.outcome.coalescedInto, .coalescedInto)
    try container.write(verdict?.outcome.supersededBy, .supersededBy)
    try container.write(verdict?.outcome.reason?.code, .reason)
    try container.write(verdict?.outcome.reason?.illegalPhase, .illegalPhase)
    if let expected = verdict?.outcome.reason?.expectedRevision { try container.write(expected, .expectedRevision) }
    try container.write(nanoseconds: verdict?.effectiveAt, .effectiveAtBusNanoseconds)
    try container.write(seconds: effectiveAge, .effectiveAgeSeconds)
    try container.write(phase, .phase)
    try container.write(message, .message)
  }

  /// One sentence for a person.
  public var message: String {
    switch stage {
    case .queued: "\(kind.rawValue) is queued"
    case .pending: "\(kind.rawValue) has reached the hub"
    case .verdict(let verdict): verdict.message
    }
  }
}

/// The verdict as a receipt at its last stage, with `effectiveAgeSeconds` and `phase` `null`.
extension Verdict: Codable {
  /// Reads a verdict, or a receipt at its last stage.
  ///
  /// - Throws: `DecodingError`, also for a receipt at an earlier stage.
  public init(from decoder: any Decoder) throws {
    guard case .verdict(let verdict) = try Receipt(from: decoder).stage else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a receipt without a verdict"))
    }
    self = verdict
  }

  /// Writes the verdict as a receipt at its last stage.
  public func encode(to encoder: any Encoder) throws {
    try Receipt(commandID: commandID, kind: kind, source: source, stage: .verdict(self)).encode(to: encoder)
  }
}

extension Outcome {
  /// The word in JSON.
  package var word: String {
    switch self {
    case .applied: "applied"
    case .coalesced: "coalesced"
    case .superseded: "superseded"
    case .rejected: "rejected"
    case .unknown: "unknown"
    }
  }

  fileprivate var coalescedInto: CommandID? { if case .coalesced(let into) = self { into } else { nil } }
  fileprivate var supersededBy: CommandID? { if case .superseded(let by) = self { by } else { nil } }
  fileprivate var reason: RejectionReason? { if case .rejected(let reason) = self { reason } else { nil } }
}

extension RejectionReason {
  fileprivate var illegalPhase: RunPhase? { if case .illegal(let phase) = self { phase } else { nil } }
  fileprivate var expectedRevision: UInt64? { if case .revisionChanged(let number) = self { number } else { nil } }
}
