import ArgumentParser
import Foundation
import RunBus
import RunScripts

/// The class of a message as an argument.
enum ClassWord: String, ExpressibleByArgument, CaseIterable {
  case live, latest, queued
}

/// How far a message is waited for, as an argument.
enum PostWait: String, ExpressibleByArgument, CaseIterable {
  /// Until the sending node has stored it or, of the class live, sent it.
  case stored
  /// Until its receiver has processed it.
  case processed
}

/// The name of messages as an argument.
struct MessageNameArgument: ExpressibleByArgument {
  let name: String

  init?(argument: String) {
    guard AppMessage.isName(argument) else { return nil }
    name = argument
  }
}

/// The content of a message as an argument: a text, or `-` for standard input.
enum MessageBody {
  /// The bytes.
  ///
  /// - Throws: ``Failure`` with 64 for a content that is too long, with 74 for an input that cannot be read.
  static func bytes(_ argument: String) throws(Failure) -> [UInt8] {
    guard argument == InputFile.standardInput else { return try checked(Array(argument.utf8)) }
    do {
      let input = FileHandle(fileDescriptor: 0, closeOnDealloc: false)
      // One byte more than allowed reveals an input that is too long, and an endless one.
      return try checked([UInt8](input.read(upToCount: AppMessage.bodyMax + 1) ?? Data()))
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure(
        code: "notRead", message: Tongue.say(.inputNotRead, ["reason": error.localizedDescription]),
        exitStatus: ExitStatus.diskError)
    }
  }

  private static func checked(_ bytes: [UInt8]) throws(Failure) -> [UInt8] {
    guard bytes.count > AppMessage.bodyMax else { return bytes }
    throw Failure(
      code: "usage", message: Tongue.say(.bodyTooLong, ["count": AppMessage.bodyMax]),
      exitStatus: ExitStatus.usage)
  }
}

/// The options of a command that runs another one for each message.
struct ExecOptions: ParsableArguments {
  @Option(
    name: .customLong("exec-timeout"),
    help: ArgumentHelp("How long a command may take, at most 10m (default: 60).", valueName: "time"))
  var timeout: TimeArgument?

  func validate() throws {
    guard span <= Self.most else { throw ValidationError(Tongue.say(.execTimeoutBounds)) }
  }

  /// Shorter than the time for which a node leaves a message to a listener.
  private static let most = BusDuration.seconds(600)

  var span: BusDuration { timeout?.span ?? .seconds(60) }

  /// The command of a line of shell.
  func command(_ line: String) -> ShellCommand { ShellCommand(line, timeout: span) }
}

extension Failure {
  /// The node that is to do something does not run.
  static func notRunning(_ device: DeviceID, _ location: BusLocation) -> Failure {
    Failure(
      code: "unreachable", message: Tongue.say(.deviceNotRunning, ["device": device, "bus": location.displayName]),
      exitStatus: ExitStatus.noBus)
  }
}
