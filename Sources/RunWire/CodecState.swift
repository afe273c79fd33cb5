import RunCore
import SwiftProtobuf

// Snapshots and their parts.
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

  static func message(_ snapshot: Snapshot) -> WireSnapshot {
    var message = WireSnapshot()
    message.order = self.message(snapshot.order)
    message.phase = word(snapshot.phase)
    if let runID = snapshot.runID { message.runID = data(runID) }
    if let change = snapshot.changedBy { message.changedBy = self.message(change) }
    if let time = snapshot.startedAt { message.startedAtNs = time.nanoseconds }
    message.capturedAtNs = snapshot.capturedAt.nanoseconds
    message.metrics = self.message(snapshot.metrics)
    message.recovering = snapshot.isRecovering
    message.clockStopped = snapshot.isClockStopped
    if let goal = snapshot.goal { message.goalNs = goal.time.nanoseconds }
    return message
  }

  static func value(_ message: WireSnapshot) throws(WireError) -> Snapshot {
    guard message.hasOrder, message.hasMetrics else { throw .malformed("snapshot without its order or its metrics") }
    return Snapshot(
      order: try value(message.order), phase: phase(message.phase),
      runID: message.hasRunID ? try identifier(message.runID, "run id") : nil,
      changedBy: message.hasChangedBy ? try value(message.changedBy) : nil,
      startedAt: message.hasStartedAtNs ? BusTime(nanoseconds: message.startedAtNs) : nil,
      capturedAt: BusTime(nanoseconds: message.capturedAtNs), metrics: try value(message.metrics),
      isRecovering: message.recovering, isClockStopped: message.clockStopped,
      goal: message.hasGoalNs ? try goal(message.goalNs) : nil)
  }

  static func message(_ change: Author) -> WireChange {
    var message = WireChange()
    message.source = change.source.rawValue
    message.deviceID = change.deviceID.rawValue
    message.commandID = data(change.commandID)
    return message
  }

  static func value(_ message: WireChange) throws(WireError) -> Author {
    Author(
      source: try source(message.source), deviceID: try device(message.deviceID),
      commandID: try identifier(message.commandID, "command id"))
  }

  static func word(_ activity: MotionActivity) -> WireActivity {
    switch activity {
    case .walking: .walking
    case .running: .running
    case .stationary: .stationary
    case .unknown: .unspecified
    }
  }

  static func activity(_ word: WireActivity) -> MotionActivity {
    switch word {
    case .walking: .walking
    case .running: .running
    case .stationary: .stationary
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
