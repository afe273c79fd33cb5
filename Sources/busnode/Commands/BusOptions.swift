import ArgumentParser
import Foundation
import Logging
import RunBus

/// Which bus, and how much to say about the work: options that every command on a bus has.
struct BusOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The bus, by its name on this machine (default: default).", valueName: "name"))
  var bus: String?

  @Option(help: ArgumentHelp("The bus, by its address: tcp://127.0.0.1:PORT.", valueName: "address"))
  var address: String?

  @Option(help: ArgumentHelp("What to log on standard error.", valueName: "level"))
  var logLevel: LogLevel = .warning

  /// Where the bus is: flags win over the environment.
  func location() throws(Failure) -> BusLocation {
    do {
      let location = try BusLocation(
        bus: bus, address: address, environment: ProcessInfo.processInfo.environment)
      for notice in location.notices { Output.complain("busnode: \(notice)") }
      return location
    } catch {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
  }

  /// Whether the bus was named, by a flag or by the environment.
  var isNamed: Bool {
    let environment = ProcessInfo.processInfo.environment
    return [bus, address, environment["RUNBUS_BUS"], environment["RUNBUS_ADDRESS"]].contains { $0?.isEmpty == false }
  }

  /// Sends the log to standard error: standard output belongs to the command's own words. A log that nobody reads, or
  /// that cannot be written, holds up nothing.
  func startLog() {
    let level = logLevel.level
    LoggingSystem.bootstrap { ShownLogHandler(label: $0, level: level) }
  }
}
