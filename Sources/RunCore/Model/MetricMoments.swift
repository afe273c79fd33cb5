/// A group of metrics that are computed from the same readings and therefore have the same age.
public enum Metric: String, Hashable, Sendable, Codable, CaseIterable {
  /// Distance and what is computed from it: pace, energy.
  case distance
  /// The accuracy of the latest fix, whether or not it counts for the distance.
  case position
  /// The latest heart rate.
  case heartRate
  /// The latest cadence.
  case cadence
  /// Altitude, gain and loss.
  case elevation
  /// What the runner is doing.
  case activity

  /// The age from which a value is stale. A stale value stays in the metrics and is shown as old.
  ///
  /// The limits allow for the 18 s between readings of watches with smart recording, and for motion sensors, which
  /// report changes only.
  public var staleAfter: BusDuration {
    switch self {
    case .distance, .position, .heartRate, .cadence: .seconds(30)
    case .elevation: .seconds(60)
    case .activity: .seconds(600)
    }
  }
}

/// The run time, since the start, of the latest reading of each group of metrics; `nil` for a group without a reading.
public struct MetricMoments: Hashable, Sendable {
  /// The latest reading that lengthened the distance, or could have.
  public var distance: BusDuration?
  /// The latest fix.
  public var position: BusDuration?
  /// The latest heart rate.
  public var heartRate: BusDuration?
  /// The latest cadence.
  public var cadence: BusDuration?
  /// The latest altitude that was accepted.
  public var elevation: BusDuration?
  /// The latest reading of a motion sensor, or the reading from which the activity was inferred.
  public var activity: BusDuration?

  /// Moments from their parts.
  public init(
    distance: BusDuration? = nil, position: BusDuration? = nil, heartRate: BusDuration? = nil,
    cadence: BusDuration? = nil, elevation: BusDuration? = nil, activity: BusDuration? = nil
  ) {
    self.distance = distance
    self.position = position
    self.heartRate = heartRate
    self.cadence = cadence
    self.elevation = elevation
    self.activity = activity
  }

  /// The moment of a group.
  public subscript(metric: Metric) -> BusDuration? {
    switch metric {
    case .distance: distance
    case .position: position
    case .heartRate: heartRate
    case .cadence: cadence
    case .elevation: elevation
    case .activity: activity
    }
  }
}

extension RunMetrics {
  /// The age of a group's latest reading at the moment of these metrics; `nil` when there was none. After the stop, the
  /// age at the stop.
  public func age(of metric: Metric) -> BusDuration? { moments[metric].map { max(.zero, elapsed - $0) } }
  /// Whether a group's latest reading is older than ``Metric/staleAfter``; `false` when there was none.
  public func isStale(_ metric: Metric) -> Bool { age(of: metric).map { $0 > metric.staleAfter } ?? false }
}
