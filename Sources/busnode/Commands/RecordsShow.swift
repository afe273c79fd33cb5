import ArgumentParser
import Foundation
import RunBus
import RunBusWeb
import SystemC

struct RecordsShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Show one run: its numbers, charts of pace, elevation and heart rate, splits and laps.",
    discussion: """
        busnode records show                  the last run
        busnode records show 1f0a2b3c --units imperial
        busnode records show --chart plain    charts of stars, for terminals without
                                              braille
        busnode records show --html run.html  one file for a browser, which needs no
                                              network
        busnode records show --json | jq '.report.kilometers[].activeSeconds'

      Charts show the time from start to stop with pauses, as wide as the terminal; without a terminal they are 80 \
      columns of plain characters. The highest and the lowest two percent of the values are cut off; the sentence below a \
      chart names them.

      --html writes the run as one file of HTML with route, charts and splits. It opens in --units; without that option \
      in those of its reader, who can choose others in either case. An existing file is replaced when the new one is \
      complete.

      --json writes the whole record as one object, as records export --format json does: format, summary (as records ls \
      --json), report {metrics, kilometers, miles, laps, stretches}, pauses, series {intervalSeconds, samples}, route.
      """)

  /// How the charts are drawn.
  enum ChartOption: String, ExpressibleByArgument, CaseIterable {
    case auto, braille, plain, none

    var style: Chart.Style? {
      switch self {
      case .auto: Output.isTerminal && Locales.ofThisProcess.hasUnicode ? .braille : .plain
      case .braille: .braille
      case .plain: .plain
      case .none: nil
      }
    }
  }

  @Argument(
    help: ArgumentHelp("Its id, or at least 4 of its first digits (default: the last run).", valueName: "id"),
    completion: Completions.records)
  var id: IDPrefix?

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions

  @Option(
    help:
      "Units of text and --html: metric or imperial (default: metric, on a terminal those of the locale; in --html of the reader)."
  )
  var units: Units?

  @Option(help: "How charts are drawn: auto, braille, plain or none.")
  var chart = ChartOption.auto

  @Option(
    help: ArgumentHelp("Write the run as one file of HTML; - is standard output.", valueName: "file"),
    completion: .file())
  var html: String?

  func run() async throws {
    let shelf = try await self.shelf.open(bus)
    let record = try await shelf.record(try shelf.entry(id))
    if html == "-" { return try Output.raw(try RecordPage.html(record, units: units)) }
    if let html {
      try OutputFile(path: html).write(try RecordPage.html(record, units: units))
      let id = record.runID.description
      return RecordActJSON(
        act: .exported, runId: id, file: html,
        message: Tongue.say(.recordWritten, ["run": Sentence.short(id), "file": html])
      ).tell(asJSON: self.shelf.json)
    }
    if self.shelf.json { return try Output.jsonLine(record) }
    let lines = RecordText.lines(record, in: try Settings.units(units), chart: chart.style, width: Output.columns)
    for line in lines { try Output.line(line) }
  }
}

struct RecordsEdit: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "edit",
    abstract: "Give a run a title and a note.",
    discussion: """
        busnode records edit 1f0a2b3c --title "River loop" --note "new shoes"
        busnode records edit 1f0a2b3c --note ""     removes the note

      The numbers cannot be edited, because they are computed from the readings.
      """)

  @Argument(
    help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"),
    completion: Completions.records)
  var id: IDPrefix

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions

  @Option(help: ArgumentHelp("The title, at most 256 bytes.", valueName: "text"))
  var title: String?

  @Option(help: ArgumentHelp("The note, at most 4096 bytes.", valueName: "text"))
  var note: String?

  func validate() throws {
    guard title != nil || note != nil else { throw ValidationError(Tongue.say(.giveTitleOrNote)) }
    try check(title, "--title", bytesMax: RecordSummary.titleBytesMax)
    try check(note, "--note", bytesMax: RecordSummary.noteBytesMax)
  }

  private func check(_ text: String?, _ option: String, bytesMax: Int) throws {
    guard let text, text.utf8.count > bytesMax else { return }
    throw ValidationError(Tongue.say(.tooManyBytes, ["option": option, "count": text.utf8.count, "most": bytesMax]))
  }

  func run() async throws {
    let shelf = try await self.shelf.open(bus)
    let entry = try shelf.entry(id)
    try await shelf.change(.editRecord(entry.summary.runID, title: title, note: note), of: entry)
    let name = Sentence.short(entry.summary.runID.description)
    RecordActJSON(
      act: .edited, runId: entry.summary.runID.description, file: nil,
      message: Tongue.say(.recordChanged, ["run": name])
    ).tell(asJSON: self.shelf.json)
  }
}

struct RecordsRemove: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove a run for good.",
    discussion: """
        busnode records rm 1f0a2b3c          asks first
        busnode records rm 1f0a2b3c --yes    does not

      Removing cannot be undone, except by importing an earlier export. The readings of the run are removed, too, here \
      and on every peer when it is reached. Readings that arrive later do not bring the run back.

      EXIT STATUS:
        0   the run is removed
        1   no such run, or the answer was no
        64  standard input is no terminal: give --yes; or several ids begin with
            these digits
      """)

  @Argument(
    help: ArgumentHelp("Its id, or at least 4 of its first digits.", valueName: "id"),
    completion: Completions.records)
  var id: IDPrefix

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions

  @Flag(name: [.short, .long], help: "Do not ask.")
  var yes = false

  func run() async throws {
    let shelf = try await self.shelf.open(bus)
    let entry = try shelf.entry(id)
    let name = Sentence.short(entry.summary.runID.description)
    try bus.tellOrigin()
    if !yes { try ask(entry.summary, name) }
    await BadgeBook.giveBeforeRemoval(on: try bus.location())
    try await shelf.change(.removeRecord(entry.summary.runID), of: entry)
    RecordActJSON(
      act: .removed, runId: entry.summary.runID.description, file: nil,
      message: Tongue.say(.recordIsRemoved, ["run": name])
    ).tell(asJSON: self.shelf.json)
  }

  private func ask(_ summary: RecordSummary, _ name: String) throws {
    guard isatty(STDIN_FILENO) == 1 else {
      throw Failure(
        code: "usage", message: Tongue.say(.cannotAskRecords, ["run": name]),
        exitStatus: ExitStatus.usage)
    }
    let units = try Settings.units(nil)
    let line = [
      RunCalendar().minuteText(summary.startedAtUnixSeconds), summary.distanceMeters.map(units.distanceText),
      summary.title.isEmpty ? nil : summary.title,
    ].compactMap { $0 }.joined(separator: ", ")
    Output.complain(Tongue.say(.askRemoveRecord, ["run": name, "about": line]))
    guard let answer = readLine()?.lowercased(), ["y", "yes"].contains(answer) else {
      throw Failure(
        code: "notDone", message: Tongue.say(.recordNotRemoved, ["run": name]), exitStatus: ExitStatus.failure)
    }
  }
}

extension RecordActJSON {
  func tell(asJSON: Bool) {
    if asJSON { Output.tell(json: self) } else { Output.tell(message) }
  }
}
