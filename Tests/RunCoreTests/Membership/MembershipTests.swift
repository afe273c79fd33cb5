import Testing

@testable import RunCore

/// What the subject decides by itself. What follows for sessions, mail and commands is in `HubMemberTests`.
@Suite("The paired devices of a hub")
struct MembershipTests {
  private static let bus = BusIdentity(
    busID: BusID(high: 1, low: 1), key: .test(90), formerKey: .test(91), nextKey: .test(92), nextKeySince: 1000,
    addresses: ["tcp://10.0.0.1:1"], pairingAddresses: ["tcp://10.0.0.1:3"])
  private static let token = [UInt8](repeating: 1, count: PairingRequest.tokenByteCount)

  private var members = Membership(
    MemberHistory.paired(1, as: "watch"), hubName: "phone", bus: Self.bus,
    clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime),
    listProof: { HubStage.proof(of: $0, by: $1) })

  private func request(_ name: DeviceID) -> PairingRequest {
    PairingRequest(token: Self.token, deviceID: name, role: .watch, sources: [.watch])
  }
  private func connection(_ number: UInt8) -> ConnectionID { ConnectionID(route: [number], isRequest: false) }
  private func hello(_ version: UInt64 = 0, _ proof: ListProof? = nil) -> Hello {
    var hello = HubStage.pairing().greeting("watch")
    (hello.listVersion, hello.listProof) = (version, proof)
    return hello
  }

  @Test("A candidate may ask to be paired and nothing else; a key that is not paired may do nothing")
  func entry() {
    #expect(members.entry(of: .candidate(.test(5)), isPairing: true) == .allowed)
    #expect(members.entry(of: .candidate(.test(5)), isPairing: false) != .allowed)
    #expect(members.entry(of: .key(.test(5)), isPairing: true) != .allowed)
    #expect(members.entry(of: .key(.test(1)), isPairing: false) == .allowed)
    #expect(members.entry(of: .localOwner, isPairing: false) == .allowed)
  }

  @Test("The first use of an announced key is told, and only until the key is the device's own")
  mutating func nextKey() throws {
    let device = try #require(members.list.device(of: .test(1)))
    guard case .noted(let writes) = members.announce(.test(2), of: device, at: .zero) else {
      Issue.record("the key is not noted")
      return
    }
    #expect(!writes.isEmpty && members.admittedKeys == [.test(1), .test(2)])
    let changed = try #require(members.list.device(of: .test(1)))
    #expect(members.announce(.test(2), of: changed, at: .zero) == .known)
    #expect(members.entry(of: .key(.test(2)), isPairing: false) == .withNextKey(changed))
    _ = members.switchKey(to: .test(2))
    #expect(members.entry(of: .key(.test(2)), isPairing: false) == .allowed && members.admittedKeys == [.test(2)])
  }

  @Test(
    "The hub's keys, the candidate's and no key at all are announced in vain", arguments: [90, 91, 92, 0, 7] as [UInt8])
  mutating func foreignKeys(_ byte: UInt8) throws {
    _ = members.openPairing(Self.token, at: .zero)
    _ = members.present(request("band"), by: .candidate(.test(7)), on: connection(7))
    let device = try #require(members.list.device(of: .test(1)))
    guard case .refused(.forbidden, _) = members.announce(.test(byte), of: device, at: .zero) else {
      Issue.record("\(byte) was taken")
      return
    }
  }

  @Test("A version of the list counts with a proof under the hub's present or former key only")
  mutating func versions() {
    #expect(members.hear(hello(), by: .key(.test(1))) == .nothingNew)
    for proof in [nil, HubStage.proof(of: 9, by: .test(92)), HubStage.proof(of: 8, by: .test(90))] {
      guard case .unproven = members.hear(hello(9, proof), by: .key(.test(1))) else {
        Issue.record("\(String(describing: proof)) counts")
        return
      }
      #expect(!members.list.isBehind)
    }
    guard case .proven = members.hear(hello(9, HubStage.proof(of: 9, by: .test(91))), by: .key(.test(1))) else {
      Issue.record("a proof under the former key does not count")
      return
    }
    #expect(members.list.isBehind)
    let again = members.hear(hello(9, HubStage.proof(of: 9, by: .test(90))), by: .key(.test(1)))
    #expect(again == .nothingNew)
  }

  @Test("The hub uses its next key when all devices know it, or after thirty days")
  mutating func nextHubKey() {
    var hello = hello()
    let late = 1000 + Membership.nextKeyPatience
    for (seconds, isUsed) in [(late, false), (late + 1, true), (1001, false)] {
      let uses = members.noteNextKey(hello, by: .key(.test(1)), wallSeconds: seconds)
      #expect(uses == isUsed, "\(seconds)")
    }
    hello.nextHubKey = .test(92)
    let uses = members.noteNextKey(hello, by: .key(.test(1)), wallSeconds: 1001)
    members.rotate(to: Self.bus)
    hello.nextHubKey = nil
    let usesAgain = members.noteNextKey(hello, by: .key(.test(1)), wallSeconds: 1001)
    #expect(uses && !usesAgain)
  }

  @Test("A key that burdens the hub too much does not enter until its time is over")
  mutating func shutOut() {
    let reasons = (0...PacedKind.manyParts.burst).map { _ in
      members.note(.manyParts, by: .key(.test(1)), at: .zero)
    }
    #expect(reasons.dropLast().allSatisfy { $0 == nil } && reasons.last != .some(nil))
    #expect(members.admittedKeys.isEmpty && members.entry(of: .key(.test(1)), isPairing: false) != .allowed)
    let end = BusTime.zero + Suspensions.span
    #expect(members.deadline == end)
    let ends = [end - .seconds(1), end].map { members.endSuspensions(at: $0) }
    #expect(ends == [false, true] && members.admittedKeys == [.test(1)])
  }

  @Test("Pairing that replaces a device says which, and revokes its key in the same writes")
  mutating func replaces() throws {
    let offer = members.openPairing(Self.token, at: .zero)
    let step = members.present(request("watch"), by: .candidate(.test(7)), on: connection(7))
    #expect(offer?.hubKey == .test(90) && step == .answered(.wait))
    #expect(throws: Membership.PairingRefusal("watch is paired with another key")) {
      try members.admit(.test(7), of: Self.token, as: "watch", [.watch], replaces: false, wallSeconds: 5)
    }
    let paired = try members.admit(.test(7), of: Self.token, as: "watch", [.watch], replaces: true, wallSeconds: 5)
    #expect(paired.replaced?.key == .test(1) && paired.connection == connection(7) && paired.device.pairedAt == 5)
    #expect(members.list.device(of: .test(1)) == nil && members.admittedKeys == [.test(7)])
    #expect(members.pairingStage == .closed(.paired) && members.deadline == nil)
  }
}
