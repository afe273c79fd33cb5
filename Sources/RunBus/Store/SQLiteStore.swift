import Foundation
import GRDB
import GRDBSQLite
import RunCore
import Synchronization

/// A store in one SQLite file, over one connection.
final class SQLiteStore: StoreBackend {
  private struct State: Sendable {
    /// A cache of the short numbers of runs in the journal; emptied when a batch is rolled back.
    var runNumbers: [RunID: Int64] = [:]
    /// The highest position in `accepted`; `nil` until it is needed.
    var lastAcceptedPosition: Int64?
    /// The highest revision in the journal; `nil` until it is needed.
    var lastRevision: UInt64?
    var commitsSinceCheckpoint = 0
    /// Whether a dropped journal may still have rows.
    var mustSweep = true
  }
  private let queue: DatabaseQueue
  private let options: StoreOptions
  private let state = Mutex(State())
  private let outbox = SQLiteOutbox()

  /// A flag in `latest_sent`: the other device has acknowledged the value.
  static let acknowledged: Int64 = 1

  /// 256 commits make a log of about a thousand pages, which a checkpoint copies in a few milliseconds.
  private static let commitsPerCheckpoint = 256

  init(_ queue: DatabaseQueue, options: StoreOptions) {
    self.queue = queue
    self.options = options
  }

  func commit(_ operations: [StoreOperation]) throws(StoreFault) {
    try faulting {
      try queue.writeWithoutTransaction { db in
        try db.cachedStatement(sql: "BEGIN IMMEDIATE").execute()
        do {
          for operation in operations { try execute(operation, db) }
          try options.beforeCommit?(operations)
          try db.cachedStatement(sql: "COMMIT").execute()
        } catch {
          // Read before the rollback, whose own system calls would overwrite it.
          let fault = StoreFault(error, systemCode: db.lastSystemCode)
          forgetBatch()
          // SQLite has already rolled back after some errors. If a rollback fails, the log still has no commit of the
          // batch.
          if db.isInsideTransaction { try? db.rollback() }
          throw fault
        }
      }
    }
    state.withLock { $0.commitsSinceCheckpoint += 1 }
  }

  /// Empties the caches, which may contain rows of a batch that was rolled back.
  private func forgetBatch() {
    state.withLock { state in
      state.runNumbers = [:]
      state.lastRevision = nil
    }
    outbox.forget()
  }

  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole {
    try faulting {
      try queue.write { db in
        if let stored = try StoreRole(storedIn: db) { return stored }
        try role.write(db)
        return role
      }
    }
  }

  func history() throws(StoreFault) -> (history: HubHistory, notices: [String]) {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.readHub(db) } }
  }

  func peerHistory() throws(StoreFault) -> (history: PeerHistory, notices: [String]) {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.readPeer(db) } }
  }

  func term() throws(StoreFault) -> UInt64 {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.term(db) } }
  }

  func journal(of run: RunID) throws(StoreFault) -> [LedgerEntry] {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.journal(db, of: run) } }
  }

  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord? {
    try faulting { try queue.writeWithoutTransaction { db in try RecordRows.part(of: run, from: from, db) } }
  }

  func tidy() throws(StoreFault) -> Bool {
    if state.withLock({ $0.commitsSinceCheckpoint >= Self.commitsPerCheckpoint }) {
      try faulting { _ = try queue.writeWithoutTransaction { db in try db.checkpoint(.passive) } }
      state.withLock { $0.commitsSinceCheckpoint = 0 }
    }
    guard state.withLock({ $0.mustSweep }) else { return false }
    let hasMore = try faulting { try queue.write { db in try JournalSweep.piece(db) } }
    state.withLock {
      $0.mustSweep = hasMore
      $0.commitsSinceCheckpoint += 1
    }
    return hasMore
  }

  func close() {
    // Dropped journals are swept before the store closes. What a failing disk prevents is swept after the next opening.
    while (try? tidy()) == true {}
    // What the checkpoint cannot copy stays in the log, where the next opening finds it.
    _ = try? queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    try? queue.close()
  }

  private static let acceptSQL = """
    INSERT OR REPLACE INTO accepted (\(AcceptedCommandColumns.names), admission, position)
    VALUES (\(AcceptedCommandColumns.placeholders), ?, ?)
    """
  private static let judgeSQL = """
    INSERT INTO verdicts (\(AcceptedCommandColumns.names), \(VerdictColumns.names))
    VALUES (\(AcceptedCommandColumns.placeholders), \(VerdictColumns.placeholders))
    """

  /// The next position in `accepted`. A batch that is rolled back leaves a gap, which has no effect.
  private func nextAcceptedPosition(_ db: Database) throws -> Int64 {
    let last: Int64
    if let known = state.withLock({ $0.lastAcceptedPosition }) {
      last = known
    } else {
      last = try Int64.fetchOne(db, sql: "SELECT MAX(position) FROM accepted") ?? 0
    }
    state.withLock { $0.lastAcceptedPosition = last + 1 }
    return last + 1
  }

  private func execute(_ operation: StoreOperation, _ db: Database) throws {
    switch operation {
    case .setTerm(let term):
      try db.run("UPDATE meta SET value = ? WHERE key = 'term'", [Int64(bitPattern: term)])
    case .accept(let press, let admission):
      let position = try nextAcceptedPosition(db)
      try db.run(Self.acceptSQL, AcceptedCommandColumns.values(press) + [admission.rawValue, position])
    case .claim(let id, let store):
      try db.run("INSERT OR REPLACE INTO claims (command, store) VALUES (?, ?)", [id.data, store.data])
    case .reclassify(let id, let admission):
      try db.run("UPDATE accepted SET admission = ? WHERE command = ?", [admission.rawValue, id.data])
    case .setWatermark(let stream, let mark):
      try db.run(
        "INSERT OR REPLACE INTO watermarks (sender, stream, sequence, id) VALUES (?, ?, ?, ?)",
        [stream.sender.data, stream.kind.rawValue, Int64(bitPattern: mark.sequence), mark.id?.data])
    case .forgetStream(let stream):
      try db.run(
        "DELETE FROM watermarks WHERE sender = ? AND stream = ?", [stream.sender.data, stream.kind.rawValue])
    case .judge(let verdict, let press, let judgedAt):
      try db.run("DELETE FROM accepted WHERE command = ?", [press.command.id.data])
      try db.run("DELETE FROM claims WHERE command = ?", [press.command.id.data])
      try db.run(
        Self.judgeSQL, AcceptedCommandColumns.values(press) + VerdictColumns.values(verdict, judgedAt: judgedAt))
    case .forgetVerdicts(let moment):
      try db.run("DELETE FROM verdicts WHERE judged_at < ?", [moment.nanoseconds])
    case .append(let runID, let entry):
      try append(entry, to: runID, db)
    case .setAlias(let alias, let runID):
      try db.run("INSERT OR REPLACE INTO aliases (run, of) VALUES (?, ?)", [alias.data, runID.data])
    case .setUnanswered(let runID, let since):
      try db.run(
        "INSERT INTO recovery (run, silent_since) VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET silent_since = ?2",
        [runID.data, since?.nanoseconds])
    case .discard(let runID):
      try db.run(
        "INSERT INTO recovery (run, discarded) VALUES (?, 1) ON CONFLICT (run) DO UPDATE SET discarded = 1",
        [runID.data])
    case .settle(let window):
      try db.run(
        "INSERT INTO windows (first, deadline, applied) VALUES (?, ?, ?)",
        [window.first.nanoseconds, window.deadline.nanoseconds, WindowCoding.encode(window.applied)])
      try db.run(
        "DELETE FROM windows WHERE position <= ?", [db.lastInsertedRowID - Int64(ControlHistory.windowsMax)])
    case .setClock(let real, let bus):
      try db.run(
        "INSERT OR REPLACE INTO clock (one, real, bus, boot, wall) VALUES (1, ?, ?, ?, ?)",
        [real.nanoseconds, bus.nanoseconds, MachineBoot.id, Date().timeIntervalSince1970])
    case .setStoreID(let storeID): try db.run("UPDATE meta SET value = ? WHERE key = 'store'", [storeID.data])
    case .setHub(let storeID, let deviceID):
      try db.run(
        "INSERT OR REPLACE INTO hub (one, store, device) VALUES (1, ?, ?)", [storeID.data, deviceID.rawValue])
    case .setView(let view):
      try db.run("INSERT OR REPLACE INTO view (one, snapshot) VALUES (1, ?)", [ViewCoding.encode(view)])
    case .setFailureMark(let mark): try FailureMarkColumns.write(mark, db)
    case .expectRecord, .forgetExpected, .keepRecord, .editRecord, .removeRecord, .skipChanges, .setRecordsThrough:
      try RecordRows.write(operation, db)
    case .endJournal(let runID, let moment): try JournalSweep.end(runID, at: moment, db)
    case .dateRun(let runID, let wallSeconds): try JournalSweep.date(runID, wallSeconds: wallSeconds, db)
    case .dropJournal(let runID):
      try JournalSweep.drop(runID, db)
      state.withLock { $0.mustSweep = true }
    case .meet(let device):
      try db.run(
        "INSERT OR REPLACE INTO devices (device, role, store, heard_at, identity) VALUES (?, ?, ?, ?, ?)",
        [
          device.deviceID.rawValue, Data(device.role.rawValue.utf8), device.storeID.data, device.heardAt.nanoseconds,
          device.identity.description,
        ])
    case .own(let store, let identity):
      try db.run(
        "INSERT OR REPLACE INTO store_owners (store, identity) VALUES (?, ?)", [store.data, identity.description])
    case .disown(let store): try db.run("DELETE FROM store_owners WHERE store = ?", [store.data])
    case .pair, .unpair, .setMemberVersion: try PairedRows.write(operation, db)
    case .forgetDevice(let device):
      for table in ["devices", "latest_sent", "latest_received"] {
        try db.run("DELETE FROM \(table) WHERE device = ?", [device.rawValue])
      }
    case .enqueue(let row): try outbox.enqueue(row, db)
    case .acknowledge(let stream, let sequence): try outbox.acknowledge(stream, through: sequence, db)
    case .remove(let stream, let sequence): try outbox.remove(stream, sequence, db)
    case .tombstone(let stream, let sequence): try outbox.tombstone(stream, sequence, db)
    case .countTries(let stream, let first, let last): try outbox.countTries(stream, from: first, through: last, db)
    case .renumber(let stream, let target): try outbox.renumber(stream, to: target, db)
    case .drop(let stream): try outbox.drop(stream, db)
    case .shiftRows(let span): try outbox.shift(by: span, db)
    case .quarantine(let quarantined):
      let message = quarantined.message
      var writer = ByteWriter()
      writer.append(message)
      try db.run("DELETE FROM quarantine WHERE id = ?", [message.id.data])
      try db.run(
        "INSERT INTO quarantine (id, receiver, reason, since, message) VALUES (?, ?, ?, ?, ?)",
        [
          message.id.data, quarantined.receiver.data, Data(quarantined.reason.utf8), quarantined.since.nanoseconds,
          writer.data,
        ])
    case .unquarantine(let id): try db.run("DELETE FROM quarantine WHERE id = ?", [id.data])
    case .setLatest(let row):
      try db.run(
        "INSERT OR REPLACE INTO latest_sent (device, key, version, flags, value) VALUES (?, ?, ?, ?, ?)",
        [
          row.device?.rawValue ?? "", LatestCoding.identity(row.key), Int64(bitPattern: row.version),
          row.isAcknowledged ? Self.acknowledged : 0, LatestCoding.encode(row.key, row.message),
        ])
    case .receiveLatest(let row):
      try db.run(
        "INSERT OR REPLACE INTO latest_received (device, key, store, version, value) VALUES (?, ?, ?, ?, ?)",
        [
          row.device.rawValue, LatestCoding.identity(row.key), row.store.data, Int64(bitPattern: row.version),
          LatestCoding.encode(row.key, row.message),
        ])
    }
  }

  private func append(_ entry: LedgerEntry, to runID: RunID, _ db: Database) throws {
    var (kind, payload) = JournalCoding.encode(entry.event)
    if case .transition(let transition) = entry.event {
      let last = try lastRevision(db)
      if transition.revision > last {
        state.withLock { $0.lastRevision = transition.revision }
      } else {
        kind = .amendment
      }
    }
    try db.run(
      "INSERT INTO journal (position, run, time, kind, payload) VALUES (?, ?, ?, ?, ?)",
      [
        Int64(bitPattern: entry.position), runNumber(runID, position: entry.position, db), entry.time.nanoseconds,
        kind.rawValue, payload,
      ])
  }

  /// The highest revision so far. Revisions only grow, so that it is the one that was written last.
  private func lastRevision(_ db: Database) throws -> UInt64 {
    if let known = state.withLock({ $0.lastRevision }) { return known }
    var revision: UInt64 = 0
    let rows = try Row.fetchCursor(db, sql: "SELECT payload FROM journal WHERE kind = 1 ORDER BY position DESC")
    while let row = try rows.next() {
      guard let payload = row.data("payload"),
        case .transition(let transition)? = JournalCoding.decode(kind: .transition, payload: payload)
      else { continue }
      revision = transition.revision
      break
    }
    state.withLock { [revision] in $0.lastRevision = revision }
    return revision
  }

  /// The short number of a run, which stands for its 16-byte id in every journal row. Positions only grow, so the first
  /// one is the lowest.
  private func runNumber(_ runID: RunID, position: UInt64, _ db: Database) throws -> Int64 {
    if let known = state.withLock({ $0.runNumbers[runID] }) { return known }
    try db.run(
      "INSERT OR IGNORE INTO runs (run, first_position) VALUES (?, ?)", [runID.data, Int64(bitPattern: position)])
    let statement = try db.cachedStatement(sql: "SELECT number FROM runs WHERE run = ?")
    guard let number = try Int64.fetchOne(statement, arguments: [runID.data]) else {
      throw StoreFault.damaged("a run that was just written cannot be read")
    }
    state.withLock { $0.runNumbers[runID] = number }
    return number
  }

  /// Converts every error into one of the faults that a node distinguishes.
  private func faulting<Result>(_ body: () throws -> Result) throws(StoreFault) -> Result {
    do {
      return try body()
    } catch {
      throw StoreFault(error)
    }
  }
}

extension Database {
  /// The errno behind the last read or write that failed on the log, or else on the file; 0 when there was none.
  /// `sqlite3_system_errno` stays 0 for these.
  fileprivate var lastSystemCode: CInt {
    var code: CInt = 0
    var log: UnsafeMutablePointer<sqlite3_file>?
    if sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) == SQLITE_OK, let log {
      _ = log.pointee.pMethods?.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &code)
    }
    if code == 0 { sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_LAST_ERRNO, &code) }
    return code
  }
}

extension StoreFault {
  /// Classifies a failure of the database.
  ///
  /// - Parameter systemCode: The errno behind a failed read or write; 0 when it is not known.
  init(_ error: any Error, systemCode: CInt = 0) {
    switch error {
    case let fault as StoreFault: self = fault
    case let error as DatabaseError: self.init(error, systemCode)
    case let error as RunBusError: self = .broken(error.message)
    // A value of a type that no version of a store writes there.
    default: self = .damaged("\(error)")
    }
  }

  private init(_ error: DatabaseError, _ systemCode: CInt) {
    let text = error.message.map { "\($0) (SQLite \(error.extendedResultCode.rawValue))" } ?? "\(error)"
    switch error.resultCode {
    case .SQLITE_FULL: self = .full
    case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
    case .SQLITE_IOERR:
      switch error.extendedResultCode {
      // The shared-memory file could not grow: the disk is full.
      case .SQLITE_IOERR_SHMSIZE: self = .full
      // ENOSPC is SQLITE_FULL already; EDQUOT, EFBIG, EROFS and EIO come here.
      case .SQLITE_IOERR_READ, .SQLITE_IOERR_WRITE:
        self = .refused(systemCode == 0 ? text : systemReason(systemCode))
      // After any other failure, fsync above all, the content of the disk is unknown.
      default: self = .broken(text)
      }
    // All statements are constants that match the tables, and the node writes nothing that contradicts the
    // rows it has read. When one of these errors occurs, the file is not as it was written.
    case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_SCHEMA,
      .SQLITE_TOOBIG:
      self = .damaged(text)
    default: self = .broken(text)
    }
  }
}
