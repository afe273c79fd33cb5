/// What a hub does, when it starts, with a run that was on when it died.
public enum RecoveryChoice: String, Hashable, Sendable, Codable, CaseIterable {
  /// The run goes on.
  case resume
  /// Somebody is asked; until then the run stands as it was, and no time of it is active.
  case ask
  /// The run was stopped when the hub died.
  case finish
  /// Likewise, and it never becomes a record.
  case discard
}

/// What somebody answers when a hub asks.
public enum RecoveryAnswer: String, Hashable, Sendable, Codable, CaseIterable {
  /// The run goes on.
  case resume
  /// The run was stopped when the hub died.
  case finish
  /// Likewise, and it never becomes a record.
  case discard
}

/// Whether the time in which the hub was dead counts as active once its run goes on.
public enum Downtime: String, Hashable, Sendable, Codable, CaseIterable {
  /// It is a gap: elapsed, and not active.
  case paused
  /// It counts as if the hub had lived.
  case running
}

/// What became of a run that was on when its hub died, other than that it goes on.
public struct RunRecovery: Hashable, Sendable {
  /// What was done.
  public enum Outcome: Hashable, Sendable {
    /// It waits for an answer.
    case asked
    /// It was stopped at the moment of the hub's death.
    case finished
    /// It was asked for otherwise, and is too old for that: it was stopped.
    case overdue
    /// It was stopped, and never becomes a record.
    case discarded
  }
  /// The run.
  public let runID: RunID
  /// What was done.
  public let outcome: Outcome
  /// Bus time from the hub's death to then.
  public let downtime: BusDuration

  /// A recovery from its parts.
  public init(runID: RunID, outcome: Outcome, downtime: BusDuration) {
    self.runID = runID
    self.outcome = outcome
    self.downtime = downtime
  }
}

extension ControlSource {
  /// Nobody's press: the hub itself, which ends a run that was on when it died.
  public static let recovery = ControlSource(rawValue: "recovery")
}
