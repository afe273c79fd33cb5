/// Which sensors an app has to keep on; the others can be off to save battery.
public enum SensorDemand: String, Hashable, Sendable, Codable, CaseIterable {
  /// None: no run is on, or it is paused.
  case off
  /// Only the motion sensor: auto-pause has stopped the clock, and the motion sensor reports when the runner moves
  /// again.
  case motion
  /// All of them.
  case all
}

extension Snapshot {
  /// The sensors that an app needs in this state.
  public var sensors: SensorDemand {
    switch phase {
    case .idle, .paused, .completed: .off
    // In a phase that this version does not know, the run may go on.
    case .unknown: .all
    // Without a motion sensor, only positions and steps can show that the runner moves again.
    case .running: metrics.isAutoPaused && !metrics.isActivityInferred ? .motion : .all
    }
  }
}
