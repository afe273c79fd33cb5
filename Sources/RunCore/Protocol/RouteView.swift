/// A follower's copy of the route of the present run, built from published parts, some of which may be lost, and from
/// answers to its questions.
///
/// Call ``joined()`` when the hub first answers and after every loss of the link, and hand over the published parts,
/// the snapshots, and the answers. The view returns what changed and what to ask next, one question at a time.
///
/// The points before the index `known` are as the hub has them. Points from there on may be outdated; the view keeps
/// them until it receives their new values.
///
/// - *complete* (all points are known) becomes *behind* when a part or the link is lost, or another run begins.
/// - *behind* asks for the points from `known` on, and becomes *complete* when it has all of them.
package struct RouteView: Sendable {
  /// What the caller has to do after an event.
  package enum Action: Hashable, Sendable {
    /// Another run began: drop the points of the run before.
    case began(RunID)
    /// Points from this index on were added, changed, or removed.
    case changed(from: Int)
    /// Ask the hub for ``Inquiry/route(from:)`` with this index, and give the answer to ``RouteView/receive(answer:)``.
    case ask(from: Int)
  }

  /// How new a part is: the hub's term, and the number of the part in it.
  private struct Edition: Comparable {
    let term: UInt64
    let number: UInt64
    static func < (left: Self, right: Self) -> Bool { (left.term, left.number) < (right.term, right.number) }
    func follows(_ other: Edition) -> Bool { term == other.term && number == other.number &+ 1 }
  }

  /// The run of the route; `nil` before the first.
  package private(set) var runID: RunID?
  /// The points of the route. Some may be outdated until ``isComplete``.
  package private(set) var points: [RoutePoint] = []
  /// How many points, from the first on, are as the hub has them.
  private var known = 0
  /// How many points the hub has.
  private var total = 0
  /// The newest part or answer that has arrived. The known points contain everything published up to it.
  private var edition: Edition?
  private var isAsking = false
  /// Whether to ask once more after the answer under way, because a later event raised the same question.
  private var mustAskAgain = false
  /// The last snapshot, of a run that is not running, after which the view asked whether it missed a part.
  private var checkedAt: SnapshotOrder?

  /// A view without a run.
  package init() {}

  /// Whether the view has all points, as of the newest part or answer.
  package var isComplete: Bool { edition != nil && known == total && !isAsking }

  /// The link to the hub is up. Parts that the hub published before are lost; the number in its answer shows whether
  /// there were any.
  package mutating func joined() -> [Action] { askAgain() }

  /// The hub published a part.
  package mutating func receive(_ part: RoutePart) -> [Action] {
    let new = Edition(term: part.term, number: part.number)
    // Older, or the same again.
    if let edition, new <= edition { return [] }
    if edition.map({ !new.follows($0) }) ?? true { known = 0 }
    var actions = begin(part)
    edition = new
    total = part.total
    let isPlaced = part.from <= known
    if isPlaced { actions += place(part, upTo: part.from + part.points.count) }
    // The hub publishes a long change as several parts: after a full one the next is under way.
    let isFollowed = isPlaced && part.points.count == RoutePart.pointsMax
    if known < total, !isFollowed { actions += ask() }
    return actions
  }

  /// The answer to the question under way; `nil` when there was no run yet.
  package mutating func receive(answer part: RoutePart?) -> [Action] {
    isAsking = false
    let isTooOld = mustAskAgain
    mustAskAgain = false
    guard let part else { return isTooOld ? ask() : [] }
    let new = Edition(term: part.term, number: part.number)
    // The answer is older than a part that has arrived since.
    if let edition, new < edition { return known < total || isTooOld ? ask() : [] }
    if edition != new || part.runID != runID {
      // A published part was lost, which may have changed any point.
      known = 0
    }
    var actions = begin(part)
    edition = new
    total = part.total
    let before = known
    if part.from <= known { actions += place(part, upTo: max(known, part.from + part.points.count)) }
    // An answer that adds no points does not lead to another question, so that an empty one is not repeated forever.
    if isTooOld || known < total && (known > before || part.from > before) { actions += ask() }
    return actions
  }

  /// The question under way got no answer. The view asks for missing points again at the next event.
  package mutating func answerFailed() { (isAsking, mustAskAgain) = (false, false) }

  /// The hub published a snapshot, which follows the part of the route that belongs to it.
  package mutating func receive(_ snapshot: Snapshot) -> [Action] {
    // Unless the run is running, no later part may show that the last one was lost. So ask once for each such snapshot.
    let isStanding = snapshot.phase != .running && snapshot.runID != nil && snapshot.order != checkedAt
    if isStanding { checkedAt = snapshot.order }
    if isStanding { return askAgain() }
    return known < total ? ask() : []
  }

  private mutating func askAgain() -> [Action] {
    if isAsking { mustAskAgain = true }
    return ask()
  }

  private mutating func ask() -> [Action] {
    guard !isAsking else { return [] }
    isAsking = true
    return [.ask(from: known)]
  }

  private mutating func begin(_ part: RoutePart) -> [Action] {
    guard part.runID != runID else { return [] }
    runID = part.runID
    points = []
    known = 0
    return [.began(part.runID)]
  }

  /// Writes a part into the points and returns the first index that has changed.
  private mutating func place(_ part: RoutePart, upTo end: Int) -> [Action] {
    let first = part.points.indices.first { index in
      let place = part.from + index
      return place >= points.count || points[place] != part.points[index]
    }
    for (index, point) in part.points.enumerated() {
      let place = part.from + index
      if place < points.count { points[place] = point } else { points.append(point) }
    }
    known = end
    var changed = first.map { part.from + $0 }
    if known >= total, points.count > total {
      points.removeLast(points.count - total)
      changed = min(changed ?? total, total)
    }
    return changed.map { [.changed(from: $0)] } ?? []
  }
}
