/// How far a member's run has come, as its hub tells the others of the room every 3 s. Nothing rests on it: it is
/// stored nowhere, and what counts is the record.
package struct LiveStanding: Hashable, Sendable {
  /// Whose run it is.
  package var member: MemberID
  /// Grows from each message of a member to its next one, over restarts of its hub too.
  package var number: UInt64
  /// Time since the start.
  package var elapsed: BusDuration
  /// Tenths of a metre; `nil` if unknown.
  package var decimetres: Int?
  /// How fast it runs; `nil` if unknown.
  package var paceSecondsPerKilometre: Int?
  /// What its run does.
  package var phase: RunPhase

  /// A standing from its parts.
  package init(
    member: MemberID, number: UInt64, elapsed: BusDuration, decimetres: Int?, paceSecondsPerKilometre: Int? = nil,
    phase: RunPhase = .running
  ) {
    self.member = member
    self.number = number
    self.elapsed = elapsed
    self.decimetres = decimetres
    self.paceSecondsPerKilometre = paceSecondsPerKilometre
    self.phase = phase
  }

  /// Where the run is likely to be at a later elapsed time, at its speed so far and for at most as long again; `nil` if
  /// unknown. A run that is not on stays where it is.
  func decimetres(at later: BusDuration) -> Int? {
    guard let decimetres, phase == .running, elapsed > .zero, later > elapsed else { return decimetres }
    let ratio = min(Double(later.nanoseconds) / Double(elapsed.nanoseconds), 2)
    return Int(exactly: (Double(decimetres) * ratio).rounded()) ?? decimetres
  }
}

/// Who is ahead while a room runs: the newest standing of each member.
package struct StandingsTable: Hashable, Sendable {
  /// How old a standing is when it is stale: three beats.
  package static let staleAfter = BusDuration.seconds(9)
  /// How many standings of a member are taken in a second.
  package static let takenPerSecond = 2

  /// What became of a standing.
  package enum Taken: Hashable, Sendable {
    /// It is the member's newest one.
    case taken
    /// It is of nobody in the roster.
    case stranger
    /// It has no larger number than the last one that was taken.
    case old
    /// The member has sent too many.
    case tooMany
    /// It cannot be; nobody runs as far as it says.
    case wrong
  }
  /// A member's line.
  package struct Row: Hashable, Sendable {
    /// Whose line it is.
    package let member: MemberID
    /// The place, from 1; equal distances share one. `nil` while the distance is unknown.
    package let place: Int?
    /// The newest standing; `nil` before the first one.
    package let standing: LiveStanding?
    /// How old it is.
    package let age: BusDuration?
    /// Whether nothing was heard for ``StandingsTable/staleAfter``, or nothing ever.
    package let isStale: Bool
    /// Tenths of a metre to the member before this one, and to the first; 0 for the first and `nil` without a place.
    package let (behindNext, behindFirst): (Int?, Int?)

    /// A line from its parts.
    package init(
      member: MemberID, place: Int?, standing: LiveStanding?, age: BusDuration?, behindNext: Int?, behindFirst: Int?
    ) {
      self.member = member
      self.place = place
      self.standing = standing
      self.age = age
      isStale = age.map { $0 >= StandingsTable.staleAfter } ?? true
      (self.behindNext, self.behindFirst) = (behindNext, behindFirst)
    }
  }

  /// What is known of a member.
  private struct Line: Hashable {
    var standing: LiveStanding?
    /// When the last standings were taken, oldest first.
    var taken: [BusTime] = []
  }
  /// In the order of the roster.
  private let roster: [MemberID]
  /// How long the run is.
  private let goal: BusDuration
  private var lines: [MemberID: Line] = [:]

  /// A table of the members of a room at the start, for a run until a goal.
  package init(roster: [MemberID] = [], goal: BusDuration = RoomTerms.goalBounds.upperBound) {
    self.roster = Array(roster.prefix(RoomTerms.placesBounds.upperBound))
    self.goal = goal
  }

  /// Takes a standing that was heard at a moment of the own clock.
  package mutating func take(_ standing: LiveStanding, at now: BusTime) -> Taken {
    guard roster.contains(standing.member) else { return .stranger }
    guard standing.elapsed >= .zero, standing.decimetres ?? 0 >= 0, standing.paceSecondsPerKilometre ?? 0 >= 0,
      min(standing.elapsed, goal).isEnough(toRun: standing.decimetres)
    else { return .wrong }
    var line = lines[standing.member] ?? Line()
    if let last = line.standing, standing.number <= last.number { return .old }
    if line.taken.count == Self.takenPerSecond {
      if now - line.taken[0] < .seconds(1) { return .tooMany }
      line.taken.removeFirst()
    }
    line.taken.append(now)
    line.standing = standing
    lines[standing.member] = line
    return .taken
  }

  /// The lines at a moment: who is ahead first, then who has no distance; equal ones in the order of the roster.
  ///
  /// Standings are of different moments, one's own the newest: they are compared at the same elapsed time.
  package func rows(at now: BusTime) -> [Row] {
    let newest = lines.values.compactMap { $0.standing?.elapsed }.max() ?? .zero
    let compared = roster.enumerated().map { place, member in
      (place, member, lines[member], lines[member]?.standing?.decimetres(at: newest))
    }
    let ordered = compared.sorted { left, right in
      let (mine, others) = (left.3 ?? -1, right.3 ?? -1)
      return mine == others ? left.0 < right.0 : mine > others
    }
    let distances = ordered.map(\.3)
    return ordered.enumerated().map { index, line in
      let distance = distances[index]
      let ahead = index == 0 ? nil : distances[index - 1]
      return Row(
        member: line.1, place: distance == nil ? nil : (distances.firstIndex(of: distance) ?? 0) + 1,
        standing: line.2?.standing, age: line.2?.taken.last.map { max(.zero, now - $0) },
        behindNext: distance.map { (ahead ?? $0) - $0 }, behindFirst: distance.map { (distances[0] ?? $0) - $0 })
    }
  }

  /// When a line is stale next; `nil` when all are, or nothing was heard.
  package func deadline(after now: BusTime) -> BusTime? {
    lines.values.compactMap { $0.taken.last.map { $0 + Self.staleAfter } }.filter { $0 > now }.min()
  }

  /// What is wrong with the table; `nil` when everything that always holds does.
  package func check() -> String? {
    if roster.count > RoomTerms.placesBounds.upperBound { return "more lines than places" }
    if !lines.keys.allSatisfy(roster.contains) { return "a stranger has a line" }
    if lines.values.contains(where: { $0.taken.count > Self.takenPerSecond || $0.taken.isEmpty != ($0.standing == nil) }
    ) {
      return "a line and its moments do not belong together"
    }
    return nil
  }
}
