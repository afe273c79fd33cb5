/// A group of metrics that share their readings, and so their age.
public enum Metric: String, Hashable, Sendable, Codable, CaseIterable {
  /// Distance, and all that follows from it: pace, energy.
  case distance
  /// The accuracy of the latest fix, counted or not.
  case position
  /// Heart rate now.
  case heartRate
  /// Cadence now.
  case cadence
  /// Altitude, gain and loss.
  case elevation
  /// What the runner is doing.
  case activity

  /// A value that is older is stale: it is still there, and shown as old. Watches that record sparsely leave up to 18 s
  /// between two readings; a motion sensor speaks only when something changes.
  public var staleAfter: BusDuration {
    switch self {
    case .distance, .position, .heartRate, .cadence: .seconds(30)
    case .elevation: .seconds(60)
    case .activity: .seconds(600)
    }
  }
}

/// When the latest readings behind each group of metrics were taken: run time, from the start. `nil` where there was none.
public struct MetricMoments: Hashable, Sendable, Codable {
  /// The latest reading that lengthened the distance, or could have.
  public var distance: BusDuration?
  /// The latest fix.
  public var position: BusDuration?
  /// The latest heart rate.
  public var heartRate: BusDuration?
  /// The latest cadence.
  public var cadence: BusDuration?
  /// The latest altitude that was taken.
  public var elevation: BusDuration?
  /// The latest word of a motion sensor, or the reading from which the activity was inferred.
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
  /// How old a group's latest reading is at the moment that these metrics speak of; `nil` where there was none. After
  /// the stop it is its age at the stop.
  public func age(of metric: Metric) -> BusDuration? { moments[metric].map { max(.zero, elapsed - $0) } }
  /// Its latest reading is too old to stand for now.
  public func isStale(_ metric: Metric) -> Bool { age(of: metric).map { $0 > metric.staleAfter } ?? false }
}
