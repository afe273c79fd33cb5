import Foundation
package import RunCore
import Synchronization

/// A store in memory, which is lost with its owner: a `NodeStore` or a ``StoreMemory``.
final class MemoryStore: StoreBackend {
  private struct State: Sendable {
    var role: StoreRole?
    var stored = StoredState()
  }
  private let options: StoreOptions
  private let state = Mutex(State())

  init(options: StoreOptions) { self.options = options }

  /// The id that a node has given the store; `nil` for its first one.
  var storeID: StoreID? { state.withLock { $0.stored.storeID } }

  func commit(_ operations: [StoreOperation]) throws(StoreFault) {
    for case .enqueue(let row) in operations { try OutboxKey.check(row) }
    try options.beforeCommit?(operations)
    let wallSeconds = Date().timeIntervalSince1970
    state.withLock { state in
      for operation in operations {
        state.stored.apply(operation, bootID: MachineBoot.id, wallSeconds: wallSeconds)
      }
    }
  }

  func backUp(to file: String) throws(StoreFault) { throw .broken("a store in memory has no file") }

  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole {
    state.withLock { state in
      let stored = state.role ?? role
      state.role = stored
      return stored
    }
  }

  func history() throws(StoreFault) -> (history: HubHistory, notices: [String]) {
    (state.withLock { $0.stored.hubHistory }, [])
  }

  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String]) {
    (state.withLock { $0.stored.peerHistory }, [])
  }

  func term() throws(StoreFault) -> UInt64 { state.withLock { $0.stored.term } }
  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry] { state.withLock { $0.stored.runs.journal(of: run) } }

  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord? {
    state.withLock { $0.stored.records.part(of: run, from: from) }
  }

  func read(_ job: @escaping @Sendable () -> Void) { job() }
  var fault: StoreFault? { nil }
  var missingFile: FileIdentity? { nil }
  func close() {}
}

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
