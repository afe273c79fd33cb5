import RunBus

/// A point of the route as a line of `busnode route --json`. The keys are a promise: they carry their units and stay.
struct RouteLineJSON: Codable, Hashable, Sendable {
  var runId: String
  /// Its place in the route; a point that is written again replaces the one with its index.
  var index: Int
  var offsetSeconds: Double
  var latitude: Double
  var longitude: Double
  @Explicit var horizontalAccuracyMeters: Double?
  @Explicit var altitudeMeters: Double?
  @Explicit var distanceMeters: Double?
  /// Whether it counts for the distance …
  var counted: Bool
  /// … and if not, why; `null` when it does.
  @Explicit var reason: FixVerdict?
  /// It counts, and no line leads to it from the point before.
  var startsLine: Bool
}

extension RouteLineJSON {
  init(_ point: RoutePoint, at index: Int, of runID: RunID) {
    self.init(
      runId: runID.description, index: index, offsetSeconds: point.offset.seconds, latitude: point.position.latitude,
      longitude: point.position.longitude, horizontalAccuracyMeters: point.position.horizontalAccuracyMeters,
      altitudeMeters: point.altitudeMeters, distanceMeters: point.distanceMeters, counted: point.verdict.counts,
      reason: point.verdict.counts ? nil : point.verdict, startsLine: point.verdict == .anchored)
  }
}

/// Points fell away: the route is only so long any more.
struct RouteCutJSON: Codable, Hashable, Sendable {
  var runId: String
  var length: Int
}
