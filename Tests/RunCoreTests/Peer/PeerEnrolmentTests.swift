@testable import RunCore
import Testing

@Suite("What a paired device knows of its bus")
struct PeerEnrolmentTests {
  private static func key(_ byte: UInt8) -> KeyFingerprint { KeyFingerprint(Array(repeating: byte, count: 32))! }

  private static func told(
    _ version: UInt64, nextHubKey: KeyFingerprint? = nil, nextDeviceKey: KeyFingerprint? = nil
  ) -> Enrolment {
    Enrolment(
      busID: BusID(high: 1, low: 1), deviceID: .watch, sources: [.watch], listVersion: version, addresses: [],
      nextHubKey: nextHubKey, nextDeviceKey: nextDeviceKey)
  }

  private var turns = PartTurns<PeerCore.Action>()
  private var enrolment = PeerEnrolment(Self.told(3))

  /// The news of a word of the hub, and whether a hello is to follow.
  private mutating func hears(_ told: Enrolment) -> (news: Int, greets: Bool) {
    var greets = false
    let actions = turns.act { greets = enrolment.note(told, in: &$0) }.actions
    return (actions.count, greets)
  }

  private mutating func announced() -> Int {
    turns.act { enrolment.announceAgain(over: 1, in: &$0) }.actions.count
  }

  @Test("News is kept once, an older list is not believed, and a peer without a key keeps nothing")
  mutating func news() {
    #expect(hears(Self.told(3)) == (0, false))
    #expect(hears(Self.told(4)) == (1, false))
    #expect(hears(Self.told(3)) == (0, false))
    #expect(enrolment.told?.listVersion == 4)
    enrolment = PeerEnrolment(nil)
    #expect(hears(Self.told(5)) == (0, false))
    #expect(enrolment.told == nil)
  }

  @Test("A next key of the hub that was not kept is told to the hub by a hello, once")
  mutating func nextKey() {
    #expect(hears(Self.told(3, nextHubKey: Self.key(1))) == (1, true))
    #expect(hears(Self.told(4, nextHubKey: Self.key(1))) == (1, false))
    #expect(hears(Self.told(4)) == (1, false))
  }

  @Test("A key is announced in every session until the hub names that key")
  mutating func announcing() {
    #expect(announced() == 0)
    #expect(turns.act { enrolment.announce(Self.key(2), over: 1, in: &$0) }.actions.count == 1)
    #expect(hears(Self.told(3, nextDeviceKey: Self.key(9))) == (1, false))
    #expect(announced() == 1)
    #expect(hears(Self.told(3, nextDeviceKey: Self.key(2))) == (1, false))
    #expect(announced() == 0)
  }
}
