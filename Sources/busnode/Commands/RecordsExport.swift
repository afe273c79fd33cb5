import ArgumentParser
import Foundation
import RunBus
import RunRecordings

struct RecordsExport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export runs for other programs: GPX, TCX, JSON or CSV.",
    discussion: """
        busnode records export 1f0a2b3c --output run.gpx
        busnode records export --format tcx | gzip > run.tcx.gz   the last run
        busnode records export --all runs                         every run

      The format is found from the name of the file; --format wins over it.

        gpx   the fixes that count; a new segment begins where the distance between
              two fixes was not measured
        tcx   laps, with a point for every fix that counts and for every sample
              without one
        json  everything, as records show --json; importing it gives the same record
        csv   a line for every fix, counted or not, and for every sample without
              one

      A record has a sample a second where heart rate or cadence came so often, otherwise one in ten seconds; points have \
      the heart rate and cadence of the nearest sample. Times are run time: an hour of a replay at \
      --speed 60 is written as an hour. Only JSON gives the run back as it is: an import of GPX or TCX computes it anew \
      from its points, and may give other numbers.

      An existing file is replaced when the new one is complete; a pipe or a device is written to. The file - is \
      standard output.

      --all writes a file for each run into a directory, in JSON unless --format says another one, and makes the \
      directory. A file's name is the day and the id of its run. A file that is right is left alone, so a second \
      export writes what is new or has changed; files of runs that were removed stay. A run that cannot be exported \
      is named, and the others are.

      EXIT STATUS:
        0   the run is written
        1   no such run
        64  several ids begin with these digits, or neither --format nor the name of
            the file says the format
        65  the format cannot represent the run (--all: some runs, the others are
            written)
        74  standard output or a file cannot be written, or a store not be read
        75  another export writes into the directory
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case gpx, tcx, json, csv

    /// The format that the end of a file's name says; `nil` when it says none.
    init?(file: String) {
      guard let dot = file.lastIndex(of: "."), !file[dot...].contains("/") else { return nil }
      self.init(rawValue: file[dot...].dropFirst().lowercased())
    }

    static let names = allCases.map(\.rawValue)

    /// A record in this format.
    ///
    /// - Throws: ``RunBus/RunBusError/Code/badInput`` for a run that the format cannot represent.
    func text(of record: RunRecord) throws -> String {
      switch self {
      case .gpx: try RecordExport.gpx(record)
      case .tcx: RecordExport.tcx(record)
      case .json: Output.json(record) + "\n"
      case .csv: RecordExport.csv(record)
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
    help: ArgumentHelp("The format (default: by the name of the file; json with --all).", valueName: "format"))
  var format: Format?

  @Option(
    name: [.short, .long], help: ArgumentHelp("The file to write (default: -, standard output).", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(
    help: ArgumentHelp("Export every run, each into a file of this directory.", valueName: "directory"),
    completion: .directory)
  var all: String?

  /// The file to write; `nil` for standard output.
  private var file: String? { output == "-" ? nil : output }
  private var chosen: Format? { format ?? file.flatMap { Format(file: $0) } }

  func validate() throws {
    if let all {
      guard id == nil else { throw ValidationError(Tongue.say(.allWithoutID)) }
      guard output == nil else { throw ValidationError(Tongue.say(.allWithoutOutput)) }
      guard !all.isEmpty, all != "-" else { throw ValidationError(Tongue.say(.allNeedsDirectory)) }
      return
    }
    guard chosen == nil else { return }
    let names = UsageSentence.list(Format.names)
    guard output != "-" else {
      throw ValidationError(Tongue.say(.outputHasNoFormat, ["names": names]))
    }
    throw ValidationError(
      file.map { Tongue.say(.fileHasNoFormat, ["file": $0, "names": names]) }
        ?? Tongue.say(.giveFormat, ["names": names]))
  }

  func run() async throws {
    let shelf = try await self.shelf.open(bus)
    if let all { return try await export(shelf, to: all) }
    let entry = try shelf.entry(id)
    let record = try await shelf.record(entry)
    guard let chosen else { return try validate() }
    let text = try chosen.text(of: record)
    guard let file else { return try Output.raw(text) }
    try OutputFile(path: file).write(text)
    let id = entry.summary.runID.description
    RecordActJSON(
      act: .exported, runId: id, file: file,
      message: Tongue.say(.recordWritten, ["run": Sentence.short(id), "file": file])
    ).tell(asJSON: self.shelf.json)
  }

  /// Exports every run into a directory.
  private func export(_ catalogue: RecordCatalogue, to directory: String) async throws {
    let folder = try RecordFolder(path: directory)
    let format = format ?? .json
    let count = catalogue.entries.count
    var (written, unchanged, status) = (0, 0, ExitStatus.success)
    var failed: Int { count - written - unchanged }
    var (progress, number) = (ProgressLine(), 0)
    defer { progress.clear() }
    try await catalogue.read(catalogue.entries) { entry, record in
      number += 1
      progress.show(Tongue.say(.exporting, ["number": number, "count": count]))
      let id = entry.summary.runID.description
      do {
        let name = RecordFileName.name(entry.summary, ending: format.rawValue)
        let isNew = try folder.write(try format.text(of: try record.get()), to: name)
        if isNew { written += 1 } else { unchanged += 1 }
        guard isNew || shelf.json else { return }
        progress.clear()
        let file = folder.file(name)
        RecordActJSON(
          act: isNew ? .exported : .unchanged, runId: id, file: file,
          message: isNew
            ? Tongue.say(.recordWritten, ["run": Sentence.short(id), "file": file])
            : Tongue.say(.recordUnchanged, ["run": Sentence.short(id), "file": file])
        ).tell(asJSON: shelf.json)
      } catch {
        progress.clear()
        status = max(status, try Self.report(error, of: id))
      }
    }
    progress.clear()
    if !shelf.json {
      let sum =
        failed > 0
        ? Tongue.say(
          .exportSumFailed, ["directory": directory, "written": written, "unchanged": unchanged, "failed": failed])
        : Tongue.say(.exportSum, ["directory": directory, "written": written, "unchanged": unchanged])
      Output.tell(count == 0 ? RecordText.noRuns : sum)
    }
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  /// Says why a run cannot be exported; returns the exit status for that.
  private static func report(_ error: any Error, of id: String) throws -> Int32 {
    guard var failure = error as? Failure ?? (error as? RunBusError).map({ Failure($0) }) else { throw error }
    failure = Failure(
      code: failure.code, message: "\(Sentence.short(id)): \(failure.message)", exitStatus: failure.exitStatus)
    return Busnode.report(failure)
  }
}

struct RecordsImport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import runs: GPX, TCX, FIT, or JSON of an export.",
    discussion: """
        busnode records import run.gpx old/*.tcx watch/*.fit
        busnode records import run.json
        gunzip -c run.gpx.gz | busnode records import -
        busnode records import run.tcx --weight 70      computes energy, too
        busnode records import season.tcx --run 3       one run of several

      The format is found from the content of a file; - is standard input. A recording is computed as by busnode \
      measure, every run of a file with several; JSON is imported unchanged. Importing the same content again changes nothing, whatever the name of \
      the file, and neither does importing an export of a run that is kept. A run that is likely kept already, from \
      another file or from RunBus itself, is kept, named here and in the list, and counted once by records stats.

      EXIT STATUS:
        0   all runs are kept, or were kept before
        65  a file cannot be read; the others are kept
        69  no phone of this bus has ever run on this machine
      """)

  @Argument(help: ArgumentHelp("The files to import; - is standard input.", valueName: "file"), completion: .file())
  var files: [String]

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("Only this run of a file with several (default: all).", valueName: "number"))
  var number: NumberArgument?

  @OptionGroup var bus: BusOptions
  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var runner: RunnerOptions

  func run() async throws {
    let shelf = try await self.shelf.open(bus)
    var kept = shelf.entries.map(\.summary)
    var status = ExitStatus.success
    for file in files {
      do {
        try await keep(file, on: shelf, besides: &kept)
      } catch let failure as Failure where failure.exitStatus == ExitStatus.badInput {
        status = Busnode.report(failure)
      }
    }
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  /// Stores the runs of one file as records, and prints that.
  ///
  /// - Parameter kept: The records that are kept, to which the new ones are added.
  /// - Throws: ``Failure`` with 65, naming the file, when its content cannot be used.
  private func keep(_ path: String, on shelf: RecordCatalogue, besides kept: inout [RecordSummary]) async throws {
    let file = InputFile.name(of: path)
    do {
      for (record, warnings) in try read(path) {
        for warning in warnings { Output.complain("busnode: \(file): \(warning)") }
        let isKnown = try await shelf.put(record)
        let id = record.runID.description
        let name = Sentence.short(id)
        let message =
          isKnown
          ? Tongue.say(.recordKnown, ["file": file, "run": name])
          : Tongue.say(.recordImported, ["file": file, "run": name])
        RecordActJSON(act: isKnown ? .known : .imported, runId: id, file: file, message: message)
          .tell(asJSON: self.shelf.json)
        guard !isKnown else { continue }
        if let other = kept.first(where: { $0.isLikelyDouble(of: record.summary) }) {
          let other = Sentence.short(other.runID.description)
          Output.complain("busnode: " + Tongue.say(.recordDouble, ["file": file, "run": name, "other": other]))
        }
        kept.append(record.summary)
      }
    } catch let error as RunBusError where error.code == .badInput {
      throw Failure(error)
    } catch let failure as Failure {
      throw Failure(
        code: failure.code, message: "\(file): \(failure.message)", exitStatus: failure.exitStatus)
    }
  }

  /// The JSON of the longest run, 1,000,000 readings, fits into this size.
  private static let bytesMax = 256 << 20

  private func read(_ file: String) throws -> [RecordImport.ImportedRun] {
    let document = try InputFile.contents(of: file, as: "run", bytesMax: Self.bytesMax)
    let file = InputFile.name(of: file)
    guard document.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
      return try RecordImport.records(
        of: Array(document), name: URL(fileURLWithPath: file).lastPathComponent, path: file, run: number?.number,
        settings: runner.metrics)
    }
    if let number = number?.number, number != 1 {
      throw RunBusError(.badInput, Tongue.say(.noRunNumber, ["file": file, "number": number]))
    }
    guard let record = try? JSONDecoder().decode(RunRecord.self, from: document) else {
      throw RunBusError(.badInput, Tongue.say(.notOurJSON, ["file": file]))
    }
    if let flaw = record.flaw {
      throw RunBusError(.badInput, Tongue.say(.recordFlawed, ["file": file, "reason": flaw]))
    }
    return [(record, [])]
  }
}
