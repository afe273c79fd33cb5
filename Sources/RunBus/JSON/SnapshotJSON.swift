public import RunCore

/// The snapshot as `busnode state --json` writes it.
///
/// The two moments of the hub's time line are in nanoseconds. They mean something only beside other moments of the same
/// hub. `remainingSeconds` is written for readers and not read, because it follows from the goal and the metrics.
extension Snapshot: Codable {
  private enum CodingKeys: String, CodingKey {
    case term, revision, tick, phase, runId, changedBy, recovering, clockStopped, startedAtBusNanoseconds,
      capturedAtBusNanoseconds, goalSeconds, remainingSeconds, metrics
  }

  private enum Change: String, CodingKey { case source, deviceId, commandId }

  /// Reads a snapshot that ``encode(to:)`` or `busnode` has written. A phase of a later version reads as `unknown`.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    var author: Author?
    if container.contains(.changedBy), try !container.decodeNil(forKey: .changedBy) {
      let change = try container.nestedContainer(keyedBy: Change.self, forKey: .changedBy)
      author = Author(
        source: ControlSource(rawValue: try change.need(.source)), deviceID: try change.need(.deviceId),
        commandID: try change.need(.commandId))
    }
    self.init(
      order: SnapshotOrder(
        term: try container.need(.term), revision: try container.need(.revision), tick: try container.need(.tick)),
      phase: try container.word(.phase, unknown: .unknown), runID: try container.read(.runId), changedBy: author,
      startedAt: try container.readNanoseconds(.startedAtBusNanoseconds),
      capturedAt: try container.readNanoseconds(.capturedAtBusNanoseconds) ?? .zero,
      metrics: try container.need(.metrics), isRecovering: try container.need(.recovering),
      isClockStopped: try container.read(.clockStopped) ?? false, goal: try container.readGoal(.goalSeconds))
  }

  /// Writes the snapshot in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(order.term, .term)
    try container.write(order.revision, .revision)
    try container.write(order.tick, .tick)
    try container.write(phase, .phase)
    try container.write(runID, .runId)
    if let changedBy {
      var change = container.nestedContainer(keyedBy: Change.self, forKey: .changedBy)
      try change.write(changedBy.source.rawValue, .source)
      try change.write(changedBy.deviceID, .deviceId)
      try change.write(changedBy.commandID, .commandId)
    } else {
      try container.encodeNil(forKey: .changedBy)
    }
    try container.write(isRecovering, .recovering)
    try container.write(isClockStopped, .clockStopped)
    try container.write(nanoseconds: startedAt, .startedAtBusNanoseconds)
    try container.write(nanoseconds: capturedAt, .capturedAtBusNanoseconds)
    try container.write(seconds: goal?.time, .goalSeconds)
    try container.write(seconds: remaining, .remainingSeconds)
    try container.write(metrics, .metrics)
  }
}
