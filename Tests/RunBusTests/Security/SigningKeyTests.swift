import RunCore
import Testing

@testable import RunBus

#if !canImport(CryptoKit)
  import CSodium
#endif

@Suite("Signatures")
struct SigningKeyTests {
  private func bytes(_ hex: String) -> [UInt8] { TogetherVectors.bytes(hex) }

  /// The first three of RFC 8032, section 7.1.
  private static let vectors = [
    (
      "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
    ),
    (
      "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    ),
    (
      "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
        + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
    ),
  ]

  @Test("Keys and signatures are those of RFC 8032", arguments: vectors)
  func rfc(seed: String, publicKey: String, message: String, signature: String) throws {
    let key = try #require(SigningKey(seed: bytes(seed)))
    #expect(key.publicKey == bytes(publicKey))
    #expect(SigningKey.isValid(bytes(signature), of: bytes(message), by: key.publicKey))
    #expect(SigningKey.isValid(key.signature(of: bytes(message)), of: bytes(message), by: key.publicKey))
    #expect(!SigningKey.isValid(bytes(signature), of: bytes(message) + [0], by: key.publicKey))
    #if !canImport(CryptoKit)
      #expect(key.signature(of: bytes(message)) == bytes(signature))
    #endif
  }

  @Test("A signature or a key of another length is none")
  func lengths() throws {
    let key = SigningKey.random()
    let signature = key.signature(of: [1])
    #expect(SigningKey.isValid(signature, of: [1], by: key.publicKey))
    #expect(!SigningKey.isValid(Array(signature.dropLast()), of: [1], by: key.publicKey))
    #expect(!SigningKey.isValid(signature + [0], of: [1], by: key.publicKey))
    #expect(!SigningKey.isValid(signature, of: [1], by: Array(key.publicKey.dropLast())))
    #expect(!SigningKey.isValid([], of: [1], by: []))
    #expect(SigningKey(seed: []) == nil)
  }

  /// The points of small order, each in its only encoding.
  private static let small = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  ]

  @Test("Points of small order, and bytes that are no encoding of a point, are refused")
  func points() {
    for point in Self.small { #expect(!Edwards25519.isOfPrimeOrder(bytes(point)[...]), "\(point)") }
    // The neutral point with the sign of a zero; y as the modulus, as one more, and as all ones.
    for point in [
      "0100000000000000000000000000000000000000000000000000000000000080",
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
      // No x belongs to y = 2.
      "0200000000000000000000000000000000000000000000000000000000000000",
    ] {
      #expect(!Edwards25519.isOfPrimeOrder(bytes(point)[...]), "\(point)")
    }
    #expect(!Edwards25519.isOfPrimeOrder([]))
  }

  /// Signatures of "m" with the point of order two added, computed with Python from RFC 8032: to R, which libraries that
  /// multiply by the cofactor take; and to the key, for a challenge that is even, which all of them take.
  private static let mixed = [
    (
      "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8",
      "76985cdbd2364a744397b773ed9a33933a0d9390c3775a2aa16fe4f8cb235a8d"
        + "16e579c98e2e18893330f2981b46f79abde0a63c8e01d0253c946dfdb8925402"
    ),
    (
      "ea5ef8400c31ef41e28f22e718b43f66981b29cf645af2a0e223799bedaace47",
      "edc876d6831fd2105d0b4389ca2e283166469289146e2ce06faefe98b22548df"
        + "25535236c2b87f2126ac8f8e12ba46958b68b7212b836bcc3d08a9c6cc9a1409"
    ),
  ]

  @Test("A signature that some libraries take and others do not is refused", arguments: mixed)
  func mixedOrder(publicKey: String, signature: String) {
    #expect(!SigningKey.isValid(bytes(signature), of: Array("m".utf8), by: bytes(publicKey)))
  }

  @Test("A scalar is below the order")
  func scalars() {
    let order = bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    #expect(!Edwards25519.isScalar(order[...]))
    #expect(Edwards25519.isScalar(([order[0] - 1] + order[1...])[...]))
    #expect(!Edwards25519.isScalar(([order[0]] + [UInt8](repeating: 0, count: 30) + [0x11])[...]))
    #expect(Edwards25519.isScalar([UInt8](repeating: 0, count: 32)[...]))
    #expect(!Edwards25519.isScalar([UInt8](repeating: 0xFF, count: 32)[...]))
    #expect(!Edwards25519.isScalar([]))
  }

  #if !canImport(CryptoKit)
    @Test("Public keys are of prime order, and are not with a point of small order added")
    func sums() {
      for _ in 0..<20 {
        let key = SigningKey.random().publicKey
        #expect(Edwards25519.isOfPrimeOrder(key[...]))
        for point in Self.small.dropFirst() {
          var sum = [UInt8](repeating: 0, count: 32)
          #expect(crypto_core_ed25519_add(&sum, key, bytes(point)) == 0)
          #expect(!Edwards25519.isOfPrimeOrder(sum[...]))
        }
      }
    }

    // Some versions of libsodium take more, and none takes less.
    @Test("What is of prime order here is a valid point for libsodium")
    func random() {
      var generator = SeededGenerator(seed: 25_519)
      var count = 0
      for _ in 0..<400 {
        let point = (0..<32).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        guard Edwards25519.isOfPrimeOrder(point[...]) else { continue }
        count += 1
        #expect(crypto_core_ed25519_is_valid_point(point) == 1)
      }
      #expect(count > 5)
    }
  #endif
}
