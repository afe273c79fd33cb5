import RunCore
import SwiftProtobuf

// The route of a run.
extension Codec {
  /// Cuts the points that exceed the limit of a part; the receiver asks for them next.
  static func message(_ part: RoutePart) -> WireRoutePart {
    var message = WireRoutePart()
    message.runID = data(part.runID)
    message.term = part.term
    message.number = part.number
    message.from = count(part.from)
    message.points = part.points.prefix(RoutePart.pointsMax).map(self.message)
    message.total = count(part.total)
    return message
  }

  static func value(_ message: WireRoutePart) throws(WireError) -> RoutePart {
    guard message.points.count <= RoutePart.pointsMax else {
      throw .malformed("more than \(RoutePart.pointsMax) points in a part of a route")
    }
    let from = try count(message.from, "index of a point")
    let total = try count(message.total, "number of points")
    guard message.points.isEmpty || message.points.count <= total - from else {
      throw .malformed("part of a route that ends behind the route")
    }
    var points: [RoutePoint] = []
    points.reserveCapacity(message.points.count)
    for point in message.points { points.append(try value(point)) }
    return RoutePart(
      runID: try identifier(message.runID, "run id"), term: try counter(message.term, "term"),
      number: try counter(message.number, "number of a part"), from: from, points: points, total: total)
  }

  private static func message(_ point: RoutePoint) -> WireRoutePoint {
    var message = WireRoutePoint()
    message.offsetNs = moment(point.offset)
    message.position = self.message(point.position)
    message.verdict = word(point.verdict)
    if let value = known(point.altitudeMeters) { message.altitudeMeters = value }
    if let value = known(point.distanceMeters) { message.distanceMeters = value }
    return message
  }

  private static func value(_ message: WireRoutePoint) throws(WireError) -> RoutePoint {
    guard message.hasPosition else { throw .malformed("point without a position") }
    let position = value(message.position)
    guard SampleValue.position(position).isCarried else { throw .malformed("position of a point is out of range") }
    return RoutePoint(
      offset: try span(message.offsetNs, "moment of a point"), position: position,
      verdict: verdict(message.verdict),
      altitudeMeters: try known(message.hasAltitudeMeters, message.altitudeMeters, "altitude"),
      distanceMeters: try known(message.hasDistanceMeters, message.distanceMeters, "distance"))
  }

  private static func word(_ verdict: FixVerdict) -> WireFixVerdict {
    switch verdict {
    case .counted: .counted
    case .anchored: .anchored
    case .notRunning: .notRunning
    case .autoPaused: .autoPaused
    case .invalid: .invalid
    case .inaccurate: .inaccurate
    case .stationary: .stationary
    case .impossibleSpeed: .impossibleSpeed
    case .repeated: .repeated
    case .otherReceiver: .otherReceiver
    case .unknown: .unspecified
    }
  }

  private static func verdict(_ word: WireFixVerdict) -> FixVerdict {
    switch word {
    case .counted: .counted
    case .anchored: .anchored
    case .notRunning: .notRunning
    case .autoPaused: .autoPaused
    case .invalid: .invalid
    case .inaccurate: .inaccurate
    case .stationary: .stationary
    case .impossibleSpeed: .impossibleSpeed
    case .repeated: .repeated
    case .otherReceiver: .otherReceiver
    case .unspecified, .UNRECOGNIZED: .unknown
    }
  }
}
