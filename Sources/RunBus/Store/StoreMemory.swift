package import RunCore

/// The rows of a store in memory over restarts of its node: for tests.
package final class StoreMemory: Sendable {
  let nodeID: NodeID
  let rows = MemoryStore(options: StoreOptions())
  private let firstStoreID: StoreID

  /// The store's id as the next node reads it.
  var storeID: StoreID { rows.storeID ?? firstStoreID }

  /// A store that no node has used.
  package init(nodeID: NodeID = .random(), storeID: StoreID = .random()) {
    self.nodeID = nodeID
    firstStoreID = storeID
  }
}
