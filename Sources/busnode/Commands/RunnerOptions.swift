import ArgumentParser
import RunBus

/// What a hub knows of the runner, and whether the clock stands when the runner does.
struct RunnerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The runner's weight, 20 to 300 kg: with it there is energy.", valueName: "kg"))
  var weight: Double?

  @Flag(help: "The clock stands while the runner does; a pause by hand is never undone.")
  var autoPause = false

  func validate() throws {
    if let weight, !(20...300).contains(weight) { throw ValidationError("--weight is 20 to 300 kg") }
  }

  /// How the numbers are computed.
  var metrics: MetricsSettings {
    var settings = MetricsSettings()
    settings.weightKilograms = weight
    settings.isAutoPauseOn = autoPause
    return settings
  }

  /// The same choice as arguments for another process.
  var arguments: [String] {
    var arguments: [String] = []
    if let weight { arguments += ["--weight", "\(weight)"] }
    if autoPause { arguments.append("--auto-pause") }
    return arguments
  }
}
