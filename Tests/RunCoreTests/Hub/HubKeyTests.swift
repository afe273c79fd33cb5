@testable import RunCore
import Testing

@Suite("A key stands for one device")
struct HubKeyTests {
  private func joined() -> HubStage {
    var hub = HubStage.pairing([.test(1, "watch"), .test(2, "band")])
    _ = hub.joins("watch", key: 1)
    _ = hub.joins("band", key: 2)
    return hub
  }

  // Once broken: The list of devices could have one key twice, when a device announced the key of one that was being
  // paired; the hub's own key was taken, too, because only the list was searched, not the candidate; no key was
  // excluded.
  @Test("A device cannot announce the key of a device, of a candidate or of the hub, a revoked one, or zeros")
  func announced() {
    var hub = joined()
    _ = hub.says("band", .announceKey(.test(8)), by: .key(2)) + hub.commitsAll()
    _ = hub.feed(.offerPairing(token: HubStage.token, 1))
    _ = hub.asksForPairing("chest", candidate: 3)
    for key in [1, 2, 8, 3, 0xee, 0] as [UInt8] {
      #expect(hub.says("watch", .announceKey(.test(key)), by: .key(1)) == ["watch ← refused forbidden"], "\(key)")
    }
    _ = hub.orders(.revoke, key: 2)
    #expect(hub.says("watch", .announceKey(.test(2)), by: .key(1)) == ["watch ← refused forbidden"])
    _ = hub.orders(.admit(.test(3), of: HubStage.token, as: "chest", sources: [.watch], replaces: false))
    let keys = hub.disk.history.members.devices.flatMap(\.keys)
    #expect(Set(keys).count == keys.count && keys.count == 2, "\(keys)")
  }

  @Test("The keys of the hub and zeros are not paired", arguments: [0xee, 0] as [UInt8])
  func ofHub(byte: UInt8) {
    var hub = joined()
    _ = hub.feed(.offerPairing(token: HubStage.token, 1))
    #expect(hub.asksForPairing("chest", candidate: byte) == ["chest ← refused forbidden"])
    #expect(hub.orders(.status(of: nil)) == ["answer 1: pairing open"])
  }

  /// The points of small order as https://cr.yp.to/ecdh.html lists them, and each with the bit that X25519 ignores.
  private static let ofSmallOrder: [KeyFingerprint] = [
    "00" + String(repeating: "00", count: 31), "01" + String(repeating: "00", count: 31),
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ec" + String(repeating: "ff", count: 30) + "7f", "ed" + String(repeating: "ff", count: 30) + "7f",
    "ee" + String(repeating: "ff", count: 30) + "7f",
  ].compactMap { KeyFingerprint($0) }.flatMap { key in
    [key, KeyFingerprint(key.bytes.dropLast() + [key.bytes[31] | 0x80])!]
  }

  // Once broken: A device could announce, and pair, a key of small order: every shared secret with it is zeros, so that
  // anybody passes for the device, because of these keys only zeros were refused.
  @Test("A key of small order, with which nothing is secret, is neither announced nor paired")
  func smallOrder() {
    #expect(Self.ofSmallOrder.count == 14)
    for key in Self.ofSmallOrder {
      var hub = joined()
      #expect(hub.says("watch", .announceKey(key), by: .key(1)) == ["watch ← refused forbidden"], "\(key)")
      _ = hub.feed(.offerPairing(token: HubStage.token, 1))
      let request = PairingRequest(token: HubStage.token, deviceID: "chest", role: .watch, sources: [.watch])
      #expect(
        hub.says("chest", .pair(request), session: 0, by: .candidate(key)) == ["chest ← refused forbidden"], "\(key)")
      #expect(hub.orders(.status(of: nil)) == ["answer 1: pairing open"])
    }
    // 9 is the base point, and p + 2 is 2 again.
    for text in ["09" + String(repeating: "00", count: 31), "ef" + String(repeating: "ff", count: 30) + "7f"] {
      var hub = joined()
      let lines = hub.says("watch", .announceKey(KeyFingerprint(text)!), by: .key(1))
      #expect(!lines.contains { $0.contains("refused") }, "\(text): \(lines)")
    }
  }

  @Test("A list that has one key twice is read without the announced one")
  func kept() {
    var watch = PairedDevice.test(1, "watch")
    watch.nextKey = .test(2)
    let members = Members(MemberHistory.list([watch, .test(2, "band")]))
    #expect(members.device(of: .test(2))?.deviceID == "band")
    #expect(members.devices.flatMap(\.keys) == [.test(2), .test(1)])
  }
}

extension MemberHistory {
  fileprivate static func list(_ devices: [PairedDevice]) -> MemberHistory {
    var history = MemberHistory()
    (history.devices, history.version) = (devices, UInt64(devices.count))
    return history
  }
}
