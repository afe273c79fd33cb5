import ArgumentParser
import Foundation
import RunBus
import RunScripts

/// Which devices `up` spawns, how, and what it does to them.
struct SpawnOptions: ParsableArguments {
  @Option(help: ArgumentHelp("How many watches (default: 1).", valueName: "n"))
  var watches: Int?

  @Option(help: ArgumentHelp("How many widgets (default: 1).", valueName: "n"))
  var widgets: Int?

  @Option(help: ArgumentHelp("How many shells (default: 0).", valueName: "n"))
  var shells: Int?

  @Option(
    help: ArgumentHelp("The devices, NAME ROLE a line; - is standard input.", valueName: "file"), completion: .file())
  var devices: String?

  @Flag(help: "All devices in one process, up to 1000, instead of a process each.")
  var inProcess = false

  @Option(
    help: ArgumentHelp("Draw so many link faults, kills and sleeps (from --seed, else a drawn one).", valueName: "n"))
  var faults: Int?

  /// Whether anything is asked for.
  var isUsed: Bool {
    [watches, widgets, shells, faults].contains { $0 != nil } || devices != nil || inProcess
  }

  private var countsGiven: Bool { [watches, widgets, shells].contains { $0 != nil } }

  func validate() throws {
    for (name, count) in [("--watches", watches), ("--widgets", widgets), ("--shells", shells)] {
      if let count, !(0..<UpDevices.inProcessMax).contains(count) {
        throw ValidationError(Tongue.say(.countBounds, ["option": name, "most": UpDevices.inProcessMax - 1]))
      }
    }
    if devices != nil, countsGiven {
      throw ValidationError(Tongue.say(.devicesNameAll))
    }
    if let faults, !(1...FaultPlan.countMax).contains(faults) {
      throw ValidationError(Tongue.say(.faultsBounds, ["most": FaultPlan.countMax]))
    }
    if devices == nil { try check(counted) }
  }

  private var counted: UpDevices {
    UpDevices(watches: watches ?? 1, widgets: widgets ?? 1, shells: shells ?? 0)
  }

  /// The devices.
  ///
  /// - Throws: ``Failure`` with 64 when there are too many, and with 65 for a bad file.
  func read() throws -> UpDevices {
    guard let path = devices else { return counted }
    let data = try InputFile.contents(of: path, as: "file of devices", bytesMax: UpDevices.bytesMax, allowsPipe: true)
    let read: UpDevices
    do {
      read = try UpDevices(String(decoding: data, as: UTF8.self), file: InputFile.name(of: path))
    } catch {
      throw Failure(code: "badInput", message: error.message, exitStatus: ExitStatus.badInput)
    }
    do {
      try check(read)
    } catch let error as ValidationError {
      throw Failure(code: "usage", message: error.message, exitStatus: ExitStatus.usage)
    }
    return read
  }

  private func check(_ devices: UpDevices) throws {
    let count = devices.all.count
    if inProcess {
      guard count > UpDevices.inProcessMax else { return }
      throw ValidationError(Tongue.say(.tooManyInside, ["count": count, "most": UpDevices.inProcessMax]))
    }
    guard count > UpDevices.processesMax else { return }
    throw ValidationError(
      Tongue.say(.tooManyProcesses, ["count": count, "most": UpDevices.processesMax, "inside": UpDevices.inProcessMax]))
  }

  /// Refuses more processes than the limits of this machine allow, which it would notice in the midst of a run.
  func checkLimits(_ devices: UpDevices) throws(Failure) {
    guard !inProcess, let obstacle = SpawnLimits.obstacle(to: devices.all.count) else { return }
    throw Failure(code: "limit", message: obstacle, exitStatus: ExitStatus.failure)
  }
}
