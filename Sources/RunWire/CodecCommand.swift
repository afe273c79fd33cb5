import RunCore
import SwiftProtobuf

// Commands, receipts and verdicts.
extension Codec {
  static func message(_ command: Command) -> WireCommand {
    var message = WireCommand()
    message.id = data(command.id)
    message.kind = command.ifRevision == nil ? word(command.kind) : conditional(command.kind)
    message.source = command.source.rawValue
    if let runID = command.runID { message.runID = data(runID) }
    if let base = command.base { message.base = self.message(base) }
    if let offset = command.runOffset { message.runOffsetNs = offset.nanoseconds }
    if let goal = command.goal { message.goalNs = goal.time.nanoseconds }
    if let revision = command.ifRevision { message.ifRevision = revision }
    add(command.unknown, to: &message)
    return message
  }

  static func value(_ message: WireCommand) throws(WireError) -> Command {
    let id: CommandID = try identifier(message.id, "command id")
    guard let kind = kindOfAny(message.kind) else {
      if case .UNRECOGNIZED = message.kind { throw .unsupportedKind(id) }
      throw .malformed("command kind is missing")
    }
    guard message.hasIfRevision == (self.kind(message.kind) == nil) else {
      throw .malformed("a command whose kind and condition do not fit")
    }
    var command = Command(
      id: id, kind: kind, source: try source(message.source),
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil,
      base: message.hasBase ? try value(message.base) : nil,
      runOffset: message.hasRunOffsetNs ? BusDuration(nanoseconds: message.runOffsetNs) : nil)
    if message.hasGoalNs {
      let goal = try self.goal(message.goalNs)
      guard command.aim(at: goal) else { throw .malformed("a \(kind.rawValue) with a goal") }
    }
    if message.hasIfRevision { command.ifRevision = try counter(message.ifRevision, "revision of a condition") }
    command.unknown = unknown(in: message)
    return command
  }

  private static func message(_ base: ObservedRevision) -> WireBase {
    var message = WireBase()
    message.revision = base.revision
    if let id = base.commandID { message.commandID = data(id) }
    return message
  }

  private static func value(_ message: WireBase) throws(WireError) -> ObservedRevision {
    ObservedRevision(
      revision: try counter(message.revision, "base revision"),
      commandID: message.hasCommandID ? try identifier(message.commandID, "base command id") : nil)
  }

  static func message(_ receipt: Receipt) -> WireReceipt {
    var message = WireReceipt()
    message.commandID = data(receipt.commandID)
    message.kind = word(receipt.kind)
    message.source = receipt.source.rawValue
    switch receipt.stage {
    case .queued: message.stage = .queued(WireQueued())
    case .pending: message.stage = .pending(WirePending())
    case .verdict(let verdict): message.stage = .verdict(self.message(verdict))
    }
    if let age = receipt.effectiveAge { message.effectiveAgeNs = age.nanoseconds }
    if let phase = receipt.phase { message.phase = word(phase) }
    return message
  }

  static func value(_ message: WireReceipt) throws(WireError) -> Receipt {
    let id: CommandID = try identifier(message.commandID, "command id")
    // A hub that does not know conditions repeats the kind of the command.
    guard let kind = kindOfAny(message.kind) else {
      if case .UNRECOGNIZED = message.kind { throw .unknown("a receipt of a kind of command") }
      throw .malformed("command kind is missing")
    }
    let source = try source(message.source)
    let stage: ReceiptStage
    switch message.stage {
    case .queued: stage = .queued
    case .pending: stage = .pending
    case .verdict(let verdict): stage = .verdict(try value(verdict, commandID: id, kind: kind, source: source))
    case nil: throw .unknown("a stage of a receipt")
    }
    return Receipt(
      commandID: id, kind: kind, source: source, stage: stage,
      effectiveAge: message.hasEffectiveAgeNs ? BusDuration(nanoseconds: message.effectiveAgeNs) : nil,
      phase: message.hasPhase ? phase(message.phase) : nil)
  }

  /// The verdict does not repeat the command's id, which the receipt around it contains.
  static func message(_ verdict: Verdict) -> WireVerdict {
    var message = WireVerdict()
    switch verdict.outcome {
    case .applied: message.outcome = .applied(WireApplied())
    case .coalesced(let id): message.outcome = .coalescedInto(data(id))
    case .superseded(let id): message.outcome = .supersededBy(data(id))
    case .rejected(let reason): message.outcome = .rejected(self.message(reason))
    case .unknown: break
    }
    if let runID = verdict.runID { message.runID = data(runID) }
    message.term = verdict.term
    message.revision = verdict.revision
    if let time = verdict.effectiveAt { message.effectiveAtNs = time.nanoseconds }
    add(verdict.unknown, to: &message)
    return message
  }

  static func value(
    _ message: WireVerdict, commandID: CommandID, kind: CommandKind, source: ControlSource
  ) throws(WireError) -> Verdict {
    let outcome: Outcome
    switch message.outcome {
    case .applied: outcome = .applied
    case .coalescedInto(let id): outcome = .coalesced(into: try identifier(id, "coalesced-into id"))
    case .supersededBy(let id): outcome = .superseded(by: try identifier(id, "superseded-by id"))
    case .rejected(let rejected): outcome = .rejected(try value(rejected))
    case nil: outcome = .unknown
    }
    var verdict = Verdict(
      commandID: commandID, kind: kind, source: source, outcome: outcome,
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil,
      term: try counter(message.term, "term"), revision: try counter(message.revision, "revision"),
      effectiveAt: message.hasEffectiveAtNs ? BusTime(nanoseconds: message.effectiveAtNs) : nil)
    verdict.unknown = unknown(in: message, bytesMax: unknownInBatchBytesMax)
    return verdict
  }

  static func message(_ reason: RejectionReason) -> WireRejected {
    var message = WireRejected()
    switch reason {
    case .illegal(let phase):
      message.reason = .illegal
      message.phase = word(phase)
    case .otherRun: message.reason = .otherRun
    case .staleRevision: message.reason = .staleRevision
    case .tooOld: message.reason = .tooOld
    case .busy: message.reason = .busy
    case .unsupported: message.reason = .unsupported
    case .cancelled: message.reason = .cancelled
    case .expired: message.reason = .expired
    case .quarantined: message.reason = .quarantined
    case .forbidden: message.reason = .forbidden
    case .revisionChanged(let expected):
      message.reason = .revisionChanged
      message.expectedRevision = expected
    case .unknown(let number): message.reason = WireRejectionReason(rawValue: Int(number)) ?? .unspecified
    }
    return message
  }

  static func value(_ message: WireRejected) throws(WireError) -> RejectionReason {
    switch message.reason {
    case .illegal: .illegal(phase(message.phase))
    case .otherRun: .otherRun
    case .staleRevision: .staleRevision
    case .tooOld: .tooOld
    case .busy: .busy
    case .unsupported: .unsupported
    case .cancelled: .cancelled
    case .expired: .expired
    case .quarantined: .quarantined
    case .forbidden: .forbidden
    case .revisionChanged: .revisionChanged(try counter(message.expectedRevision, "expected revision"))
    case .unspecified: throw .malformed("rejection without a reason")
    case .UNRECOGNIZED(let number): .unknown(Int32(truncatingIfNeeded: number))
    }
  }

  static func word(_ kind: CommandKind) -> WireCommandKind {
    switch kind {
    case .start: .start
    case .pause: .pause
    case .resume: .resume
    case .stop: .stop
    case .lap: .lap
    }
  }

  static func kind(_ word: WireCommandKind) -> CommandKind? {
    switch word {
    case .start: .start
    case .pause: .pause
    case .resume: .resume
    case .stop: .stop
    case .lap: .lap
    case .conditionalStart, .conditionalPause, .conditionalResume, .conditionalStop, .conditionalLap: nil
    case .unspecified, .UNRECOGNIZED: nil
    }
  }

  /// The kind of a command with a condition.
  private static func conditional(_ kind: CommandKind) -> WireCommandKind {
    switch kind {
    case .start: .conditionalStart
    case .pause: .conditionalPause
    case .resume: .conditionalResume
    case .stop: .conditionalStop
    case .lap: .conditionalLap
    }
  }

  /// What a command asks for, with a condition or without.
  private static func kindOfAny(_ word: WireCommandKind) -> CommandKind? {
    switch word {
    case .conditionalStart: .start
    case .conditionalPause: .pause
    case .conditionalResume: .resume
    case .conditionalStop: .stop
    case .conditionalLap: .lap
    case .start, .pause, .resume, .stop, .lap, .unspecified, .UNRECOGNIZED: kind(word)
    }
  }

  static func word(_ phase: RunPhase) -> WirePhase {
    switch phase {
    case .idle: .idle
    case .running: .running
    case .paused: .paused
    case .completed: .completed
    case .unknown: .unspecified
    }
  }

  static func phase(_ word: WirePhase) -> RunPhase {
    switch word {
    case .idle: .idle
    case .running: .running
    case .paused: .paused
    case .completed: .completed
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
