import RunBus

/// A point of the route in JSON. The keys carry their units and never change.
struct RoutePointJSON: Codable, Hashable, Sendable {
  var offsetSeconds: Double
  var latitude: Double
  var longitude: Double
  @Explicit var horizontalAccuracyMeters: Double?
  @Explicit var altitudeMeters: Double?
  @Explicit var distanceMeters: Double?
  /// Whether it counts for the distance.
  var counted: Bool
  /// Why it does not count; `null` when it does.
  @Explicit var reason: FixVerdict?
  /// Whether it counts without a line from the point before.
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

/// A point as a line of `busnode route --json`: its fields, with the run and its index.
struct RouteLineJSON: Hashable, Sendable {
  var runId: String
  /// Its position in the route, from 0. A point that is written again replaces the earlier one with the same index.
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

/// The last points were removed; `length` points are left.
struct RouteCutJSON: Codable, Hashable, Sendable {
  var runId: String
  var length: Int
}
