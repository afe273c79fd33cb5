import Foundation
import GRDB
import RunCore

/// A verdict as columns. The columns of its accepted command name the receiver.
enum VerdictColumns {
  static let names = "outcome, other_command, reason, phase, verdict_run, term, revision, effective_at, judged_at"
  static let placeholders = "?, ?, ?, ?, ?, ?, ?, ?, ?"

  static func values(_ verdict: Verdict, judgedAt: BusTime) -> [(any DatabaseValueConvertible)?] {
    var outcome = "applied"
    var other: Data?
    var reason: String?
    var phase: String?
    switch verdict.outcome {
    case .applied: break
    case .coalesced(let into):
      outcome = "coalesced"
      other = into.data
    case .superseded(let by):
      outcome = "superseded"
      other = by.data
    case .rejected(let why):
      outcome = "rejected"
      reason = why.code
      if case .illegal(let found) = why { phase = found.rawValue }
    case .unknown: outcome = "unknown"
    }
    return [
      outcome, other, reason, phase, verdict.runID?.data, Int64(bitPattern: verdict.term),
      Int64(bitPattern: verdict.revision), verdict.effectiveAt?.nanoseconds, judgedAt.nanoseconds,
    ]
  }

  /// `nil` when the row does not contain a verdict and its command.
  static func read(_ row: Row) -> (verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime)? {
    guard let press = AcceptedCommandColumns.read(row), let outcome = outcome(row),
      let runID: RunID? = row.optionalIdentifier("verdict_run"), let term = row.integer("term"),
      let revision = row.integer("revision"), let judgedAt = row.integer("judged_at"),
      let effectiveAt: Int64? = row.optionalInteger("effective_at")
    else { return nil }
    let verdict = Verdict(
      commandID: press.command.id, kind: press.command.kind, source: press.command.source, outcome: outcome,
      runID: runID, term: UInt64(bitPattern: term), revision: UInt64(bitPattern: revision),
      effectiveAt: effectiveAt.map(BusTime.init(nanoseconds:)))
    return (verdict, press, BusTime(nanoseconds: judgedAt))
  }

  private static func outcome(_ row: Row) -> Outcome? {
    switch row.text("outcome") {
    case "applied": return .applied
    case "coalesced": return row.identifier("other_command").map(Outcome.coalesced)
    case "superseded": return row.identifier("other_command").map(Outcome.superseded)
    case "rejected": return reason(row).map(Outcome.rejected)
    case "unknown": return .unknown
    default: return nil
    }
  }

  private static func reason(_ row: Row) -> RejectionReason? {
    guard let code = row.text("reason") else { return nil }
    if code == "illegal" { return row.text("phase").flatMap(RunPhase.init).map(RejectionReason.illegal) }
    return RejectionReason(plainCode: code)
  }
}
