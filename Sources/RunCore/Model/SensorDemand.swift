/// Which sensors an embedder has to keep awake.
public enum SensorDemand: String, Hashable, Sendable, Codable, CaseIterable {
  /// None: no run is on, or it is paused. The battery is spared.
  case off
  /// The motion sensor alone: the clock stands because the runner does, and motion will tell when that ends.
  case motion
  /// All of them.
  case all
}

extension Snapshot {
  /// Which sensors this state asks for.
  public var sensors: SensorDemand {
    switch phase {
    case .idle, .paused, .completed: .off
    // Without a motion sensor only positions and steps can tell that the runner goes on.
    case .running: metrics.isAutoPaused && !metrics.isActivityInferred ? .motion : .all
    }
  }
}
