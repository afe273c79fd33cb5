import RunCore

/// The secret by which a hub proves which versions of its list of devices it has handed out. It lies with the hub's keys
/// and not in its store: a copy of the store can be older than what devices were told.
package struct ListSecret: Sendable {
  /// How many bytes it has.
  static let byteCount = 32
  /// Separates these proofs from every other use of the same secret.
  private static let label = "runbus-list-1"

  /// The bytes of the secret.
  let bytes: [UInt8]

  /// A secret from its bytes; `nil` unless there are ``byteCount`` of them.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = bytes
  }

  private init(drawn bytes: [UInt8]) { self.bytes = bytes }

  /// Draws a secret from the system's random numbers.
  static func random() -> ListSecret {
    var system = SystemRandomNumberGenerator()
    return ListSecret(drawn: (0..<byteCount).map { _ in UInt8.random(in: .min ... .max, using: &system) })
  }

  /// The proof of a version: an HMAC with SHA-256 over the label, the hub's public key and the version as a big-endian
  /// number of eight bytes, with nothing between them.
  func proof(of version: UInt64, hubKey: KeyFingerprint) -> ListProof? {
    let number = (0..<8).map { UInt8(truncatingIfNeeded: version >> (56 - 8 * $0)) }
    let text = Array(Self.label.utf8) + hubKey.bytes + number
    return ListProof(SHA256Sum.authenticationCode(for: text, secret: bytes))
  }
}

/// A secret in a text or a log is not shown.
extension ListSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "a secret" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
