import ArgumentParser
import RunBus
import RunScripts
import Synchronization

struct Wait: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wait",
    abstract: "Wait until the state of the run fulfils a condition.",
    discussion: """
        busnode wait --until 'phase == paused' --timeout 10s
        busnode wait --until 'phase == running && distance > 1 km'
        busnode wait --until 'averagePace < 5:30 min/km && heartRate >= 150 bpm'
        busnode wait --until 'revision > 4' --json | jq .revision

      A condition is FIELD OP VALUE, joined by &&. FIELD is any key of busnode state --json by its path \
      (metrics.distanceMeters, changedBy.deviceId), or without metrics. and its unit (distance, elapsed). OP is one of \
      == != < <= > >=. VALUE is in the unit of the JSON, or has one that fits: 5m, 1:30, 800 m, 1.2 km, 0.5 mi, \
      5:30 min/km, 150 bpm, 170 spm, 20 kcal. A value that is not known is null, and fulfils only == null. \
      metrics.stale == heartRate holds when the list has the word, and != when it has not.

      The condition is looked at with each snapshot: at every change of the run, and every three seconds of a run that \
      is on. The state that fulfils it is printed.

      EXIT STATUS:
        0    it holds
        6    it did not hold within --timeout; the line says what was instead
        64   the condition is none
        69   no such bus, or no hub answers
        130  Ctrl-C
      """)

  @OptionGroup var bus: BusOptions

  @Option(
    help: ArgumentHelp("What is waited for: 'phase == paused && distance > 1 km'.", valueName: "condition"),
    transform: StateCondition.init(option:))
  var until: StateCondition

  @Option(help: ArgumentHelp("How long to wait, in real time (default: without end).", valueName: "time"))
  var timeout: TimeArgument?

  @Option(help: "Units of the text output: metric or imperial.")
  var units = Units.metric

  @Flag(help: "Write the state as one JSON object.")
  var json = false

  func run() async throws {
    bus.startLog()
    let patience = min(timeout?.span ?? .seconds(5), .seconds(5))
    let visit = try BusClient(try bus.location(), topics: [.snapshots])
    let follower = Follower(visit: visit, patience: patience, limit: timeout?.span)
    let last = Mutex<Snapshot?>(nil)
    let (until, json, units) = (until, json, units)
    do {
      try await follower.follow(countMax: 1, missed: { _ in }) { event in
        guard case .snapshot(let state) = event else { return false }
        last.withLock { $0 = state.snapshot }
        guard until.holds(in: state.snapshot) else { return false }
        if json {
          try Output.jsonLine(state.snapshot)
        } else {
          try Output.line(Sentence.snapshot(state.presentSnapshot, in: units))
        }
        return true
      }
    } catch is Follower.TimeOver {
      let unmet = last.withLock { $0 }.flatMap(until.unmet)
      throw Failure(
        code: "timeout",
        message: Tongue.say(.conditionUnmet, ["time": Sentence.seconds(timeout?.span ?? .zero)])
          + (unmet.map { ": \($0)" } ?? ""),
        exitStatus: ExitStatus.noVerdict)
    }
  }
}

extension StateCondition {
  /// Reads the value of `--until`.
  init(option text: String) throws {
    do throws(TextError) { try self.init(text) } catch { throw ValidationError(error.message) }
  }
}
