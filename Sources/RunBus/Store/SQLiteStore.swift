import Foundation
import GRDB
import RunCore
import RunWire
import Synchronization

/// The tables of a store in one SQLite file, over one connection.
final class SQLiteStore: Sendable {
  private struct State: Sendable {
    /// A cache of the short numbers of runs in the journal; emptied when a batch is rolled back.
    var runNumbers: [RunID: Int64] = [:]
    /// A cache of the numbers of devices in the journal; emptied likewise, and `nil` until it is needed.
    var deviceNumbers: [DeviceID: UInt32]?
    /// The highest position in each table that has some; without those that were not needed yet.
    var lastPositions: [PositionedTable: Int64] = [:]
    /// The highest revision in the journal; `nil` until it is needed.
    var lastRevision: UInt64?
    var commitsSinceCheckpoint = 0
    /// Whether a dropped journal may still have rows.
    var mustSweep = true
  }
  private let queue: DatabaseQueue
  private let state = Mutex(State())
  private let outbox = SQLiteOutbox()
  private let statements = PreparedStatements()

  /// 256 commits make a log of about a thousand pages, which a checkpoint copies in a few milliseconds.
  private static let commitsPerCheckpoint = 256

  init(_ queue: DatabaseQueue) { self.queue = queue }

  /// Writes commits in order and what the tables know about the log then, or nothing.
  func commit(_ commits: [LoggedCommit], _ mark: LogMark) throws(StoreFault) {
    try faulting {
      try queue.writeWithoutTransaction { db in
        do {
          // Through GRDB, which keeps account of transactions.
          try statements.statement("BEGIN IMMEDIATE", db).execute()
          let writer = StoreWriter(connection: db, statements: statements)
          try execute(commits, writer)
          try writer.run(LogMark.write, mark.bytes)
          try statements.statement("COMMIT", db).execute()
        } catch {
          // Read before the rollback, whose own system calls would overwrite it.
          let fault = StoreFault(error, systemCode: db.lastSystemCode)
          // A statement that failed would report that failure once more when it is used again.
          statements.forget()
          forgetBatch()
          // SQLite has already rolled back after some errors. If a rollback fails, the log still has no commit of the
          // batch.
          if db.isInsideTransaction { try? db.rollback() }
          throw fault
        }
      }
    }
    state.withLock { $0.commitsSinceCheckpoint += max(1, commits.count) }
  }

  /// Writes what can be written of commits whose predecessors may be lost. Returns how many of their operations cannot.
  func salvage(_ commits: [LoggedCommit]) throws(StoreFault) -> Int {
    try faulting {
      try queue.write { db in
        let writer = StoreWriter(connection: db, statements: statements)
        var failed = 0
        for commit in commits {
          for operation in commit.operations {
            do {
              try execute(operation, of: commit, writer)
            } catch {
              guard StoreFault(error).isDamage else { throw error }
              failed += 1
            }
          }
        }
        statements.forget()
        return failed
      }
    }
  }

  /// Empties the caches, which may contain rows of a batch that was rolled back.
  private func forgetBatch() {
    state.withLock { state in
      state.runNumbers = [:]
      state.deviceNumbers = nil
      state.lastRevision = nil
    }
    outbox.forget()
  }

  /// Makes the store a hub's or a peer's when no node has used it. Returns whose history it holds.
  func claim(for role: StoreRole) throws(StoreFault) -> StoreRole {
    try faulting {
      try queue.write { db in
        if let stored = try StoreRole(storedIn: db) { return stored }
        try role.write(db)
        return role
      }
    }
  }

  /// Reads, as if commits had been written that the disk does not take now.
  func read<Value>(with commits: [LoggedCommit], _ read: (Database) throws -> Value) throws(StoreFault) -> Value {
    try faulting {
      try queue.writeWithoutTransaction { db in
        guard !commits.isEmpty else { return try read(db) }
        try db.beginTransaction(.immediate)
        defer {
          statements.forget()
          forgetBatch()
          try? db.rollback()
        }
        let writer = StoreWriter(connection: db, statements: statements)
        try execute(commits, writer)
        return try read(db)
      }
    }
  }

  func recordPart(of run: RunID, from: Int) throws(StoreFault) -> StoredRecord? {
    try faulting {
      try queue.writeWithoutTransaction { db in
        try RecordRows.part(of: run, from: from, StoreWriter(connection: db, statements: statements))
      }
    }
  }

  /// Copies the tables into an empty file, with another mark of a log.
  func backUp(to file: String, _ mark: LogMark) throws(StoreFault) {
    try faulting {
      let copy = try DatabaseQueue(path: file)
      do {
        try queue.backup(to: copy)
        try copy.write { db in try db.execute(sql: "\(LogMark.write)", arguments: [Data(mark.bytes)]) }
        try StoreFile.closeWhole(copy)
      } catch {
        try? copy.close()
        throw error
      }
    }
  }

  /// Does a piece of deferred work, such as a checkpoint. Returns whether there is more of it.
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

  /// Closes the file. Called once, after every other call.
  func close() {
    // Dropped journals are swept before the store closes. What a failing disk prevents is swept after the next opening.
    while (try? tidy()) == true {}
    // What the checkpoint cannot copy stays in the log, where the next opening finds it.
    _ = try? queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) }
    statements.forget()
    try? queue.close()
  }

  private enum PositionedTable {
    case accepted, verdicts, windows, quarantine

    /// Positions out of range (``StoredNumber``) are damaged, and do not count.
    var highest: StaticString {
      switch self {
      case .accepted: "SELECT MAX(position) FROM accepted WHERE position BETWEEN 1 AND ?"
      case .verdicts: "SELECT MAX(position) FROM verdicts WHERE position BETWEEN 1 AND ?"
      case .windows: "SELECT MAX(position) FROM windows WHERE position BETWEEN 1 AND ?"
      case .quarantine: "SELECT MAX(position) FROM quarantine WHERE position BETWEEN 1 AND ?"
      }
    }
  }

  /// The next position in a table. A batch that is rolled back leaves a gap, which has no effect.
  private func nextPosition(in table: PositionedTable, _ db: StoreWriter) throws -> Int64 {
    let known = state.withLock { $0.lastPositions[table] }
    let last = try known ?? db.first(table.highest, StoredNumber.own.upperBound) { $0.integer(0) } ?? 0
    state.withLock { $0.lastPositions[table] = last + 1 }
    return last + 1
  }

  private func execute(_ commits: [LoggedCommit], _ db: StoreWriter) throws {
    if commits.count == 1, let commit = commits.first {
      for operation in commit.operations { try execute(operation, of: commit, db) }
      return
    }
    var superseded = SupersededOperations()
    var kept: [(operation: StoreOperation, commit: Int)] = []
    for (number, commit) in commits.enumerated().reversed() {
      for operation in commit.operations.reversed() where superseded.keeps(operation) {
        kept.append((operation, number))
      }
    }
    for (operation, number) in kept.reversed() { try execute(operation, of: commits[number], db) }
  }

  private func execute(_ operation: StoreOperation, of commit: LoggedCommit, _ db: StoreWriter) throws {
    switch operation {
    case .setTerm(let term):
      try db.run("UPDATE meta SET value = ? WHERE key = 'term'", Int64(bitPattern: term))
    case .accept(let press, let admission):
      let position = try nextPosition(in: .accepted, db)
      try db.run(
        "INSERT OR REPLACE INTO accepted (command, position, press) VALUES (?, ?, ?)",
        press.command.id, position, Codec.stored(press, admission))
    case .claim(let id, let store):
      try db.run("INSERT OR REPLACE INTO claims (command, store) VALUES (?, ?)", id, store)
    case .reclassify(let id, let admission): try reclassify(id, admission, db)
    case .setWatermark(let stream, let mark):
      try db.run(
        "INSERT OR REPLACE INTO watermarks (sender, stream, sequence, id) VALUES (?, ?, ?, ?)",
        stream.sender, stream.kind.rawValue, Int64(bitPattern: mark.sequence), mark.id)
    case .forgetStream(let stream):
      try db.run(
        "DELETE FROM watermarks WHERE sender = ? AND stream = ?", stream.sender, stream.kind.rawValue)
    case .judge(let verdict, let press, let judgedAt):
      try db.run("DELETE FROM accepted WHERE command = ?", press.command.id)
      try db.run("DELETE FROM claims WHERE command = ?", press.command.id)
      try db.run(
        "INSERT OR REPLACE INTO verdicts (position, command, judged_at, verdict) VALUES (?, ?, ?, ?)",
        try nextPosition(in: .verdicts, db), press.command.id,
        StoredNumber.nanoseconds(judgedAt),
        Codec.stored(verdict, of: press, judgedAt: judgedAt))
    case .forgetVerdicts(let moment):
      try db.run("DELETE FROM verdicts WHERE judged_at < ?", moment.nanoseconds)
    case .append(let runID, let entry):
      try append(entry, to: runID, db)
    case .setAlias(let alias, let runID):
      try db.run("INSERT OR REPLACE INTO aliases (run, of) VALUES (?, ?)", alias, runID)
    case .setUnanswered(let runID, let since):
      try db.run(
        "INSERT INTO recovery (run, silent_since) VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET silent_since = ?2",
        runID, since.map(StoredNumber.nanoseconds))
    case .discard(let runID):
      try db.run(
        "INSERT INTO recovery (run, discarded) VALUES (?, 1) ON CONFLICT (run) DO UPDATE SET discarded = 1",
        runID)
    case .settle(let window):
      let position = try nextPosition(in: .windows, db)
      try db.run(
        "INSERT OR REPLACE INTO windows (position, settled) VALUES (?, ?)", position, Codec.stored(window))
      try db.run("DELETE FROM windows WHERE position <= ?", position - Int64(ControlHistory.windowsMax))
    case .setClock(let real, let bus):
      try db.run(
        "INSERT OR REPLACE INTO clock (one, real, bus, boot, wall) VALUES (1, ?, ?, ?, ?)",
        StoredNumber.nanoseconds(real), StoredNumber.nanoseconds(bus), commit.bootID, commit.wallSeconds)
    case .setStoreID(let storeID): try db.run("UPDATE meta SET value = ? WHERE key = 'store'", storeID)
    case .setHub(let storeID, let deviceID):
      try db.run(
        "INSERT OR REPLACE INTO hub (one, store, device) VALUES (1, ?, ?)", storeID, deviceID.rawValue)
    case .setView(let view):
      try db.run("INSERT OR REPLACE INTO view (one, snapshot) VALUES (1, ?)", Codec.stored(view))
    case .setFailureMark(let mark):
      // Only a new alarm sets the wall time; later marks keep it.
      try db.run(
        """
        INSERT INTO failure_mark (one, mark, wall) VALUES (1, ?, ?)
        ON CONFLICT (one) DO UPDATE SET mark = excluded.mark, wall = COALESCE(excluded.wall, wall)
        """,
        Codec.stored(mark), mark.duty == .alarmed ? commit.wallSeconds : nil)
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
        device.deviceID.rawValue, Array(device.role.rawValue.utf8), device.storeID,
        StoredNumber.nanoseconds(device.heardAt), device.identity.description)
    case .own(let store, let identity):
      try db.run(
        "INSERT OR REPLACE INTO store_owners (store, identity) VALUES (?, ?)", store, identity.description)
    case .disown(let store): try db.run("DELETE FROM store_owners WHERE store = ?", store)
    case .pair, .unpair, .setMemberVersion: try PairedRows.write(operation, db)
    case .forgetDevice(let device):
      try db.run("DELETE FROM devices WHERE device = ?", device.rawValue)
      try db.run("DELETE FROM latest_sent WHERE device = ?", device.rawValue)
      try db.run("DELETE FROM latest_received WHERE device = ?", device.rawValue)
    case .enqueue(let row): try outbox.enqueue(row, db)
    case .acknowledge(let stream, let sequence): try outbox.acknowledge(stream, through: sequence, db)
    case .remove(let stream, let sequence): try outbox.remove(stream, sequence, db)
    case .tombstone(let stream, let sequence): try outbox.tombstone(stream, sequence, db)
    case .countTries(let stream, let first, let last): try outbox.countTries(stream, from: first, through: last, db)
    case .renumber(let stream, let target): try outbox.renumber(stream, to: target, db)
    case .drop(let stream): try outbox.drop(stream, db)
    case .shiftRows(let span): try outbox.shift(by: span, db)
    case .quarantine(let quarantined):
      let id = quarantined.message.id
      try db.run("DELETE FROM quarantine WHERE id = ?", id)
      try db.run(
        "INSERT OR REPLACE INTO quarantine (position, id, since, message) VALUES (?, ?, ?, ?)",
        try nextPosition(in: .quarantine, db), id, StoredNumber.nanoseconds(quarantined.since),
        Codec.stored(quarantined))
    case .unquarantine(let id): try db.run("DELETE FROM quarantine WHERE id = ?", id)
    case .keepRoom(let room, let rows):
      try db.run(StoreSchema.rooms)
      for row in rows {
        try db.run("INSERT INTO room_rows (room, row) VALUES (?, ?)", room, Codec.stored(row))
      }
    case .forgetRoom(let room):
      try db.run(StoreSchema.rooms)
      try db.run("DELETE FROM room_rows WHERE room = ?", room)
    case .setLatest(let row):
      try setLatest(
        row.device, row.key, db, old: "SELECT value FROM latest_sent WHERE device = ? AND key = ?",
        new: "INSERT OR REPLACE INTO latest_sent (device, key, value) VALUES (?, ?, ?)"
      ) { Codec.stored(row, replacing: $0) }
    case .receiveLatest(let row):
      try setLatest(
        row.device, row.key, db, old: "SELECT value FROM latest_received WHERE device = ? AND key = ?",
        new: "INSERT OR REPLACE INTO latest_received (device, key, value) VALUES (?, ?, ?)"
      ) { Codec.stored(row, replacing: $0) }
    }
  }

  /// Writes a newest value, with what is stored of its key now at hand.
  private func setLatest(
    _ device: DeviceID?, _ key: String, _ db: StoreWriter, old: StaticString, new: StaticString,
    _ bytes: ([UInt8]?) -> [UInt8]
  ) throws {
    let (name, identity) = (device?.rawValue ?? "", Array(ValueKey.identity(key)))
    try db.run(new, name, identity, bytes(try db.first(old, name, identity) { $0.bytes(0) }))
  }

  /// A row that cannot be read stays as it is.
  private func reclassify(_ id: CommandID, _ admission: Admission, _ db: StoreWriter) throws {
    guard let bytes = try db.first("SELECT press FROM accepted WHERE command = ?", id, read: { $0.bytes(0) }),
      let press = try? Codec.readmitted(bytes, as: admission)
    else { return }
    try db.run("UPDATE accepted SET press = ? WHERE command = ?", press, id)
  }

  private func append(_ entry: LedgerEntry, to runID: RunID, _ db: StoreWriter) throws {
    var kind = JournalKind(entry.event)
    var device: UInt32 = 0
    if case .sample(_, let deviceID) = entry.event { device = try deviceNumber(deviceID, db) }
    if case .transition(let transition) = entry.event {
      let last = try lastRevision(db)
      if transition.revision > last {
        state.withLock { $0.lastRevision = transition.revision }
      } else {
        kind = .amendment
      }
    }
    let number = try runNumber(runID, position: entry.position, db)
    try db.run(
      "INSERT INTO journal (position, run, kind, entry) VALUES (?, ?, ?, ?)", Int64(bitPattern: entry.position), number,
      kind?.rawValue, Codec.stored(entry.event, at: entry.time, device: device))
  }

  /// The highest revision so far. Revisions only grow, so that it is the one that was written last.
  private func lastRevision(_ db: StoreWriter) throws -> UInt64 {
    if let known = state.withLock({ $0.lastRevision }) { return known }
    var revision: UInt64 = 0
    let rows = try Row.fetchCursor(
      db.connection, sql: "SELECT entry FROM journal WHERE kind = 1 ORDER BY position DESC")
    while let row = try rows.next() {
      guard let found = (try? row.sealed("entry")).flatMap(Codec.revision) else { continue }
      revision = found
      break
    }
    state.withLock { [revision] in $0.lastRevision = revision }
    return revision
  }

  /// The short number of a run, which stands for its 16-byte id in every journal row. Positions only grow, so the first
  /// one is the lowest.
  private func runNumber(_ runID: RunID, position: UInt64, _ db: StoreWriter) throws -> Int64 {
    if let known = state.withLock({ $0.runNumbers[runID] }) { return known }
    try db.run(
      "INSERT OR IGNORE INTO runs (run, first_position) VALUES (?, ?)", runID, Int64(bitPattern: position))
    guard let number = try db.first("SELECT number FROM runs WHERE run = ?", runID, read: { $0.integer(0) }) else {
      throw StoreFault.damaged("a run that was just written cannot be read")
    }
    state.withLock { $0.runNumbers[runID] = number }
    return number
  }

  /// The number of a device, which stands for its name in the entries of its readings. A number is never given again.
  private func deviceNumber(_ device: DeviceID, _ db: StoreWriter) throws -> UInt32 {
    if let known = state.withLock({ $0.deviceNumbers?[device] }) { return known }
    var numbers = try JournalDevices.numbers(db.connection)
    if numbers[device] == nil { numbers[device] = try JournalDevices.add(device, db) }
    state.withLock { [numbers] in $0.deviceNumbers = numbers }
    return numbers[device] ?? 0
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
