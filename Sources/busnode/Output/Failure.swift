import ArgumentParser
import Foundation
import RunBus

/// How the command ends, for scripts. Listed in `busnode --help` and in the README.
enum ExitStatus {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  static let rejected: Int32 = 3
  static let superseded: Int32 = 4
  /// Durable here, and delivered when the hub is back.
  static let queued: Int32 = 5
  static let noVerdict: Int32 = 6
  static let usage: Int32 = 64
  static let badInput: Int32 = 65
  static let noBus: Int32 = 69
  /// The disk takes nothing (`EX_IOERR`).
  static let diskError: Int32 = 74
  /// Held by another process, or full: later perhaps (`EX_TEMPFAIL`).
  static let busHeld: Int32 = 75
  static let interrupted: Int32 = 130
}

/// What ends a command other than well: a sentence for people, a code for programs, an exit status for the shell.
struct Failure: Error {
  let code: String
  let message: String
  let exitStatus: Int32
}

extension Failure {
  /// A node's error, in terms of the shell.
  init(_ error: RunBusError) {
    let status =
      switch error.code {
      case .busHeld, .full: ExitStatus.busHeld
      case .badInput: ExitStatus.badInput
      case .unreachable: ExitStatus.noBus
      default: ExitStatus.failure
      }
    self.init(code: error.code.description, message: error.message, exitStatus: status)
  }
}

/// Ends the command with a status and no further word: everything has been said.
struct QuietExit: Error {
  let exitStatus: Int32
  /// Whoever read our output is gone; that is no failure.
  static let pipeClosed = QuietExit(exitStatus: ExitStatus.success)
}

/// An error under `--json`: one object on standard error.
private struct ErrorJSON: Encodable {
  struct Body: Encodable {
    let code: String
    let message: String
    let exitCode: Int32
  }
  let error: Body
}

extension Busnode {
  /// Says what is wrong and returns the exit status.
  static func report(_ error: any Error, asJSON: Bool) -> Int32 {
    let failure: Failure
    switch error {
    case let quiet as QuietExit: return quiet.exitStatus
    case let error as Failure: failure = error
    case let error as RunBusError: failure = Failure(error)
    case is CancellationError:
      failure = Failure(code: "cancelled", message: "it was cancelled", exitStatus: ExitStatus.failure)
    default:
      let status = exitCode(for: error).rawValue
      // Help and version are no errors: they go to standard output.
      guard status != 0 else {
        Output.tryPrint(fullMessage(for: error))
        return 0
      }
      // A wrong argument is ArgumentParser's to explain, with the usage below it.
      if !asJSON, status == ExitStatus.usage {
        Output.complain(fullMessage(for: error))
        return status
      }
      failure = Failure(
        code: status == ExitStatus.usage ? "usage" : "failure", message: message(for: error), exitStatus: status)
    }
    if asJSON {
      let body = ErrorJSON.Body(code: failure.code, message: failure.message, exitCode: failure.exitStatus)
      Output.complain(Output.json(ErrorJSON(error: body)))
    } else {
      Output.complain("busnode: \(failure.message)")
    }
    return failure.exitStatus
  }
}
