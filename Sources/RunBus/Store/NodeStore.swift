public import RunCore

/// The state that a node keeps across restarts, written by threads of its own.
///
/// A file store belongs to one process at a time, and only this type touches its directory. A completed commit survives
/// kill -9 and, if the disk honours fsync, a power failure. On Apple's systems a power failure can undo the last
/// commits.
public final class NodeStore: Sendable {
  /// The id of the node that owns the store.
  package let nodeID: NodeID
  /// The store's own id, which names its streams. It is the one that was read when the store was opened.
  package let storeID: StoreID
  /// Whose history the store held when it was opened; `nil` when no node had used it.
  let role: StoreRole?

  private let engine: StoreEngine
  private let thread: StoreThread
  /// `nil` for a store in memory.
  let directory: String?
  /// Whether the store is in memory and gone with its node.
  let isEphemeral: Bool
  private let options: StoreOptions

  /// How long a starting node waits for a process that only reads its store, such as the package's command `busnode`
  /// when it lists the records or the outbox of a node that does not run. Such a reader needs milliseconds, and longer
  /// on a loaded machine or with a long history.
  public static let visitorPatience = BusDuration.seconds(2)

  /// Opens or creates the store in a directory and locks it. A damaged store is set aside, and the new one contains
  /// what could be read of it; see ``notices``.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store; it is made if necessary.
  ///   - device: The holder's name in the errors of other processes; without it, the directory's name.
  ///   - patience: How long to wait, blocking, while another process holds the store; half a second at least.
  /// - Throws: ``RunBusError/Code/storeHeld``, which names the holder; ``RunBusError/Code/storeMismatch`` for a store
  ///   of another version of RunBus; ``RunBusError/Code/store`` otherwise.
  public convenience init(
    directory: String, device: DeviceID? = nil, patience: BusDuration = .zero
  ) throws(RunBusError) {
    try self.init(directory: directory, device: device, patience: patience, role: nil, options: StoreOptions())
  }

  /// A store in memory, which is lost with its owner: for visitors and tests.
  public convenience init() { self.init(options: StoreOptions()) }

  /// A process that was just forked holds copies of all locks until it runs its program.
  private static let forkPatience = BusDuration.milliseconds(500)

  /// - Parameter role: The role that the store must have, unless no node has used it.
  /// - Throws: Also ``RunBusError/Code/storeMismatch`` for a store of the other role.
  convenience init(
    directory: String, device: DeviceID?, patience: BusDuration = .zero, role: StoreRole? = nil,
    options: StoreOptions
  ) throws(RunBusError) {
    let lock = try StoreFile.lock(directory, device, patience: max(patience, Self.forkPatience))
    let file = try StoreFile(directory: directory, role: role, options: options)
    self.init(file, directory, lock, options)
  }

  private init(_ file: StoreFile, _ directory: String, _ lock: consuming FileLock, _ options: StoreOptions) {
    nodeID = file.nodeID
    storeID = file.storeID
    role = file.role
    self.directory = directory
    isEphemeral = false
    self.options = options
    let files = [lock.identity] + file.files
    engine = StoreEngine(file.records, lock: lock, files: files, notices: file.notices)
    thread = StoreThread(name: "runbus.store")
  }

  init(options: StoreOptions) {
    nodeID = .random()
    storeID = .random()
    role = nil
    directory = nil
    isEphemeral = true
    self.options = options
    engine = StoreEngine(MemoryStore(options: options), lock: nil, files: [], notices: [])
    thread = StoreThread(name: "runbus.store")
  }

  /// Opens a store in memory that outlives its nodes, without a thread: a commit is written, and its completion called,
  /// before ``commit(_:completion:)`` returns.
  package init(in memory: StoreMemory) {
    nodeID = memory.nodeID
    storeID = memory.storeID
    role = nil
    directory = nil
    isEphemeral = false
    options = StoreOptions()
    engine = StoreEngine(memory.rows, lock: nil, files: [], notices: [])
    thread = StoreThread()
  }

  deinit { close() }

  /// Sentences for the log of the node: a store was set aside, rows could not be read.
  public var notices: [String] { engine.notices }

  /// Makes the store a hub's or a peer's when no node has used it, durably. Blocks and throws like ``history()``.
  ///
  /// - Throws: Also ``RunBusError/Code/storeMismatch`` when it holds the history of the other role.
  func claim(for role: StoreRole) throws(RunBusError) {
    let stored = try read { [engine] in engine.claim(for: role) }
    guard stored == role else { throw stored.refusal(of: role, directory) }
  }

  /// Writes a batch durably, all of it in order or nothing, and then calls `completion` on the store's thread.
  ///
  /// Batches are written in the order of the calls. The caller has one batch in flight and gathers the next. After a
  /// fault that is not temporary every later batch fails with it. On a closed store `completion` is called at once, on
  /// the caller's thread.
  package func commit(
    _ operations: [StoreOperation], completion: @escaping @Sendable (Result<Void, StoreFault>) -> Void
  ) {
    let isTaken = thread.enqueue { [engine] in completion(engine.commit(operations)) }
    if !isTaken { completion(.failure(.closed)) }
  }

  /// Reads the journal of one run, after all earlier batches, and calls `completion` on a thread of the store. On a
  /// closed store `completion` is called at once.
  package func readJournal(
    of run: RunID, completion: @escaping @Sendable (Result<[LedgerEntry], StoreFault>) -> Void
  ) {
    let isTaken = thread.enqueue { [engine] in engine.read { completion(engine.journal(of: run)) } }
    if !isTaken { completion(.failure(.closed)) }
  }

  /// Reads a part of a record's body: at most ``RunCore/RecordPart/bytesMax`` from a byte on. It calls `completion` as
  /// ``readJournal(of:completion:)`` does.
  package func readRecord(of run: RunID, from: Int, completion: @escaping @Sendable (RecordReading) -> Void) {
    let isTaken = thread.enqueue { [engine] in engine.read { completion(engine.recordPart(of: run, from: from)) } }
    if !isTaken { completion(.failed("\(StoreFault.closed)")) }
  }

  /// Runs a job with the engine after all earlier batches where reading holds up no commit; on a closed store another one
  /// at once.
  func enqueueReading(_ job: @escaping @Sendable (StoreEngine) -> Void, orWhenClosed closed: () -> Void) {
    let isTaken = thread.enqueue { [engine] in engine.read { job(engine) } }
    if !isTaken { closed() }
  }

  /// Reads the state of a hub, after all earlier batches; blocks until then. Rows that do not decode are left out and
  /// named in ``notices``.
  ///
  /// - Throws: ``RunBusError/Code/store``; ``RunBusError/Code/closed`` on a closed store.
  package func history() throws(RunBusError) -> HubHistory {
    try read { [engine] in engine.history() }
  }

  /// Reads the state of a peer. Blocks and throws like ``history()``.
  package func peerHistory() throws(RunBusError) -> PeerHistory {
    try read { [engine] in engine.peerHistory() }
  }

  /// The hub's term; on a peer the highest one that it has seen. Blocks and throws like ``history()``.
  package func termSeen() throws(RunBusError) -> UInt64 {
    try read { [engine] in engine.term() }
  }

  /// Finishes all batches, closes the files and releases the lock. Idempotent. Blocks until that is done; a call from a
  /// completion returns at once.
  public func close() {
    thread.end { [engine] in engine.close() }
  }

  /// Closes this store, sets its file aside as damaged, and opens a new one with what could be read of it, under the
  /// same lock. Blocks until that is done.
  ///
  /// - Parameters:
  ///   - fault: The damage that was found.
  ///   - readsBack: Whether to salvage anything; `false` when salvaged data have led to damage again.
  /// - Throws: ``RunBusError/Code/store``: the fault itself for a store without a file, or why the new store cannot be
  ///   opened.
  func replaced(because fault: StoreFault, readsBack: Bool) throws(RunBusError) -> NodeStore {
    thread.end { [engine] in engine.closeFiles() }
    guard let directory, let lock = engine.takeLock() else {
      throw RunBusError(.store, fault.description, cause: fault)
    }
    let file = try StoreFile(replacingIn: directory, because: fault, readsBack: readsBack, options: options)
    return NodeStore(file, directory, lock, options)
  }

  /// Checks, after all earlier batches, whether the store's files are still at their paths, and calls `completion` on
  /// the store's thread with the fault if they are not, or if the tables did not take what waits for them. On a closed
  /// store `completion` is not called.
  func lookForFiles(completion: @escaping @Sendable (StoreFault?) -> Void) {
    _ = thread.enqueue { [engine] in completion(engine.lookForFiles()) }
  }

  /// Whether the store has files, which could be deleted or replaced.
  var hasFiles: Bool { directory != nil }

  private func read<Value: Sendable>(
    _ query: @escaping @Sendable () -> Result<Value, StoreFault>
  ) throws(RunBusError) -> Value {
    switch thread.run(query) {
    case .success(let value): return value
    case .failure(let fault): throw RunBusError(.store, fault.description, cause: fault)
    case nil: throw RunBusError(.closed, "the store is closed")
    }
  }
}
