import RunBus

/// A point of the route as JSON says it.
struct RoutePointJSON: Codable, Hashable, Sendable {
  var offsetSeconds: Double
  var latitude: Double
  var longitude: Double
  @Explicit var horizontalAccuracyMeters: Double?
  /// Whether it counts for the distance …
  var counts: Bool
  /// … and how, or why not.
  var verdict: FixVerdict
  @Explicit var altitudeMeters: Double?
  @Explicit var distanceMeters: Double?
}

extension RoutePointJSON {
  init(_ point: RoutePoint) {
    self.init(
      offsetSeconds: point.offset.seconds, latitude: point.position.latitude, longitude: point.position.longitude,
      horizontalAccuracyMeters: point.position.horizontalAccuracyMeters, counts: point.verdict.counts,
      verdict: point.verdict, altitudeMeters: point.altitudeMeters, distanceMeters: point.distanceMeters)
  }
}
