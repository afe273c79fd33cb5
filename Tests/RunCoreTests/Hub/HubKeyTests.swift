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
