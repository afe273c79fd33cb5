import ArgumentParser
import RunBus
import RunScripts

/// How many runners `up` plays a run with, and how.
struct RunnersOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Play a run together: the phones of 2 to 32 runners.", valueName: "n"))
  var runners: Int?

  @Option(
    help: ArgumentHelp("With --runners: how long the run is (default: 2m).", valueName: "time"),
    transform: RunGoal.init(option:))
  var goal: RunGoal?

  @Flag(help: "With --runners: the room has a start, to which the runners walk first.")
  var gather = false

  /// A seed from which each phone gets a clock of its own that is wrong; for tests.
  @Option(help: .hidden)
  var wrongClocks: UInt64?

  func validate() throws {
    guard let runners else {
      guard goal == nil, !gather, wrongClocks == nil else {
        throw ValidationError(Tongue.say(.goalWithRunners))
      }
      return
    }
    guard RunnersPlan.runnersBounds.contains(runners) else { throw ValidationError(Tongue.say(.runnersBounds)) }
    if let goal, !RoomTerms.goalBounds.contains(goal.time) { throw ValidationError(Tongue.say(.goalBounds)) }
  }

  /// The run's length.
  var length: RunGoal { goal ?? RunGoal(time: .seconds(120))! }
}
