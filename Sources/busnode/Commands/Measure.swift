import ArgumentParser
import RunBus
import RunRecordings

struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Print the numbers of a recording, without any process.",
    discussion: """
      Feeds the recording through the same core as a live run, as fast as it goes.

        busnode measure run.gpx
        busnode measure run.tcx --splits --units imperial
        busnode measure run.tcx --weight 70 --compare
        busnode measure run.tcx --no-pedometer --compare     by positions alone
        busnode measure run.gpx --route | grep -v counted    the fixes that did not count, and why
        busnode measure run.tcx --json | jq .distanceMeters
        busnode measure run.tcx --json | jq -r '.splits.kilometers[] | [.number, .activeSeconds] | @csv'

      --json writes one object, in SI units whatever --units says: the keys of metrics in busnode state --json, and
        splits         {kilometers, miles, laps}: number, distanceMeters, activeSeconds, paceSecondsPerKilometer, ...
        stretches      what measured the distance, positions or pedometer, from when to when
        recorded       what the recording device itself says, with its laps; null when it says nothing
        differences    with --compare: ours, recorded, difference and percent of each number, lap by lap, too
        route          with --route: every fix, whether it counts and why not
      What is not known is null. What was skipped in reading is said on standard error; a file that cannot be read ends
      with exit status 65 and one line. What the numbers mean: docs/metrics.md.
      """)

  @Argument(help: ArgumentHelp("A recording, GPX or TCX.", valueName: "file"))
  var file: String

  @Flag(help: "Show kilometres or miles, and laps.")
  var splits = false

  @Flag(help: "Show the recording device's own numbers beside ours.")
  var compare = false

  @Flag(help: "Show every fix, whether it counts and why not.")
  var route = false

  @Option(help: "What people read: metric or imperial.")
  var units = Units.metric

  @OptionGroup var runner: RunnerOptions

  @Flag(help: "Distance by positions alone, even where they are missing.")
  var noPedometer = false

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() throws {
    let recording = try Recording.read(contentsOf: file)
    for warning in recording.warnings { Output.complain("busnode: \(file): \(warning)") }
    var settings = runner.metrics
    settings.usesPedometer = !noPedometer
    let run = MeasuredRun(recording, settings: settings)
    if json { return try Output.jsonLine(MeasuredRunJSON(run, comparing: compare, withRoute: route)) }
    for line in MeasureText.lines(run, in: units, parts: parts) { try Output.line(line) }
  }

  private var parts: MeasureText.Parts {
    var parts: MeasureText.Parts = []
    if splits { parts.insert(.splits) }
    if compare { parts.insert(.comparison) }
    if route { parts.insert(.route) }
    return parts
  }
}
