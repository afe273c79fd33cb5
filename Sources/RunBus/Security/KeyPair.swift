package import RunCore

/// A Curve25519 key pair of one machine, as CURVE uses it.
///
/// The public key is 32 bytes and names the machine. The secret key leaves the process only for its own file.
package struct KeyPair: Sendable {
  /// Names the holder of the pair.
  package let publicKey: KeyFingerprint
  /// The 32 bytes of the secret key.
  let secretKey: [UInt8]

  /// A pair from its parts; `nil` unless the secret key has 32 bytes.
  init?(publicKey: KeyFingerprint, secretKey: [UInt8]) {
    guard secretKey.count == KeyFingerprint.byteCount else { return nil }
    self.publicKey = publicKey
    self.secretKey = secretKey
  }
}

/// A pair in a text or a log is its public key: the secret key is never shown.
extension KeyPair: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { ConnectionIdentity.key(publicKey).description }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["publicKey": description]) }
}
