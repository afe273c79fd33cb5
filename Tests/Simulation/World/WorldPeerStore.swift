package import RunCore

/// The disk of a simulated peer.
package struct WorldPeerStore {
  private var disk: WorldDisk
  private let firstStoreID: StoreID

  package init(storeID: StoreID, hasLog: Bool = false) {
    firstStoreID = storeID
    disk = WorldDisk(hasLog: hasLog)
  }

  package var storeID: StoreID { disk.state.storeID ?? firstStoreID }
  package var delivery: StoredDelivery { disk.state.delivery }
  package var records: StoredRecords { disk.state.records }
  package var history: PeerHistory { disk.state.peerHistory }
  package var faults: [String] { disk.faults }
  var hub: (storeID: StoreID, deviceID: DeviceID)? { disk.state.hub }
  var failureMark: HubFailureMark { disk.state.failureMark }

  /// The hub has lost its store: the peer fetches records again.
  mutating func hearsAgain() { disk.hearsAgain() }

  package mutating func commit(_ operations: [StoreOperation], bootID: String, wallSeconds: Double) {
    for operation in operations { disk.apply(operation, bootID: bootID, wallSeconds: wallSeconds) }
    disk.note(operations, bootID: bootID, wallSeconds: wallSeconds)
  }

  mutating func tear(at part: Double) -> Bool { disk.tear(at: part) }
  mutating func restart() { disk.restart() }
}
