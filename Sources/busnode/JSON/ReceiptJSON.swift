import RunBus

/// One stage of one command as `send --json` writes it. The keys never change.
struct ReceiptJSON: Codable, Hashable, Sendable {
  /// How far the command is; the last five are verdicts. `unknown` is one of a later version.
  enum Stage: String, Codable, Hashable, Sendable {
    case queued, pending, applied, coalesced, superseded, rejected, unknown
  }

  var commandId: String
  var command: CommandKind
  var source: String
  var receipt: Stage
  @Explicit var runId: String?
  @Explicit var term: UInt64?
  @Explicit var revision: UInt64?
  @Explicit var coalescedInto: String?
  @Explicit var supersededBy: String?
  @Explicit var effectiveAgeSeconds: Double?
  @Explicit var reason: String?
  var message: String
}

extension ReceiptJSON {
  init(_ receipt: Receipt) {
    self.init(
      commandId: receipt.commandID.description, command: receipt.kind, source: receipt.source.rawValue,
      receipt: .queued, runId: nil, term: nil, revision: nil, coalescedInto: nil, supersededBy: nil,
      effectiveAgeSeconds: receipt.effectiveAge?.seconds, reason: nil, message: Sentence.receipt(receipt))
    switch receipt.stage {
    case .queued: break
    case .pending: self.receipt = .pending
    case .verdict(let verdict): add(verdict)
    }
  }

  init(_ verdict: Verdict, effectiveAge: BusDuration?) {
    self.init(
      Receipt(
        commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict),
        effectiveAge: effectiveAge))
  }

  private mutating func add(_ verdict: Verdict) {
    runId = verdict.runID?.description
    term = verdict.term
    revision = verdict.revision
    switch verdict.outcome {
    case .applied: receipt = .applied
    case .coalesced(let into):
      receipt = .coalesced
      coalescedInto = into.description
    case .superseded(let by):
      receipt = .superseded
      supersededBy = by.description
    case .rejected(let why):
      receipt = .rejected
      reason = why.code
    case .unknown: receipt = .unknown
    }
  }
}
