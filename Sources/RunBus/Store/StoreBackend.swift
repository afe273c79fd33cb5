import RunCore

/// Where a store keeps its rows: on a disk or in memory. Used on the store's thread once the store is open.
protocol StoreBackend: Sendable {
  /// Writes all operations in order, or none.
  func commit(_ operations: [StoreOperation]) throws(StoreFault)
  /// Makes the store a hub's or a peer's when no node has used it. Returns whose history it holds.
  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole
  /// Reads the state of a hub. What could not be read is left out and named in `notices`.
  func history() throws(StoreFault) -> (history: HubHistory, notices: [String])
  /// Reads the state of a peer, likewise.
  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String])
  /// The hub's term; on a peer the highest one that it has seen.
  func term() throws(StoreFault) -> UInt64
  /// The journal of one run, ordered by position. What could not be read is left out.
  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry]
  /// A part of a record's body; `nil` when there is no record of the run.
  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord?
  /// Copies everything into an empty file that is no log's, by SQLite's backup interface. A store in memory copies nothing.
  func backUp(to file: String) throws(StoreFault)
  /// Runs a job where reading holds up no commit.
  func read(_ job: @escaping @Sendable () -> Void)
  /// What went wrong in the background, if it is permanent. Every commit fails with it.
  var fault: StoreFault? { get }
  /// The first file besides those of the tables that is not at its path any more.
  var missingFile: FileIdentity? { get }
  /// Closes the files. It is called once, after every other call.
  func close()
}

/// Settings of a store that only tests change.
struct StoreOptions: Sendable {
  /// Runs on the store's thread in every commit, before its writes. It can delay the commit or make it fail.
  var beforeCommit: (@Sendable ([StoreOperation]) throws(StoreFault) -> Void)?
  /// The size of the file in pages beyond which the disk counts as full.
  var pagesMax: Int?
  /// The longest time for which a commit waits in the log, in seconds.
  var batchSeconds = 10.0
}
