/// What a badge is given for.
package enum Badge: String, Hashable, Sendable, CaseIterable {
  /// For one run: any, and runs of 5, 10, 21.0975 and 42.195 km.
  case firstRun, fiveKilometres, tenKilometres, halfMarathon, marathon
  /// For all runs of a calendar month: 100 km.
  case hundredInMonth
  /// For results of rooms.
  case firstWin, threeWinsInRow
  /// For running on seven days, one after the other.
  case sevenDaysInRow

  /// What has to be reached.
  enum Rule: Hashable {
    /// A run of so many metres.
    case run(metres: Double)
    /// So many metres in the runs of a calendar month.
    case month(metres: Double)
    /// So many wins with no other result between them.
    case wins(Int)
    /// Runs on so many days, one after the other.
    case days(Int)
  }
  /// The rules, as data.
  var rule: Rule {
    switch self {
    case .firstRun: .run(metres: 0)
    case .fiveKilometres: .run(metres: 5_000)
    case .tenKilometres: .run(metres: 10_000)
    case .halfMarathon: .run(metres: 21_097.5)
    case .marathon: .run(metres: 42_195)
    case .hundredInMonth: .month(metres: 100_000)
    case .firstWin: .wins(1)
    case .threeWinsInRow: .wins(3)
    case .sevenDaysInRow: .days(7)
    }
  }
}

/// A run or a result of the own runner, as badges look at it.
package struct BadgeDeed: Hashable, Sendable {
  /// What was done.
  package enum Kind: Hashable, Sendable {
    /// A run was kept.
    case run(metres: Double)
    /// A room's result has settled: all of them, since a loss or a draw ends a row of wins.
    case result(RoomResult.Outcome)

    fileprivate var rank: Int {
      switch self {
      case .run: 0
      case .result(.won): 1
      case .result(.drawn): 2
      case .result(.lost): 3
      }
    }
  }
  /// The run; that of a result is the own run in its room.
  package var run: RunID
  /// When it was over, in milliseconds of the calendar's origin.
  package var moment: Int64
  /// The day of its end by the runner's calendar: a count that grows by 1 from day to day.
  package var day: Int
  /// The month of its end by the runner's calendar.
  package var month: CalendarMonth
  /// What was done.
  package var kind: Kind

  /// A deed from its parts.
  package init(run: RunID, moment: Int64, day: Int, month: CalendarMonth, kind: Kind) {
    self.run = run
    self.moment = moment
    self.day = day
    self.month = month
    self.kind = kind
  }

  /// Total among different deeds of a run, so that the order in which they are given decides nothing.
  fileprivate static func precedes(_ left: Self, _ right: Self) -> Bool {
    if left.moment != right.moment { return left.moment < right.moment }
    return left.run == right.run ? left.kind.rank < right.kind.rank : left.run < right.run
  }
}

/// The badges of a runner. One that was given stays as it was given, whatever becomes of the run.
package struct Badges: Hashable, Sendable {
  /// What a badge was given for.
  package struct Given: Hashable, Sendable {
    /// Which one.
    package let badge: Badge
    /// The run with which the rule was fulfilled, and the moment of its end.
    package let (run, moment): (RunID, Int64)
    /// A given badge, as it was kept.
    package init(_ badge: Badge, run: RunID, moment: Int64) {
      (self.badge, self.run, self.moment) = (badge, run, moment)
    }
  }
  private var kept: [Badge: Given] = [:]

  /// Badges that were given earlier; of two of a kind the first one stays.
  package init(given: some Sequence<Given> = []) {
    for one in given where kept[one.badge] == nil { kept[one.badge] = one }
  }

  /// The given ones, in the order of ``Badge``.
  package var given: [Given] { Badge.allCases.compactMap { kept[$0] } }

  /// Gives what the runs and results that there are now have brought and was not given yet.
  ///
  /// - Parameter deeds: All runs that are kept and all results that have settled, each in its newest version and in any
  ///   order. A record or a result that comes late counts where it belongs; a repetition counts once.
  /// - Returns: What is new.
  @discardableResult
  package mutating func look(at deeds: some Sequence<BadgeDeed>) -> [Given] {
    let ordered = Set(deeds).sorted(by: BadgeDeed.precedes)
    return Badge.allCases.compactMap { badge in
      guard kept[badge] == nil, let deed = Self.first(badge.rule, in: ordered) else { return nil }
      kept[badge] = Given(badge, run: deed.run, moment: deed.moment)
      return kept[badge]
    }
  }

  /// The deed with which a rule was first fulfilled.
  private static func first(_ rule: Badge.Rule, in deeds: [BadgeDeed]) -> BadgeDeed? {
    var sums: [CalendarMonth: Double] = [:]
    var (row, lastDay) = (0, Int?.none)
    return deeds.first { deed in
      switch (rule, deed.kind) {
      case (.run(let metres), .run(let ran)): return ran >= metres
      case (.month(let metres), .run(let ran)):
        // A distance that is no number counts as none.
        sums[deed.month, default: 0] += ran > 0 ? ran : 0
        return sums[deed.month, default: 0] >= metres
      case (.wins(let count), .result(let outcome)):
        row = outcome == .won ? row + 1 : 0
        return row >= count
      case (.days(let count), .run):
        if let last = lastDay, deed.day <= last { return row >= count }
        row = lastDay.map { $0 &+ 1 } == deed.day ? row + 1 : 1
        lastDay = deed.day
        return row >= count
      case (.run, .result), (.month, .result), (.days, .result), (.wins, .run): return false
      }
    }
  }
}
