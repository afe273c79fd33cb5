import Foundation
package import RunCore
import Synchronization

/// The keys of a hub, as its ``KeyStore`` keeps them under `NAME.hub`.
package struct HubKeys: Sendable {
  /// The bus, which keeps its id when keys and addresses change.
  package var busID: BusID
  /// The pair of the hub.
  package var own: KeyPair
  /// The public key that the hub used before; `nil` if it has used no other.
  package var former: KeyFingerprint?
  /// The pair that the hub will use next, and when it was announced, in seconds since 1970.
  package var next: (pair: KeyPair, announcedAt: Double)?
  /// By which the hub proves versions of its list of devices; `nil` in keys of an earlier version, until the hub starts.
  package var listSecret: ListSecret?

  /// Uses the announced pair from now on.
  mutating func useNext() {
    guard let next else { return }
    (former, own, self.next) = (own.publicKey, next.pair, nil)
  }

  /// Uses another pair from now on, because the one before was stolen. The secret of the list lay beside it and is drawn
  /// anew, too.
  mutating func replace(by pair: KeyPair) {
    (former, own, next) = (nil, pair, nil)
    listSecret = .random()
  }
}

/// Holds the keys of a running hub, and the list of the keys that it lets in.
package final class HubKeyring: Sendable {
  /// The keys that the hub lets in.
  package let admitted = AdmittedKeys()
  /// Whether there were no keys, and these were made.
  let isNew: Bool
  private let keys: Mutex<HubKeys>
  private let store: any KeyStore
  private let name: String

  /// Reads the keys of a bus's hub, or makes them.
  ///
  /// - Throws: ``RunBusError/Code/store`` when they cannot be read or written, ``RunBusError/Code/transport`` without
  ///   CURVE.
  package init(_ bus: BusName, in store: any KeyStore, makePair: () throws(RunBusError) -> KeyPair) throws(RunBusError)
  {
    name = Self.name(of: bus)
    self.store = store
    if var kept = try Self.present(bus, in: store) {
      if kept.listSecret == nil {
        kept.listSecret = .random()
        try store.write(HubKeysCoding.encode(kept), as: name)
      }
      keys = Mutex(kept)
      isNew = false
    } else {
      let made = HubKeys(busID: .random(), own: try makePair(), listSecret: .random())
      try store.write(HubKeysCoding.encode(made), as: name)
      keys = Mutex(made)
      isNew = true
    }
  }

  /// The keys of a bus's hub if this machine has them.
  ///
  /// - Throws: ``RunBusError/Code/store`` when they cannot be read or are damaged.
  package static func present(_ bus: BusName, in store: any KeyStore) throws(RunBusError) -> HubKeys? {
    guard let bytes = try store.read(name(of: bus)) else { return nil }
    guard let kept = HubKeysCoding.decode(bytes) else {
      throw RunBusError(
        .store, "the keys of the hub (\(name(of: bus))) are damaged: restore them, or remove them and pair anew")
    }
    return kept
  }

  /// Why a hub with paired devices does not start without its keys.
  package static func lost(_ bus: BusName, paired: Int) -> RunBusError {
    RunBusError(
      .store,
      "the keys of the phone (_keys/\(name(of: bus))) are gone, and \(paired == 1 ? "1 device is" : "\(paired) devices are") "
        + "paired with them: restore that file; with new keys (--new-keys) this phone is another one for them: they have to "
        + "be paired again, and what waits on them does not come")
  }

  /// Under which name the keys of a bus's hub are kept.
  package static func name(of bus: BusName) -> String { "\(bus).hub" }

  /// The keys.
  package var value: HubKeys { keys.withLock { $0 } }

  /// The proof that a hub with a key has handed out a version of its list of devices.
  package func listProof(_ version: UInt64, _ hubKey: KeyFingerprint) -> ListProof? {
    value.listSecret?.proof(of: version, hubKey: hubKey)
  }

  /// Changes the keys, on disk first.
  package func change(_ body: (inout HubKeys) -> Void) throws(RunBusError) {
    var changed = value
    body(&changed)
    try store.write(HubKeysCoding.encode(changed), as: name)
    keys.withLock { $0 = changed }
  }
}

/// The bytes of ``HubKeys``: JSON, keys as hexadecimal digits.
enum HubKeysCoding {
  private struct File: Codable {
    var version = 1
    var bus: String
    var key: KeyPairFile
    var next: KeyPairFile?
    var announcedAt: Double?
    var former: String?
    var listSecret: String?
  }

  static func encode(_ keys: HubKeys) -> [UInt8] {
    KeyFileJSON.encode(
      File(
        bus: keys.busID.description, key: KeyPairFile(keys.own), next: keys.next.map { KeyPairFile($0.pair) },
        announcedAt: keys.next?.announcedAt, former: keys.former?.description,
        listSecret: keys.listSecret.flatMap { KeyFingerprint($0.bytes)?.description }))
  }

  static func decode(_ bytes: [UInt8]) -> HubKeys? {
    guard let file = KeyFileJSON.decode(File.self, bytes), file.version == 1, let bus = BusID(file.bus),
      let own = file.key.pair
    else { return nil }
    var keys = HubKeys(busID: bus, own: own)
    if let next = file.next {
      guard let pair = next.pair else { return nil }
      keys.next = (pair, file.announcedAt ?? 0)
    }
    keys.former = file.former.flatMap { KeyFingerprint($0) }
    if let secret = file.listSecret {
      guard let bytes = KeyFingerprint(secret)?.bytes else { return nil }
      keys.listSecret = ListSecret(bytes)
    }
    return keys
  }
}

/// A key pair in a file.
struct KeyPairFile: Codable {
  var `public`: String
  var secret: String

  init(_ pair: KeyPair) {
    `public` = pair.publicKey.description
    secret = KeyFingerprint(pair.secretKey)?.description ?? ""
  }

  var pair: KeyPair? {
    guard let publicKey = KeyFingerprint(`public`), let secretKey = KeyFingerprint(secret) else { return nil }
    return KeyPair(publicKey: publicKey, secretKey: secretKey.bytes)
  }
}

enum KeyFileJSON {
  static func encode(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    // Encoding strings and finite numbers cannot fail.
    return Array((try? encoder.encode(value)) ?? Data()) + Array("\n".utf8)
  }

  static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) -> Value? {
    try? JSONDecoder().decode(type, from: Data(bytes))
  }
}
