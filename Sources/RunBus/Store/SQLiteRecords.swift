import Foundation
import GRDB
import RunCore
import Synchronization

/// Rows in one SQLite file, over one connection.
final class SQLiteRecords: StoreRecords {
  private struct State: Sendable {
    /// The short numbers of runs in the journal, as far as they were needed; emptied when a batch is rolled back.
    var runNumbers: [RunID: Int64] = [:]
    /// Where the last accepted press stands among them; `nil` until it is asked for.
    var lastAcceptedPosition: Int64?
    var commitsSinceCheckpoint = 0
  }
  private let queue: DatabaseQueue
  private let options: StoreOptions
  private let state = Mutex(State())

  /// A thousand-odd pages of log: small enough to be copied in a few milliseconds, rare enough not to matter.
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
          state.withLock { $0.runNumbers = [:] }
          // SQLite has rolled back by itself after some errors; a rollback that fails leaves the log without a commit.
          if db.isInsideTransaction { try? db.rollback() }
          throw error
        }
      }
    }
    state.withLock { $0.commitsSinceCheckpoint += 1 }
  }

  func history() throws(StoreFault) -> (history: HubHistory, notices: [String]) {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.read(db) } }
  }

  func term() throws(StoreFault) -> UInt64 {
    try faulting { try queue.writeWithoutTransaction { db in try HistoryReader.term(db) } }
  }

  func tidy() throws(StoreFault) {
    guard state.withLock({ $0.commitsSinceCheckpoint >= Self.commitsPerCheckpoint }) else { return }
    try faulting { _ = try queue.writeWithoutTransaction { db in try db.checkpoint(.passive) } }
    state.withLock { $0.commitsSinceCheckpoint = 0 }
  }

  func close() {
    // What the checkpoint cannot copy stays in the log, and the next opening finds it there.
    _ = try? queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    try? queue.close()
  }

  private static let acceptSQL = """
    INSERT OR REPLACE INTO accepted (\(PressColumns.names), class, position) VALUES (\(PressColumns.placeholders), ?, ?)
    """
  private static let judgeSQL = """
    INSERT INTO verdicts (\(PressColumns.names), \(VerdictColumns.names))
    VALUES (\(PressColumns.placeholders), \(VerdictColumns.placeholders))
    """

  /// Counts acceptances; what was rolled back leaves a hole, which nobody sees.
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
    case .accept(let press, let pressClass):
      let position = try nextAcceptedPosition(db)
      try db.run(Self.acceptSQL, PressColumns.values(press) + [pressClass.rawValue, position])
    case .reclassify(let id, let pressClass):
      try db.run("UPDATE accepted SET class = ? WHERE command = ?", [pressClass.rawValue, id.data])
    case .setWatermark(let stream, let mark):
      try db.run(
        "INSERT OR REPLACE INTO watermarks (sender, stream, sequence) VALUES (?, ?, ?)",
        [stream.sender.data, stream.kind.rawValue, Int64(bitPattern: mark.sequence)])
    case .judge(let verdict, let press, let judgedAt):
      try db.run("DELETE FROM accepted WHERE command = ?", [press.command.id.data])
      try db.run(Self.judgeSQL, PressColumns.values(press) + VerdictColumns.values(verdict, judgedAt: judgedAt))
    case .forgetVerdicts(let moment):
      try db.run("DELETE FROM verdicts WHERE judged_at < ?", [moment.nanoseconds])
    case .append(let runID, let entry):
      let (kind, payload) = JournalCoding.encode(entry.event)
      try db.run(
        "INSERT INTO journal (position, run, time, kind, payload) VALUES (?, ?, ?, ?, ?)",
        [
          Int64(bitPattern: entry.position), runNumber(runID, position: entry.position, db), entry.time.nanoseconds,
          kind.rawValue, payload,
        ])
    case .setAlias(let alias, let runID):
      try db.run("INSERT OR REPLACE INTO aliases (run, of) VALUES (?, ?)", [alias.data, runID.data])
    case .settle(let window):
      try db.run(
        "INSERT INTO windows (first, deadline, applied) VALUES (?, ?, ?)",
        [window.first.nanoseconds, window.deadline.nanoseconds, WindowCoding.encode(window.applied)])
      try db.run(
        "DELETE FROM windows WHERE position <= ?", [db.lastInsertedRowID - Int64(ControlHistory.windowsMax)])
    case .forgetStream, .setStoreID, .setHub, .setView, .meet, .enqueue, .acknowledge, .remove, .bury, .countTries,
      .rebind, .drop, .shiftRows, .quarantine, .unquarantine, .setLatest, .receiveLatest:
      break
    case .setClock(let real, let bus):
      let mark = ClockMark.now(real: real, bus: bus)
      try db.run(
        "INSERT OR REPLACE INTO clock (one, real, bus, boot, wall) VALUES (1, ?, ?, ?, ?)",
        [mark.real.nanoseconds, mark.bus.nanoseconds, mark.bootID, mark.wallSeconds])
    }
  }

  /// The short number of a run; samples are many and its id is long. Positions only grow, so the first is the lowest.
  private func runNumber(_ runID: RunID, position: UInt64, _ db: Database) throws -> Int64 {
    if let known = state.withLock({ $0.runNumbers[runID] }) { return known }
    try db.run(
      "INSERT OR IGNORE INTO runs (run, first_position) VALUES (?, ?)", [runID.data, Int64(bitPattern: position)])
    let statement = try db.cachedStatement(sql: "SELECT number FROM runs WHERE run = ?")
    guard let number = try Int64.fetchOne(statement, arguments: [runID.data]) else {
      throw StoreFault.broken("a run that was just written cannot be read")
    }
    state.withLock { $0.runNumbers[runID] = number }
    return number
  }

  /// Sorts whatever goes wrong into the faults that a node tells apart.
  private func faulting<Result>(_ body: () throws -> Result) throws(StoreFault) -> Result {
    do {
      return try body()
    } catch {
      throw StoreFault(error)
    }
  }
}

extension Database {
  /// Runs a statement that stays prepared.
  fileprivate func run(_ sql: String, _ values: [(any DatabaseValueConvertible)?]) throws {
    let statement = try cachedStatement(sql: sql)
    statement.setUncheckedArguments(StatementArguments(values))
    try statement.execute()
  }
}

extension StoreFault {
  /// What a failure of the database means for a node.
  init(_ error: any Error) {
    switch error {
    case let fault as StoreFault: self = fault
    case let error as DatabaseError:
      switch error.resultCode {
      // The shared-memory file could not grow: the same full disk by another name.
      case .SQLITE_FULL: self = .full
      case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE: self = .full
      case .SQLITE_READONLY, .SQLITE_PERM: self = .readOnly
      default: self = .broken(error.message.map { "\($0) (SQLite \(error.extendedResultCode.rawValue))" } ?? "\(error)")
      }
    default: self = .broken("\(error)")
    }
  }
}
