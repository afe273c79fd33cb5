public import RunCore

/// What a node keeps across its lives, written by a thread of its own.
///
/// A file store belongs to one process at a time; nothing but this type touches its directory. A commit that was
/// completed survives kill -9 and, as far as the disk keeps its word, power loss.
public final class NodeStore: Sendable {
  /// The node that owns it.
  public let nodeID: NodeID
  /// The store's own id, which names its streams: that of the opening, whatever was committed since.
  public let storeID: StoreID

  private let engine: StoreEngine
  private let thread: StoreThread
  /// `nil` for a store in memory.
  private let directory: String?
  private let options: StoreOptions

  /// How long a node that starts waits for somebody who only looks into its store (`busnode records`, `outbox`): such a
  /// look takes milliseconds, longer on a loaded machine or in a store with a long history.
  public static let visitorPatience = BusDuration.seconds(2)

  /// Opens (or makes) the store in a directory and locks it. A damaged one is set aside, and what can be read of it is in
  /// the new one; see ``notices``.
  ///
  /// - Parameters:
  ///   - device: what others are told about the holder; without it, the directory's own name.
  ///   - patience: how long to wait, blocking, while another process holds the store.
  /// - Throws: ``RunBusError/Code/busHeld`` naming the holder, ``RunBusError/Code/store`` otherwise.
  public convenience init(
    directory: String, device: DeviceID? = nil, patience: BusDuration = .zero
  ) throws(RunBusError) {
    try self.init(directory: directory, device: device, patience: patience, options: StoreOptions())
  }

  /// A store that lives in memory and ends with its owner: for one-shot senders and tests.
  public convenience init() { self.init(options: StoreOptions()) }

  convenience init(
    directory: String, device: DeviceID?, patience: BusDuration = .zero, options: StoreOptions
  ) throws(RunBusError) {
    let lock = try StoreFile.lock(directory, device, patience: patience)
    let file = try StoreFile(directory: directory, options: options)
    self.init(file, directory, lock, options)
  }

  private init(_ file: StoreFile, _ directory: String, _ lock: consuming FileLock, _ options: StoreOptions) {
    nodeID = file.nodeID
    storeID = file.storeID
    self.directory = directory
    self.options = options
    let files = [lock.identity] + file.files
    engine = StoreEngine(file.records, lock: lock, files: files, notices: file.notices)
    thread = StoreThread(name: "runbus.store")
  }

  init(options: StoreOptions) {
    nodeID = .random()
    storeID = .random()
    directory = nil
    self.options = options
    engine = StoreEngine(MemoryStore(options: options), lock: nil, files: [], notices: [])
    thread = StoreThread(name: "runbus.store")
  }

  deinit { close() }

  /// What whoever runs the node should log: a store that was set aside, rows that could not be read.
  public var notices: [String] { engine.notices }

  /// Writes a batch durably, all of it in order or nothing, and then says so on the store's own thread.
  ///
  /// Batches are written in the order in which they were handed over; the caller has one in flight and gathers the
  /// next. After a fault that is not temporary every later batch fails the same way. On a closed store `completion` is
  /// called at once, on the caller's thread.
  public func commit(
    _ operations: [StoreOperation], completion: @escaping @Sendable (Result<Void, StoreFault>) -> Void
  ) {
    let isTaken = thread.enqueue { [engine, thread] in
      completion(engine.commit(operations))
      while thread.isIdle, engine.tidy() {}
    }
    if !isTaken { completion(.failure(.closed)) }
  }

  /// Reads what the journal holds of one run, after all batches handed over before, and says so on the store's own
  /// thread; on a closed store at once.
  public func readJournal(
    of run: RunID, completion: @escaping @Sendable (Result<[LedgerEntry], StoreFault>) -> Void
  ) {
    if !thread.enqueue({ [engine] in completion(engine.journal(of: run)) }) { completion(.failure(.closed)) }
  }

  /// Reads a part of a kept record's body, at most ``RunCore/RecordPart/bytesMax`` from a byte on. It answers like
  /// ``readJournal(of:completion:)``.
  public func readRecord(of run: RunID, from: Int, completion: @escaping @Sendable (RecordReading) -> Void) {
    let isTaken = thread.enqueue { [engine] in completion(engine.recordPart(of: run, from: from)) }
    if !isTaken { completion(.failed("\(StoreFault.closed)")) }
  }

  /// Reads back what a hub keeps, after all batches handed over before; blocks until then.
  ///
  /// Throws ``RunBusError/Code/store``, or ``RunBusError/Code/closed`` on a closed store; rows that do not decode are
  /// left out and named in ``notices``.
  public func history() throws(RunBusError) -> HubHistory {
    try read { [engine] in engine.history() }
  }

  /// Reads back what a peer keeps. Blocks and throws like ``history()``.
  public func peerHistory() throws(RunBusError) -> PeerHistory {
    try read { [engine] in engine.peerHistory() }
  }

  /// The hub's life number; on a peer the highest one that it has seen. Blocks and throws like ``history()``.
  public func termSeen() throws(RunBusError) -> UInt64 {
    try read { [engine] in engine.term() }
  }

  /// Finishes what was handed over, closes the files and lets go of the lock. Idempotent; blocks until that is done,
  /// except inside a completion: there it is done right after.
  public func close() {
    thread.end { [engine] in engine.close() }
  }

  /// Closes this store, sets its file aside as damaged, and opens a new one with what could be read of it, under the same
  /// lock. Blocks until that is done.
  ///
  /// - Parameters:
  ///   - fault: what was found.
  ///   - readsBack: whether anything is to be read back: not when that has led to damage again.
  /// - Throws: the fault as ``RunBusError/Code/store`` for a store that has no file, or what kept the new one from opening.
  func replaced(because fault: StoreFault, readsBack: Bool) throws(RunBusError) -> NodeStore {
    thread.end { [engine] in engine.closeFiles() }
    guard let directory, let lock = engine.takeLock() else {
      throw RunBusError(.store, fault.description, cause: fault)
    }
    let file = try StoreFile(replacingIn: directory, because: fault, readsBack: readsBack, options: options)
    return NodeStore(file, directory, lock, options)
  }

  /// Looks whether the store's files are at their paths, after all batches handed over before, and says so on the store's
  /// own thread: the fault when they are not. Nothing is said on a closed store.
  func lookForFiles(completion: @escaping @Sendable (StoreFault?) -> Void) {
    _ = thread.enqueue { [engine] in completion(engine.lookForFiles()) }
  }

  /// It has files that somebody could take away.
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
