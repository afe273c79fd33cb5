/// Lists of runners, best first.
package enum Ranking {
  /// What a list is ordered by.
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// Distance in a month.
    case month
    /// Wins, of all time.
    case wins
    /// Losses, of all time: lost, but fought well.
    case losses
  }
  /// A runner who may be listed.
  package struct Runner: Hashable, Sendable {
    /// Who it is.
    package var member: MemberID
    /// The name that others see.
    package var nickname: Nickname
    /// What its results come to.
    package var score: Tally.Score
    /// A runner from its parts.
    package init(member: MemberID, nickname: Nickname, score: Tally.Score) {
      (self.member, self.nickname, self.score) = (member, nickname, score)
    }
  }
  /// A line of a list.
  package struct Row: Hashable, Sendable {
    /// The rank, from 1; equal values share one, and the next rank counts them all (1, 1, 3).
    package let rank: Int
    /// Who it is.
    package let runner: Runner
    /// What the list is ordered by: tenths of a metre, or a number of results.
    package let value: Int
  }

  /// The list of a kind. Who has nothing to be listed for is left out; equal ones are listed by nickname, then by key.
  ///
  /// - Parameters:
  ///   - kind: What to order by.
  ///   - runners: The runners, in any order.
  ///   - month: The month of the list by distance.
  package static func list(_ kind: Kind, of runners: some Sequence<Runner>, month: CalendarMonth) -> [Row] {
    let listed = runners.map { ($0, value(kind, of: $0.score, month)) }.filter { $0.1 > 0 }
      .sorted { left, right in
        if left.1 != right.1 { return left.1 > right.1 }
        if left.0.nickname != right.0.nickname { return left.0.nickname < right.0.nickname }
        return left.0.member < right.0.member
      }
    var rank = 1
    return listed.enumerated().map { index, line in
      if index > 0, listed[index - 1].1 != line.1 { rank = index + 1 }
      return Row(rank: rank, runner: line.0, value: line.1)
    }
  }

  private static func value(_ kind: Kind, of score: Tally.Score, _ month: CalendarMonth) -> Int {
    switch kind {
    case .month: score.decimetres[month] ?? 0
    case .wins: score.won
    case .losses: score.lost
    }
  }
}
