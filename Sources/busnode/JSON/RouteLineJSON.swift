import RunBus

/// A point as a line of `busnode route --json`: its fields, with the run and its index.
struct RouteLineJSON: Hashable, Sendable {
  var runId: RunID
  /// Its position in the route, from 0. A point that is written again replaces the earlier one with the same index.
  var index: Int
  var point: RoutePoint
}

extension RouteLineJSON: Encodable {
  private enum Key: String, CodingKey { case runId, index }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(runId, forKey: .runId)
    try container.encode(index, forKey: .index)
    try point.encode(to: encoder)
  }
}

/// The last points were removed; `length` points are left.
struct RouteCutJSON: Codable, Hashable, Sendable {
  var runId: RunID
  var length: Int
}
