import ArgumentParser
import RunBus

struct Records: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs that are over: list, look at, keep in order, take elsewhere.",
    discussion: """
        busnode records                                  the list
        busnode records show                             the last run, with charts
        busnode records show 1f0a2b3c
        busnode records edit 1f0a2b3c --title "River loop"
        busnode records export 1f0a2b3c --format gpx > run.gpx
        busnode records import old/*.tcx
        busnode records stats --by month

      A run becomes a record when it is stopped. What comes later (readings of a watch that was away, a press that
      amends the run within a day of its stop) makes a new version of the record, one minute after the first of it
      came in. Runs that were stopped before RunBus kept records become records at the phone's next start.

      The phone keeps them, and every peer has copies. Who runs on this machine is asked, and the store of who does not
      is read; what changes a record goes to the phone. Nothing is ever removed but by records rm.
      """,
    subcommands: [
      RecordsList.self, RecordsShow.self, RecordsEdit.self, RecordsRemove.self, RecordsExport.self, RecordsImport.self,
      RecordsStats.self,
    ],
    defaultSubcommand: RecordsList.self)
}

/// Which records: by when they started, on the local clock.
struct RecordFilter: ParsableArguments {
  @Option(help: ArgumentHelp("Runs that started on this day or later: 2026-11-21.", valueName: "date"))
  var since: String?

  @Option(help: ArgumentHelp("Runs that started on this day or earlier.", valueName: "date"))
  var until: String?

  @Option(help: ArgumentHelp("Runs of this week, from Monday: 2026-W47.", valueName: "week"))
  var week: String?

  @Option(help: ArgumentHelp("Runs of this month: 2026-11.", valueName: "month"))
  var month: String?

  func validate() throws { _ = try ranges() }

  /// The records that started in all of these.
  func matches(_ entries: [RecordCatalogue.Entry]) throws -> [RecordCatalogue.Entry] {
    let ranges = try ranges()
    return entries.filter { entry in ranges.allSatisfy { $0.contains(entry.summary.startedAtUnixSeconds) } }
  }

  private func ranges() throws -> [Range<Double>] {
    let calendar = RunCalendar()
    func range(
      _ unit: RunCalendar.Unit, _ name: String?, _ option: String, like example: String
    ) throws -> Range<Double>? {
      guard let name else { return nil }
      guard let range = calendar.range(of: unit, named: name) else {
        throw ValidationError("\(option) \(name) names no \(unit.rawValue): write it like \(example)")
      }
      return range
    }
    let since = try range(.day, since, "--since", like: "2026-11-21").map { $0.lowerBound..<Double.infinity }
    let until = try range(.day, until, "--until", like: "2026-11-21").map { -Double.infinity..<$0.upperBound }
    return [
      since, until, try range(.week, week, "--week", like: "2026-W47"),
      try range(.month, month, "--month", like: "2026-11"),
    ].compactMap { $0 }
  }
}

/// Where the records are: options that each of the subcommands has.
struct ShelfOptions: ParsableArguments {
  @OptionGroup var bus: BusOptions

  @Option(help: ArgumentHelp("The device that keeps them (default: whichever does here).", valueName: "name"))
  var device: DeviceID?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func open() async throws -> RecordCatalogue {
    bus.startLog()
    return try await RecordCatalogue(try bus.location(), device: device)
  }
}

struct RecordsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ls",
    abstract: "List the runs that are kept, the last one last.",
    discussion: """
        busnode records ls --week 2026-W47
        busnode records ls --since 2026-11-01 --json | jq -s 'map(.distanceMeters) | add'

      --json writes one object for each: runId, version, deviceId (who started it), hubDeviceId, appVersion, startedAt,
      startedAtUnixSeconds, elapsedSeconds, activeSeconds, distanceMeters, averagePaceSecondsPerKilometer,
      averageHeartRateBpm, elevationGainMeters, energyJoules, weightKilograms, autoPause, pedometer, conflicted (it
      overlaps another run), title, note. What is not known is null.
      """)

  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var filter: RecordFilter

  @Option(help: "What people read: metric or imperial.")
  var units = Units.metric

  func run() async throws {
    let entries = try await shelf.open().entries
    let summaries = try filter.matches(entries).map(\.summary)
    if shelf.json { return try summaries.forEach { try Output.jsonLine(RecordSummaryJSON($0)) } }
    guard !summaries.isEmpty else { return try Output.line(RecordText.none(of: entries.count)) }
    for line in RecordText.list(summaries, in: units) { try Output.line(line) }
  }
}

struct RecordsStats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Sums by day, week or month: runs, time, distance, energy.",
    discussion: """
        busnode records stats
        busnode records stats --by month --since 2026-01-01
        busnode records stats --by day --json

      A run belongs to the day on which it started, by the local clock. A sum holds what is known; pace is active time
      over distance of the runs that have one. Runs that overlap are both counted.

      --json writes one object a period: period, count, activeSeconds, elapsedSeconds, distanceMeters,
      averagePaceSecondsPerKilometer, elevationGainMeters, energyJoules.
      """)

  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var filter: RecordFilter

  @Option(help: ArgumentHelp("By day, week or month.", valueName: "period"))
  var by = RunCalendar.Unit.week

  @Option(help: "What people read: metric or imperial.")
  var units = Units.metric

  func run() async throws {
    let entries = try await shelf.open().entries
    let summaries = try filter.matches(entries).map(\.summary)
    let calendar = RunCalendar()
    let periods = Dictionary(grouping: summaries) { calendar.name(of: by, $0.startedAtUnixSeconds) }
    let rows = periods.sorted { $0.key < $1.key }.map { RecordStatsJSON(period: $0.key, $0.value) }
    if shelf.json { return try rows.forEach { try Output.jsonLine($0) } }
    guard !rows.isEmpty else { return try Output.line(RecordText.none(of: entries.count)) }
    let total = rows.count > 1 ? [RecordStatsJSON(period: "total", summaries)] : []
    for line in RecordText.stats(rows + total, by, in: units) { try Output.line(line) }
  }
}

extension RunCalendar.Unit: ExpressibleByArgument {}

extension RecordStatsJSON {
  /// The sums of some runs; what none of them knows is `nil`.
  init(period: String, _ summaries: [RecordSummary]) {
    func sum(_ values: [Double?]) -> Double? {
      let known = values.compactMap { $0 }
      // Of numbers that a version before took in unseen the sum can be none.
      return known.isEmpty ? nil : known.reduce(0, +).finite
    }
    let measured = summaries.filter { $0.distanceMeters != nil }
    let meters = sum(measured.map(\.distanceMeters))
    let seconds = measured.reduce(0) { $0 + $1.active.seconds }
    self.init(
      period: period, count: summaries.count, activeSeconds: summaries.reduce(0) { $0 + $1.active.seconds },
      elapsedSeconds: summaries.reduce(0) { $0 + $1.elapsed.seconds }, distanceMeters: meters,
      averagePaceSecondsPerKilometer: meters.flatMap { $0 >= 1 ? seconds / $0 * 1000 : nil },
      elevationGainMeters: sum(summaries.map(\.elevationGainMeters)), energyJoules: sum(summaries.map(\.energyJoules)))
  }
}
