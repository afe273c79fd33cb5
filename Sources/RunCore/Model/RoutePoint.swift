/// Whether a fix counts for the distance, and if not, why.
public enum FixVerdict: String, Hashable, Sendable, Codable, CaseIterable {
  /// It counts, and a line leads to it from the one before.
  case counted
  /// It counts, and begins a new line: nothing is known of how the runner got there.
  case anchored
  /// The run did not run.
  case notRunning
  /// The clock stood because the runner did.
  case autoPaused
  /// Its accuracy is negative, or no number: the receiver calls it invalid.
  case invalid
  /// Its accuracy is not good enough.
  case inaccurate
  /// The runner stood.
  case stationary
  /// Nobody runs as fast as it lies away.
  case impossibleSpeed
  /// Another one of this moment came before it.
  case repeated
  /// Another receiver leads.
  case otherReceiver

  /// It counts.
  public var counts: Bool {
    switch self {
    case .counted, .anchored: true
    case .notRunning, .autoPaused, .invalid, .inaccurate, .stationary, .impossibleSpeed, .repeated, .otherReceiver:
      false
    }
  }
}

/// A fix on the route, and what became of it.
public struct RoutePoint: Hashable, Sendable, Codable {
  /// When it was taken: run time, from the start.
  public var offset: BusDuration
  /// The fix as it was measured.
  public var position: Position
  /// Whether it counts, and why not.
  public var verdict: FixVerdict
  /// The smoothed altitude there, metres; `nil` when unknown.
  public var altitudeMeters: Double?
  /// Metres covered up to there; `nil` while unknown.
  public var distanceMeters: Double?

  /// A point from its parts.
  public init(
    offset: BusDuration, position: Position, verdict: FixVerdict, altitudeMeters: Double? = nil,
    distanceMeters: Double? = nil
  ) {
    self.offset = offset
    self.position = position
    self.verdict = verdict
    self.altitudeMeters = altitudeMeters
    self.distanceMeters = distanceMeters
  }
}

/// A part of a run's route. What is published replaces everything from its first index on: a reading that came late can
/// change what became of points after it. ``RouteView`` puts parts together.
public struct RoutePart: Hashable, Sendable {
  /// The most points in one part: what fits a frame of the wire with every number at its longest.
  public static let pointsMax = 512

  /// The run.
  public var runID: RunID
  /// The hub's life.
  public var term: UInt64
  /// What is published is numbered 1, 2, 3 … in a life of the hub, whatever the run. An answer has the number of the last
  /// part published before it, and holds all that was published up to there.
  public var number: UInt64
  /// The index of its first point in the whole route.
  public var from: Int
  /// The points, oldest first.
  public var points: [RoutePoint]
  /// How many points the whole route had when this was said.
  public var total: Int

  /// A part from its parts.
  public init(runID: RunID, term: UInt64, number: UInt64, from: Int, points: [RoutePoint], total: Int) {
    self.runID = runID
    self.term = term
    self.number = number
    self.from = from
    self.points = points
    self.total = total
  }
}
