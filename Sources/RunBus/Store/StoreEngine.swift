import RunCore
import Synchronization

/// What the store's thread works with: the rows, the lock on their directory, and what went wrong so far.
final class StoreEngine: Sendable {
  private struct State: ~Copyable, Sendable {
    var notices: [String]
    /// Set once the disk has failed: nothing is written after that.
    var fault: StoreFault?
    var lock: FileLock?
  }
  private let records: any StoreRecords
  private let state: Mutex<State>

  init(_ records: any StoreRecords, lock: consuming FileLock?, notices: [String]) {
    self.records = records
    state = Mutex(State(notices: notices, fault: nil, lock: lock))
  }

  var notices: [String] { state.withLock { $0.notices } }

  func commit(_ operations: [StoreOperation]) -> Result<Void, StoreFault> {
    if let fault = state.withLock({ $0.fault }) { return .failure(fault) }
    do {
      return .success(try records.commit(operations))
    } catch {
      keep(error)
      return .failure(error)
    }
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
    do { return .success(try records.journal(of: run)) } catch { return .failure(error) }
  }

  func recordPart(of run: RunID, from: Int) -> RecordReading {
    do {
      return try records.recordPart(of: run, from: from).map { .found($0) } ?? .missing
    } catch {
      return .failed("\(error)")
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

  /// A failing disk is noticed here too: the next commit hears of it.
  func tidy() -> Bool {
    do {
      return try records.tidy()
    } catch {
      keep(error)
      return false
    }
  }

  func close() {
    records.close()
    state.withLock { $0.lock = nil }
  }

  /// A full or unwritable disk may recover; anything else stays.
  private func keep(_ fault: StoreFault) {
    if fault.isLasting { state.withLock { $0.fault = fault } }
  }
}
