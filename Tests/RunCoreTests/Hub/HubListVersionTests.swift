@testable import RunCore
import Testing

/// What a paired device states about the version of the list, and what follows from it.
@Suite("The version of the list of devices")
struct HubListVersionTests {
  private func paired() -> HubStage { HubStage.pairing([.test(1, "watch"), .test(2, "band")]) }

  private func press(_ hub: inout HubStage, _ kind: CommandKind, id: UInt64, sequence: UInt64) -> [String] {
    let command = Command(
      id: CommandID(high: 4, low: id), kind: kind, source: .watch,
      runID: kind == .start ? RunID(high: 9, low: id) : nil)
    return hub.says(
      "watch", .command(CommandTransmission(command: command, sequence: sequence, age: .zero)), by: .key(1))
      + hub.commitsAll()
  }

  /// What a device is told about its bus when it says hello.
  private func enrolment(_ hub: inout HubStage, _ name: String, key: UInt8, nonce: UInt64) -> Enrolment? {
    var hello = hub.greeting(name, nonce: nonce)
    hello.hub = HubStage.storeID
    for case .send(let frame, _) in hub.act(
      .frame(.named(name), PeerFrame(session: 0, sentAt: .zero, message: .hello(hello)), by: .key(key)))
    {
      if case .welcome(let welcome) = frame.message { return welcome.enrolment }
    }
    return nil
  }

  // Once broken: One hello with a version of the list above the hub's own stopped the commands of all paired devices,
  // over restarts and after that device was revoked, because a bare number was believed, up to 10,000 above the own.
  @Test("A version without a proof changes nothing, whatever it is", arguments: [3, 2 + 10_000, 1 << 40, 1 << 62])
  func forged(version: UInt64) {
    var hub = paired()
    #expect(hub.joins("band", key: 2, listVersion: version).contains { $0.hasPrefix("band ← welcome") })
    #expect(!hub.core.deviceList.isBehind)
    _ = hub.joins("watch", key: 1)
    #expect(!press(&hub, .start, id: 5, sequence: 1).contains { $0.contains("refused") })
    var next = HubStage.pairing(history: hub.disk.history)
    _ = next.orders(.revoke, key: 2)
    #expect(!next.core.deviceList.isBehind && next.core.deviceList.version == 3)
  }

  @Test("A proof of another version, by another key, or cut from nothing proves nothing")
  func forgedProofs() {
    let proofs: [ListProof?] = [
      HubStage.proof(of: 2), HubStage.proof(of: 4), HubStage.proof(of: 3, by: .test(1)),
      ListProof(Array(repeating: 0, count: ListProof.byteCount)),
    ]
    for proof in proofs {
      var hub = paired()
      #expect(hub.joins("band", key: 2, listVersion: 3, proof: proof).contains { $0.hasPrefix("band ← welcome") })
      #expect(!hub.core.deviceList.isBehind)
    }
  }

  @Test("A hub without a secret hands out no proof and believes no version")
  func noSecret() {
    var hub = paired()
    _ = hub.feed(.identified(BusIdentity(busID: BusID(high: 8, low: 8), key: .test(0xdd), addresses: [])))
    _ = hub.joins("band", key: 2, listVersion: 3, proof: HubStage.proof(of: 3))
    #expect(!hub.core.deviceList.isBehind, "that proof is of another key")
  }

  @Test(
    "A restored copy lets a revoked key in again, which cannot hide that; the first honest device stops all keys")
  func restored() throws {
    var hub = paired()
    let copy = hub.disk.history
    let told = try #require(enrolment(&hub, "band", key: 2, nonce: 1))
    hub.commitsAll()
    _ = hub.joins("watch", key: 1)
    _ = hub.orders(.revoke, key: 2)
    let known = try #require(enrolment(&hub, "watch", key: 1, nonce: 2))
    #expect(told.listVersion == 2 && known.listVersion == 3)
    // The copy has the key of the revoked device, which states its last proof and guesses.
    var next = HubStage.pairing(history: copy)
    _ = next.joins("band", key: 2, listVersion: told.listVersion, proof: told.listProof)
    #expect(!next.core.deviceList.isBehind)
    _ = next.joins("band", key: 2, nonce: 2, listVersion: 3, proof: told.listProof)
    #expect(!next.core.deviceList.isBehind)
    // The honest watch knows better, and proves it.
    _ = next.joins("watch", key: 1, listVersion: known.listVersion, proof: known.listProof)
    #expect(next.core.deviceList.isBehind)
    #expect(press(&next, .start, id: 5, sequence: 1).contains { $0.contains("refused") })
    _ = next.orders(.revoke, key: 2)
    _ = next.feed(.inquire(.confirmDevices, 1)) + next.commitsAll()
    #expect(!press(&next, .start, id: 6, sequence: 1).contains { $0.contains("refused") })
    // A revoked device that has kept its last proof proves nothing new with it.
    #expect(next.joins("band", key: 2, nonce: 3, listVersion: 2, proof: told.listProof) == ["band ← refused forbidden"])
    #expect(!next.core.deviceList.isBehind)
  }

  @Test("Each change of the list is told to every paired device that has a session, with its proof")
  func told() {
    var hub = paired()
    _ = hub.joins("watch", key: 1)
    _ = hub.joins("band", key: 2)
    let lines = hub.orders(.sources([.shell]), key: 2)
    for name in ["watch", "band"] { #expect(lines.contains("\(name) ← paired as \(name) at 3"), "\(lines)") }
    #expect(enrolment(&hub, "watch", key: 1, nonce: 2)?.listProof == HubStage.proof(of: 3))
  }

  @Test("A device that was away while the hub changed its key proves the version by the former one")
  func formerKey() {
    var hub = paired()
    let identity = BusIdentity(busID: BusID(high: 8, low: 8), key: .test(0xef), formerKey: .test(0xee), addresses: [])
    _ = hub.feed(.identified(identity))
    #expect(enrolment(&hub, "watch", key: 1, nonce: 1)?.listProof == HubStage.proof(of: 2, by: .test(0xef)))
    hub.commitsAll()
    _ = hub.joins("band", key: 2, listVersion: 3, proof: HubStage.proof(of: 3, by: .test(0xee)))
    #expect(hub.core.deviceList.isBehind)
  }
}
