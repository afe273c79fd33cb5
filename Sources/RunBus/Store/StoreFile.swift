import Foundation
import GRDB
import RunCore

/// A store's file: how it is opened, checked, and set aside when it is damaged.
struct StoreFile {
  private static let name = "node.sqlite"

  let records: SQLiteRecords
  let nodeID: NodeID
  let storeID: StoreID
  /// What whoever runs the node should know.
  let notices: [String]

  /// Makes the directory when there is none and takes its lock.
  static func lock(_ directory: String, _ device: DeviceID?) throws(RunBusError) -> FileLock {
    try PrivateDirectory.make(directory, for: "the store directory")
    let holderName = device?.rawValue ?? (directory as NSString).lastPathComponent
    do {
      return try FileLock(path: directory + "/lock", name: holderName)
    } catch {
      switch error {
      case .held(let holder):
        throw RunBusError(.busHeld, "the store in \(directory) is held by \(holder.description)")
      case .system(let code):
        throw RunBusError(.store, explain(code, directory))
      }
    }
  }

  /// Opens or makes the file in a directory whose lock the caller holds.
  init(directory: String, options: StoreOptions) throws(RunBusError) {
    var notices: [String] = []
    do {
      do {
        self = try Self.open(directory, options, notices)
      } catch let damage as Damage {
        let place = try Self.setAside(directory)
        notices.append("the store was damaged (\(damage.what)); it was set aside as \(place) and a new one begins")
        self = try Self.open(directory, options, notices)
      }
    } catch let error as RunBusError {
      throw error
    } catch {
      throw RunBusError(.store, Self.explain(error, directory), cause: error)
    }
  }

  private init(_ queue: DatabaseQueue, _ ids: (NodeID, StoreID), _ options: StoreOptions, _ notices: [String]) {
    records = SQLiteRecords(queue, options: options)
    (nodeID, storeID) = ids
    self.notices = notices
  }

  /// The file is no store, or one with holes.
  private struct Damage: Error { let what: String }

  private static func open(_ directory: String, _ options: StoreOptions, _ notices: [String]) throws -> Self {
    let path = directory + "/" + name
    try makePrivate(path, directory)
    var configuration = Configuration()
    configuration.label = "runbus.store"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
      // The node's lock already keeps others out: without shared memory and file locks every commit is cheaper.
      try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        throw RunBusError(.store, "the store in \(directory) cannot use a write-ahead log: put it on a local disk")
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      if let pagesMax = options.pagesMax { try db.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
    }
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      do {
        // First of all: what is read of pages that do not hold together is no answer.
        let check = try queue.read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") }
        // What SQLite says has line breaks; a notice is one line.
        guard check == "ok" else {
          throw Damage(what: check?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer to a check")
        }
        let migrator = StoreSchema.migrator
        guard try !queue.read(migrator.hasBeenSuperseded) else {
          throw RunBusError(
            .store, "the store in \(directory) was written by a newer RunBus: update this one; nothing was changed")
        }
        try migrator.migrate(queue)
        guard let ids = try queue.read(identity) else { throw Damage(what: "it has no identity") }
        return Self(queue, ids, options, notices)
      } catch {
        try? queue.close()
        throw error
      }
    } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT || error.resultCode == .SQLITE_NOTADB {
      throw Damage(what: error.message ?? "it is not a database")
    }
  }

  /// SQLite gives its log the mode of the file, so the file is made first, for its owner alone.
  private static func makePrivate(_ path: String, _ directory: String) throws {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw RunBusError(.store, explain(errno, directory)) }
    var info = stat()
    let isNew = fstat(descriptor, &info) == 0 && info.st_size == 0
    close(descriptor)
    guard isNew else { return }
    PrivateDirectory.sync(directory)
    PrivateDirectory.sync((directory as NSString).deletingLastPathComponent)
  }

  private static func identity(_ db: Database) throws -> (NodeID, StoreID)? {
    func value<Kind>(_ key: String) throws -> Identifier<Kind>? {
      try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])?.identifier("value")
    }
    guard let nodeID: NodeID = try value("node"), let storeID: StoreID = try value("store") else { return nil }
    return (nodeID, storeID)
  }

  /// Moves file and log to the first free `damaged-<n>`, where they can still be opened together.
  private static func setAside(_ directory: String) throws -> String {
    var number = 1
    while mkdir("\(directory)/damaged-\(number)", 0o700) != 0 {
      guard errno == EEXIST else { throw RunBusError(.store, explain(errno, directory)) }
      number += 1
    }
    // The log goes first: alone at its old place it would be taken for the new file's.
    for suffix in ["-wal", "-shm", ""] {
      let file = name + suffix
      guard rename("\(directory)/\(file)", "\(directory)/damaged-\(number)/\(file)") == 0 || errno == ENOENT else {
        throw RunBusError(.store, explain(errno, directory))
      }
    }
    PrivateDirectory.sync(directory)
    return "\(directory)/damaged-\(number)"
  }

  private static func explain(_ code: CInt, _ directory: String) -> String {
    "the store in \(directory) cannot be opened: \(PrivateDirectory.reason(code))"
  }
  private static func explain(_ error: any Error, _ directory: String) -> String {
    "the store in \(directory) cannot be opened: \(StoreFault(error).description)"
  }
}
