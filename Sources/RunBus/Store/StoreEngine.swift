import RunCore
import Synchronization

/// The state of the store's thread: the backend, the lock on the directory, and the first permanent fault.
final class StoreEngine: Sendable {
  private struct State: ~Copyable, Sendable {
    var notices: [String]
    /// The first permanent fault. Nothing is written after it.
    var fault: StoreFault?
    var lock: FileLock?
    /// The files that must stay at their paths; none for a store in memory.
    var files: [FileIdentity]
  }
  private let records: any StoreBackend
  private let state: Mutex<State>

  init(_ records: any StoreBackend, lock: consuming FileLock?, files: [FileIdentity], notices: [String]) {
    self.records = records
    state = Mutex(State(notices: notices, fault: nil, lock: lock, files: files))
  }

  var notices: [String] { state.withLock { $0.notices } }

  func commit(_ operations: [StoreOperation]) -> Result<Void, StoreFault> {
    if let fault = state.withLock({ $0.fault }) { return .failure(fault) }
    do {
      try records.commit(operations)
    } catch {
      keep(error)
      return .failure(error)
    }
    // A write to a file that was deleted or replaced is not durable.
    if let fault = lookForFiles() { return .failure(fault) }
    return .success(())
  }

  /// The fault when a file of the store is not at its path any more, or of a table in the background. It is permanent.
  func lookForFiles() -> StoreFault? {
    if let fault = records.fault {
      keep(fault)
      return fault
    }
    guard let missing = state.withLock({ $0.files.first { !$0.isInPlace } }) ?? records.missingFile else { return nil }
    let fault = StoreFault.moved(missing.path)
    keep(fault)
    return fault
  }

  /// Returns whose history the store holds, after it was claimed.
  func claim(for role: StoreRole) -> Result<StoreRole, StoreFault> {
    do { return .success(try records.claim(for: role)) } catch { return .failure(error) }
  }

  func history() -> Result<HubHistory, StoreFault> {
    do {
      let (history, notices) = try records.history()
      add(notices)
      return .success(history)
    } catch {
      return .failure(error)
    }
  }

  func peerHistory() -> Result<PeerHistory, StoreFault> {
    do {
      let (history, notices) = try records.peerHistory()
      add(notices)
      return .success(history)
    } catch {
      return .failure(error)
    }
  }

  func journal(of run: RunID) -> Result<[LedgerEntry], StoreFault> {
    do {
      return .success(try records.journal(of: run))
    } catch {
      keep(error)
      return .failure(error)
    }
  }

  func recordPart(of run: RunID, from: Int) -> RecordReading {
    do {
      return try records.recordPart(of: run, from: from).map { .found($0) } ?? .missing
    } catch {
      keep(error)
      return .failed("\(error)")
    }
  }

  func backUp(to path: String) -> Result<Void, InquiryFailure> {
    do throws(InquiryFailure) {
      let file = try BackupFile(path)
      do throws(StoreFault) { try records.backUp(to: file.part) } catch {
        file.discard()
        keep(error)
        throw InquiryFailure(.store, "the store cannot be copied to \(path): \(error)")
      }
      try file.finish()
      return .success(())
    } catch {
      return .failure(error)
    }
  }

  private func add(_ notices: [String]) {
    state.withLock { state in
      for notice in notices where !state.notices.contains(notice) { state.notices.append(notice) }
    }
  }

  func term() -> Result<UInt64, StoreFault> {
    do { return .success(try records.term()) } catch { return .failure(error) }
  }

  /// Runs a job where reading holds up no commit.
  func read(_ job: @escaping @Sendable () -> Void) { records.read(job) }

  /// Closes the files and releases the lock.
  func close() {
    records.close()
    state.withLock { $0.lock = nil }
  }

  /// Closes the files and keeps the lock, for ``takeLock()``.
  func closeFiles() { records.close() }

  /// Passes the lock on to the store that replaces this one.
  func takeLock() -> FileLock? { state.withLock { $0.lock.take() } }

  /// Keeps a permanent fault, which every later commit reports. A temporary one is forgotten, because the batch is
  /// tried again.
  private func keep(_ fault: StoreFault) {
    if !fault.isTemporary { state.withLock { $0.fault = $0.fault ?? fault } }
  }
}
