/// A run that a peer started and stopped while it could not reach the hub, so that the hub received all its commands at
/// once. The hub keeps it beside the present run.
package struct WholeRun: Hashable, Sendable {
  /// The run; the journal contains its entries.
  package let runID: RunID
  /// The device that ran it.
  package let deviceID: DeviceID
  /// When it started, on the hub's time line.
  package let startedAt: BusTime
  /// When it was stopped.
  package let stoppedAt: BusTime
  /// Whether it overlaps another run. The hub keeps both and leaves the decision to a person.
  package let isConflicted: Bool

  /// A whole run from its parts.
  package init(runID: RunID, deviceID: DeviceID, startedAt: BusTime, stoppedAt: BusTime, isConflicted: Bool) {
    self.runID = runID
    self.deviceID = deviceID
    self.startedAt = startedAt
    self.stoppedAt = stoppedAt
    self.isConflicted = isConflicted
  }
}
