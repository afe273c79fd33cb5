/// A change of the route of the present run: all points from an index on.
///
/// ```swift
/// var route: [RoutePoint] = []
/// for await update in await node.route() {
///   update.apply(to: &route)
///   map.draw(route)
/// }
/// ```
public struct RouteUpdate: Hashable, Sendable {
  /// The run of the route.
  public let runID: RunID
  /// The index of the first point that is new or has changed. It is 0 for the first update of a run.
  public let from: Int
  /// The points from that index on; they replace all that a reader has from there on.
  public let points: [RoutePoint]
  /// Whether the route is, with this update, as the hub had it at its last message. While a node catches up with its
  /// hub, points may be missing at the end, and later ones outdated.
  public let isComplete: Bool

  /// An update from its parts.
  public init(runID: RunID, from: Int, points: [RoutePoint], isComplete: Bool) {
    self.runID = runID
    self.from = from
    self.points = points
    self.isComplete = isComplete
  }

  /// This update and the next one of the same stream as one.
  package func followed(by next: RouteUpdate) -> RouteUpdate {
    guard next.runID == runID, next.from >= from else { return next }
    var all = points
    let index = min(next.from - from, all.count)
    all.replaceSubrange(index..., with: next.points)
    return RouteUpdate(runID: runID, from: from, points: all, isComplete: next.isComplete)
  }

  /// Makes the change in a reader's copy of the route, which has received all updates of its stream before this one.
  public func apply(to route: inout [RoutePoint]) {
    route.removeSubrange(min(from, route.count)...)
    route += points
  }
}

/// The kilometres, miles and laps of the present run.
public struct RunSplits: Hashable, Sendable {
  /// Kilometres, the open one last.
  public var kilometers: [Split]
  /// Miles, the open one last.
  public var miles: [Split]
  /// Laps marked by command, the open one last; empty when none was marked.
  public var laps: [Split]

  /// Splits from their parts; by default those of a run that has not begun.
  public init(kilometers: [Split] = [], miles: [Split] = [], laps: [Split] = []) {
    self.kilometers = kilometers
    self.miles = miles
    self.laps = laps
  }

  package init(_ report: RunReport?) {
    self.init(kilometers: report?.kilometers ?? [], miles: report?.miles ?? [], laps: report?.laps ?? [])
  }

  /// The splits of a unit.
  public func splits(per unit: SplitUnit) -> [Split] {
    switch unit {
    case .kilometer: kilometers
    case .mile: miles
    }
  }
}
