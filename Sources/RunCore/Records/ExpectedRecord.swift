/// A run whose record the hub still has to make, or to make again after a late command or reading.
package struct ExpectedRecord: Hashable, Sendable {
  /// The run.
  package var runID: RunID
  /// Whether it overlaps another run.
  package var isConflicted: Bool

  /// An expectation from its parts.
  package init(runID: RunID, isConflicted: Bool) {
    self.runID = runID
    self.isConflicted = isConflicted
  }
}
