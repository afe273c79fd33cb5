/// A run that was started and stopped out of reach and arrived whole: kept beside the one that is on.
public struct WholeRun: Hashable, Sendable {
  /// The run; its entries are in the journal.
  public let runID: RunID
  /// The device that ran it.
  public let deviceID: DeviceID
  /// When it started, on the hub's time line.
  public let startedAt: BusTime
  /// When it was stopped.
  public let stoppedAt: BusTime
  /// It overlaps another run: both are kept, and a person decides.
  public let isConflicted: Bool

  /// A whole run from its parts.
  public init(runID: RunID, deviceID: DeviceID, startedAt: BusTime, stoppedAt: BusTime, isConflicted: Bool) {
    self.runID = runID
    self.deviceID = deviceID
    self.startedAt = startedAt
    self.stoppedAt = stoppedAt
    self.isConflicted = isConflicted
  }
}
