import ArgumentParser
import Foundation
import Logging
import RunBus

/// Options of every command that uses a bus: which bus, and what to log.
struct BusOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The bus, by its name on this machine (default: default).", valueName: "name"))
  var bus: String?

  @Option(help: ArgumentHelp("The bus, by its address: tcp://127.0.0.1:PORT (with --insecure).", valueName: "address"))
  var address: String?

  @Flag(help: "Use TCP without keys, on this machine only: every user of it can control the run.")
  var insecure = false

  @Option(help: ArgumentHelp("What to log on standard error.", valueName: "level"))
  var logLevel: LogLevel = .warning

  /// Where the bus is: flags win over the environment. A bus with which this machine is paired is reached with keys.
  func location() throws(Failure) -> BusLocation {
    let location = try hubLocation()
    try checkInsecure(isUsed: location.isAddress)
    guard let name = location.name else { return location }
    do {
      return try BusLocation(pairedBus: name) ?? location
    } catch {
      throw Failure(error)
    }
  }

  /// Where the bus is whose hub is on this machine.
  func hubLocation() throws(Failure) -> BusLocation {
    do throws(RunBusError) {
      let location = try BusLocation(
        bus: bus, address: address, environment: ProcessInfo.processInfo.environment)
      for notice in location.notices { Output.complain("busnode: \(notice)") }
      if location.isAddress, !isInsecure {
        throw RunBusError(
          .badInput,
          "\(location.displayName) has no keys, and every user of this machine could stop the run: give --insecure for "
            + "that, or a bus by its name (and pair other machines: busnode pair)")
      }
      return location
    } catch {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
  }

  /// Whether TCP without keys may be used.
  var isInsecure: Bool { insecure || ProcessInfo.processInfo.environment["RUNBUS_INSECURE"] == "1" }

  /// Refuses `--insecure` where it has no effect.
  ///
  /// - Parameter isUsed: Whether an address without keys is used.
  func checkInsecure(isUsed: Bool) throws(Failure) {
    guard insecure, !isUsed else { return }
    throw Failure(
      code: "usage", message: "--insecure is for an address, and none is given: leave it out",
      exitStatus: ExitStatus.usage)
  }

  /// Warns of the addresses at which a node has no keys.
  func warn(of locations: [BusLocation]) {
    for location in locations where location.isAddress {
      Output.complain("busnode: \(location.displayName) has no keys: every user of this machine can control this run")
    }
  }

  /// Whether the bus was named, by a flag or by the environment.
  var isNamed: Bool {
    let environment = ProcessInfo.processInfo.environment
    return [bus, address, environment["RUNBUS_BUS"], environment["RUNBUS_ADDRESS"]].contains { $0?.isEmpty == false }
  }

  /// Sends the log to standard error, because standard output carries the command's result. A log that cannot be
  /// written never blocks the command.
  func startLog() { Self.startLog(logLevel) }

  /// See ``startLog()``.
  static func startLog(_ logLevel: LogLevel) {
    let level = logLevel.level
    LoggingSystem.bootstrap { ShownLogHandler(label: $0, level: level) }
  }
}
