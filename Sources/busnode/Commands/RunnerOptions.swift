import ArgumentParser
import RunBus

/// The runner's weight, and whether auto-pause is on.
struct RunnerOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The runner's weight, 20 to 300 kg, needed for energy.", valueName: "kg"))
  var weight: Double?

  @Flag(help: "Stop the clock while the runner stands still. A pause by hand is never ended automatically.")
  var autoPause = false

  func validate() throws {
    if let weight, !(20...300).contains(weight) { throw ValidationError(Tongue.say(.weightBounds)) }
  }

  /// The weight of the option, else of the settings.
  private var kilograms: Double? { weight ?? Settings.present?.weight }

  /// How the numbers are computed.
  var metrics: MetricsSettings {
    var settings = MetricsSettings()
    settings.weightKilograms = kilograms
    settings.isAutoPauseOn = autoPause
    return settings
  }

  /// The same choice as arguments for another process.
  var arguments: [String] {
    var arguments: [String] = []
    if let weight = kilograms { arguments += ["--weight", "\(weight)"] }
    if autoPause { arguments.append("--auto-pause") }
    return arguments
  }
}
