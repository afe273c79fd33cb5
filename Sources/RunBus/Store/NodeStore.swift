public import RunCore

/// What a node keeps: placeholder until the store lands.
public final class NodeStore: Sendable {
  /// The node that owns it.
  public let nodeID: NodeID
  /// The store's own id, which names its streams.
  public let storeID: StoreID

  /// Opens (or makes) the store in a directory and locks it.
  ///
  /// Throws ``RunBusError/Code/busHeld`` naming the holder, ``RunBusError/Code/store`` otherwise.
  public init(directory: String) throws(RunBusError) {
    nodeID = NodeID(high: 0, low: 0)
    storeID = StoreID(high: 0, low: 0)
  }

  /// A store that lives in memory and ends with its owner: for one-shot senders and tests.
  public init() {
    nodeID = NodeID(high: 0, low: 0)
    storeID = StoreID(high: 0, low: 0)
  }
}
