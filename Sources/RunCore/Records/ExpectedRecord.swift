/// A run whose record is still to be made, or made anew.
public struct ExpectedRecord: Hashable, Sendable {
  /// The run.
  public var runID: RunID
  /// It overlaps another run.
  public var isConflicted: Bool

  /// An expectation from its parts.
  public init(runID: RunID, isConflicted: Bool) {
    self.runID = runID
    self.isConflicted = isConflicted
  }
}
