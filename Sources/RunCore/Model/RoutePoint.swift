/// Whether a fix counts for the distance, and if not, why.
public enum FixVerdict: String, Hashable, Sendable, Codable, CaseIterable {
  /// The fix counts, and so does the distance from the counted fix before it.
  case counted
  /// The fix counts, but without the distance to it, because the path before it is unknown.
  case anchored
  /// The run was not running, or the hub was down.
  case notRunning
  /// Auto-pause had stopped the clock.
  case autoPaused
  /// The accuracy is negative or not a number, by which a receiver marks an invalid fix.
  case invalid
  /// The accuracy radius is too large.
  case inaccurate
  /// The runner stood still.
  case stationary
  /// The fix is too far from the one before it for a runner.
  case impossibleSpeed
  /// The fix is not newer than the latest one of the same receiver.
  case repeated
  /// The fix comes from a second receiver while the first one still sends.
  case otherReceiver
  /// A verdict of a later version, which this version does not know. The point is on the route and does not count here.
  case unknown

  /// Whether the fix counts for the distance.
  public var counts: Bool {
    switch self {
    case .counted, .anchored: true
    case .notRunning, .autoPaused, .invalid, .inaccurate, .stationary, .impossibleSpeed, .repeated, .otherReceiver,
      .unknown:
      false
    }
  }
}

/// A fix on the route, with the verdict on it.
public struct RoutePoint: Hashable, Sendable {
  /// Run time at which the fix was taken, since the start.
  public var offset: BusDuration
  /// The fix as it was measured.
  public var position: Position
  /// Whether it counts for the distance, or why not.
  public var verdict: FixVerdict
  /// The smoothed altitude at the fix, metres; `nil` when unknown.
  public var altitudeMeters: Double?
  /// Metres covered up to the fix; `nil` when unknown.
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

/// A part of a run's route.
///
/// A published part replaces all points from its first index on, because a late reading can change the verdicts on the
/// points after it. ``RunBus/Node/route()`` joins parts to a route.
public struct RoutePart: Hashable, Sendable {
  /// The most points in one part: as many as fit a frame when every number has its longest encoding.
  public static let pointsMax = 512

  /// The run.
  public var runID: RunID
  /// The hub's term.
  public var term: UInt64
  /// Counts published parts within a term, across runs. The answer to a query carries the number of the last part that
  /// was published before it, and includes everything published up to that part.
  public var number: UInt64
  /// The index of the part's first point in the whole route.
  public var from: Int
  /// The points, oldest first.
  public var points: [RoutePoint]
  /// The number of points of the whole route when the hub made this part.
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
