package import RunCore

/// Six digits that the hub and the device show while they are paired. They are equal on both only if each side has the
/// other's own public key: a person who compares them notices a third machine between the two.
package struct PairingDigits: Hashable, Sendable, CustomStringConvertible {
  /// How many bytes the token of a pairing has.
  package static let tokenByteCount = 16
  /// Separates these digits from every other use of the same bytes.
  private static let label = "runbus-pairing-1"

  /// From 0 to 999,999.
  private let number: UInt64

  /// The digits of one pairing: the first eight bytes of a SHA-256 as a big-endian number, modulo a million. The hash is
  /// over the label, both public keys and the token, with nothing between them.
  ///
  /// - Parameters:
  ///   - hub: The hub's public key.
  ///   - device: The device's public key.
  ///   - token: The token of this pairing.
  /// - Returns: `nil` unless the token has ``tokenByteCount`` bytes.
  package init?(hub: KeyFingerprint, device: KeyFingerprint, token: [UInt8]) {
    guard token.count == Self.tokenByteCount else { return nil }
    let digest = SHA256Sum.hash(Array(Self.label.utf8) + hub.bytes + device.bytes + token)
    number = digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } % 1_000_000
  }

  /// With leading zeros, in two groups: `012 345`.
  package var description: String {
    let digits = String(number)
    let all = String(repeating: "0", count: 6 - digits.count) + digits
    return "\(all.prefix(3)) \(all.suffix(3))"
  }
}
