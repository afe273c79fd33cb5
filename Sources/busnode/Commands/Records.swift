import ArgumentParser
import Foundation
import RunBus
import RunCore

struct Records: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records",
    abstract: "List, show, edit, remove, export and import the runs that are kept.",
    discussion: """
        busnode records       the list
        busnode records show  the last run, with charts
        busnode records show 1f0a2b3c
        busnode records edit 1f0a2b3c --title "River loop"
        busnode records export 1f0a2b3c --output run.gpx
        busnode records export --all runs
        busnode records import old/*.tcx
        busnode records stats --by month
        busnode web           a page, which compares two runs

      A run becomes a record when it is stopped. Later data (readings of a watch that was away, a press that amends the \
      run within a day of its stop) make a new version of the record, a minute after the first of them arrived. Runs \
      that were stopped before RunBus kept records become records when the phone starts again.

      The phone keeps the records, and every peer has copies. Running nodes on this machine are asked, and the stores of \
      stopped ones are read; changes go to the phone. Only records rm removes a record.
      """,
    subcommands: [
      RecordsList.self, RecordsShow.self, RecordsEdit.self, RecordsRemove.self, RecordsExport.self, RecordsImport.self,
      RecordsStats.self,
    ],
    defaultSubcommand: RecordsList.self)
}

/// Selects records by the time of their start: on the clock of the run where its UTC offset is known, else on the local
/// clock.
struct RecordFilter: ParsableArguments {
  @Option(help: ArgumentHelp("Runs that started on this day or later: 2026-11-21.", valueName: "date"))
  var since: String?

  @Option(help: ArgumentHelp("Runs that started on this day or earlier.", valueName: "date"))
  var until: String?

  @Option(help: ArgumentHelp("Runs of this week, from Monday: 2026-W47.", valueName: "week"))
  var week: String?

  @Option(help: ArgumentHelp("Runs of this month: 2026-11.", valueName: "month"))
  var month: String?

  @Option(help: ArgumentHelp("Runs of this year: 2026.", valueName: "year"))
  var year: String?

  func validate() throws { _ = try ranges() }

  /// Returns the records whose start lies in every range that was given.
  func matches(_ entries: [RecordCatalogue.Entry]) throws -> [RecordCatalogue.Entry] {
    let (ranges, calendar) = (try ranges(), RunCalendar())
    return entries.filter { entry in ranges.allSatisfy { $0.contains(calendar.wallClock(entry.summary)) } }
  }

  private func ranges() throws -> [Range<Double>] {
    let calendar = RunCalendar()
    func range(
      _ unit: RunCalendar.Unit, _ name: String?, _ option: String, like example: String
    ) throws -> Range<Double>? {
      guard let name else { return nil }
      guard let range = calendar.range(of: unit, named: name) else {
        throw ValidationError(
          Tongue.say(.notValid, ["option": option, "value": name, "unit": unit.spoken, "example": example]))
      }
      return range
    }
    let since = try range(.day, since, "--since", like: "2026-11-21").map { $0.lowerBound..<Double.infinity }
    let until = try range(.day, until, "--until", like: "2026-11-21").map { -Double.infinity..<$0.upperBound }
    return [
      since, until, try range(.week, week, "--week", like: "2026-W47"),
      try range(.month, month, "--month", like: "2026-11"), try range(.year, year, "--year", like: "2026"),
    ].compactMap { $0 }
  }
}

/// Options of every subcommand of `records`.
struct ShelfOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only records that this device keeps (default: all devices here).", valueName: "name"),
    completion: Completions.devices)
  var device: DeviceID?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func open(_ bus: BusOptions) async throws -> RecordCatalogue {
    bus.startLog()
    return try await RecordCatalogue(try bus.location(), device: device)
  }
}

struct RecordsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List the records, the last run last.",
    discussion: """
        busnode records ls --week 2026-W47
        busnode records ls --year 2026 --json | jq -s 'map(.distanceMeters) | add'

      --json writes one object for each: runId, version, deviceId (who started it), hubDeviceId, appVersion, startedAt, \
      startedAtUnixSeconds, elapsedSeconds, activeSeconds, distanceMeters, averagePaceSecondsPerKilometer, \
      averageHeartRateBpm, elevationGainMeters, energyJoules, weightKilograms, autoPause, pedometer, goalSeconds, conflicted \
      (it overlaps another run), utcOffsetSeconds, bests, title, note. Values that are not known are null. A record that is \
      likely of the same run as another one has doubleOf, the runId of that.
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var filter: RecordFilter

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  func run() async throws {
    let units = try Settings.units(units)
    let entries = try await shelf.open(bus).entries
    let summaries = try filter.matches(entries).map(\.summary)
    let doubles = RecordDoubles(entries.map(\.summary))
    if shelf.json {
      return try summaries.forEach {
        try Output.jsonLine(RecordLineJSON(summary: $0, doubleOf: doubles.original(of: $0.runID)))
      }
    }
    guard !summaries.isEmpty else { return try Output.line(RecordText.none(of: entries.count)) }
    for line in RecordText.list(summaries, doubles, in: units) {
      try Output.line(Output.isTerminal ? TextWidth.cut(line, to: Output.screen.columns) : line)
    }
  }
}

struct RecordsStats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Sums by day, week, month or year, with a trend; personal bests.",
    discussion: """
        busnode records stats
        busnode records stats --by month --since 2026-01-01
        busnode records stats --by year --json
        busnode records stats --bests

      A run belongs to the day on which it started, by the clock of the run (by the local clock where its UTC offset is \
      not known). Sums leave out values that are not known; pace is active time over distance of the runs that have a \
      distance. Runs that overlap are both counted, but a run counts once that was imported and is likely kept already: \
      records ls names it.

      Below the table a sentence says how the distance of the last complete periods, up to four, compares with that of as \
      many before. A period without a run counts as zero.

      --bests shows the fastest 1 km, 5 km, 10 km, half marathon and marathon within a run, by active time, and the \
      longest run. Those of records of earlier versions are computed from their route, where auto-pauses count.

      --json writes one object a period: period, count, activeSeconds, elapsedSeconds, distanceMeters, \
      averagePaceSecondsPerKilometer, elevationGainMeters, energyJoules. With --bests it writes one object a best: \
      distanceMeters, activeSeconds, runId, startedAtUnixSeconds, longest (true for the longest run).
      """)

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var filter: RecordFilter

  @Option(help: ArgumentHelp("By day, week, month or year.", valueName: "period"))
  var by: RunCalendar.Unit?

  @Flag(help: "Personal bests instead of sums.")
  var bests = false

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  func validate() throws {
    guard !bests || by == nil else { throw ValidationError(Tongue.say(.bestsOfAll)) }
  }

  func run() async throws {
    let units = try Settings.units(units)
    let catalogue = try await shelf.open(bus)
    let entries = try filter.matches(catalogue.entries)
    let now = Date().timeIntervalSince1970
    guard bests else {
      let (unit, summaries) = (by ?? .week, entries.map(\.summary))
      let statistics = RecordStatistics(summaries, by: unit, now: now)
      let sums = statistics.periods.filter { $0.count > 0 }
      if shelf.json { return try sums.forEach { try Output.jsonLine($0) } }
      guard !sums.isEmpty else { return try Output.line(RecordText.none(of: catalogue.entries.count)) }
      let total = sums.count > 1 ? [RecordSum(period: Tongue.say(.totalRow), summaries)] : []
      for line in RecordText.stats(sums, total: total, statistics, in: units) { try Output.line(line) }
      return
    }
    var summaries: [RecordSummary] = []
    for entry in entries {
      var summary = entry.summary
      if summary.bests.isEmpty, summary.distanceMeters ?? 0 >= RunBest.distances[0] {
        summary.bests = try await catalogue.record(entry).body.tracedBests
      }
      summaries.append(summary)
    }
    let statistics = RecordStatistics(summaries, by: .year, now: now)
    if shelf.json {
      for best in statistics.bests { try Output.jsonLine(BestLineJSON(best, isLongest: false)) }
      if let longest = statistics.longest { try Output.jsonLine(BestLineJSON(longest, isLongest: true)) }
      return
    }
    guard statistics.longest != nil else { return try Output.line(RecordText.none(of: catalogue.entries.count)) }
    for line in RecordText.bests(statistics, of: summaries, in: units) { try Output.line(line) }
  }
}

extension RunCalendar.Unit: ExpressibleByArgument {}
