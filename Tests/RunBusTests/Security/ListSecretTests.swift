import RunCore
import Synchronization
import Testing

@testable import RunBus

@Suite("The proof of a version of the list of devices")
struct ListSecretTests {
  private let secret = ListSecret((0..<32).map { UInt8($0) })
  private let hub = KeyFingerprint((100..<132).map { UInt8($0) })

  /// Computed with Python's hmac:
  ///
  ///     hmac.new(secret, b"runbus-list-1" + hub + version.to_bytes(8, "big"), "sha256").hexdigest()
  @Test("A proof is the MAC that another implementation computes")
  func vectors() throws {
    let (secret, hub) = (try #require(secret), try #require(hub))
    func hex(_ version: UInt64) -> String? {
      secret.proof(of: version, hubKey: hub).flatMap { KeyFingerprint($0.bytes)?.description }
    }
    #expect(hex(1) == "7dde3624aa04f8b6fa1869d18fb9d70894f516834358a23fe26694d4517f6498")
    #expect(hex(1 << 43) == "cce8e35e78f97f41b07707d4fe25d60a4f8319bab01c8125bb0eedfeef4ae8e1")
  }

  /// Keeps bytes in memory.
  private final class Shelf: KeyStore {
    private let kept = Mutex<[String: [UInt8]]>([:])
    func read(_ name: String) -> [UInt8]? { kept.withLock { $0[name] } }
    func write(_ bytes: [UInt8], as name: String) { kept.withLock { $0[name] = bytes } }
    func remove(_ name: String) { kept.withLock { $0[name] = nil } }
  }

  private func pair(_ byte: UInt8) throws -> KeyPair {
    let bytes = [UInt8](repeating: byte, count: KeyFingerprint.byteCount)
    let publicKey = try #require(KeyFingerprint(bytes))
    return try #require(KeyPair(publicKey: publicKey, secretKey: bytes))
  }

  @Test("Keys of an earlier version get a secret when the hub starts; it outlasts restarts and another key")
  func kept() throws {
    let (shelf, first, second) = (Shelf(), try pair(1), try pair(2))
    shelf.write(HubKeysCoding.encode(HubKeys(busID: .random(), own: first)), as: "run.hub")
    func proofs() throws -> [ListProof?] {
      let keyring = try HubKeyring("run", in: shelf) { first }
      return [first, second].map { keyring.listProof(7, $0.publicKey) }
    }
    let before = try proofs()
    #expect(before.allSatisfy { $0 != nil } && before[0] != before[1])
    let keyring = try HubKeyring("run", in: shelf) { first }
    try keyring.change { $0.next = (second, 0) }
    try keyring.change { $0.useNext() }
    #expect(keyring.value.former == first.publicKey && keyring.value.own.publicKey == second.publicKey)
    #expect(try proofs() == before)
    #expect(try HubKeyring("run", in: shelf) { first }.value.former == first.publicKey)
  }

  @Test("A stolen key is replaced with its secret: whoever has it proves nothing")
  func stolen() throws {
    let (shelf, first, second) = (Shelf(), try pair(1), try pair(2))
    let keyring = try HubKeyring("run", in: shelf) { first }
    let stolen = try #require(keyring.value.listSecret)
    try keyring.change { $0.replace(by: second) }
    #expect(keyring.value.former == nil)
    #expect(keyring.listProof(7, second.publicKey) != stolen.proof(of: 7, hubKey: second.publicKey))
  }

  @Test("A secret is not shown in a text")
  func hidden() throws {
    let secret = try #require(secret)
    #expect("\(secret)" == "a secret" && String(reflecting: secret) == "a secret")
  }

  @Test("A device keeps the proof with the version, and has none from an earlier version's file")
  func ofDevice() throws {
    let hub = try #require(hub)
    let proof = try #require(secret?.proof(of: 3, hubKey: hub))
    var pairing = DevicePairing(deviceID: "watch", role: .watch, own: try pair(1), hubKey: hub, addresses: [])
    pairing.enrolment = Enrolment(
      busID: .random(), deviceID: "watch", sources: [.watch], listVersion: 3, listProof: proof, addresses: [])
    #expect(DevicePairingCoding.decode(DevicePairingCoding.encode(pairing))?.enrolment?.listProof == proof)
    pairing.enrolment?.listProof = nil
    let read = DevicePairingCoding.decode(DevicePairingCoding.encode(pairing))?.enrolment
    #expect(read?.listProof == nil && read?.listVersion == 3)
  }
}
