import RunBus

/// A point of the route as JSON says it. The keys are a promise: they carry their units and stay.
struct RoutePointJSON: Codable, Hashable, Sendable {
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

extension RoutePointJSON {
  init(_ point: RoutePoint) {
    self.init(
      offsetSeconds: point.offset.seconds, latitude: point.position.latitude, longitude: point.position.longitude,
      horizontalAccuracyMeters: point.position.horizontalAccuracyMeters, altitudeMeters: point.altitudeMeters,
      distanceMeters: point.distanceMeters, counted: point.verdict.counts,
      reason: point.verdict.counts ? nil : point.verdict, startsLine: point.verdict == .anchored)
  }
}

/// A point as a line of `busnode route --json`: its fields, with the run and its place there.
struct RouteLineJSON: Hashable, Sendable {
  var runId: String
  /// Its place in the route; a point that is written again replaces the one with its index.
  var index: Int
  var point: RoutePointJSON
}

extension RouteLineJSON: Codable {
  private enum Key: String, CodingKey { case runId, index }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(runId, forKey: .runId)
    try container.encode(index, forKey: .index)
    try point.encode(to: encoder)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    runId = try container.decode(String.self, forKey: .runId)
    index = try container.decode(Int.self, forKey: .index)
    point = try RoutePointJSON(from: decoder)
  }
}

extension RouteLineJSON {
  init(_ point: RoutePoint, at index: Int, of runID: RunID) {
    self.init(runId: runID.description, index: index, point: RoutePointJSON(point))
  }
}

/// Points fell away: the route is only so long any more.
struct RouteCutJSON: Codable, Hashable, Sendable {
  var runId: String
  var length: Int
}
