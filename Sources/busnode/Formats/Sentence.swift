import RunBus
import RunScripts

/// Sentences and numbers for people, one line each.
enum Sentence {
  /// A verdict, with the phase of the run after it where that is known.
  ///
  /// - Parameters:
  ///   - phase: The phase that the hub told with the verdict.
  ///   - age: The run time since the press, or the one that it repeats, took effect.
  static func verdict(_ verdict: Verdict, phase: RunPhase?, age: BusDuration?) -> String {
    if case .coalesced = verdict.outcome, let phase, phase == verdict.kind.targetPhase, let age,
      age >= longAgo(verdict.kind)
    {
      return Tongue.say(
        .verdictLongAgo,
        ["command": verdict.kind.spoken, "phase": phase.spoken, "time": old(age.seconds), "revision": verdict.revision])
    }
    if case .rejected(.revisionChanged) = verdict.outcome { return verdict.sentence }
    guard let phase = self.phase(after: verdict, told: phase) else {
      return Tongue.say(.verdictRevision, ["verdict": verdict.sentence, "revision": verdict.revision])
    }
    return Tongue.say(
      .verdictPhase, ["verdict": verdict.sentence, "phase": phase.spoken, "revision": verdict.revision])
  }

  /// From when on a press repeats one that the person has probably forgotten. A start behind the window of another
  /// one begins no run, as its person may expect.
  private static func longAgo(_ kind: CommandKind) -> BusDuration { .seconds(kind == .start ? 1 : 60) }

  private static func phase(after verdict: Verdict, told: RunPhase?) -> RunPhase? {
    switch verdict.outcome {
    // The message of a rejection names the phase already.
    case .rejected, .unknown: nil
    case .applied, .coalesced: told ?? verdict.kind.targetPhase
    case .superseded: told
    }
  }

  /// A sentence, without the middle of one that quotes very long input.
  static func bounded(_ text: String) -> String {
    text.utf8.count <= 4000 ? text : "\(text.prefix(1000)) […] \(text.suffix(1000))"
  }

  /// `5 s`, `0.25 s`.
  static func seconds(_ span: BusDuration) -> String {
    Tongue.say(
      .spanSeconds, ["count": span.nanoseconds % 1_000_000_000 == 0 ? whole(span.seconds) : fixed(span.seconds, 2)])
  }

  /// `30:00, 26:55 left`, `30:00 reached`; `nil` without a goal.
  static func goal(_ goal: RunGoal?, remaining: BusDuration?) -> String? {
    guard let goal, let remaining else { return nil }
    let time = DurationText.clock(goal.time)
    return remaining > .zero
      ? Tongue.say(.goalLeft, ["goal": time, "left": DurationText.countdown(remaining)])
      : Tongue.say(.goalReached, ["goal": time])
  }

  /// The age of a reading: `42 s`, `24 min`, `3 h`, `5 days`.
  static func old(_ seconds: Double) -> String {
    func count(_ unit: Double) -> String { whole((seconds / unit).rounded(.down)) }
    return switch seconds {
    case ..<120: Tongue.say(.spanSeconds, ["count": whole(seconds)])
    case ..<7200: Tongue.say(.spanMinutes, ["count": count(60)])
    case ..<172_800: Tongue.say(.spanHours, ["count": count(3600)])
    default: Tongue.say(.spanDays, ["count": count(86_400)])
    }
  }

  static func clock(_ seconds: Double) -> String { DurationText.clock(BusDuration(seconds: seconds)) }
  static func whole(_ value: Double) -> String { fixed(value, 0) }

  /// A number with a fixed count of decimals (0 to 2); one too large for that is written in full.
  static func fixed(_ value: Double, _ decimals: Int) -> String {
    let scale: Int64 = decimals == 0 ? 1 : decimals == 1 ? 10 : 100
    guard let scaled = Int64(exactly: (value * Double(scale)).rounded()) else { return "\(value)" }
    guard scale > 1 else { return "\(scaled)" }
    let rest = String((scaled % scale).magnitude)
    return (scaled < 0 ? "-" : "") + "\((scaled / scale).magnitude)."
      + String(repeating: "0", count: decimals - rest.count) + rest
  }
}

extension DurationText {
  /// `3:05`, or `1:02:03` from an hour on; whole seconds, rounded down as a stopwatch shows them.
  static func clock(_ span: BusDuration) -> String { Units.metric.format.duration(span) }

  /// What is left of a time, rounded up: with the clock beside it, which is rounded down, it makes the whole.
  static func countdown(_ span: BusDuration) -> String { clock(BusDuration(seconds: span.seconds.rounded(.up))) }
}
