import ArgumentParser
import RunBus

struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the numbers of a recording, without any process.",
    discussion: """
      Feeds the recording through the same core as a live run, as fast as it goes.

        busnode measure run.gpx
        busnode measure run.tcx --json | jq .distanceMeters

      --json writes one object with the keys of metrics in busnode state --json. A file that cannot be read ends with
      exit status 65.
      """)

  @Argument(help: ArgumentHelp("A recording, GPX or TCX.", valueName: "file"))
  var file: String

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() throws {
    let recording = try Recording.read(contentsOf: file)
    for warning in recording.warnings { Output.complain("busnode: \(file): \(warning)") }
    let metrics = SnapshotJSON.Metrics(measure(recording))
    if json { return try Output.jsonLine(metrics) }
    for line in Sentence.table(metrics) { try Output.line(line) }
  }
}
