import ArgumentParser
import RunBus
import RunRecordings

struct Measure: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measure",
    abstract: "Compute the numbers of a recording, without a bus.",
    discussion: """
      Computes with the same code as a live run, as fast as possible.

        busnode measure run.gpx
        gunzip -c run.gpx.gz | busnode measure -
        busnode measure run.fit --splits --units imperial
        busnode measure season.tcx --run 3
        busnode measure run.tcx --weight 70 --compare
        busnode measure run.tcx --no-pedometer --compare
                                  the distance from positions only
        busnode measure run.gpx --route | grep -v counted
                                  the fixes that do not count, and why
        busnode measure run.tcx --json | jq .metrics.distanceMeters
        busnode measure run.tcx --json | jq '.kilometers[].activeSeconds'

      --json writes one object, always in SI units; docs/json.md describes every key:
        metrics      as in busnode state --json
        kilometers, miles, laps
                     number, distanceMeters, activeSeconds, ...
        stretches    the source of the distance (positions or pedometer) in each
                     part of the run
        recorded     the recording device's own numbers, with its laps; null when
                     there are none
        differences  with --compare: ours, recorded, difference and percent of each
                     number, also of each lap
        route        with --route: every fix, whether it counts and if not, why
      Values that are not known are null. Parts of the file that were skipped are reported on standard error; a file \
      that cannot be read, or does not hold the run of --run, gives exit status 65 and one line. docs/metrics.md \
      explains the numbers.
      """)

  @Argument(
    help: ArgumentHelp("A recording, GPX, TCX or FIT; - is standard input.", valueName: "file"), completion: .file())
  var file: String

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp("Which run of a file with several (default: the first).", valueName: "number"))
  var number: NumberArgument?

  @Flag(help: "Show kilometres or miles, and laps.")
  var splits = false

  @Flag(help: "Compare with the recording device's own numbers.")
  var compare = false

  @Flag(help: "Show every fix, whether it counts and if not, why.")
  var route = false

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  @OptionGroup var runner: RunnerOptions
  @OptionGroup var context: ContextOption

  @Flag(help: "Compute the distance from positions only, even where they are missing.")
  var noPedometer = false

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() throws {
    let units = try Settings.units(units)
    let recording = try Recording.read(contentsOf: file, run: number?.number)
    for warning in recording.warnings { Output.complain("busnode: \(InputFile.name(of: file)): \(warning)") }
    var settings = runner.metrics
    settings.usesPedometer = !noPedometer
    let run = MeasuredRun(recording, settings: settings)
    for notice in run.notices { Output.complain("busnode: \(InputFile.name(of: file)): \(notice)") }
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
