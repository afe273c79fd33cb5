import ArgumentParser
import Foundation
import RunBus

/// The exit statuses, as listed in `busnode --help` and docs/cli.md.
enum ExitStatus {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  static let rejected: Int32 = 3
  static let superseded: Int32 = 4
  /// The press is durable on this machine and is delivered when the hub is back.
  static let queued: Int32 = 5
  static let noVerdict: Int32 = 6
  /// The value that was asked for is not known.
  static let notKnown: Int32 = 7
  static let usage: Int32 = 64
  /// A bad input file, or a store of another version or role (`EX_DATAERR`).
  static let badInput: Int32 = 65
  static let noBus: Int32 = 69
  /// A disk or standard output cannot be written, or a store cannot be read (`EX_IOERR`).
  static let diskError: Int32 = 74
  /// A bus or store is held by another process, or the spool is full: a later attempt may work (`EX_TEMPFAIL`).
  static let busHeld: Int32 = 75
  /// The file of settings cannot be used (`EX_CONFIG`).
  static let configuration: Int32 = 78
  static let interrupted: Int32 = 130
}

/// An error that ends the command: a sentence for people, a code for programs, an exit status for the shell.
struct Failure: Error {
  let code: String
  let message: String
  var exitStatus: Int32
  /// Further lines for people, such as the last lines of a node that died.
  var details: [String] = []

  /// - Parameter message: The sentence. Of one that quotes very long input the middle is left out.
  init(code: String, message: String, exitStatus: Int32, details: [String] = []) {
    (self.code, self.message) = (code, Sentence.bounded(message))
    (self.exitStatus, self.details) = (exitStatus, details)
  }
}

extension Failure {
  /// Gives the error of a node its exit status.
  init(_ error: RunBusError) {
    let status =
      switch error.code {
      case .busHeld, .storeHeld, .addressInUse, .full: ExitStatus.busHeld
      case .badInput, .storeMismatch, .notRecovering, .notFound, .unknownDevice: ExitStatus.badInput
      case .unreachable: ExitStatus.noBus
      case .store: ExitStatus.diskError
      default: ExitStatus.failure
      }
    self.init(code: error.code.description, message: error.message, exitStatus: status)
  }
}

extension Failure {
  /// Standard output could not be written.
  init(_ error: OutputError) {
    self.init(code: "output", message: error.message, exitStatus: ExitStatus.diskError)
  }
}

/// Ends the command with a status and without a message, because everything has been printed.
struct QuietExit: Error {
  let exitStatus: Int32
  /// The reader of standard output has closed the pipe, which is no failure.
  static let pipeClosed = QuietExit(exitStatus: ExitStatus.success)
}

/// An error under `--json`: one object on standard error.
struct ErrorJSON: Codable {
  struct Body: Codable {
    let code: String
    let message: String
    let exitCode: Int32
  }
  let error: Body

  /// Reads the error of another `busnode`; `nil` for a line that is none.
  init?(line: String) {
    guard let error = try? JSONDecoder().decode(ErrorJSON.self, from: Data(line.utf8)) else { return nil }
    self = error
  }

  init(_ failure: Failure) {
    let message = ([failure.message] + failure.details).joined(separator: "; ")
    error = Body(code: failure.code, message: message, exitCode: failure.exitStatus)
  }
}

extension Busnode {
  /// Prints the error and returns the exit status.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - command: The command that has run; `nil` before one has.
  static func report(_ error: any Error, of command: (any ParsableCommand.Type)? = nil) -> Int32 {
    let failure: Failure
    switch error {
    case let quiet as QuietExit: return quiet.exitStatus
    case let error as OutputError:
      guard !error.isClosedPipe else { return ExitStatus.success }
      failure = Failure(error)
    case let error as Failure: failure = error
    case let error as RunBusError: failure = Failure(error)
    case is CancellationError:
      failure = Failure(code: "cancelled", message: Tongue.say(.wasCancelled), exitStatus: ExitStatus.failure)
    default:
      let status = exitCode(for: error).rawValue
      // ArgumentParser throws for --help and --version, too: print them to standard output.
      guard status != 0 else { return show(help: fullMessage(for: error)) }
      if status == ExitStatus.usage {
        return report(WrongUsage(error, of: command, Array(CommandLine.arguments.dropFirst())))
      }
      failure = Failure(code: "failure", message: message(for: error), exitStatus: status)
    }
    Output.complain(failure)
    return failure.exitStatus
  }

  /// Prints what is wrong with the arguments, for people with the usage of the command below it.
  static func report(_ wrong: WrongUsage) -> Int32 {
    Output.complain(Failure(code: "usage", message: wrong.message, exitStatus: ExitStatus.usage))
    if !Output.isJSON { for line in wrong.usage { Output.complain(line) } }
    return ExitStatus.usage
  }

  private static func show(help: String) -> Int32 {
    do {
      try Output.raw(help + "\n")
      return ExitStatus.success
    } catch {
      return report(error)
    }
  }
}
