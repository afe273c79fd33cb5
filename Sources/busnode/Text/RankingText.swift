import RunBus

/// Rankings and badges as people read them.
enum RankingText {
  /// The line in place of an empty list.
  static func none(_ list: Ranking.Kind, _ month: CalendarMonth) -> String {
    switch list {
    case .month: Tongue.say(.nobodyRan, ["month": month.text])
    case .wins: Tongue.say(.nobodyWon)
    case .losses: Tongue.say(.nobodyLost)
    }
  }

  /// The runners, a line each under a heading.
  static func lines(_ rows: [Ranking.Row], _ list: Ranking.Kind, _ month: CalendarMonth) -> [String] {
    let names = RoomText.names(rows.map { ($0.runner.member, $0.runner.nickname) })
    let heading =
      [Tongue.say(.headingRank), Tongue.say(.headingRunner)] + (list == .month ? [month.text] : []) + [
        Tongue.say(.headingWon), Tongue.say(.headingDrawn), Tongue.say(.headingLost),
      ]
    return Columns.lines(
      heading,
      rows.map { row in
        let score = row.runner.score
        return ["\(row.rank).", names[row.runner.member] ?? "?"]
          + (list == .month ? ["\(RoomText.tenths(Double(row.value) / 10)) m"] : [])
          + ["\(score.won)", "\(score.drawn)", "\(score.lost)"]
      }, leftColumns: 2)
  }

  /// The badges, a line each under a heading.
  static func lines(_ given: [Badges.Given]) -> [String] {
    let calendar = RunCalendar()
    return Columns.lines(
      [Tongue.say(.headingBadge), Tongue.say(.headingGiven), Tongue.say(.headingRun)],
      given.map { one in
        [words(one.badge), calendar.minuteText(Double(one.moment) / 1000), Sentence.short(one.run.description)]
      })
  }

  /// What a badge is given for.
  static func words(_ badge: Badge) -> String {
    switch badge {
    case .firstRun: Tongue.say(.badgeFirstRun)
    case .fiveKilometres: "5 km"
    case .tenKilometres: "10 km"
    case .halfMarathon: Tongue.say(.halfMarathon)
    case .marathon: Tongue.say(.marathon)
    case .hundredInMonth: Tongue.say(.badgeHundred)
    case .firstWin: Tongue.say(.badgeFirstWin)
    case .threeWinsInRow: Tongue.say(.badgeThreeWins)
    case .sevenDaysInRow: Tongue.say(.badgeSevenDays)
    }
  }
}
