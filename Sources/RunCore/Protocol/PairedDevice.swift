/// A machine that is paired with the hub: the holder of one key, and what it may do.
///
/// Everything that the machine sends counts as its device, whatever names its processes state.
public struct PairedDevice: Hashable, Sendable {
  /// The public key of the machine.
  public var key: KeyFingerprint
  /// The device as which the machine counts.
  public var deviceID: DeviceID
  /// What kind of node it is.
  public var role: NodeRole
  /// The sources whose commands it may send.
  public var sources: Set<ControlSource>
  /// When it was paired, in seconds since 1970.
  public var pairedAt: Double
  /// Whether its key was taken back. It then stays listed until it is forgotten.
  public var isRevoked: Bool
  /// The names that it had before, oldest first. It may still say hello with them.
  package var formerNames: [DeviceID]
  /// The key that replaces ``key`` when it is first used; `nil` if none is announced.
  package var nextKey: KeyFingerprint?

  /// A paired device from its parts.
  public init(
    key: KeyFingerprint, deviceID: DeviceID, role: NodeRole, sources: Set<ControlSource>, pairedAt: Double,
    isRevoked: Bool = false
  ) {
    self.key = key
    self.deviceID = deviceID
    self.role = role
    self.sources = sources
    self.pairedAt = pairedAt
    self.isRevoked = isRevoked
    formerNames = []
    nextKey = nil
  }

  /// The most sources of one device.
  package static let sourcesMax = 16
  /// The most former names that are kept; the oldest is dropped first.
  package static let formerNamesMax = 8

  /// Whether the machine may say hello as a device.
  package func hasName(_ device: DeviceID) -> Bool { deviceID == device || formerNames.contains(device) }

  /// The keys that let the machine in.
  package var keys: [KeyFingerprint] { isRevoked ? [] : [key] + (nextKey.map { [$0] } ?? []) }
}

/// Evidence that a hub has handed out a version of its list of devices: a MAC over the version and the hub's key, under a
/// secret that lies with the hub's keys and not in its store. A version without it is a number that anybody can state.
package struct ListProof: Hashable, Sendable {
  /// The 32 bytes of the MAC.
  package let bytes: [UInt8]

  /// How many bytes a proof has.
  package static let byteCount = 32

  /// A proof from its bytes; `nil` unless there are ``byteCount`` of them.
  package init?(_ bytes: some Sequence<UInt8>) {
    self.bytes = Array(bytes)
    guard self.bytes.count == Self.byteCount else { return nil }
  }

  /// Whether two proofs are the same. The time that this takes does not depend on how many of their bytes are.
  package static func == (one: ListProof, other: ListProof) -> Bool {
    zip(one.bytes, other.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
