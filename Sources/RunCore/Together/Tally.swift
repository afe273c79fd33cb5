/// A month of the calendar, as given with what happened in it: nothing here knows what month it is.
package struct CalendarMonth: Hashable, Comparable, Sendable {
  /// The year and the month of it, from 1.
  package let (year, month): (Int, Int)
  /// A month; `nil` unless it is one of twelve.
  package init?(year: Int, month: Int) {
    guard (1...12).contains(month) else { return nil }
    (self.year, self.month) = (year, month)
  }
  /// Earlier months are smaller.
  package static func < (left: Self, right: Self) -> Bool { (left.year, left.month) < (right.year, right.month) }
}

/// A result as a tally takes it.
package struct TalliedResult: Hashable, Sendable {
  /// Whose result it is.
  package var room: RoomID
  /// Grows with each newer version of the room's result: the position in the log up to which it was folded.
  package var version: UInt64
  /// The month of the room's start.
  package var month: CalendarMonth
  /// What came out.
  package var result: RoomResult

  /// A result from its parts.
  package init(room: RoomID, version: UInt64, month: CalendarMonth, result: RoomResult) {
    self.room = room
    self.version = version
    self.month = month
    self.result = result
  }

  /// Whether it replaces another one of the room. Total, so that the order of arrival decides nothing even if two that
  /// claim one version differ.
  fileprivate func replaces(_ other: Self) -> Bool {
    if version != other.version { return version > other.version }
    let (isFinal, otherIsFinal) = (result.standing == .final, other.result.standing == .final)
    if isFinal != otherIsFinal { return isFinal }
    if month != other.month { return month > other.month }
    for (row, old) in zip(result.rows, other.result.rows) where row != old {
      if row.member != old.member { return row.member > old.member }
      if row.decimetres != old.decimetres { return row.decimetres ?? -1 > old.decimetres ?? -1 }
      if row.outcome != old.outcome { return row.outcome?.rawValue ?? "" > old.outcome?.rawValue ?? "" }
    }
    return result.rows.count > other.result.rows.count
  }
}

/// Wins, losses and distances of runners over all rooms: each settled result counts once, by its newest version. The
/// same from any order of any repetitions. It keeps one result a room, for as long as its keeper wants the room to
/// count.
package struct Tally: Hashable, Sendable {
  /// What a runner's results come to.
  package struct Score: Hashable, Sendable {
    /// Results in which the runner was first alone, shared the first place, or was not first.
    package internal(set) var (won, drawn, lost) = (0, 0, 0)
    /// Tenths of a metre in rooms that started in a month; months without any are left out.
    package internal(set) var decimetres: [CalendarMonth: Int] = [:]
    /// A score of no results.
    package init() {}

    fileprivate mutating func add(_ row: RoomResult.Row, _ month: CalendarMonth, times: Int) {
      switch row.outcome {
      case .won: won += times
      case .drawn: drawn += times
      case .lost: lost += times
      case nil: break
      }
      // Wraps back when the result is taken out again, so that absurd distances cannot trap.
      let sum = decimetres[month, default: 0] &+ max(0, row.decimetres ?? 0) &* times
      decimetres[month] = sum == 0 ? nil : sum
    }
  }

  private var results: [RoomID: TalliedResult] = [:]
  private var scores: [MemberID: Score] = [:]

  /// A tally of nothing.
  package init() {}

  /// A tally of a list: what ``count(_:)`` comes to, whatever the order.
  package init(_ results: some Sequence<TalliedResult>) { for result in results { count(result) } }

  /// Counts a result, instead of an older version of it.
  ///
  /// - Returns: Whether anything changed: not for a provisional result, nor for one that is known or older.
  @discardableResult
  package mutating func count(_ result: TalliedResult) -> Bool {
    guard result.result.standing != .provisional else { return false }
    let old = results[result.room]
    if let old {
      guard result.replaces(old) else { return false }
      add(old, times: -1)
    }
    results[result.room] = result
    add(result, times: 1)
    return true
  }

  private mutating func add(_ result: TalliedResult, times: Int) {
    for row in result.result.rows {
      var score = scores[row.member] ?? Score()
      score.add(row, result.month, times: times)
      scores[row.member] = score == Score() ? nil : score
    }
  }

  /// What a runner's results come to.
  package func score(of member: MemberID) -> Score { scores[member] ?? Score() }
  /// Who has a score, in the order of their keys.
  package var members: [MemberID] { scores.keys.sorted() }
  /// The results that count, in the order of their rooms.
  package var counted: [TalliedResult] { results.values.sorted { $0.room < $1.room } }

  /// What is wrong with the tally; `nil` when everything that always holds does.
  package func check() -> String? { Self(counted) == self ? nil : "the tally is not what its results come to" }
}
