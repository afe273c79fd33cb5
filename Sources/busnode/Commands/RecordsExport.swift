import ArgumentParser
import Foundation
import RunBus
import RunRecordings

struct RecordsExport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write a run for other programs: GPX, TCX, JSON or CSV.",
    discussion: """
        busnode records export 1f0a2b3c --format gpx > run.gpx
        busnode records export --format tcx --output run.tcx      the last run

      gpx   the fixes that count; where nothing is known between two of them a segment begins
      tcx   laps, and a point for every fix that counts and for every ten seconds without one
      json  everything, as records show --json; what import makes of it is the same record
      csv   a line for every fix, counted or not, and for every ten seconds without one

      Heart rate and cadence stand beside the points, to the nearest ten seconds. Times are those of the run: of a replay
      at --speed 60 an hour is an hour.

      A file that is there is replaced when the new one is complete; a pipe or a device is written to.

      EXIT STATUS:
        0   it is written
        1   no such run
        64  several ids begin so
        74  standard output or the file cannot be written
      """)

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case gpx, tcx, json, csv
  }

  @Argument(help: ArgumentHelp("Its id, or at least 4 of its first digits (default: the last run).", valueName: "id"))
  var id: IDPrefix?

  @OptionGroup var shelf: ShelfOptions

  @Option(help: "gpx, tcx, json or csv.")
  var format: Format

  @Option(name: [.short, .long], help: ArgumentHelp("Where to (default: standard output).", valueName: "file"))
  var output: String?

  func run() async throws {
    let shelf = try await self.shelf.open()
    let entry = try shelf.entry(id)
    let record = try await shelf.record(entry)
    let text =
      switch format {
      case .gpx: try RecordExport.gpx(record)
      case .tcx: RecordExport.tcx(record)
      case .json: Output.json(RecordJSON(record)) + "\n"
      case .csv: RecordExport.csv(record)
      }
    guard let output else { return try Output.raw(text) }
    try OutputFile(path: output).write(text)
    let id = entry.summary.runID.description
    RecordActJSON(
      act: .exported, runId: id, file: output, message: "\(Sentence.short(id)) is written to \(output)"
    ).tell(asJSON: self.shelf.json)
  }
}

struct RecordsImport: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Keep runs from elsewhere: GPX, TCX, or JSON of an export.",
    discussion: """
        busnode records import run.gpx old/*.tcx
        busnode records import run.json
        busnode records import run.tcx --weight 70      with it there is energy

      What a file is, its content says. A recording is measured as busnode measure does; JSON is taken as it is. The same
      content is one run, however often it comes and whatever its file is called, and an export of a run that is kept
      changes nothing.

      EXIT STATUS:
        0   all of them are kept, or were before
        65  one cannot be read; the others are kept
        69  no phone of this bus has ever run on this machine
      """)

  @Argument(help: ArgumentHelp("Files.", valueName: "file"))
  var files: [String]

  @OptionGroup var shelf: ShelfOptions
  @OptionGroup var runner: RunnerOptions

  func run() async throws {
    let shelf = try await self.shelf.open()
    var status = ExitStatus.success
    for file in files {
      do {
        try await keep(file, on: shelf)
      } catch let failure as Failure where failure.exitStatus == ExitStatus.badInput {
        status = Busnode.report(failure)
      }
    }
    if status != ExitStatus.success { throw QuietExit(exitStatus: status) }
  }

  /// Keeps the run of one file, and says so.
  ///
  /// Throws ``Failure`` with 65 when the file is to blame, and names it.
  private func keep(_ file: String, on shelf: RecordCatalogue) async throws {
    let record: RunRecord
    let isKnown: Bool
    do {
      record = try read(file)
      isKnown = try await shelf.put(record)
    } catch let error as RunBusError where error.code == .badInput {
      throw Failure(error)
    } catch let failure as Failure {
      throw Failure(
        code: failure.code, message: "\(file): \(failure.message)", exitStatus: failure.exitStatus)
    }
    let id = record.runID.description
    let name = Sentence.short(id)
    let message = isKnown ? "\(file): \(name) was kept already" : "\(file) is kept as \(name)"
    RecordActJSON(act: isKnown ? .known : .imported, runId: id, file: file, message: message)
      .tell(asJSON: self.shelf.json)
  }

  /// A run of 1,000,000 readings, which is the longest, takes this much as JSON.
  private static let bytesMax = 256 << 20

  private func read(_ file: String) throws -> RunRecord {
    let document = try InputFile.contents(of: file, as: "run", bytesMax: Self.bytesMax)
    guard document.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{") else {
      let (record, warnings) = try RecordImport.record(
        of: Array(document), name: URL(fileURLWithPath: file).lastPathComponent, path: file,
        settings: runner.metrics)
      for warning in warnings { Output.complain("busnode: \(file): \(warning)") }
      return record
    }
    guard let record = try? JSONDecoder().decode(RecordJSON.self, from: document).record else {
      throw RunBusError(.badInput, "\(file): this JSON is no record of busnode records export")
    }
    if let flaw = record.flaw { throw RunBusError(.badInput, "\(file): this record cannot be kept: \(flaw)") }
    return record
  }
}
