import ArgumentParser
import Foundation
import RunBus

struct Devices: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices",
    abstract: "List the paired devices, take back their keys, change their names.",
    discussion: """
        busnode devices                       the paired devices
        busnode devices show watch-1          one of them, with its key
        busnode devices revoke watch-1        take back its key: a lost or stolen
                                              watch
        busnode devices rename watch-1 watch  another name; not during a run
        busnode devices sources watch-1 watch,shell
                                                 what it may press
        busnode devices forget watch-1        remove a revoked device from the list
        busnode devices confirm               after the phone was restored from an
                                              older backup

      A device is given by its name, or by the first digits of its key when two have had the name. A revoked device is \
      cut off at once and receives nothing any more. What the phone had judged stands; commands without a verdict are \
      rejected (forbidden). These commands work on the phone's own machine, whether or not the phone runs.

      EXIT STATUS:
        0   done
        64  devices sources: a source that is not known, without --force
        65  there is no such device, or the phone refused; the reason is on standard
            error
        69  no phone of this bus has run on this machine
      """,
    subcommands: [
      DevicesList.self, DevicesShow.self, DevicesRevoke.self, DevicesRename.self, DevicesSources.self,
      DevicesForget.self, DevicesConfirm.self,
    ], defaultSubcommand: DevicesList.self)
}

struct DevicesList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "ls", abstract: "List the paired devices.")

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write JSON, one object a line.")
  var json = false

  func run() async throws {
    let list = try await PairedDevices.find(bus).list()
    if json { return try list.devices.forEach { try Output.jsonLine(PairedDeviceJSON($0)) } }
    if list.isBehind { Output.complain("busnode: \(HubCore.confirmList)") }
    guard !list.devices.isEmpty else { return try Output.line(Tongue.say(.nonePaired)) }
    let rows = list.devices.map { device in
      [
        device.deviceID.rawValue, device.role.rawValue,
        device.isRevoked ? Tongue.say(.keyRevoked) : Tongue.say(.keyPaired),
        device.sources.map(\.rawValue).sorted().joined(separator: ","), RunCalendar().minuteText(device.pairedAt),
        Sentence.short(device.key.description),
      ]
    }
    for line in Columns.lines(
      [
        Tongue.say(.headingDevice), Tongue.say(.headingRole), Tongue.say(.headingKey), Tongue.say(.headingMayPress),
        Tongue.say(.headingPairedSince), Tongue.say(.headingFingerprint),
      ], rows)
    {
      try Output.line(line)
    }
  }
}

struct DevicesShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show one paired device.")

  @Argument(
    help: ArgumentHelp("The device, by its name or the first digits of its key.", valueName: "device"),
    completion: Completions.pairedDevices)
  var device: String

  @OptionGroup var bus: BusOptions

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    let found = try await PairedDevices.find(bus).device(device)
    if json { return try Output.jsonLine(PairedDeviceJSON(found)) }
    try Output.line(Self.row(Tongue.say(.rowDevice), "\(found.deviceID)"))
    try Output.line(Self.row(Tongue.say(.rowRole), "\(found.role)"))
    try Output.line(Self.row(Tongue.say(.rowKey), "\(found.key)"))
    try Output.line(Self.row(Tongue.say(.rowState), found.isRevoked ? Tongue.say(.keyRevoked) : Tongue.say(.keyPaired)))
    try Output.line(Self.row(Tongue.say(.rowMayPress), found.sources.map(\.rawValue).sorted().joined(separator: ", ")))
    try Output.line(Self.row(Tongue.say(.rowPaired), RunCalendar().minuteText(found.pairedAt)))
    if !found.formerNames.isEmpty {
      try Output.line(Self.row(Tongue.say(.rowBefore), found.formerNames.map(\.rawValue).joined(separator: ", ")))
    }
    if let next = found.nextKey { try Output.line(Self.row(Tongue.say(.rowNextKey), "\(next)")) }
  }

  private static func row(_ label: String, _ text: String) -> String { TextWidth.fitted(label, to: 14) + text }
}

struct DevicesRevoke: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "revoke", abstract: "Take back a device's key.")

  @Argument(
    help: ArgumentHelp("The device, by its name or the first digits of its key.", valueName: "device"),
    completion: Completions.pairedDevices)
  var device: String

  @OptionGroup var bus: BusOptions

  func run() async throws {
    let devices = try await PairedDevices.find(bus)
    try bus.tellOrigin()
    let name = try await devices.order(.revoke, device)
    Output.tell(Tongue.say(.keyTakenBack, ["device": name]))
  }
}

struct DevicesForget: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Remove a revoked device from the list.")

  @Argument(
    help: ArgumentHelp("The device, by its name or the first digits of its key.", valueName: "device"),
    completion: Completions.pairedDevices)
  var device: String

  @OptionGroup var bus: BusOptions

  func run() async throws {
    let devices = try await PairedDevices.find(bus)
    try bus.tellOrigin()
    let name = try await devices.order(.forget, device)
    Output.tell(Tongue.say(.deviceForgotten, ["device": name]))
  }
}

struct DevicesRename: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename", abstract: "Give a device another name; not during a run.")

  @Argument(
    help: ArgumentHelp("The device, by its name or the first digits of its key.", valueName: "device"),
    completion: Completions.pairedDevices)
  var device: String

  @Argument(help: ArgumentHelp("The new name.", valueName: "name"))
  var name: DeviceID

  @OptionGroup var bus: BusOptions

  func run() async throws {
    let old = try await PairedDevices.find(bus).order(.rename(name), device)
    Output.tell(Tongue.say(.deviceRenamed, ["device": old, "name": name]))
  }
}

struct DevicesSources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources", abstract: "Set what a device may press.")

  @Argument(
    help: ArgumentHelp("The device, by its name or the first digits of its key.", valueName: "device"),
    completion: Completions.pairedDevices)
  var device: String

  @Argument(help: ArgumentHelp("The sources, such as watch,shell: any of \(SourceList.known).", valueName: "sources"))
  var sources: SourceList

  @Flag(help: "Take other words, too: sources that an app has of its own.")
  var force = false

  @OptionGroup var bus: BusOptions

  func validate() throws {
    if !force { try sources.check() }
  }

  func run() async throws {
    let name = try await PairedDevices.find(bus).order(.sources(sources.sources), device)
    let words = sources.sources.map(\.rawValue).sorted().joined(separator: ", ")
    Output.tell(Tongue.say(.deviceMayPress, ["device": name, "sources": words]))
  }
}

struct DevicesConfirm: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "confirm", abstract: "Confirm the list after the phone was restored from an older copy.")

  @OptionGroup var bus: BusOptions

  func run() async throws {
    try await PairedDevices.find(bus).confirm()
    Output.tell(Tongue.say(.listConfirmed))
  }
}

/// The list of paired devices of the hub on this machine.
struct PairedDevices: Sendable {
  private let hub: LocalHub

  static func find(_ bus: BusOptions) async throws -> PairedDevices {
    bus.startLog()
    return PairedDevices(hub: try await LocalHub.find(at: try bus.hubLocation(), runs: false))
  }

  func list() async throws -> DeviceList {
    var list = try await hub.ask(.devices)
    list.devices.sort { NaturalName($0.deviceID) < NaturalName($1.deviceID) }
    return list
  }

  /// The device of a name or of the first digits of a key. A valid one comes before revoked ones.
  func device(_ text: String) async throws -> PairedDevice {
    let devices = try await list().devices
    let named = devices.filter { $0.deviceID.rawValue == text }
    let valid = named.filter { !$0.isRevoked }
    let byKey = text.utf8.count >= 8 ? devices.filter { $0.key.description.hasPrefix(text) } : []
    let found = valid.isEmpty ? (named.isEmpty ? byKey : named) : valid
    guard found.count <= 1 else {
      throw Failure(
        code: "badInput",
        message: Tongue.say(.severalHadName, ["count": found.count]),
        exitStatus: ExitStatus.badInput)
    }
    guard let device = found.first else {
      throw Failure(
        code: "unknownDevice", message: Tongue.say(.deviceNotPaired, ["device": text]), exitStatus: ExitStatus.badInput)
    }
    return device
  }

  /// Changes a device.
  ///
  /// - Returns: its name before.
  func order(_ order: DeviceOrder, _ text: String) async throws -> DeviceID {
    let device = try await device(text)
    try await done(.orderDevice(device.key, order))
    return device.deviceID
  }

  func confirm() async throws { try await done(.confirmDevices) }

  private func done(_ order: Question<Void>) async throws {
    try await refusing(code: "badInput", ExitStatus.badInput) { try await hub.ask(order) }
  }
}
