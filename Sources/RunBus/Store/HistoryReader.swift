import Foundation
import GRDB
import GRDBSQLite
import RunCore
import RunWire

/// Reads a store when its node starts. A row that is damaged, or of a kind of a later version, is left out and counted;
/// the others are used.
struct HistoryReader {
  private let db: Database
  /// What could not be read, for people.
  private var notices: [String] = []
  /// The devices of readings by their numbers; `nil` until a journal is read.
  private var journalDevices: [UInt32: DeviceID]?

  private init(_ db: Database) { self.db = db }

  static func readHub(_ db: Database) throws -> (history: HubHistory, notices: [String]) {
    var reader = HistoryReader(db)
    var history = HubHistory()
    history.term = try term(db)
    history.lastPosition = try JournalSweep.lastPosition(db)
    history.clock = try reader.readClock()
    try reader.readNumbers()
    try reader.readControl(into: &history)
    history.delivery = try reader.readDelivery()
    history.devices = try reader.readDevices()
    history.storeOwners = try reader.readStoreOwners()
    history.members = try reader.readMembers()
    history.rooms = try reader.readRooms()
    try reader.readRecords(into: &history)
    try reader.readEnded(into: &history)
    history.transitions = try reader.readTransitions()
    if let runID = history.presentRun { history.journal = try reader.readJournal(of: runID) }
    return (history, try reader.news())
  }

  private mutating func readRooms() throws -> [RoomID: [RoomRow]] {
    guard try db.tableExists("room_rows") else { return [:] }
    var rooms: [RoomID: [RoomRow]] = [:]
    try each("room_rows", "SELECT room, row FROM room_rows ORDER BY position") { row in
      guard let room: RoomID = row.identifier("room"), let bytes = row.data("row") else { return false }
      rooms[room, default: []].append(try Codec.roomRow([UInt8](bytes)))
      return true
    }
    return rooms
  }

  /// The journal of a run, in order.
  static func journal(_ db: Database, of runID: RunID) throws -> [LedgerEntry] {
    var reader = HistoryReader(db)
    var entries = try reader.readJournal(of: runID)
    // A core that makes a record wants them so, and has less time than the thread of the store.
    LedgerEntry.sort(&entries)
    return entries
  }

  private mutating func readJournal(of runID: RunID) throws -> [LedgerEntry] {
    var entries: [LedgerEntry] = []
    let journal = """
      SELECT \(Self.entryColumns) FROM journal JOIN runs ON runs.number = journal.run
      WHERE runs.run = ? AND journal.position >= runs.first_position
        AND (runs.swept_to IS NULL OR journal.kind IN \(JournalSweep.keptKinds)) ORDER BY journal.position
      """
    let devices = try devicesOfReadings()
    try each("journal", in: journal, of: runID) { row in
      guard let entry = try Self.entry(row, devices) else { return false }
      entries.append(entry)
      return true
    }
    return entries
  }

  static func readPeer(_ db: Database) throws -> (history: PeerHistory, notices: [String]) {
    var reader = HistoryReader(db)
    var history = PeerHistory()
    history.term = try term(db)
    history.clock = try reader.readClock()
    try reader.readNumbers()
    try reader.each("hub", "SELECT * FROM hub") { row in
      guard let storeID: StoreID = row.identifier("store"), let deviceID = row.text("device").flatMap({ DeviceID($0) })
      else { return false }
      history.hub = (storeID, deviceID)
      return true
    }
    try reader.each("view", "SELECT * FROM view") { row in
      history.view = try Codec.view(try row.sealed("snapshot"))
      return true
    }
    try reader.each("failure_mark", "SELECT * FROM failure_mark") { row in
      history.failureMark = try Codec.failureMark(try row.sealed("mark"))
      return true
    }
    history.delivery = try reader.readDelivery()
    var records = HubHistory()
    try reader.readRecords(into: &records)
    (history.records, history.removedRecords) = (records.records, records.removedRecords)
    history.recordsThrough = try RecordRows.through(db)
    return (history, try reader.news())
  }

  static func term(_ db: Database) throws -> UInt64 {
    try StoreNumbers.read("term", db) ?? 0
  }

  /// Names the numbers of `meta` that cannot be read.
  private mutating func readNumbers() throws {
    try each("meta", "SELECT key FROM meta WHERE \(StoreNumbers.areDamaged)") { _ in false }
  }

  /// The notices that no earlier start gave. Rows that cannot be read stay where they are, so each start finds them again.
  private func news() throws -> [String] {
    let all = notices.joined(separator: "\n")
    let told = try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'told'")?.text("value") ?? ""
    guard all != told else { return [] }
    // A disk that takes nothing now costs a repetition. The node's first commit finds that out by itself.
    try? db.execute(sql: "INSERT OR REPLACE INTO meta (key, value) VALUES ('told', ?)", arguments: [all])
    let earlier = Set(told.split(separator: "\n").map(String.init))
    return notices.filter { !earlier.contains($0) }
  }

  /// Calls `take` for each row and counts the rows that it cannot decode, and those of a kind that is not known.
  mutating func each(
    _ table: String, _ sql: String, _ arguments: StatementArguments = [], _ take: (Row) throws -> Bool
  ) throws {
    var left = LeftOut()
    let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
    while let row = try rows.next() { try left.count { try take(row) } }
    note(left, table)
  }

  /// As ``each(_:_:_:_:)`` for a query about a run, with its rows where SQLite has them: a journal has hundreds of
  /// thousands, and a row of GRDB's costs more than the entry in it.
  private mutating func each(
    _ table: String, in sql: String, of run: RunID, _ take: (OpaquePointer) throws -> Bool
  ) throws {
    let owner = try db.makeStatement(sql: sql)
    defer { withExtendedLifetime(owner) {} }
    let statement = owner.sqliteStatement
    run.put(into: statement, at: 1)
    var left = LeftOut()
    var code = sqlite3_step(statement)
    while code == SQLITE_ROW {
      try left.count { try take(statement) }
      code = sqlite3_step(statement)
    }
    guard code == SQLITE_DONE else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
    }
    note(left, table)
  }

  /// How many rows were left out.
  private struct LeftOut {
    var (damaged, unknown) = (0, 0)

    mutating func count(_ take: () throws -> Bool) throws {
      do {
        if try !take() { damaged += 1 }
      } catch StoredError.damaged {
        damaged += 1
      } catch StoredError.unknownKind {
        unknown += 1
      }
    }
  }

  private mutating func note(_ left: LeftOut, _ table: String) {
    let (damaged, unknown) = (left.damaged, left.unknown)
    if damaged > 0 { notices.append("\(damaged) row(s) of \(table) in the store could not be read and were left out") }
    if unknown > 0 {
      notices.append("\(unknown) row(s) of \(table) in the store are of a newer RunBus and were left out; they stay")
    }
  }

  private mutating func readControl(into history: inout HubHistory) throws {
    try each("accepted", "SELECT * FROM accepted ORDER BY position") { row in
      let (press, admission) = try Codec.accepted(try row.sealed("press"))
      guard row.identifier("command") == press.command.id, row.integer("position", in: StoredNumber.own) != nil else {
        return false
      }
      history.accepted.append((press, admission))
      return true
    }
    try each("claims", "SELECT * FROM claims ORDER BY command, store") { row in
      guard let id: CommandID = row.identifier("command"), let store: StoreID = row.identifier("store") else {
        return false
      }
      history.claims[id, default: []].append(store)
      return true
    }
    // Of a command that was judged twice, the last verdict counts. A unique index that prevents this would cost every
    // commit.
    let verdicts = """
      SELECT * FROM verdicts WHERE position IN (SELECT MAX(position) FROM verdicts GROUP BY command) ORDER BY position
      """
    try each("verdicts", verdicts) { row in
      let (verdict, press, judgedAt) = try Codec.verdict(try row.sealed("verdict"))
      guard row.identifier("command") == press.command.id, row.integer("judged_at") == judgedAt.nanoseconds,
        row.counter("position", in: StoredNumber.own) != nil
      else { return false }
      history.verdicts.append((verdict, press, judgedAt))
      return true
    }
    try each("aliases", "SELECT * FROM aliases") { row in
      guard let alias: RunID = row.identifier("run"), let runID: RunID = row.identifier("of") else { return false }
      history.aliases[alias] = runID
      return true
    }
    try each("recovery", "SELECT * FROM recovery") { row in
      guard let runID: RunID = row.identifier("run"), let discarded = row.integer("discarded"),
        let since = row.optionalMoment("silent_since")
      else { return false }
      if let since { history.unanswered[runID] = since }
      if discarded != 0 { history.discarded.insert(runID) }
      return true
    }
    try each("windows", "SELECT * FROM windows ORDER BY position") { row in
      guard row.counter("position", in: StoredNumber.own) != nil else { return false }
      history.windows.append(try Codec.window(try row.sealed("settled")))
      return true
    }
  }

  /// The last transitions with a revision and the last amendments. They are read apart, so that many of one kind never
  /// hide the other.
  private mutating func readTransitions() throws -> [PastTransition] {
    var found: [(position: UInt64, transition: PastTransition)] = []
    let devices = try devicesOfReadings()
    for kind in [JournalKind.transition, .amendment] {
      let sql = """
        SELECT \(Self.entryColumns), runs.run AS run_id FROM journal JOIN runs ON runs.number = journal.run
        WHERE kind = \(kind.rawValue) ORDER BY journal.position DESC LIMIT \(ControlHistory.transitionsMax)
        """
      try each("journal", sql) { row in
        guard let entry = try Self.entry(row, devices), case .transition(let transition) = entry.event,
          let runID: RunID = row.identifier("run_id")
        else { return false }
        found.append((entry.position, PastTransition(transition, runID: runID, effectiveAt: entry.time)))
        return true
      }
    }
    return found.sorted { $0.position < $1.position }.map(\.transition)
  }

  private mutating func readClock() throws -> ClockMark? {
    var mark: ClockMark?
    try each("clock", "SELECT * FROM clock") { row in
      guard let real = row.moment("real"), let bus = row.moment("bus"), let boot = row.text("boot"),
        let wall = row.real("wall")
      else { return false }
      mark = ClockMark(real: real, bus: bus, bootID: boot, wallSeconds: wall)
      return true
    }
    return mark
  }

  /// The columns of an entry in the order in which ``entry(_:_:)`` reads them.
  private static let entryColumns = "journal.position, journal.kind, journal.entry"

  private static func entry(_ row: Row, _ devices: [UInt32: DeviceID]) throws(StoredError) -> LedgerEntry? {
    guard let position = row.integer(at: 0), let kind: Int64? = row.optionalInteger(at: 1),
      let bytes = row.data(at: 2)
    else { return nil }
    return try entry(position, kind, try Codec.entry([UInt8](bytes)) { devices[$0] })
  }

  private static func entry(
    _ row: OpaquePointer, _ devices: [UInt32: DeviceID]
  ) throws(StoredError) -> LedgerEntry? {
    guard sqlite3_column_type(row, 0) == SQLITE_INTEGER, sqlite3_column_type(row, 2) == SQLITE_BLOB else { return nil }
    let kind: Int64?
    switch sqlite3_column_type(row, 1) {
    case SQLITE_NULL: kind = nil
    case SQLITE_INTEGER: kind = sqlite3_column_int64(row, 1)
    default: return nil
    }
    let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(row, 2), count: Int(sqlite3_column_bytes(row, 2)))
    return try entry(sqlite3_column_int64(row, 0), kind, try Codec.entry(bytes) { devices[$0] })
  }

  private static func entry(_ position: Int64, _ kind: Int64?, _ entry: Codec.StoredEntry) throws(StoredError)
    -> LedgerEntry?
  {
    guard StoredNumber.own.contains(position), JournalKind.isConsistent(kind, with: entry.event) else { return nil }
    return LedgerEntry(time: entry.time, position: UInt64(bitPattern: position), event: entry.event)
  }

  private mutating func devicesOfReadings() throws -> [UInt32: DeviceID] {
    if let journalDevices { return journalDevices }
    let (devices, damaged) = try JournalDevices.read(db)
    if damaged > 0 {
      notices.append("\(damaged) row(s) of journal_devices in the store could not be read and were left out")
    }
    journalDevices = devices
    return devices
  }
}
