import RunBus

/// Rankings and badges as people read them.
enum RankingText {
  /// The line in place of an empty list.
  static func none(_ list: Ranking.Kind, _ month: CalendarMonth) -> String {
    switch list {
    case .month: "nobody has run in a room in \(month.text)"
    case .wins: "nobody has won in a room"
    case .losses: "nobody has lost in a room"
    }
  }

  /// The runners, a line each under a heading.
  static func lines(_ rows: [Ranking.Row], _ list: Ranking.Kind, _ month: CalendarMonth) -> [String] {
    let names = RoomText.names(rows.map { ($0.runner.member, $0.runner.nickname) })
    let heading = ["RANK", "RUNNER"] + (list == .month ? [month.text] : []) + ["WON", "DRAWN", "LOST"]
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
      ["BADGE", "GIVEN", "RUN"],
      given.map { one in
        [words(one.badge), calendar.minuteText(Double(one.moment) / 1000), Sentence.short(one.run.description)]
      })
  }

  /// What a badge is given for.
  static func words(_ badge: Badge) -> String {
    switch badge {
    case .firstRun: "first run"
    case .fiveKilometres: "5 km"
    case .tenKilometres: "10 km"
    case .halfMarathon: "half marathon"
    case .marathon: "marathon"
    case .hundredInMonth: "100 km in a month"
    case .firstWin: "first win"
    case .threeWinsInRow: "3 wins in a row"
    case .sevenDaysInRow: "7 days in a row"
    }
  }
}
