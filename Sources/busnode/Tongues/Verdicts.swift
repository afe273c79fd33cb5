import RunBus

// The sentences that the library has in English (`Verdict.message`, `Receipt.message`), in the language of the process.

extension Verdict {
  /// One sentence for a person; in English it is ``message``.
  var sentence: String {
    let command = kind.spoken
    return switch outcome {
    case .applied: kind == .lap ? Tongue.say(.verdictLapped) : Tongue.say(.verdictApplied, ["command": command])
    case .coalesced: Tongue.say(.verdictCoalesced, ["command": command])
    case .superseded: Tongue.say(.verdictSuperseded, ["command": command])
    case .rejected(let reason):
      Tongue.say(.verdictRejected, ["command": command, "reason": Self.words(reason, kind, at: revision)])
    case .unknown: Tongue.say(.verdictUnknown, ["command": command])
    }
  }

  private static func words(_ reason: RejectionReason, _ kind: CommandKind, at revision: UInt64) -> String {
    switch reason {
    case .illegal(.idle): Tongue.say(.reasonIdle)
    case .illegal(.running): Tongue.say(.reasonRunning)
    case .illegal(.paused): Tongue.say(kind == .start ? .reasonStartPaused : .reasonPaused)
    case .illegal(.completed): Tongue.say(.reasonCompleted)
    case .illegal(.unknown): Tongue.say(.reasonUnknownPhase)
    case .otherRun: Tongue.say(.reasonOtherRun)
    case .staleRevision: Tongue.say(.reasonStale)
    case .tooOld: Tongue.say(.reasonTooOld)
    case .busy: Tongue.say(.reasonBusy)
    case .unsupported: Tongue.say(.reasonUnsupported)
    case .cancelled: Tongue.say(.reasonCancelled)
    case .expired: Tongue.say(.reasonExpired)
    case .quarantined: Tongue.say(.reasonQuarantined)
    case .forbidden: Tongue.say(.reasonForbidden)
    case .revisionChanged(let expected) where expected == revision:
      Tongue.say(.reasonNotAtRevision, ["revision": expected])
    case .revisionChanged(let expected): Tongue.say(.reasonOtherRevision, ["revision": revision, "expected": expected])
    case .unknown(let number): Tongue.say(.reasonNumber, ["number": number])
    }
  }
}

extension Receipt {
  /// One sentence for a person; in English it is ``message``.
  var sentence: String {
    switch stage {
    case .queued: Tongue.say(.receiptQueued, ["command": kind.spoken])
    case .pending: Tongue.say(.receiptPending, ["command": kind.spoken])
    case .verdict(let verdict): verdict.sentence
    }
  }
}
