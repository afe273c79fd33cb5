/// What a device that wants to be paired sends to the hub. Its connection proves its key.
package struct PairingRequest: Hashable, Sendable {
  /// The token of the hub's offer; empty to ask whether the key is paired already.
  package var token: [UInt8]
  /// The name that it wants.
  package var deviceID: DeviceID
  /// What kind of node it is.
  package var role: NodeRole
  /// The sources whose commands it wants to send.
  package var sources: Set<ControlSource>

  /// A request from its parts.
  package init(token: [UInt8], deviceID: DeviceID, role: NodeRole, sources: Set<ControlSource>) {
    self.token = token
    self.deviceID = deviceID
    self.role = role
    self.sources = sources
  }

  /// How many bytes a token has.
  package static let tokenByteCount = 16
}

/// A device that has shown the token and waits for the person at the hub.
public struct PairingCandidate: Hashable, Sendable {
  /// The key that its connection has proved.
  public var key: KeyFingerprint
  /// The name that it wants.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// The sources whose commands it wants to send.
  public var sources: Set<ControlSource>
  /// Whether another key is paired under that name, which pairing takes back.
  public var isNameTaken: Bool

  /// A candidate from its parts.
  public init(
    key: KeyFingerprint, deviceID: DeviceID, role: NodeRole, sources: Set<ControlSource>, isNameTaken: Bool = false
  ) {
    self.key = key
    self.deviceID = deviceID
    self.role = role
    self.sources = sources
    self.isNameTaken = isNameTaken
  }
}

/// How far the pairing of a device has come, as the person at the hub sees it.
public enum PairingStage: Hashable, Sendable {
  /// No device can be paired.
  case closed(PairingEnd)
  /// The hub waits for a device that shows the token.
  case open
  /// A device has shown the token and waits for a decision.
  case asking(PairingCandidate)
}

/// Why no device can be paired now.
public enum PairingEnd: String, Hashable, Sendable, CaseIterable {
  /// Pairing was not opened since the hub started.
  case notOpened
  /// A device was paired.
  case paired
  /// The person refused the device.
  case refused
  /// The time is over.
  case expired
  /// Too many wrong tokens came.
  case tooManyFailures
  /// The hub cannot listen for pairing requests; its log says why.
  case unavailable
  /// The person ended it.
  case closed
  /// Pairing was opened again, with another token.
  case replaced
}

/// What a paired device is told about its bus: when it is paired, and in each welcome.
package struct Enrolment: Hashable, Sendable {
  /// The bus. A device names its state by it, because addresses change.
  package var busID: BusID
  /// The device as which the machine counts.
  package var deviceID: DeviceID
  /// The sources whose commands it may send.
  package var sources: Set<ControlSource>
  /// The version of the hub's list of devices.
  package var listVersion: UInt64
  /// The hub's proof of that version, which the device states with it; `nil` if it has none.
  package var listProof: ListProof?
  /// Where the hub listens for paired devices: `tcp://HOST:PORT` each.
  package var addresses: [String]
  /// The key that the hub will use next; `nil` if none is announced.
  package var nextHubKey: KeyFingerprint?
  /// The next key of the device that the hub knows; `nil` if it has announced none.
  package var nextDeviceKey: KeyFingerprint?

  /// An enrolment from its parts.
  package init(
    busID: BusID, deviceID: DeviceID, sources: Set<ControlSource>, listVersion: UInt64, listProof: ListProof? = nil,
    addresses: [String], nextHubKey: KeyFingerprint? = nil, nextDeviceKey: KeyFingerprint? = nil
  ) {
    self.nextDeviceKey = nextDeviceKey
    self.listProof = listProof
    self.busID = busID
    self.deviceID = deviceID
    self.sources = sources
    self.listVersion = listVersion
    self.addresses = addresses
    self.nextHubKey = nextHubKey
  }

  /// The most addresses that are stated.
  package static let addressesMax = 16
}

/// What a hub that pairs devices tells them about itself.
package struct BusIdentity: Hashable, Sendable {
  /// The bus.
  package var busID: BusID
  /// The hub's public key.
  package var key: KeyFingerprint
  /// The key that the hub used before; `nil` if it has used no other. Proofs of the list were made for it.
  package var formerKey: KeyFingerprint?
  /// The key that the hub will use next; `nil` if none is announced.
  package var nextKey: KeyFingerprint?
  /// When that key was announced, in seconds since 1970.
  package var nextKeySince: Double
  /// Where the hub listens for paired devices: `tcp://HOST:PORT` each.
  package var addresses: [String]
  /// Where it takes pairing requests while pairing is open, likewise.
  package var pairingAddresses: [String]

  /// An identity from its parts.
  package init(
    busID: BusID, key: KeyFingerprint, formerKey: KeyFingerprint? = nil, nextKey: KeyFingerprint? = nil,
    nextKeySince: Double = 0, addresses: [String], pairingAddresses: [String] = []
  ) {
    self.formerKey = formerKey
    self.nextKeySince = nextKeySince
    self.busID = busID
    self.key = key
    self.nextKey = nextKey
    self.addresses = addresses
    self.pairingAddresses = pairingAddresses
  }
}

/// The hub's answer to a pairing request.
package enum PairingAnswer: Hashable, Sendable {
  /// The person at the hub is asked. The device repeats its request until another answer comes.
  case waiting
  /// The key is paired, and that is durable.
  case paired(Enrolment)
  /// The key is not paired, for a reason that a person reads.
  case refused(String)
}

/// An order about the pairing of a device, from the hub's own machine. It names its pairing by the token of the offer,
/// so that it changes no pairing that was opened later.
package enum PairingOrder: Hashable, Sendable {
  /// Asks how far a pairing has come; `nil` for the one that was opened last.
  case status(of: [UInt8]?)
  /// Opens one with a new token, in place of one that is open.
  case open
  /// Pairs the candidate with this key, under a name and with these sources. With `replaces`, another key that has the
  /// name is taken back.
  case admit(KeyFingerprint, of: [UInt8], as: DeviceID, sources: Set<ControlSource>, replaces: Bool)
  /// Refuses the candidate with this key.
  case refuse(KeyFingerprint, of: [UInt8])
  /// Ends it.
  case close(of: [UInt8])
}

/// How far pairing has come. The answer to an order to open it also has the offer.
package struct PairingReport: Hashable, Sendable {
  /// The stage.
  package var stage: PairingStage
  /// The key of the hub and the token, for the line that the device reads.
  package var offer: PairingOffer?

  /// A report from its parts.
  package init(stage: PairingStage, offer: PairingOffer? = nil) {
    self.stage = stage
    self.offer = offer
  }
}

/// What a device needs besides an address to be paired.
package struct PairingOffer: Hashable, Sendable {
  /// The public key of the hub.
  package var hubKey: KeyFingerprint
  /// The token: 16 random bytes.
  package var token: [UInt8]
  /// Where the hub takes pairing requests: `tcp://HOST:PORT` each.
  package var addresses: [String]

  /// An offer from its parts.
  package init(hubKey: KeyFingerprint, token: [UInt8], addresses: [String]) {
    self.hubKey = hubKey
    self.token = token
    self.addresses = addresses
  }
}

/// A change of a paired device, from the hub's own machine.
package enum DeviceOrder: Hashable, Sendable {
  /// Takes back its key.
  case revoke
  /// Removes a revoked device from the list.
  case forget
  /// Gives it another name.
  case rename(DeviceID)
  /// Sets the sources whose commands it may send.
  case sources(Set<ControlSource>)
}

/// The paired devices of a hub.
package struct DeviceList: Hashable, Sendable {
  /// The devices by name, the revoked ones included.
  package var devices: [PairedDevice]
  /// How often the list was changed.
  package var version: UInt64
  /// Whether a device has stated a higher version: the hub was restored from an older copy.
  package var isBehind: Bool

  /// A list from its parts.
  package init(devices: [PairedDevice], version: UInt64, isBehind: Bool) {
    self.devices = devices
    self.version = version
    self.isBehind = isBehind
  }
}
