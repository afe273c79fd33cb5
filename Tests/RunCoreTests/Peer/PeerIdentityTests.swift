@testable import RunCore
import Testing

@Suite("Who a peer is, and what it keeps for a person")
struct PeerIdentityTests {
  private var generator = SeededGenerator(seed: 1)

  @Test("A peer changes its store id at most every five seconds")
  mutating func renewal() {
    let first = StoreID(high: 2, low: 1)
    var identity = PeerIdentity(storeID: first, hub: nil)
    #expect(identity.receiver == .none)
    #expect(identity.renew(at: .zero, generator: &generator).map(NodeLines.line) == "store")
    let second = identity.storeID
    #expect(second != first)
    #expect(identity.renew(at: .zero + .seconds(4), generator: &generator).map(NodeLines.line) == nil)
    #expect(identity.storeID == second)
    #expect(identity.renew(at: .zero + .seconds(5), generator: &generator).map(NodeLines.line) == "store")
    let hub = PeerIdentity.Hub(storeID: StoreID(high: 1, low: 1), deviceID: DeviceID("phone")!)
    #expect(NodeLines.line(identity.bind(to: hub)) == "hub")
    #expect(identity.receiver == hub.storeID)
  }

  @Test("A message leaves the quarantine once, and its time follows the clock of this boot")
  func quarantine() {
    func message(_ id: UInt64) -> QuarantinedMessage {
      QuarantinedMessage(
        message: AppMessage(id: MessageID(high: 0, low: id), name: "m", body: []), receiver: StoreID(high: 1, low: 1),
        reason: "no", since: .zero + .seconds(10))
    }
    var quarantine = PeerQuarantine([message(1)], shift: .seconds(-30))
    quarantine.note([.quarantine(message(2)), .setTerm(1)])
    let reports = quarantine.reports(for: nil, at: .zero + .seconds(10))
    #expect(reports.map(\.id.low) == [1, 2])
    #expect(reports.map(\.age) == [.seconds(30), .zero])
    #expect(quarantine.message(MessageID(high: 0, low: 1))?.name == "m")
    #expect(quarantine.remove(MessageID(high: 0, low: 1)).map(NodeLines.line) == "unquarantine 1")
    #expect(quarantine.remove(MessageID(high: 0, low: 1)).map(NodeLines.line) == nil)
    #expect(quarantine.message(MessageID(high: 0, low: 1)) == nil)
  }

  @Test("An answer belongs to the oldest question")
  func questions() {
    var questions = HubQuestions()
    #expect(questions.receiveAnswer() == false)
    questions.add(.peers)
    questions.add(.report)
    #expect(questions.receiveAnswer() == true)
    #expect(questions.waiting == [.report])
  }
}
