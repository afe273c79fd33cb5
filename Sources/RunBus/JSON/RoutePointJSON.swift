public import RunCore

/// A point of the route as `busnode route --json` writes it, without run and index. A reason of a later version reads
/// as `unknown`.
extension RoutePoint: Codable {
  private enum CodingKeys: String, CodingKey {
    case offsetSeconds, latitude, longitude, horizontalAccuracyMeters, altitudeMeters, distanceMeters, counted, reason,
      startsLine
  }

  /// Reads a point that ``encode(to:)`` or `busnode` has written.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let verdict: FixVerdict
    if let reason: String = try container.read(.reason) {
      verdict = FixVerdict(rawValue: reason) ?? .unknown
    } else {
      verdict = try container.need(.startsLine) ? .anchored : .counted
    }
    self.init(
      offset: try container.needSeconds(.offsetSeconds),
      position: Position(
        latitude: try container.need(.latitude), longitude: try container.need(.longitude),
        horizontalAccuracyMeters: try container.read(.horizontalAccuracyMeters)),
      verdict: verdict, altitudeMeters: try container.read(.altitudeMeters),
      distanceMeters: try container.read(.distanceMeters))
  }

  /// Writes the point in the form that `docs/json.md` in the repository of the package describes.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.write(seconds: offset, .offsetSeconds)
    try container.write(position.latitude, .latitude)
    try container.write(position.longitude, .longitude)
    try container.write(number: position.horizontalAccuracyMeters, .horizontalAccuracyMeters)
    try container.write(number: altitudeMeters, .altitudeMeters)
    try container.write(number: distanceMeters, .distanceMeters)
    try container.write(verdict.counts, .counted)
    try container.write(verdict.counts ? nil : verdict, .reason)
    try container.write(verdict == .anchored, .startsLine)
  }
}
