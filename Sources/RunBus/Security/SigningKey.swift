import Synchronization

#if canImport(CryptoKit)
  import CryptoKit
  import Foundation
#else
  import CSodium
#endif

/// An Ed25519 pair: Apple's, and elsewhere that of libsodium.
///
/// Signatures of libsodium follow from key and bytes alone. Those of CryptoKit differ each time: what was signed is
/// kept with its signature and not signed again.
struct SigningKey: Sendable {
  static let seedByteCount = 32
  static let publicByteCount = 32
  static let signatureByteCount = 64

  /// The public half.
  let publicKey: [UInt8]
  /// From which both halves are made.
  let seed: [UInt8]

  /// The pair of a seed; `nil` unless it has ``seedByteCount`` bytes.
  init?(seed: [UInt8]) {
    guard seed.count == Self.seedByteCount else { return nil }
    self.seed = seed
    #if canImport(CryptoKit)
      guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else { return nil }
      publicKey = Array(key.publicKey.rawRepresentation)
    #else
      publicKey = Self.pair(seed).public
    #endif
  }

  /// Draws a pair from the system's random numbers.
  static func random() -> SigningKey {
    var system = SystemRandomNumberGenerator()
    while true {
      let seed = (0..<seedByteCount).map { _ in UInt8.random(in: .min ... .max, using: &system) }
      // Every seed of the right length has a pair.
      if let key = SigningKey(seed: seed) { return key }
    }
  }

  /// The signature of these bytes.
  func signature(of bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed),
        let signature = try? key.signature(for: bytes)
      else { preconditionFailure("a seed that made a pair makes it again") }
      return Array(signature)
    #else
      let secret = Self.pair(seed).secret
      var signature = [UInt8](repeating: 0, count: Self.signatureByteCount)
      crypto_sign_ed25519_detached(&signature, nil, bytes, UInt64(bytes.count), secret)
      return signature
    #endif
  }

  /// Whether a signature of these bytes is that of a public key.
  ///
  /// All readers have to come to the same answer, and the libraries differ about signatures that were malformed
  /// on purpose: later versions of libsodium multiply by the cofactor and 1.0.18 does not, both refuse keys of small
  /// order, and CryptoKit documents neither. They agree when the key and the signature's point are of prime order and
  /// everything has its only encoding. So what a library takes has to be so, by the same code everywhere.
  static func isValid(_ signature: [UInt8], of bytes: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureByteCount, publicKey.count == publicByteCount else { return false }
    #if canImport(CryptoKit)
      guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: publicKey),
        key.isValidSignature(signature, for: bytes)
      else { return false }
    #else
      guard crypto_sign_ed25519_verify_detached(signature, bytes, UInt64(bytes.count), publicKey) == 0 else {
        return false
      }
    #endif
    return Edwards25519.isScalar(signature[32...]) && isOfPrimeOrder(publicKey)
      && Edwards25519.isOfPrimeOrder(signature[..<32])
  }

  /// Public keys of prime order. A key signs many entries, and its check costs as much as everything else of one.
  private static let known = Mutex(Set<[UInt8]>())
  private static let knownMax = 1024

  private static func isOfPrimeOrder(_ publicKey: [UInt8]) -> Bool {
    if known.withLock({ $0.contains(publicKey) }) { return true }
    guard Edwards25519.isOfPrimeOrder(publicKey[...]) else { return false }
    known.withLock { known in
      if known.count == knownMax { known.removeAll() }
      known.insert(publicKey)
    }
    return true
  }

  #if !canImport(CryptoKit)
    private static func pair(_ seed: [UInt8]) -> (public: [UInt8], secret: [UInt8]) {
      var publicKey = [UInt8](repeating: 0, count: publicByteCount)
      // libsodium's secret key is the seed and the public key.
      var secret = [UInt8](repeating: 0, count: seedByteCount + publicByteCount)
      crypto_sign_ed25519_seed_keypair(&publicKey, &secret, seed)
      return (publicKey, secret)
    }
  #endif
}

/// A pair in a text or a log shows nothing of its seed.
extension SigningKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "a signing key" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: []) }
}
