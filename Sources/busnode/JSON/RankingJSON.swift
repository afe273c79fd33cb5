import RunBus
import RunScripts

/// A line of `ranking --json`.
struct RankingJSON: Codable, Equatable {
  /// `month`, `wins` or `losses`.
  let list: String
  let rank: Int
  let id: String
  let nickname: String
  /// `null` in the lists of all months, as is the distance.
  @Explicit var month: String?
  @Explicit var distanceMeters: Double?
  let won: Int
  let drawn: Int
  let lost: Int

  init(_ row: Ranking.Row, _ list: Ranking.Kind, _ month: CalendarMonth) {
    self.list = list.rawValue
    rank = row.rank
    id = row.runner.member.nkey
    nickname = row.runner.nickname.text
    let isMonth = list == .month
    _month = Explicit(wrappedValue: isMonth ? month.text : nil)
    _distanceMeters = Explicit(wrappedValue: isMonth ? Double(row.value) / 10 : nil)
    (won, drawn, lost) = (row.runner.score.won, row.runner.score.drawn, row.runner.score.lost)
  }
}

/// A line of `badges --json`.
struct BadgeJSON: Codable, Equatable {
  let badge: String
  /// The run with which the rule was fulfilled, and the time of day of its end.
  let runId: String
  let at: String

  init(_ given: Badges.Given) {
    badge = given.badge.rawValue
    runId = given.run.description
    at = DayTime.text(unixMilliseconds: given.moment)
  }
}

extension CalendarMonth {
  /// `2026-11`.
  var text: String {
    let (year, month) = ("\(year)", "\(month)")
    return String(repeating: "0", count: max(0, 4 - year.count)) + year + (month.count < 2 ? "-0" : "-") + month
  }
}
