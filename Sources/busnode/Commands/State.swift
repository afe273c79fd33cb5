import ArgumentParser
import RunBus
import RunScripts

struct State: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "state",
    abstract: "Show the state of the run, once or continuously.",
    discussion: """
        busnode state
        busnode state --json | jq .metrics.distanceMeters
        busnode state --follow  a line per snapshot, until Ctrl-C (exit status 130)
        busnode state --field revision
        busnode state --field metrics.distanceMeters
        busnode state --splits --units imperial
        busnode state --splits --json | jq '.report.kilometers[].activeSeconds'

      --json writes term, revision, tick, phase, runId, changedBy {source, deviceId, commandId}, recovering, \
      startedAtBusNanoseconds, capturedAtBusNanoseconds, goalSeconds, remainingSeconds (of the goal; both null without \
      one) and metrics \
      {elapsedSeconds, activeSeconds, distanceMeters, pedometerMeters, currentPaceSecondsPerKilometer, \
      averagePaceSecondsPerKilometer, bestPaceSecondsPerKilometer, worstPaceSecondsPerKilometer, heartRateBpm, \
      averageHeartRateBpm, maxHeartRateBpm, cadenceStepsPerMinute, averageCadenceStepsPerMinute, altitudeMeters, \
      elevationGainMeters, elevationLossMeters, energyJoules, positionAccuracyMeters, activity, activityInferred, \
      autoPaused, lapCount, ages {distanceSeconds, positionSeconds, heartRateSeconds, \
      cadenceSeconds, elevationSeconds, activitySeconds}, stale}. Values that are not known are null. stale lists \
      metrics whose last value is too old to describe the present ("heartRate"). The metrics are those of \
      capturedAtBusNanoseconds, which in a pause can be minutes ago; the text has elapsed and active time as of now. With --splits there is report \
      {metrics, kilometers, miles, laps, stretches} (null before the first run) beside the snapshot's keys; it is newer \
      than the snapshot. JSON is always in SI units. docs/json.md describes every key.

      --field writes the value of one key, named by its path, also without metrics. and its unit (distance): words \
      without quotes, objects and lists as JSON, and nothing when it is not known.

      EXIT STATUS: 0; 7 when the value of --field is not known; 69 without a hub
      """)

  @OptionGroup var bus: BusOptions

  @Flag(help: "Show a line for each snapshot, until Ctrl-C.")
  var follow = false

  @Option(
    help: ArgumentHelp("Write the value of one key of the JSON: phase.", valueName: "path"),
    completion: .list(StateField.all.map(\.shortName)))
  var field: String?

  @Flag(help: "Show kilometres or miles, and laps.")
  var splits = false

  @Option(help: "Units of the text output: metric or imperial (default: metric, on a terminal those of the locale).")
  var units: Units?

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  @Option(help: ArgumentHelp("How long to wait for the hub, in real time (default: 5).", valueName: "time"))
  var timeout: TimeArgument?

  func validate() throws {
    if follow, splits { throw ValidationError(Tongue.say(.splitsOrFollow)) }
    guard let field else { return }
    if json || splits {
      throw ValidationError(Tongue.say(.fieldAlone, ["other": json ? "json" : "splits"]))
    }
    do throws(TextError) { _ = try StateField(field) } catch { throw ValidationError(error.message) }
  }

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    let patience = timeout?.span ?? .seconds(5)
    guard !follow else {
      let visit = try BusClient(location, topics: [.snapshots])
      return try await Follower(visit: visit, patience: patience).follow(countMax: nil) { event in
        guard case .snapshot(let state) = event else { return false }
        return try write(state)
      }
    }
    let (requester, splits) = (try location.requester(), splits)
    let seen = try await within(Duration(patience)) { () -> (StateMessage, RunReport??) in
      let state = try await requester.stateMessage()
      return (state, splits ? Optional<RunReport?>.some(try await requester.ask(.report)) : nil)
    }
    guard let (state, report) = seen else { throw Failure.noAnswer(location, within: patience) }
    if let report { return try write(state, with: report) }
    if try !write(state) { throw QuietExit(exitStatus: ExitStatus.notKnown) }
  }

  /// Prints the state with its splits. The report is newer than the snapshot, so people see its metrics.
  private func write(_ state: StateMessage, with report: RunReport?) throws {
    let units = try Settings.units(units)
    if json { return try Output.jsonLine(ReportedStateJSON(snapshot: state.snapshot, report: report)) }
    var snapshot = state.presentSnapshot
    if let report { snapshot.metrics = report.metrics }
    let splits = report.map { SplitText.sections($0, in: units) } ?? []
    for line in Self.lines(snapshot, in: units) + splits { try Output.line(line) }
  }

  /// Prints the state, or its field.
  ///
  /// - Returns: `false`, with nothing printed, when the field is not known.
  private func write(_ state: StateMessage) throws -> Bool {
    if let field { return try write(StateField(field).value(in: state.snapshot)) }
    let units = try Settings.units(units)
    if json {
      try Output.jsonLine(state.snapshot)
    } else if follow {
      try Output.line(Sentence.snapshot(state.presentSnapshot, in: units))
    } else {
      for line in Self.lines(state.presentSnapshot, in: units) { try Output.line(line) }
    }
    return true
  }

  private func write(_ value: StateValue) throws -> Bool {
    switch value {
    case .null: return false
    case .text(let text): try Output.line(text)
    case .boolean, .whole, .number, .list, .object: try Output.jsonLine(value)
    }
    return true
  }

  private static func lines(_ snapshot: Snapshot, in units: Units) -> [String] {
    let goal = Sentence.goal(snapshot.goal, remaining: snapshot.remaining)
    let table = MetricsText.table(snapshot.metrics, goal: goal, in: units, isRunning: snapshot.phase == .running)
    return [Sentence.standing(snapshot)] + (snapshot.phase == .idle ? [] : table)
  }
}

extension StateMessage {
  /// The snapshot with its clocks at the moment when the hub sent it, for people. In a pause a snapshot can be minutes
  /// old, and the elapsed time of the run goes on.
  var presentSnapshot: Snapshot {
    let now = snapshot.capturedAt + age
    var present = snapshot
    (present.metrics.elapsed, present.metrics.active) = (snapshot.elapsed(at: now), snapshot.active(at: now))
    return present
  }
}
