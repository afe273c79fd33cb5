/// A unit of length by which a run is divided into splits.
public enum SplitUnit: String, Hashable, Sendable, Codable, CaseIterable {
  /// 1,000 m.
  case kilometer
  /// The international mile, 1,609.344 m.
  case mile

  /// The length of one unit, metres.
  public var meters: Double {
    switch self {
    case .kilometer: 1000
    case .mile: 1609.344
    }
  }
}

/// One kilometre, mile or lap of a run.
public struct Split: Hashable, Sendable {
  /// Counts from 1.
  public var number: Int
  /// Metres; exactly the unit's length in a completed kilometre or mile. `nil` for a lap of a run without a distance.
  public var distanceMeters: Double?
  /// Active time within the split.
  public var active: BusDuration
  /// Run time at which it began: time since the start of the run, pauses included.
  public var startedAt: BusDuration
  /// Run time at which it ended.
  public var endedAt: BusDuration
  /// Mean heart rate over its active time, beats per minute.
  public var averageHeartRateBpm: Double?
  /// Metres climbed in it.
  public var elevationGainMeters: Double?
  /// Metres descended in it; positive.
  public var elevationLossMeters: Double?
  /// Whether it is complete; the last split of a run usually is not.
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

  /// Active seconds per kilometre; `nil` when the distance is unknown or under 1 m.
  public var paceSecondsPerKilometer: Double? {
    distanceMeters.flatMap { $0 >= 1 ? active.seconds / $0 * 1000 : nil }
  }
}

/// What measured a stretch of the distance.
public enum DistanceSource: String, Hashable, Sendable, Codable, CaseIterable {
  /// The path through position fixes.
  case positions
  /// A pedometer.
  case pedometer
  /// A source of a later version, which this version does not know.
  case unknown
}

/// A part of a run whose distance one source measured without interruption.
public struct DistanceStretch: Hashable, Sendable {
  /// What measured it.
  public var source: DistanceSource
  /// Run time at which it began.
  public var startedAt: BusDuration
  /// Run time at which it ended.
  public var endedAt: BusDuration
  /// Its length, metres.
  public var meters: Double

  /// A stretch from its parts.
  public init(source: DistanceSource, startedAt: BusDuration, endedAt: BusDuration, meters: Double) {
    self.source = source
    self.startedAt = startedAt
    self.endedAt = endedAt
    self.meters = meters
  }
}

/// A run's metrics with its splits, laps and distance sources.
public struct RunReport: Hashable, Sendable {
  /// The metrics of the whole run.
  public var metrics: RunMetrics
  /// Kilometres, the open one last.
  public var kilometers: [Split]
  /// Miles, the open one last.
  public var miles: [Split]
  /// Laps marked by command, the open one last; empty when none was marked.
  public var laps: [Split]
  /// Which source measured which part of the distance, in order of time.
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
