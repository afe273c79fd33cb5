/// The setting that tells a starting hub what to do with a run that was on when the hub died.
public enum RecoveryChoice: String, Hashable, Sendable, Codable, CaseIterable {
  /// Continue the run.
  case resume
  /// Ask for a ``RecoveryAnswer``. Until it comes the run keeps its phase and gains no active time.
  case ask
  /// Stop the run at the moment of the hub's death.
  case finish
  /// Stop the run at the moment of the hub's death and never make a record of it.
  case discard
}

/// The answer to a hub that asks what to do with a recovered run.
public enum RecoveryAnswer: String, Hashable, Sendable, Codable, CaseIterable {
  /// Continue the run.
  case resume
  /// Stop the run at the moment of the hub's death.
  case finish
  /// Stop the run at the moment of the hub's death and never make a record of it.
  case discard
}

/// Whether the hub's downtime counts as active time when its run continues.
public enum Downtime: String, Hashable, Sendable, Codable, CaseIterable {
  /// The downtime is a gap: it counts as elapsed time, not as active time.
  case paused
  /// The downtime counts as if the hub had been running.
  case running
}

/// What a hub did with a run that was on when the hub died. A run that simply continues is not reported.
package struct RunRecovery: Hashable, Sendable {
  /// What the hub did with the run.
  package enum Outcome: Hashable, Sendable {
    /// The hub waits for a ``RecoveryAnswer``.
    case asked
    /// The hub stopped the run as of the moment of its death.
    case finished
    /// The hub stopped the run, against its setting, because it was down for too long.
    case overdue
    /// The hub stopped the run and will not make a record of it.
    case discarded
  }
  /// The run.
  package let runID: RunID
  /// What the hub did with it.
  package let outcome: Outcome
  /// Bus time from the hub's death to this outcome.
  package let downtime: BusDuration

  /// A recovery from its parts.
  package init(runID: RunID, outcome: Outcome, downtime: BusDuration) {
    self.runID = runID
    self.outcome = outcome
    self.downtime = downtime
  }
}

extension ControlSource {
  /// The hub itself, when it stops a run that was on when the hub died.
  public static let recovery = ControlSource(rawValue: "recovery")
}
