package import RunCore

/// The key of a runner in a fleet: an Ed25519 pair, the public half of which is the ``MemberID``.
///
/// The secret stays inside and in its own file, beside the keys of the bus.
package struct MemberKey: Sendable {
  /// Who signs with it.
  package let id: MemberID
  private let key: SigningKey

  /// How many bytes a seed has.
  package static let seedByteCount = SigningKey.seedByteCount

  /// The pair of a seed; `nil` unless it has ``seedByteCount`` bytes.
  package init?(seed: [UInt8]) {
    guard let key = SigningKey(seed: seed) else { return nil }
    self.init(key)
  }

  private init?(_ key: SigningKey) {
    guard let id = MemberID(key.publicKey) else { return nil }
    (self.id, self.key) = (id, key)
  }

  /// Draws a pair from the system's random numbers.
  package static func random() -> MemberKey {
    guard let key = MemberKey(SigningKey.random()) else { preconditionFailure("a public key has 32 bytes") }
    return key
  }

  /// The signature of a content of a kind.
  func signature(of content: [UInt8], as kind: SignedKind) -> [UInt8] { key.signature(of: kind.prefix + content) }

  // MARK: On disk

  /// Reads the key of the runner on a bus, or makes one.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read or written.
  package init(_ bus: BusName, in store: any KeyStore) throws(RunBusError) {
    if let kept = try Self.present(bus, in: store) {
      self = kept
    } else {
      self = .random()
      try store.write(encoded, as: Self.name(of: bus))
    }
  }

  /// The key of the runner on a bus if this machine has one.
  ///
  /// - Throws: ``RunBusError/Code/store`` when it cannot be read or is damaged.
  package static func present(_ bus: BusName, in store: any KeyStore) throws(RunBusError) -> MemberKey? {
    guard let bytes = try store.read(name(of: bus)) else { return nil }
    guard let kept = MemberKey(encoded: bytes) else {
      throw RunBusError(
        .store,
        "the key of the runner (\(name(of: bus))) is damaged: restore it, or remove it and join the fleet anew")
    }
    return kept
  }

  /// Under which name the key of the runner on a bus is kept.
  package static func name(of bus: BusName) -> String { "\(bus).member" }

  /// The bytes of the file: JSON, with the seed as hexadecimal digits.
  private struct File: Codable {
    var version = 1
    var member: String
    var seed: String
  }

  private var encoded: [UInt8] {
    KeyFileJSON.encode(File(member: id.nkey, seed: KeyFingerprint(key.seed)?.description ?? ""))
  }

  private init?(encoded: [UInt8]) {
    guard let file = KeyFileJSON.decode(File.self, encoded), file.version == 1,
      let seed = KeyFingerprint(file.seed)?.bytes, let key = MemberKey(seed: seed), key.id.nkey == file.member
    else { return nil }
    self = key
  }
}

/// A key in a text or a log is its public half: the secret is never shown.
extension MemberKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { id.nkey }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: ["id": description]) }
}
