import ArgumentParser
import Foundation
import RunBus

struct Keys: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys",
    abstract: "Show the public keys of this machine.",
    discussion: """
        busnode keys show          the public keys for this bus; secret keys are
                                   never shown
        busnode keys rotate        another key for this machine, in good order
        busnode keys rotate --now  the phone's key was stolen: another one at once;
                                   pair all devices again

      A paired machine's new key is announced by its running node (or by the next one that runs) and used once the phone \
      knows it; the old key is then cut off. The phone announces its new key to its devices and uses it when all of them \
      know it, or after 30 days.

      The keys of a bus are in $XDG_STATE_HOME/runbus/_keys: NAME.hub of its phone, NAME.device of a paired machine.
      """,
    subcommands: [KeysShow.self, KeysRotate.self], defaultSubcommand: KeysShow.self)
}

struct KeysShow: AsyncParsableCommand, NamesBus {
  static let configuration = CommandConfiguration(commandName: "show", abstract: "Show the public keys for a bus.")

  @OptionGroup var context: ContextOption

  @Option(help: .bus, completion: Completions.buses)
  var bus: String?

  @Flag(help: "Write one JSON object.")
  var json = false

  func run() async throws {
    let bus = try busName()
    let keys = KeyFiles()
    let shown = ShownKeys(
      bus: bus, hub: try HubKeyring.present(bus, in: keys), device: try DeviceKeyring(bus, in: keys)?.value)
    guard shown.hubKey != nil || shown.deviceKey != nil else {
      throw Failure(
        code: "notFound",
        message: Tongue.say(.noKeysHere, ["bus": bus]),
        exitStatus: ExitStatus.badInput)
    }
    if json { return try Output.jsonLine(shown) }
    for (word, value) in shown.lines {
      try Output.line("\(TextWidth.fitted(word, to: 20))\(value)")
    }
  }
}

struct KeysRotate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(commandName: "rotate", abstract: "Give this machine another key.")

  @OptionGroup var bus: BusOptions

  @Flag(help: "On the phone: use the new key at once, because the old one was stolen. All devices are paired again.")
  var now = false

  func run() async throws {
    bus.startLog()
    let location = try bus.location()
    try bus.tellOrigin()
    guard let keyring = location.keyring else { return try await rotateHub() }
    guard !now else {
      throw Failure(
        code: "usage",
        message: Tongue.say(.nowIsForPhone),
        exitStatus: ExitStatus.usage)
    }
    let devices = LocalDevices(location: location)
    for device in try devices.all() {
      let isDone: Void?? = try await unlessRefused { try await devices.askRunning(.rotateKey(now: false), of: device) }
      if case .some(.some) = isDone {
        return Output.tell(Tongue.say(.keyAnnounced))
      }
    }
    _ = try keyring.makeNext()
    Output.tell(Tongue.say(.keyAnnouncedLater))
  }

  private func rotateHub() async throws {
    let hub = try await LocalHub.find(at: try bus.hubLocation())
    try await refusing(code: "failure") { try await hub.ask(.rotateKey(now: now)) }
    Output.tell(
      now
        ? Tongue.say(.phoneHasNewKey)
        : Tongue.say(.phoneAnnouncesKey))
  }
}

/// What `busnode keys show` tells.
struct ShownKeys: Codable, Hashable, Sendable {
  var bus: String
  var busID: String?
  var hubKey: String?
  var nextHubKey: String?
  var deviceKey: String?
  var nextDeviceKey: String?
  var device: DeviceID?
  var addresses: [String]?

  enum CodingKeys: String, CodingKey {
    case bus, busID = "busId", hubKey, nextHubKey, deviceKey, nextDeviceKey, device = "deviceId", addresses
  }

  init(bus: BusName, hub: HubKeys?, device: DevicePairing?) {
    self.bus = bus.rawValue
    busID = (hub?.busID ?? device?.enrolment?.busID)?.description
    hubKey = (hub?.own.publicKey ?? device?.hubKey)?.description
    nextHubKey = (hub?.next?.pair.publicKey ?? device?.enrolment?.nextHubKey)?.description
    deviceKey = device?.own.publicKey.description
    nextDeviceKey = device?.next?.pair.publicKey.description
    self.device = device.map { $0.enrolment?.deviceID ?? $0.deviceID }
    addresses = device?.knownAddresses
  }

  var lines: [(String, String)] {
    [
      (Tongue.say(.keysBus), bus), (Tongue.say(.keysBusID), busID), (Tongue.say(.keysPhone), hubKey),
      (Tongue.say(.keysPhoneNext), nextHubKey),
      (Tongue.say(.keysDevice), device?.rawValue), (Tongue.say(.keysOwn), deviceKey),
      (Tongue.say(.keysOwnNext), nextDeviceKey),
      (Tongue.say(.keysAddresses), addresses?.joined(separator: " ")),
    ].compactMap { word, value in value.map { (word, $0) } }
  }
}
