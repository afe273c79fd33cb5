import ArgumentParser
import RunBus
import RunScripts

/// A clock of the process that is wrong, for tests: machines have clocks that differ, and these processes share one.
struct ClockErrorOptions: ParsableArguments {
  @Option(help: .hidden, transform: ClockErrorOptions.error)
  var clockError: ClockError?

  private static func error(_ text: String) throws -> ClockError {
    guard let error = ClockError(text: text) else {
      throw ValidationError(Tongue.say(.clockErrorForm))
    }
    return error
  }

  /// Makes the clock wrong, before anything reads it.
  func set() { if let clockError { ClockError.set(clockError) } }
}
