import RunCore

/// What a store keeps its rows in: SQLite or memory. Used on the store's thread once the store is open.
protocol StoreBackend: Sendable {
  /// Writes all operations in order, or none.
  func commit(_ operations: [StoreOperation]) throws(StoreFault)
  /// Reads everything back; what could not be read is left out and named in `notices`.
  func history() throws(StoreFault) -> (history: HubHistory, notices: [String])
  /// The same for a peer.
  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String])
  /// The hub's life number, on a peer the highest one seen.
  func term() throws(StoreFault) -> UInt64
  /// What the journal holds of one run, in order of position; what could not be read is left out.
  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry]
  /// A part of a kept record's body; `nil` when none of the run is kept.
  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord?
  /// A piece of the work that can wait until nobody waits for a commit; whether there is more of it.
  func tidy() throws(StoreFault) -> Bool
  /// Nothing is read or written after this. Never called twice.
  func close()
}
