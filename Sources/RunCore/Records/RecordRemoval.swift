/// A run whose record was removed. It hides every earlier version of the record, wherever one is still kept.
package struct RecordRemoval: Hashable, Sendable {
  /// The run.
  package var runID: RunID
  /// The version of the removal, above that of every record of the run before.
  package var version: UInt64

  /// A removal from its parts.
  package init(runID: RunID, version: UInt64) { (self.runID, self.version) = (runID, version) }
}
