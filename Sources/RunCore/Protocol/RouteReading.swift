/// Reads the whole route by questions alone, while the hub may change it and publish parts of it.
///
/// A route is longer than an answer, so that the answers may be of different moments. The last answer is of one moment.
/// Everything before it is asked for again: what is the same before and after that moment was so at it. What differs is
/// read on from there. Published parts are of no use here, and each of them may come between two questions.
package struct RouteReading: Sendable {
  /// What the caller does next.
  package enum Step: Hashable, Sendable {
    /// Ask the hub for ``Inquiry/route(from:)``, and give the answer to ``RouteReading/receive(_:)``.
    case ask(from: Int)
    /// The route was read: at one moment it had these points. `nil` when no run has been started.
    case done(RunID?, [RoutePoint])
  }

  /// How many of the last points come together in the last answer. The newest points change most, by late readings.
  private static let tail = RoutePart.pointsMax * 7 / 8

  private var runID: RunID?
  /// The points that were read, of several moments.
  private var points: [RoutePoint] = []
  /// The edition of all answers of this reading; `nil` when they have several.
  private var edition: [UInt64]?
  /// The route at the moment of its last answer, if everything before `unproven` is the same when it is read again.
  private var candidate: [RoutePoint]?
  private var unproven = 0

  /// A reading that has not begun: ask for the route from index 0.
  package init() {}

  /// Takes the hub's answer; `nil` when no run has been started.
  package mutating func receive(_ part: RoutePart?) -> Step {
    guard let part else { return .done(nil, []) }
    guard part.runID == runID, part.from <= points.count, part.from > 0 else {
      // The first answer, one about another run, one of a route that has become shorter, or one that begins a second look.
      if part.runID != runID || part.from > points.count { candidate = nil }
      guard part.from == 0 else { return begin() }
      runID = part.runID
      points = []
      edition = [part.term, part.number]
      return add(part)
    }
    if edition != [part.term, part.number] { edition = nil }
    return add(part)
  }

  private mutating func begin() -> Step {
    points = []
    return .ask(from: 0)
  }

  private mutating func add(_ part: RoutePart) -> Step {
    points.removeLast(points.count - part.from)
    points += part.points
    if let candidate {
      let known = min(points.count, unproven)
      if points[..<known] != candidate[..<known] {
        // Something has changed: this is the first look at another route.
        self.candidate = nil
      } else if known == unproven {
        return .done(runID, candidate)
      }
    }
    if points.count >= part.total || part.points.isEmpty { return end(part) }
    return .ask(from: min(points.count, max(part.from + 1, part.total - Self.tail)))
  }

  private mutating func end(_ part: RoutePart) -> Step {
    if edition != nil || part.from == 0 { return .done(runID, points) }
    (candidate, unproven) = (points, part.from)
    return begin()
  }
}
