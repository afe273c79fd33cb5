import Foundation
import GRDB
import RunCore
import RunWire
import Synchronization

/// A store on a disk: a log that takes commits, and behind it the tables in SQLite, which take them over in batches.
///
/// A commit is durable once it is in the log. Commits that the log has no form or no room for go to the tables as a whole,
/// together with everything that waits in the log before them. The tables have a thread of their own, so that their syncs
/// hold up no commit. Everything that is read comes from the tables, after they have taken over what waits.
///
/// ``commit(_:)`` is called on the store's thread, as is everything else but ``onTables(_:)``'s jobs.
final class LoggedStore: StoreBackend {
  private struct State: Sendable {
    /// The commits in the log that the tables have not taken over, the oldest first.
    var waiting: [LoggedCommit] = []
    /// The position of the last commit.
    var last: UInt64
    /// Whether the tables know that the log may hold commits.
    var isOpen: Bool
    /// Whether a batch is on its way to the tables, or will be before long.
    var isScheduled = false
    /// Whether a batch has gone to the tables. The first one does so at once, so that damage that the opening check
    /// does not see is found early.
    var hasTried = false
    /// Whether a batch failed in a way that leaves open whether the tables have it, and what they know about the log.
    var isUncertain = false
    /// What the tables said to a batch, if it is permanent.
    var fault: StoreFault?
  }
  private let tables: SQLiteStore
  private let log: StoreLog
  private let key: [UInt8]
  private let options: StoreOptions
  private let thread = StoreThread(name: "runbus.tables")
  private let state: Mutex<State>

  /// - Parameters:
  ///   - tables: The tables, which have taken over everything in the log.
  ///   - directory: The directory of the store.
  ///   - mark: What the tables know about the log.
  init(_ tables: SQLiteStore, in directory: String, _ mark: LogMark, options: StoreOptions) {
    self.tables = tables
    key = mark.key
    log = StoreLog(in: directory, key: mark.key, drained: mark.drained)
    self.options = options
    state = Mutex(State(last: mark.drained, isOpen: mark.isOpen))
  }

  var fault: StoreFault? { state.withLock { $0.fault } }
  var missingFile: FileIdentity? { log.missingFile }

  func commit(_ operations: [StoreOperation]) throws(StoreFault) {
    if let fault { throw fault }
    for case .enqueue(let row) in operations { try OutboxKey.check(row) }
    try options.beforeCommit?(operations)
    guard !operations.isEmpty else { return }
    let commit = LoggedCommit(operations, wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id)
    let (position, isOpen) = state.withLock { ($0.last + 1, $0.isOpen) }
    if isOpen, let bytes = Codec.logged(commit), log.append(bytes, position: position) {
      let (mustSchedule, isFirst) = state.withLock { state in
        state.last = position
        state.waiting.append(commit)
        defer { (state.isScheduled, state.hasTried) = (true, true) }
        return (!state.isScheduled, !state.hasTried)
      }
      if isFirst || log.isFilling {
        _ = thread.enqueue { [self] in takeOver() }
      } else if mustSchedule {
        thread.enqueueLater(options.batchSeconds) { [self] in takeOver() }
      }
      return
    }
    let mayOpen = log.prepare()
    try onTables { [self] () throws(StoreFault) in
      try write(adding: commit, isOpen: mayOpen)
      _ = thread.enqueue { [self] in tidy() }
    }
  }

  // MARK: The tables

  /// Writes what waits, and a commit behind it, in one transaction.
  private func write(adding last: LoggedCommit? = nil, isOpen: Bool) throws(StoreFault) {
    let (waiting, position) = state.withLock { ($0.waiting, $0.last + (last == nil ? 0 : 1)) }
    guard last != nil || !waiting.isEmpty || state.withLock({ $0.isOpen }) != isOpen else { return }
    do throws(StoreFault) {
      try tables.commit(
        last.map { waiting + [$0] } ?? waiting, LogMark(key: key, drained: position, isOpen: isOpen))
    } catch {
      if !error.isTemporary { state.withLock { $0.isUncertain = true } }
      throw error
    }
    state.withLock { state in
      state.waiting.removeFirst(waiting.count)
      state.last = max(state.last, position)
      state.isOpen = isOpen
    }
    log.drain(through: position)
  }

  /// Writes what waits; a permanent fault is reported by the next commit.
  private func takeOver() {
    state.withLock { $0.isScheduled = false }
    do throws(StoreFault) {
      try write(isOpen: state.withLock { $0.isOpen })
    } catch {
      return keep(error)
    }
    tidy()
  }

  /// Does what is put off while nothing else is to be done.
  private func tidy() {
    do throws(StoreFault) { while thread.isIdle, try tables.tidy() {} } catch { keep(error) }
  }

  private func keep(_ fault: StoreFault) {
    state.withLock { state in
      if !fault.isTemporary {
        state.fault = state.fault ?? fault
      } else if !state.waiting.isEmpty, !state.isScheduled {
        state.isScheduled = true
        thread.enqueueLater(options.batchSeconds) { [self] in takeOver() }
      }
    }
  }

  /// Runs a job on the thread of the tables and waits for it.
  private func onTables<Value: Sendable>(
    _ job: @escaping @Sendable () throws(StoreFault) -> Value
  ) throws(StoreFault) -> Value {
    let result = thread.run { () -> Result<Value, StoreFault> in
      do throws(StoreFault) { return .success(try job()) } catch { return .failure(error) }
    }
    guard let result else { throw .closed }
    return try result.get()
  }

  /// Reads from the tables when they have everything. A disk that is full takes nothing, and is read nevertheless.
  private func reading<Value: Sendable>(
    _ read: @escaping @Sendable (Database) throws -> Value
  ) throws(StoreFault) -> Value {
    try onTables { [self] () throws(StoreFault) in
      do throws(StoreFault) {
        try write(isOpen: state.withLock { $0.isOpen })
      } catch {
        guard error.isTemporary else { throw error }
      }
      return try tables.read(with: state.withLock { $0.waiting }, read)
    }
  }

  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole {
    try onTables { [tables] () throws(StoreFault) in try tables.claim(for: role) }
  }
  func history() throws(StoreFault) -> (history: HubHistory, notices: [String]) {
    try reading { try HistoryReader.readHub($0) }
  }
  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String]) {
    try reading { try HistoryReader.readPeer($0) }
  }
  func term() throws(StoreFault) -> UInt64 { try reading { try HistoryReader.term($0) } }
  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry] {
    try reading { try HistoryReader.journal($0, of: run) }
  }
  /// Records are never in the log.
  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord? {
    try onTables { [tables] () throws(StoreFault) in try tables.recordPart(of: run, from: from) }
  }

  func backUp(to file: String) throws(StoreFault) {
    try onTables { [self] () throws(StoreFault) in
      // What waits first: the copy has no log.
      try write(isOpen: state.withLock { $0.isOpen })
      try tables.backUp(to: file, LogMark(key: key, drained: state.withLock { $0.last }, isOpen: false))
    }
  }

  func read(_ job: @escaping @Sendable () -> Void) { if !thread.enqueue(job) { job() } }

  func close() {
    thread.end { [self] in
      // What the tables do not take stays in the log, where the next opening finds it.
      let isDrained: Bool
      do throws(StoreFault) {
        try write(isOpen: false)
        isDrained = !state.withLock { $0.isUncertain }
      } catch {
        isDrained = false
      }
      tables.close()
      log.close(removing: isDrained)
    }
  }
}
