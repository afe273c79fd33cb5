import RunCore
import SwiftProtobuf

// Snapshots and what is in them.
extension Codec {
  static func message(_ state: StateMessage) -> WireStateMessage {
    var message = WireStateMessage()
    message.snapshot = self.message(state.snapshot)
    message.ageNs = state.age.nanoseconds
    return message
  }

  static func value(_ message: WireStateMessage) throws(WireError) -> StateMessage {
    guard message.hasSnapshot else { throw .malformed("state without a snapshot") }
    return StateMessage(snapshot: try value(message.snapshot), age: BusDuration(nanoseconds: message.ageNs))
  }

  static func message(_ order: SnapshotOrder) -> WireSnapshotOrder {
    var message = WireSnapshotOrder()
    message.term = order.term
    message.revision = order.revision
    message.tick = order.tick
    return message
  }

  static func value(_ message: WireSnapshotOrder) throws(WireError) -> SnapshotOrder {
    SnapshotOrder(
      term: try counter(message.term, "term"), revision: try counter(message.revision, "revision"),
      tick: try counter(message.tick, "tick"))
  }

  private static func message(_ snapshot: Snapshot) -> WireSnapshot {
    var message = WireSnapshot()
    message.order = self.message(snapshot.order)
    message.phase = word(snapshot.phase)
    if let runID = snapshot.runID { message.runID = data(runID) }
    if let change = snapshot.changedBy { message.changedBy = self.message(change) }
    if let time = snapshot.startedAt { message.startedAtNs = time.nanoseconds }
    message.capturedAtNs = snapshot.capturedAt.nanoseconds
    message.metrics = self.message(snapshot.metrics)
    return message
  }

  private static func value(_ message: WireSnapshot) throws(WireError) -> Snapshot {
    guard message.hasOrder, message.hasMetrics else { throw .malformed("snapshot without its order or its metrics") }
    return Snapshot(
      order: try value(message.order), phase: try phase(message.phase),
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil,
      changedBy: message.hasChangedBy ? try value(message.changedBy) : nil,
      startedAt: message.hasStartedAtNs ? BusTime(nanoseconds: message.startedAtNs) : nil,
      capturedAt: BusTime(nanoseconds: message.capturedAtNs), metrics: try value(message.metrics))
  }

  private static func message(_ change: Change) -> WireChange {
    var message = WireChange()
    message.source = change.source.rawValue
    message.deviceID = change.deviceID.rawValue
    message.commandID = data(change.commandID)
    return message
  }

  private static func value(_ message: WireChange) throws(WireError) -> Change {
    Change(
      source: try source(message.source), deviceID: try device(message.deviceID),
      commandID: try identifier(message.commandID, "command id"))
  }

  /// A number that is none is not known: it is left out, and the rest of the snapshot still arrives.
  private static func message(_ metrics: RunMetrics) -> WireMetrics {
    func known(_ value: Double?) -> Double? { value.flatMap { $0.isFinite ? $0 : nil } }
    var message = WireMetrics()
    message.elapsedNs = metrics.elapsed.nanoseconds
    message.activeNs = metrics.active.nanoseconds
    if let value = known(metrics.distanceMeters) { message.distanceMeters = value }
    if let value = known(metrics.currentPaceSecondsPerKilometer) { message.currentPaceSecondsPerKilometer = value }
    if let value = known(metrics.averagePaceSecondsPerKilometer) { message.averagePaceSecondsPerKilometer = value }
    if let value = known(metrics.heartRateBpm) { message.heartRateBpm = value }
    if let value = known(metrics.averageHeartRateBpm) { message.averageHeartRateBpm = value }
    if let value = known(metrics.maxHeartRateBpm) { message.maxHeartRateBpm = value }
    if let value = known(metrics.cadenceStepsPerMinute) { message.cadenceStepsPerMinute = value }
    if let value = known(metrics.elevationGainMeters) { message.elevationGainMeters = value }
    if let value = known(metrics.elevationLossMeters) { message.elevationLossMeters = value }
    if let value = known(metrics.positionAccuracyMeters) { message.positionAccuracyMeters = value }
    message.activity = word(metrics.activity)
    message.lapCount = UInt32(clamping: metrics.lapCount)
    return message
  }

  private static func value(_ message: WireMetrics) throws(WireError) -> RunMetrics {
    func known(_ isPresent: Bool, _ value: Double, _ name: String) throws(WireError) -> Double? {
      isPresent ? try finite(value, name) : nil
    }
    // An Int has 32 bits on a watch.
    guard let lapCount = Int(exactly: message.lapCount), lapCount <= Int32.max else {
      throw .malformed("lap count is out of range")
    }
    return RunMetrics(
      elapsed: try span(message.elapsedNs, "elapsed time"), active: try span(message.activeNs, "active time"),
      distanceMeters: try known(message.hasDistanceMeters, message.distanceMeters, "distance"),
      currentPaceSecondsPerKilometer: try known(
        message.hasCurrentPaceSecondsPerKilometer, message.currentPaceSecondsPerKilometer, "current pace"),
      averagePaceSecondsPerKilometer: try known(
        message.hasAveragePaceSecondsPerKilometer, message.averagePaceSecondsPerKilometer, "average pace"),
      heartRateBpm: try known(message.hasHeartRateBpm, message.heartRateBpm, "heart rate"),
      averageHeartRateBpm: try known(message.hasAverageHeartRateBpm, message.averageHeartRateBpm, "average heart rate"),
      maxHeartRateBpm: try known(message.hasMaxHeartRateBpm, message.maxHeartRateBpm, "highest heart rate"),
      cadenceStepsPerMinute: try known(message.hasCadenceStepsPerMinute, message.cadenceStepsPerMinute, "cadence"),
      elevationGainMeters: try known(message.hasElevationGainMeters, message.elevationGainMeters, "elevation gain"),
      elevationLossMeters: try known(message.hasElevationLossMeters, message.elevationLossMeters, "elevation loss"),
      positionAccuracyMeters: try known(
        message.hasPositionAccuracyMeters, message.positionAccuracyMeters, "position accuracy"),
      activity: activity(message.activity), lapCount: lapCount)
  }

  static func word(_ activity: Activity) -> WireActivity {
    switch activity {
    case .walking: .walking
    case .running: .running
    case .stationary: .stationary
    case .unknown: .unspecified
    }
  }

  static func activity(_ word: WireActivity) -> Activity {
    switch word {
    case .walking: .walking
    case .running: .running
    case .stationary: .stationary
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
