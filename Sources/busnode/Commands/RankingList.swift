import ArgumentParser
import Foundation
import RunBus

struct RankingList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ranking",
    abstract: "List the runners of a fleet by their results in rooms.",
    discussion: """
        busnode ranking                    by distance, in this month
        busnode ranking month --month 2026-11
        busnode ranking wins --together club
        busnode ranking losses --json

      Without a phone: it counts again from the entries of the log, each room once, as soon as all its records are in or \
      it is over. A room belongs to the month of its start, by the log's clock and the time zone of this machine. The log \
      keeps rooms with a run for 400 days, at most 2,048 beside those of the last four days; wins and losses are those of \
      these rooms. Equal ones share a rank.
      """)

  @Argument(help: ArgumentHelp("By distance in a month, or by all wins or losses.", valueName: "list"))
  var list = Ranking.Kind.month

  @OptionGroup var fleet: FleetOptions

  @Option(help: ArgumentHelp("The month: 2026-11 (default: this one).", valueName: "month"))
  var month: MonthArgument?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func validate() throws {
    guard month == nil || list == .month else {
      throw ValidationError(Tongue.say(.monthIsForDistance))
    }
  }

  func run() async throws {
    let history = try await fleet.history()
    let calendar = RunCalendar()
    guard let month = month?.month ?? calendar.month(Date().timeIntervalSince1970) else {
      throw Failure(code: "failure", message: Tongue.say(.clockHasNoMonth), exitStatus: ExitStatus.failure)
    }
    let runners = history.runners(history.tally { calendar.month($0) })
    let rows = Ranking.list(list, of: runners, month: month)
    if json { return try rows.forEach { try Output.jsonLine(RankingJSON($0, list, month)) } }
    guard !rows.isEmpty else { return try Output.line(RankingText.none(list, month)) }
    for line in RankingText.lines(rows, list, month) { try Output.line(line) }
  }
}

extension Ranking.Kind: ExpressibleByArgument {}

/// A month as an argument: `2026-11`.
struct MonthArgument: ExpressibleByArgument {
  let month: CalendarMonth

  init?(argument: String) {
    let calendar = RunCalendar()
    guard let range = calendar.range(of: .month, named: argument), let month = calendar.month(range.lowerBound) else {
      return nil
    }
    self.month = month
  }
}
