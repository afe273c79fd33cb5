/// A unit in which a run is cut into pieces.
public enum SplitUnit: String, Hashable, Sendable, Codable, CaseIterable {
  /// 1,000 m.
  case kilometer
  /// The international mile, 1,609.344 m.
  case mile

  /// Its length in metres.
  public var meters: Double {
    switch self {
    case .kilometer: 1000
    case .mile: 1609.344
    }
  }
}

/// A piece of a run: a kilometre, a mile, or a lap.
public struct Split: Hashable, Sendable, Codable {
  /// 1, 2, 3 …
  public var number: Int
  /// Metres; of a completed kilometre or mile exactly its length. `nil` for a lap without a distance.
  public var distanceMeters: Double?
  /// Its active time.
  public var active: BusDuration
  /// When it began: run time, from the start, pauses included.
  public var startedAt: BusDuration
  /// When it ended.
  public var endedAt: BusDuration
  /// Mean heart rate over its active time.
  public var averageHeartRateBpm: Double?
  /// Metres climbed in it.
  public var elevationGainMeters: Double?
  /// Metres descended in it; positive.
  public var elevationLossMeters: Double?
  /// It was completed; the last one of a run seldom is.
  public var isComplete: Bool

  /// A split from its parts.
  public init(
    number: Int, distanceMeters: Double?, active: BusDuration, startedAt: BusDuration, endedAt: BusDuration,
    averageHeartRateBpm: Double? = nil, elevationGainMeters: Double? = nil, elevationLossMeters: Double? = nil,
    isComplete: Bool
  ) {
    self.number = number
    self.distanceMeters = distanceMeters
    self.active = active
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.averageHeartRateBpm = averageHeartRateBpm
    self.elevationGainMeters = elevationGainMeters
    self.elevationLossMeters = elevationLossMeters
    self.isComplete = isComplete
  }

  /// Active seconds per kilometre; `nil` without a distance worth the name.
  public var paceSecondsPerKilometer: Double? {
    distanceMeters.flatMap { $0 >= 1 ? active.seconds / $0 * 1000 : nil }
  }
}

/// What measured a stretch of the distance.
public enum DistanceSource: String, Hashable, Sendable, Codable, CaseIterable {
  /// The path through positions.
  case positions
  /// Steps.
  case pedometer
}

/// Consecutive metres of one source.
public struct DistanceStretch: Hashable, Sendable, Codable {
  /// What measured it.
  public var source: DistanceSource
  /// When it began: run time, from the start.
  public var startedAt: BusDuration
  /// When it ended.
  public var endedAt: BusDuration
  /// How long it is, metres.
  public var meters: Double

  /// A stretch from its parts.
  public init(source: DistanceSource, startedAt: BusDuration, endedAt: BusDuration, meters: Double) {
    self.source = source
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.meters = meters
  }
}

/// A run's numbers with the pieces that they are made of.
public struct RunReport: Hashable, Sendable, Codable {
  /// The numbers.
  public var metrics: RunMetrics
  /// Kilometres, the open one last.
  public var kilometers: [Split]
  /// Miles, the open one last.
  public var miles: [Split]
  /// Laps by command, the open one last; empty when none was marked.
  public var laps: [Split]
  /// What measured the distance, in order.
  public var stretches: [DistanceStretch]

  /// A report from its parts.
  public init(
    metrics: RunMetrics, kilometers: [Split] = [], miles: [Split] = [], laps: [Split] = [],
    stretches: [DistanceStretch] = []
  ) {
    self.metrics = metrics
    self.kilometers = kilometers
    self.miles = miles
    self.laps = laps
    self.stretches = stretches
  }

  /// The splits of a unit.
  public func splits(per unit: SplitUnit) -> [Split] {
    switch unit {
    case .kilometer: kilometers
    case .mile: miles
    }
  }
}
