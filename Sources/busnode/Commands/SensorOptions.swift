import ArgumentParser
import RunBus
import RunRecordings
import RunScripts

/// Where the sensor readings of a node come from.
struct SensorOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Sensor input from a recording, GPX, TCX or FIT; - is standard input.", valueName: "file"),
    completion: .file())
  var replay: String?

  @Option(help: ArgumentHelp("Which run of a recording with several (default: the first).", valueName: "number"))
  var run: NumberArgument?

  @Flag(help: "Sensor input from a modelled runner.")
  var synthetic = false

  @Option(help: ArgumentHelp("Which modelled run: same seed, same run (default: 1).", valueName: "seed"))
  var seed: UInt64?

  @Option(
    help: ArgumentHelp(
      "How long the run is: 5m, 300, 5:00 (default: all of the recording; 30m of a modelled run, which has 10s to 24h).",
      valueName: "time"))
  var duration: TimeArgument?

  @Option(
    help: ArgumentHelp("About how long the modelled runner takes for a kilometre: 5:30.", valueName: "time"))
  var pace: TimeArgument?

  func validate() throws {
    if replay != nil, synthetic {
      throw ValidationError(Tongue.say(.oneInput))
    }
    if duration != nil, !hasInput {
      throw ValidationError(Tongue.say(.durationNeedsInput))
    }
    if synthetic, let span = duration?.span, !SyntheticRun.durations.contains(span) {
      throw ValidationError(
        Tongue.say(
          .durationBounds,
          [
            "least": Sentence.seconds(SyntheticRun.durations.lowerBound),
            "most": Sentence.old(SyntheticRun.durations.upperBound.seconds),
          ]))
    }
    if run != nil, replay == nil { throw ValidationError(Tongue.say(.runNeedsReplay)) }
    if let pace {
      guard synthetic else { throw ValidationError(Tongue.say(.paceNeedsSynthetic)) }
      guard SyntheticRun.paces.contains(pace.span) else { throw ValidationError(Tongue.say(.paceBounds)) }
    }
  }

  /// Whether the recording comes from standard input.
  var readsStandardInput: Bool { replay == InputFile.standardInput }

  /// Whether there is anything to play.
  var hasInput: Bool { replay != nil || synthetic }

  /// The recording to play, cut to `--duration`; `nil` without sensor input.
  func recording() throws(RunBusError) -> Recording? {
    if synthetic {
      return SyntheticRun(seed: seed ?? 1, duration: duration?.span ?? .seconds(1800), pace: pace?.span).recording()
    }
    guard let replay else { return nil }
    var recording = try Recording.read(contentsOf: replay, run: run?.number)
    for warning in recording.warnings { Output.complain("busnode: \(InputFile.name(of: replay)): \(warning)") }
    if let end = duration?.span, end < recording.duration { recording.cut(to: end) }
    return recording
  }

  /// The samples that a node of `role` plays; `nil` when there are none.
  func timeline(for role: NodeRole, _ share: SensorShare) throws(RunBusError) -> Timeline? {
    guard let recording = try recording() else { return nil }
    let samples =
      switch share {
      case .usual: recording.samples(for: role)
      case .all: recording.samples
      }
    if let replay, role == .phone || share == .all {
      let name = InputFile.name(of: replay)
      for notice in MeasuredRun(recording).notices { Output.complain("busnode: \(name): \(notice)") }
    }
    return samples.isEmpty ? nil : Timeline(samples.map(\.sample))
  }

  /// The same choice as arguments for another process.
  var arguments: [String] {
    var arguments: [String] = []
    if let replay { arguments += ["--replay", replay] }
    if let run { arguments += ["--run", "\(run.number)"] }
    if synthetic { arguments.append("--synthetic") }
    if let seed { arguments += ["--seed", "\(seed)"] }
    if let duration { arguments += ["--duration", DurationText.exactSeconds(duration.span)] }
    if let pace { arguments += ["--pace", DurationText.exactSeconds(pace.span)] }
    return arguments
  }
}

/// Which readings of a recording a device plays.
enum SensorShare: String, ExpressibleByArgument, CaseIterable {
  /// The watch the heart rate, the phone the rest.
  case usual
  /// Everything: a watch that runs on its own, a phone with a chest strap.
  case all
}

extension Recording {
  /// Removes everything after `end`; a pause that lasts longer ends there.
  mutating func cut(to end: BusDuration) {
    samples.removeAll { $0.offset > end }
    lapMarks.removeAll { $0 > end }
    timerStops = timerStops.filter { $0.pausedAt < end }
      .map { TimerStop(pausedAt: $0.pausedAt, resumedAt: min($0.resumedAt, end)) }
    duration = end
  }
}
