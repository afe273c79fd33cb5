@testable import RunCore
import Testing

@Suite("Who a peer is, and what it asks its hub")
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
    let hub = PeerIdentity.Hub(storeID: StoreID(high: 1, low: 1), deviceID: DeviceID("phone"))
    #expect(NodeLines.line(identity.bind(to: hub)) == "hub")
    #expect(identity.receiver == hub.storeID)
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
