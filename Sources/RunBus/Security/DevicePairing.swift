import Foundation
package import RunCore
import Synchronization

/// What a paired device keeps about its bus, under `NAME.device` in its ``KeyStore``: its key, the hub's, and where the
/// hub is.
package struct DevicePairing: Sendable {
  /// The name of the device.
  package var deviceID: DeviceID
  /// What kind of node it is.
  package var role: NodeRole
  /// The pair of this machine.
  package var own: KeyPair
  /// The pair that will replace it, and whether the hub knows it.
  package var next: (pair: KeyPair, isKnown: Bool)?
  /// The hub's public key.
  package var hubKey: KeyFingerprint
  /// Where the hub listens: `tcp://HOST:PORT` each, the ones that the user gave first.
  package var addresses: [String]
  /// The port for events at these addresses; `nil` for the one that the hub names.
  package var eventsPort: UInt16?
  /// What the hub told last; `nil` until this machine is paired.
  package var enrolment: Enrolment?

  /// The addresses to try, each once: those that the user gave, then those that the hub told.
  package var knownAddresses: [String] {
    var all = addresses
    for address in enrolment?.addresses ?? [] where !all.contains(address) { all.append(address) }
    return all
  }

  /// The ways to reach the hub, in the order in which they are tried: with each key of the hub at each address. A new
  /// key of this machine is used once the hub knows it.
  package var routes: [CurveRoute] {
    let pair = next.map { $0.isKnown ? $0.pair : own } ?? own
    let hubKeys = [hubKey] + [enrolment?.nextHubKey].compactMap { $0 }
    return hubKeys.flatMap { key in
      knownAddresses.map { CurveRoute(control: $0, own: pair, hub: key) }
    }
  }
}

/// One way to reach a hub with keys.
package struct CurveRoute: Sendable {
  /// The hub's control endpoint: `tcp://HOST:PORT`.
  package let control: String
  /// The pair of this machine.
  package let own: KeyPair
  /// The public key of the hub. No other hub is accepted.
  package let hub: KeyFingerprint

  /// A way from its parts.
  package init(control: String, own: KeyPair, hub: KeyFingerprint) {
    self.control = control
    self.own = own
    self.hub = hub
  }
}

/// Holds the pairing of a device, for its nodes.
package final class DeviceKeyring: Sendable {
  private let pairing: Mutex<DevicePairing>
  private let store: any KeyStore
  private let name: String

  /// Reads the pairing of a device with a bus; `nil` if there is none.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read.
  package init?(_ bus: BusName, in store: any KeyStore) throws(RunBusError) {
    guard let bytes = try store.read(Self.name(of: bus)) else { return nil }
    guard let kept = DevicePairingCoding.decode(bytes) else {
      throw RunBusError(
        .store,
        "the keys of this device (_keys/\(Self.name(of: bus))) are damaged: restore that file, or move it away and pair "
          + "again (busnode join); the stores and what waits in them stay")
    }
    name = Self.name(of: bus)
    self.store = store
    pairing = Mutex(kept)
  }

  /// Keeps a new pairing.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be written.
  package init(_ made: DevicePairing, with bus: BusName, in store: any KeyStore) throws(RunBusError) {
    name = Self.name(of: bus)
    self.store = store
    try store.write(DevicePairingCoding.encode(made), as: name)
    pairing = Mutex(made)
  }

  /// Under which name the pairing of a device with a bus is kept.
  package static func name(of bus: BusName) -> String { "\(bus).device" }

  /// The pairing.
  package var value: DevicePairing { pairing.withLock { $0 } }

  /// Changes the pairing, on disk first.
  package func change(_ body: (inout DevicePairing) -> Void) throws(RunBusError) {
    var changed = value
    body(&changed)
    try store.write(DevicePairingCoding.encode(changed), as: name)
    pairing.withLock { $0 = changed }
  }

  /// Makes the next key of this machine, or returns the one that the hub does not know yet.
  package func makeNext() throws(RunBusError) -> KeyPair {
    if let next = value.next { return next.pair }
    let pair = try KeyPair()
    try change { $0.next = (pair, false) }
    return pair
  }

  /// Keeps what the hub told.
  ///
  /// - Parameter announced: the key of this machine that the hub knows from now on.
  package func note(_ told: Enrolment, announced: KeyFingerprint?) throws(RunBusError) {
    try change { pairing in
      pairing.enrolment = told
      if let announced, pairing.next?.pair.publicKey == announced { pairing.next?.isKnown = true }
    }
  }

  /// A connection was made by a way: what it proves is kept. The hub has used a new key, or let in a new key of this
  /// machine.
  package func noteConnected(by route: CurveRoute) throws(RunBusError) {
    let now = value
    let isNext = now.next?.pair.publicKey == route.own.publicKey
    guard isNext || now.hubKey != route.hub else { return }
    try change { pairing in
      if isNext, let next = pairing.next?.pair { (pairing.own, pairing.next) = (next, nil) }
      if pairing.hubKey != route.hub {
        pairing.hubKey = route.hub
        pairing.enrolment?.nextHubKey = nil
      }
    }
  }
}

/// The bytes of a ``DevicePairing``: JSON, keys as hexadecimal digits.
enum DevicePairingCoding {
  private struct File: Codable {
    var version = 1
    var device: String
    var role: String
    var key: KeyPairFile
    var next: KeyPairFile?
    var isNextKnown: Bool?
    var hub: String
    var addresses: [String]
    var eventsPort: UInt16?
    var enrolment: Told?
  }
  private struct Told: Codable {
    var bus: String
    var device: String
    var sources: [String]
    var listVersion: UInt64
    var listProof: String?
    var addresses: [String]
    var nextHub: String?
  }

  static func encode(_ pairing: DevicePairing) -> [UInt8] {
    let told = pairing.enrolment.map {
      Told(
        bus: $0.busID.description, device: $0.deviceID.rawValue, sources: $0.sources.map(\.rawValue).sorted(),
        listVersion: $0.listVersion, listProof: $0.listProof.flatMap { KeyFingerprint($0.bytes)?.description },
        addresses: $0.addresses, nextHub: $0.nextHubKey?.description)
    }
    return KeyFileJSON.encode(
      File(
        device: pairing.deviceID.rawValue, role: pairing.role.rawValue, key: KeyPairFile(pairing.own),
        next: pairing.next.map { KeyPairFile($0.pair) }, isNextKnown: pairing.next?.isKnown,
        hub: pairing.hubKey.description, addresses: pairing.addresses, eventsPort: pairing.eventsPort,
        enrolment: told))
  }

  static func decode(_ bytes: [UInt8]) -> DevicePairing? {
    guard let file = KeyFileJSON.decode(File.self, bytes), file.version == 1, let device = DeviceID(file.device),
      let own = file.key.pair, let hub = KeyFingerprint(file.hub)
    else { return nil }
    var pairing = DevicePairing(
      deviceID: device, role: NodeRole(rawValue: file.role), own: own, hubKey: hub, addresses: file.addresses,
      eventsPort: file.eventsPort)
    if let next = file.next {
      guard let pair = next.pair else { return nil }
      pairing.next = (pair, file.isNextKnown ?? false)
    }
    if let told = file.enrolment {
      guard let bus = BusID(told.bus), let device = DeviceID(told.device) else { return nil }
      pairing.enrolment = Enrolment(
        busID: bus, deviceID: device, sources: Set(told.sources.map(ControlSource.init)),
        listVersion: told.listVersion,
        listProof: told.listProof.flatMap { KeyFingerprint($0) }.flatMap { ListProof($0.bytes) },
        addresses: told.addresses,
        nextHubKey: told.nextHub.flatMap { KeyFingerprint($0) })
    }
    return pairing
  }
}
