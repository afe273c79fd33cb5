import Testing

@testable import RunCore

@Suite("A hub whose store has lost history")
struct HubRegressTests {
  @Test("Its new id is in no welcome before it is durable, not even in one that an earlier commit lets go")
  func welcomes() throws {
    var hub = HubStage.opened()
    // The tablet has seen a later term: its welcome waits for one above it.
    _ = hub.hello("tablet", termSeen: 5)
    // The watch was acknowledged more than this hub remembers: the hub takes a new id, and all say hello again.
    var watch = hub.greeting("watch")
    watch.hub = HubStage.storeID
    watch.acknowledged = [.commands: 9]
    _ = hub.says("watch", .hello(watch), session: 0)
    #expect(hub.core.storeID != HubStage.storeID)
    _ = hub.hello("tablet", nonce: 2, termSeen: 5)
    let first = hub.takeInFlight()
    #expect(welcomed(hub.act(.committed(try #require(first)))) == [])
    var named: [StoreID] = []
    while let next = hub.takeInFlight() { named += welcomed(hub.act(.committed(next))) }
    #expect(named == [hub.core.storeID, hub.core.storeID])
  }

  /// The stores that welcomes name.
  private func welcomed(_ actions: [HubCore.Action]) -> [StoreID] {
    actions.compactMap { action in
      if case .send(let frame, _) = action, case .welcome(let welcome) = frame.message { welcome.storeID } else { nil }
    }
  }
}
