import ArgumentParser
import Foundation
import Logging
import RunBus

/// What is about a bus of this machine: it has the option `--bus`, and finds its bus by the option, else by the environment,
/// the settings, else the bus `default`.
protocol NamesBus {
  /// The option `--bus`; its help is ``ArgumentParser/ArgumentHelp/bus``.
  var bus: String? { get }
}

extension ArgumentHelp {
  static let bus = ArgumentHelp(
    "The bus, by its name on this machine (default: $RUNBUS_BUS, else default).", valueName: "name")
  static let logLevel = ArgumentHelp("What to log on standard error (default: warning).", valueName: "level")
  static let logFormat = ArgumentHelp(
    "How to log: text for people, or json, one object a line (default: text).", valueName: "format")
}

extension NamesBus {
  /// The bus that is named, as one of this machine. What is peculiar about its paths is told on standard error.
  fileprivate func namedChoice(address: String? = nil) throws(Failure) -> BusChoice {
    let choice = try quietChoice(address: address)
    for notice in choice.location.notices { Output.complain("busnode: \(notice)") }
    if let notice = try Settings.ofThisProcess().overruled(by: choice) { Output.complain("busnode: \(notice)") }
    return choice
  }

  /// The same, and nothing is told.
  fileprivate func quietChoice(address: String?) throws(Failure) -> BusChoice {
    let saved = try Settings.ofThisProcess().savedBuses
    do {
      return try BusChoice(
        bus: bus, address: address, environment: ProcessInfo.processInfo.environment, saved: saved)
    } catch {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
  }

  /// The name of the bus, for a command to which an address means nothing.
  func busName() throws(Failure) -> BusName {
    let choice = try namedChoice()
    guard let name = choice.location.name else {
      throw Failure(
        code: "usage",
        message: Tongue.say(.nameNeeded, ["origin": choice.originText]),
        exitStatus: ExitStatus.usage)
    }
    return name
  }
}

/// What logs on standard error: it has the options `--log-level` and `--log-format`.
protocol Logs {
  /// The option `--log-level`; its help is ``ArgumentParser/ArgumentHelp/logLevel``.
  var logLevel: LogLevel? { get }
  /// The option `--log-format`; its help is ``ArgumentParser/ArgumentHelp/logFormat``.
  var logFormat: LogFormat? { get }
}

extension Logs {
  private var level: LogLevel { logLevel ?? Settings.present?.logLevel ?? .warning }
  private var format: LogFormat { logFormat ?? Settings.present?.logFormat ?? .text }

  /// The same options for a command that this one starts.
  var logArguments: [String] { ["--log-level", level.rawValue, "--log-format", format.rawValue] }

  /// Sends the log to standard error, because standard output carries the command's result. A log that cannot be
  /// written never blocks the command.
  func startLog() {
    let (level, format) = (level.level, format)
    if format == .json { Output.logAsJSON() }
    LoggingSystem.bootstrap { label in
      switch format {
      case .text: ShownLogHandler(label: label, level: level)
      case .json: JSONLogHandler(label: label, level: level)
      }
    }
  }
}

/// Options of every command that uses a bus: whose settings, which bus, and what to log. Groups are no deeper than they have
/// to be: a debug build checks a group three times more for each group that it is in.
struct BusOptions: ParsableArguments, NamesBus, Logs {
  @OptionGroup var context: ContextOption

  @Option(help: .bus, completion: Completions.buses)
  var bus: String?

  @Option(help: ArgumentHelp("The bus, by its address: tcp://127.0.0.1:PORT (with --insecure).", valueName: "address"))
  var address: String?

  @Flag(help: "Use TCP without keys, on this machine only: every user of it can control the run.")
  var insecure = false

  @Option(help: .logLevel)
  var logLevel: LogLevel?

  @Option(help: .logFormat)
  var logFormat: LogFormat?

  /// Where the bus is: options win over the environment, that over settings. A bus with which this machine is paired is reached with keys.
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
  func hubLocation() throws(Failure) -> BusLocation { try choice().location }

  /// The bus whose hub is on this machine, and what named it.
  func choice() throws(Failure) -> BusChoice {
    let choice = try namedChoice(address: address)
    let allowsAddress = try isInsecure()
    guard !choice.location.isAddress || allowsAddress else {
      throw Failure(
        code: "usage",
        message:
          Tongue.say(.addressUnsafe, ["bus": choice.location.displayName]), exitStatus: ExitStatus.usage)
    }
    return choice
  }

  /// Whether TCP without keys may be used.
  func isInsecure() throws(Failure) -> Bool { insecure ? true : try Settings.ofThisProcess().isInsecure }

  /// Says which bus something is removed from, and what named it, when the command did not.
  func tellOrigin() throws(Failure) {
    let choice = try quietChoice(address: address)
    guard choice.origin != .option else { return }
    Output.complain("busnode: \(choice.text)")
  }

  /// Refuses `--insecure` where it has no effect.
  ///
  /// - Parameter isUsed: Whether an address without keys is used.
  func checkInsecure(isUsed: Bool) throws(Failure) {
    guard insecure, !isUsed else { return }
    throw Failure(
      code: "usage", message: Tongue.say(.insecureUnused),
      exitStatus: ExitStatus.usage)
  }

  /// Warns of the addresses at which a node has no keys.
  func warn(of locations: [BusLocation]) {
    for location in locations where location.isAddress {
      Output.complain("busnode: " + Tongue.say(.withoutKeys, ["bus": location.displayName]))
    }
  }
}

extension BusChoice {
  /// `bus "home" (from context home in /home/kim/.config/runbus/config.json)`.
  var text: String { Tongue.say(.busFrom, ["bus": location.displayName, "origin": originText]) }
}

extension Settings {
  /// That a variable names another bus than the context of the option; `nil` when it does not.
  fileprivate func overruled(by choice: BusChoice) -> String? {
    guard choice.origin == .variable, let context, context.origin == .flag, let saved = savedBuses.first,
      saved.bus != nil || saved.address != nil
    else { return nil }
    return Tongue.say(.busOverruled, ["origin": choice.originText, "context": context.name, "bus": choice.text])
  }

  /// The units of a text: by the option, else by the settings, else on a terminal by the locale, else metric.
  static func units(_ option: Units?) throws(Failure) -> Units {
    if let option { return option }
    return try ofThisProcess().units ?? Locales.ofOutput.units
  }

  /// The variables of this process as a screen reads them.
  static func terminalEnvironment() throws(Failure) -> [String: String] {
    try ofThisProcess().terminalEnvironment(ProcessInfo.processInfo.environment)
  }
}
