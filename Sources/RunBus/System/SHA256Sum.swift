import Foundation

#if canImport(CryptoKit)
  import CryptoKit
#else
  import CSodium
#endif

/// SHA-256: Apple's, and elsewhere that of libsodium, on which the keys of libzmq stand already.
enum SHA256Sum {
  static let byteCount = 32

  /// The 32 bytes of the hash of these bytes.
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(SHA256.hash(data: bytes))
    #else
      var digest = [UInt8](repeating: 0, count: byteCount)
      crypto_hash_sha256(&digest, bytes, UInt64(bytes.count))
      return digest
    #endif
  }

  /// The 32 bytes of the hash of a file's next bytes, and of fewer where it ends.
  static func hash(next count: UInt64, of file: FileHandle) throws -> [UInt8] {
    var left = count
    func piece() throws -> Data? {
      guard left > 0, let data = try file.read(upToCount: Int(min(left, 1 << 20))), !data.isEmpty else { return nil }
      left -= UInt64(data.count)
      return data
    }
    #if canImport(CryptoKit)
      var hash = SHA256()
      while let data = try piece() { hash.update(data: data) }
      return Array(hash.finalize())
    #else
      var (hash, digest) = (crypto_hash_sha256_state(), [UInt8](repeating: 0, count: byteCount))
      crypto_hash_sha256_init(&hash)
      while let data = try piece() { crypto_hash_sha256_update(&hash, Array(data), UInt64(data.count)) }
      crypto_hash_sha256_final(&hash, &digest)
      return digest
    #endif
  }

  /// The 32 bytes of an HMAC over these bytes.
  ///
  /// - Parameter secret: 32 bytes.
  static func authenticationCode(for bytes: [UInt8], secret: [UInt8]) -> [UInt8] {
    precondition(secret.count == byteCount, "a secret has \(byteCount) bytes")
    #if canImport(CryptoKit)
      return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: secret)))
    #else
      var code = [UInt8](repeating: 0, count: byteCount)
      crypto_auth_hmacsha256(&code, bytes, UInt64(bytes.count), secret)
      return code
    #endif
  }
}
