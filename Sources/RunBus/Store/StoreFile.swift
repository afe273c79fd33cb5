import Foundation
import GRDB
import RunCore
import RunWire
import SystemC

/// The file of a store: opens it, checks it, and replaces it when it is damaged.
struct StoreFile {
  static let name = "node.sqlite"
  /// What the names of the log's segments begin with.
  static let log = "node.log"
  /// The file of a new store while it is being made.
  private static let new = "new.tmp"
  /// Microseconds between two attempts of a starting node to acquire a lock that another process holds.
  private static let lockEvery: UInt32 = 20_000

  let records: LoggedStore
  let nodeID: NodeID
  let storeID: StoreID
  /// `nil` until a node has used the store.
  let role: StoreRole?
  /// The files that must stay at their paths while the store is open.
  let files: [FileIdentity]
  /// Sentences for the log of the node.
  let notices: [String]

  /// Makes the directory if necessary and acquires its lock; waits up to `patience` while another process holds it.
  static func lock(
    _ directory: String, _ device: DeviceID?, patience: BusDuration = .zero
  ) throws(RunBusError) -> FileLock {
    try PrivateDirectory.make(directory, for: .store)
    PrivateDirectory.adaptToDevice(directory)
    let holderName = device?.rawValue ?? (directory as NSString).lastPathComponent
    let path = directory + "/lock"
    let deadline = Loop.now + patience
    while true {
      do {
        return try FileLock(path: path, name: holderName)
      } catch {
        switch error {
        case .held(let holder):
          guard Loop.now >= deadline else {
            usleep(lockEvery)
            continue
          }
          throw RunBusError(.storeHeld, "the store in \(directory) is held by \(holder.description)")
        case .obstructed: throw RunBusError(.store, "\(path) is not a file: move it away")
        case .system(let code): throw RunBusError(.store, explain(code, directory))
        }
      }
    }
  }

  /// What prevents a node from using the store in a directory; empty when nothing does. Makes nothing and takes no lock,
  /// so it does not tell whether another process holds the store.
  static func obstacles(in directory: String) -> [RunBusError] {
    if let obstacle = PrivateDirectory.obstacle(toUsing: directory, for: .store) {
      return [RunBusError(.store, obstacle)]
    }
    let paths = ["\(directory)/lock", "\(directory)/\(name)"] + StoreLog.paths(in: directory)
    var found = paths.compactMap { path -> RunBusError? in
      if FileLock.isObstructed(path) { return RunBusError(.store, "\(path) is not a file: move it away") }
      guard access(path, R_OK | W_OK) != 0, errno != ENOENT else { return nil }
      return RunBusError(.store, explain(errno, directory))
    }
    do { try refuseOtherVersions(directory) } catch { if let error = error as? RunBusError { found.append(error) } }
    return found
  }

  /// Opens or creates the file in a directory whose lock the caller holds.
  ///
  /// - Throws: ``RunBusError/Code/storeMismatch`` for a store of another version, or of another role than `role`, or one
  ///   in which something waits that only a later version can work on; ``RunBusError/Code/store`` otherwise.
  init(directory: String, role: StoreRole?, options: StoreOptions) throws(RunBusError) {
    self = try Self.explaining(directory) {
      try Self.refuseOtherVersions(directory)
      try LaterKinds.refuse(in: directory)
      try Self.finishReplacing(directory)
      // The header is put right before SQLite reads it.
      let repair = HeaderRepair(of: directory + "/" + Self.name)
      try repair?.write()
      if repair != nil { try LaterKinds.refuse(in: directory) }
      let notices = repair.map { ["\($0.damage(in: directory)); it was rebuilt, and nothing is lost"] } ?? []
      do {
        return try Self.openChecked(directory, role, options, notices)
      } catch let damage as Damage {
        // A file that was cut off is set aside with the size that it had.
        try repair?.undoSize()
        return try Self.replace(directory, options, damage, readsBack: true, notices: [])
      }
    }
  }

  /// Replaces the file in a directory whose lock the caller holds. The file must be closed.
  init(
    replacingIn directory: String, because fault: StoreFault, readsBack: Bool, options: StoreOptions
  ) throws(RunBusError) {
    self = try Self.explaining(directory) {
      try Self.replace(directory, options, Damage(what: fault.reason), readsBack: readsBack, notices: [])
    }
  }

  private init(
    _ queue: DatabaseQueue, _ directory: String, _ options: StoreOptions, _ notices: [String]
  ) throws {
    let tables = SQLiteStore(queue)
    let log = try Self.drained(tables, queue, directory)
    guard let identity = try queue.read(Self.identity) else { throw Damage(what: "it has no identity") }
    (nodeID, storeID, role) = identity
    records = LoggedStore(tables, in: directory, log.mark, options: options)
    let path = directory + "/" + Self.name
    files = [path, path + "-wal"].compactMap(FileIdentity.init(path:))
    self.notices = notices + log.notices
  }

  /// The tables take over what a node that was killed has left in its log.
  private static func drained(
    _ tables: SQLiteStore, _ queue: DatabaseQueue, _ directory: String
  ) throws -> (mark: LogMark, notices: [String]) {
    let found = try queue.read { try LogFindings($0, in: directory) }
    guard var mark = found.mark else { return (LogMark(key: StoreLog.newKey(), drained: 0, isOpen: false), []) }
    guard let last = found.tail.commits.last else { return (mark, []) }
    let (commits, unreadable) = try LogFindings.decode(found.tail.commits)
    mark.drained = last.position
    try tables.commit(commits, mark)
    return (mark, unreadable == 0 ? [] : ["\(unreadable) entries of the log of \(directory) could not be read"])
  }

  /// The file is no store, or a damaged one.
  struct Damage: Error { let what: String }

  private static func explaining(_ directory: String, _ body: () throws -> Self) throws(RunBusError) -> Self {
    do {
      return try body()
    } catch let error as RunBusError {
      throw error
    } catch {
      throw RunBusError(.store, explain(error, directory), cause: error)
    }
  }

  // MARK: Opening

  /// Refuses a store of another version. Only the headers are read, so no byte of the directory changes.
  static func refuseOtherVersions(_ directory: String) throws {
    for file in [name, salvaged] {
      guard let version = StoreHeader(at: "\(directory)/\(file)")?.version, version != StoreSchema.version else {
        continue
      }
      throw RunBusError(
        .storeMismatch,
        version > StoreSchema.version
          ? "the store in \(directory) was written by a newer RunBus: update this one; nothing was changed"
          : "the store in \(directory) was written by an older RunBus and cannot be read by this one: "
            + "use that one, or move the directory away to begin anew; nothing was changed")
    }
  }

  /// What is wrong when the file is empty, or is gone and has left its log; `nil` otherwise. A file is at its path only
  /// once it has its tables, so neither is a store that is being made.
  static func lostFile(_ directory: String) -> Damage? {
    var info = stat()
    guard lstat("\(directory)/\(name)", &info) != 0 else {
      return info.st_mode & S_IFMT == S_IFREG && info.st_size == 0 ? Damage(what: "its file is empty") : nil
    }
    guard errno == ENOENT else { return nil }
    let isLogThere = (["\(directory)/\(name)-wal"] + StoreLog.paths(in: directory)).contains { path in
      lstat(path, &info) == 0 && info.st_size > 0
    }
    return isLogThere ? Damage(what: "its file is gone, and its log is there") : nil
  }

  /// Makes the file of a new store under another name, and moves it to its path when it is complete.
  private static func makeIfAbsent(_ directory: String, _ role: StoreRole?, _ options: StoreOptions) throws {
    var info = stat()
    guard lstat("\(directory)/\(name)", &info) != 0, errno == ENOENT else { return }
    let path = directory + "/" + new
    func unlinkNew() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }
    unlinkNew()
    do {
      var notices: [String] = []
      try closeWhole(openQueue(path, directory, role, options, &notices))
    } catch {
      unlinkNew()
      throw error
    }
    // An empty log of a former file would be taken for this one's.
    for suffix in ["-wal", "-shm"] { unlink("\(directory)/\(name)\(suffix)") }
    guard rename(path, "\(directory)/\(name)") == 0 else { throw RunBusError(.store, explain(errno, directory)) }
    PrivateDirectory.sync(directory)
  }

  /// Closes a new file that is to be moved without SQLite's log: when SQLite cannot copy that into the file at the
  /// closing, it says nothing.
  static func closeWhole(_ queue: DatabaseQueue) throws {
    do { _ = try queue.writeWithoutTransaction { db in try db.checkpoint(.truncate) } } catch {
      try? queue.close()
      throw error
    }
    try queue.close()
  }

  static func openChecked(
    _ directory: String, _ role: StoreRole?, _ options: StoreOptions, _ notices: [String]
  ) throws -> Self {
    let path = directory + "/" + name
    if let damage = lostFile(directory) { throw damage }
    do {
      var notices = notices
      try makeIfAbsent(directory, role, options)
      let queue = try openQueue(path, directory, role, options, &notices)
      do {
        return try Self(queue, directory, options, notices)
      } catch {
        try? queue.close()
        throw error
      }
    } catch let error where !(error is Damage) {
      let fault = StoreFault(error)
      if fault.isDamage { throw Damage(what: fault.reason) }
      // A header with the number of a later file format makes SQLite report a read-only file instead of damage.
      if fault == .readOnly, StoreHeader(at: path)?.wrongPlaces.isEmpty == false {
        throw Damage(what: "its header is not one of a store")
      }
      throw error
    }
  }

  /// Opens a file, or creates one with its tables.
  ///
  /// - Throws: An error of the store; ``RunBusError/Code/storeMismatch`` when the file has another role than `role`.
  static func openQueue(
    _ path: String, _ directory: String, _ role: StoreRole?, _ options: StoreOptions, _ notices: inout [String]
  ) throws -> DatabaseQueue {
    try makePrivate(path, directory)
    var configuration = Configuration()
    configuration.label = "runbus.store"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
      // The node's own lock excludes other processes; without shared memory and file locks every commit is cheaper.
      try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      // A new file has its mark before its write-ahead log, so that every later header in the file has it.
      if try Int.fetchOne(db, sql: "PRAGMA page_count") == 0 {
        try db.execute(sql: "PRAGMA user_version = \(StoreMark.own.number)")
      }
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        guard StoreHeader(at: path)?.wrongPlaces.isEmpty != false else {
          throw Damage(what: "its header is not one of a store")
        }
        throw RunBusError(.store, "the store in \(directory) cannot use a write-ahead log: put it on a local disk")
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      #if canImport(Darwin)
        // Without these SQLite calls fsync, with which a power cut may keep later commits and lose earlier ones.
        try db.execute(sql: "PRAGMA fullfsync = ON")
        try db.execute(sql: "PRAGMA checkpoint_fullfsync = ON")
      #endif
      if let pagesMax = options.pagesMax { try db.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    do {
      // No damage writes the other role. So it is refused before damage is looked for, which would set the file aside.
      if let role, let stored = try? queue.read(StoreRole.init(storedIn:)), stored != role {
        throw stored.refusal(of: role, directory)
      }
      // The check comes before any other query, because answers from inconsistent pages cannot be trusted.
      let check = try queue.read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") }
      // SQLite's report has several lines; a notice has one.
      guard check == "ok" else {
        throw Damage(what: check?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer to a check")
      }
      let mark = try queue.read { db in try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0 }
      if mark != StoreMark.own.number {
        guard StoreMark.own.isAlmost(mark), try queue.read(StoreSchema.isMade) else {
          throw Damage(what: "its version mark is damaged")
        }
        // With this mark nothing has looked for them yet.
        try queue.read { try LaterKinds.refuse($0, directory) }
        try queue.write { db in try db.execute(sql: "PRAGMA user_version = \(StoreMark.own.number)") }
        notices.append("the version mark of the store in \(directory) was damaged; it was rebuilt, and nothing is lost")
      }
      let isEmpty = try queue.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0 }
      if isEmpty { try queue.write(StoreSchema.make) }
      return queue
    } catch {
      try? queue.close()
      throw error
    }
  }

  /// SQLite gives the log the mode of the main file, so the main file is created first, readable for its owner only.
  private static func makePrivate(_ path: String, _ directory: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw RunBusError(.store, explain(errno, directory)) }
    var info = stat()
    let isKnown = fstat(descriptor, &info) == 0
    close(descriptor)
    guard isKnown, info.st_mode & S_IFMT == S_IFREG else {
      throw RunBusError(.store, "\(path) is not a file: move it away")
    }
    guard info.st_size == 0 else { return }
    PrivateDirectory.sync(directory)
    PrivateDirectory.sync((directory as NSString).deletingLastPathComponent)
  }

  private static func identity(_ db: Database) throws -> (NodeID, StoreID, StoreRole?)? {
    func value<Kind>(_ key: String) throws -> Identifier<Kind>? {
      try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])?.identifier("value")
    }
    guard let nodeID: NodeID = try value("node"), let storeID: StoreID = try value("store") else { return nil }
    return (nodeID, storeID, try StoreRole(storedIn: db))
  }

  static func explain(_ code: CInt, _ directory: String) -> String {
    "the store in \(directory) cannot be opened: \(systemReason(code))"
  }
  static func explain(_ error: any Error, _ directory: String) -> String {
    "the store in \(directory) cannot be opened: \(StoreFault(error).description)"
  }
}
