import RunCore
import Testing
import TestSupport

@testable import RunBus

@Suite("How a node stands, for operators")
struct NodeConditionTests {
  private func condition(_ link: Reachability, isHeldUp: Bool = false) -> NodeCondition {
    NodeCondition(
      device: "watch", isHub: false, link: link, devices: [], outbox: [], isHeldUp: isHeldUp, storeFiles: [:])
  }

  @Test("A store that takes nothing, a hub that refuses and one that is out of reach are each a trouble")
  func trouble() {
    let reachable = Reachability(isReachable: true)
    #expect(condition(reachable).trouble == nil)
    #expect(condition(reachable, isHeldUp: true).trouble?.hasPrefix("the store takes nothing now") == true)
    #expect(condition(Reachability()).trouble?.hasPrefix("the hub is out of reach") == true)
    #expect(condition(Reachability(refusal: "full")).trouble == "the hub does not let this node in: full")
  }

  @Test("A hub whose store refuses its writes says so")
  func heldUp() async throws {
    var options = StoreOptions()
    let refuses = Mutexed(false)
    options.beforeCommit = { _ throws(StoreFault) in if refuses.withLock({ $0 }) { throw .full } }
    let hub = Hub(
      configuration: HubConfiguration(deviceID: "phone"), listeners: [], store: NodeStore(options: options),
      loop: try Loop())
    try await withNode(hub) {
      try await hub.ready()
      #expect(try await hub.condition().trouble == nil)
      refuses.withLock { $0 = true }
      let press = Task { try await hub.send(Command(.start, source: .phone)) }
      try await within("a store that takes nothing") {
        while try await hub.condition().trouble == nil { try await Task.sleep(for: .milliseconds(20)) }
      }
      refuses.withLock { $0 = false }
      _ = try await press.value
      #expect(try await hub.condition().trouble == nil)
    }
  }
}
