/// The route of the present run as a follower has it, put together from parts that are published (some are lost on the
/// way) and from answers to its own questions.
///
/// Feed it what comes: ``joined()`` when the hub answers, at first and after every loss of the link, the published parts,
/// the snapshots, and the answers to what it asks. It says what changed and what to ask next. One question is under way
/// at a time.
///
/// The points up to `known` are as the hub has them; those behind are of before and stay until they are known again.
///
/// - `known` is all: can go to *behind* (a part was lost, the link was, another run began).
/// - *behind*: asks on from `known`, can go to *all*.
public struct RouteView: Sendable {
  /// What follows from something that came.
  public enum Action: Hashable, Sendable {
    /// Another run: what there was of the one before is over.
    case began(RunID)
    /// Points from this index on are new, are others, or are gone.
    case changed(from: Int)
    /// Ask the hub for ``Inquiry/route(from:)`` with this index, and give the answer to ``RouteView/receive(answer:)``.
    case ask(from: Int)
  }

  /// How new something is: the hub's life, and the count of what was published in it.
  private struct Edition: Comparable {
    let term: UInt64
    let number: UInt64
    static func < (left: Self, right: Self) -> Bool { (left.term, left.number) < (right.term, right.number) }
    func follows(_ other: Edition) -> Bool { term == other.term && number == other.number &+ 1 }
  }

  /// The run; `nil` before the first.
  public private(set) var runID: RunID?
  /// Its points.
  public private(set) var points: [RoutePoint] = []
  /// How many of them are as the hub has them.
  private var known = 0
  /// How many the hub has.
  private var total = 0
  /// All that was published up to here has come, or is in an answer that has.
  private var edition: Edition?
  private var isAsking = false
  /// The question under way was asked before something that makes another one due.
  private var mustAskAgain = false
  /// The standing state after which was asked whether anything was missed.
  private var checkedAt: SnapshotOrder?

  /// A view of nothing yet.
  public init() {}

  /// All points are here and as the hub had them when it last spoke of them.
  public var isComplete: Bool { edition != nil && known == total && !isAsking }

  /// The hub answers. What it published in the meantime is lost, and only its number says whether that was anything.
  public mutating func joined() -> [Action] { askAgain() }

  /// A part was published.
  public mutating func receive(_ part: RoutePart) -> [Action] {
    let new = Edition(term: part.term, number: part.number)
    // Older, or the same again.
    if let edition, new <= edition { return [] }
    if edition.map({ !new.follows($0) }) ?? true { known = 0 }
    var actions = begin(part)
    edition = new
    total = part.total
    let isPlaced = part.from <= known
    if isPlaced { actions += place(part, upTo: part.from + part.points.count) }
    // The rest of what was published with it follows by itself.
    let isFollowed = isPlaced && part.points.count == RoutePart.pointsMax
    if known < total, !isFollowed { actions += ask() }
    return actions
  }

  /// The answer to the question under way; `nil` when there was no run yet.
  public mutating func receive(answer part: RoutePart?) -> [Action] {
    isAsking = false
    let isTooOld = mustAskAgain
    mustAskAgain = false
    guard let part else { return isTooOld ? ask() : [] }
    let new = Edition(term: part.term, number: part.number)
    // It was said before something that has come since.
    if let edition, new < edition { return known < total || isTooOld ? ask() : [] }
    if edition != new || part.runID != runID {
      // Something was published of which nothing came: no point is known any more, unless nothing stands before this part.
      known = 0
    }
    var actions = begin(part)
    edition = new
    total = part.total
    let before = known
    if part.from <= known { actions += place(part, upTo: max(known, part.from + part.points.count)) }
    // A hub that gives nothing is not asked for ever.
    if isTooOld || known < total && (known > before || part.from > before) { actions += ask() }
    return actions
  }

  /// The question under way got no answer. What is missing is asked for when something else comes.
  public mutating func answerFailed() { (isAsking, mustAskAgain) = (false, false) }

  /// The state, which is published after the part of the route that belongs to it.
  public mutating func receive(_ snapshot: Snapshot) -> [Action] {
    // The last parts before a quiet stretch can be lost, and nothing after them would tell.
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

  /// Puts a part in its place and says from where on anything is another than before.
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
