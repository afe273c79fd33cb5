/// A run whose record the hub still has to make, or to make again after a late command or reading.
public struct ExpectedRecord: Hashable, Sendable {
  /// The run.
  public var runID: RunID
  /// Whether it overlaps another run.
  public var isConflicted: Bool

  /// An expectation from its parts.
  public init(runID: RunID, isConflicted: Bool) {
    self.runID = runID
    self.isConflicted = isConflicted
  }
}
