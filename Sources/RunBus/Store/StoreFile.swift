import Foundation
import GRDB
import RunCore

/// A store's file: how it is opened, checked, and replaced when it is damaged.
struct StoreFile {
  private static let name = "node.sqlite"
  /// How often a starting node tries to take the lock that another process holds.
  private static let lockEvery: UInt32 = 20_000

  let records: SQLiteStore
  let nodeID: NodeID
  let storeID: StoreID
  /// The files that must stay at their paths while the store is open.
  let files: [FileIdentity]
  /// What whoever runs the node should know.
  let notices: [String]

  /// Makes the directory when there is none and takes its lock, waiting for as long as `patience` while somebody holds it.
  static func lock(
    _ directory: String, _ device: DeviceID?, patience: BusDuration = .zero
  ) throws(RunBusError) -> FileLock {
    try PrivateDirectory.make(directory, for: "the store directory")
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
          throw RunBusError(.busHeld, "the store in \(directory) is held by \(holder.description)")
        case .obstructed: throw RunBusError(.store, "\(path) is not a file: move it away")
        case .system(let code): throw RunBusError(.store, explain(code, directory))
        }
      }
    }
  }

  /// Opens or makes the file in a directory whose lock the caller holds.
  init(directory: String, options: StoreOptions) throws(RunBusError) {
    self = try Self.explaining(directory) {
      try Self.finishReplacing(directory)
      do {
        return try Self.open(directory, options, [])
      } catch let damage as Damage {
        return try Self.replace(directory, options, damage, readsBack: true, notices: [])
      }
    }
  }

  /// Replaces the file in a directory whose lock the caller holds, and which is not open any more.
  init(
    replacingIn directory: String, because fault: StoreFault, readsBack: Bool, options: StoreOptions
  ) throws(RunBusError) {
    self = try Self.explaining(directory) {
      try Self.replace(directory, options, Damage(what: fault.reason), readsBack: readsBack, notices: [])
    }
  }

  private init(
    _ queue: DatabaseQueue, _ ids: (NodeID, StoreID), _ path: String, _ options: StoreOptions, _ notices: [String]
  ) {
    records = SQLiteStore(queue, options: options)
    (nodeID, storeID) = ids
    files = [path, path + "-wal"].compactMap(FileIdentity.init(path:))
    self.notices = notices
  }

  /// The file is no store, or one with holes.
  private struct Damage: Error { let what: String }

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

  private static func open(_ directory: String, _ options: StoreOptions, _ notices: [String]) throws -> Self {
    let path = directory + "/" + name
    do {
      let queue = try openQueue(path, directory, options)
      do {
        guard let ids = try queue.read(identity) else { throw Damage(what: "it has no identity") }
        return Self(queue, ids, path, options, notices)
      } catch {
        try? queue.close()
        throw error
      }
    } catch let error where !(error is Damage) {
      let fault = StoreFault(error)
      if fault.isDamage { throw Damage(what: fault.reason) }
      // SQLite takes a file whose header asks for a later version of it as one that may be read and not written.
      if fault == .readOnly, !hasUsualHeader(path) { throw Damage(what: "its header is not one of a store") }
      throw error
    }
  }

  /// Opens a file, or makes it, with all tables in place.
  private static func openQueue(_ path: String, _ directory: String, _ options: StoreOptions) throws -> DatabaseQueue {
    try makePrivate(path, directory)
    var configuration = Configuration()
    configuration.label = "runbus.store"
    configuration.prepareDatabase { db in
      try db.execute(sql: "PRAGMA page_size = \(StoreSchema.pageSize)")
      // The node's lock already keeps others out: without shared memory and file locks every commit is cheaper.
      try db.execute(sql: "PRAGMA locking_mode = EXCLUSIVE")
      guard try String.fetchOne(db, sql: "PRAGMA journal_mode = WAL") == "wal" else {
        guard hasUsualHeader(path) else { throw Damage(what: "its header is not one of a store") }
        throw RunBusError(.store, "the store in \(directory) cannot use a write-ahead log: put it on a local disk")
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      if let pagesMax = options.pagesMax { try db.execute(sql: "PRAGMA max_page_count = \(pagesMax)") }
    }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    do {
      // First of all: what is read of pages that do not hold together is no answer.
      let check = try queue.read { db in try String.fetchOne(db, sql: "PRAGMA quick_check(1)") }
      // What SQLite says has line breaks; a notice is one line.
      guard check == "ok" else {
        throw Damage(what: check?.split(whereSeparator: \.isNewline).last.map(String.init) ?? "no answer to a check")
      }
      let migrator = StoreSchema.migrator
      let applied = try queue.read(migrator.appliedIdentifiers)
      if !applied.isSubset(of: migrator.migrations) {
        // A newer version has made all the steps that this one knows, and more.
        guard applied.isSuperset(of: migrator.migrations) else {
          throw Damage(what: "its list of migrations has holes")
        }
        throw RunBusError(
          .store, "the store in \(directory) was written by a newer RunBus: update this one; nothing was changed")
      }
      try migrator.migrate(queue)
      return queue
    } catch {
      try? queue.close()
      throw error
    }
  }

  /// The file begins like every one that this program makes: SQLite's name, its page size, and write-ahead log for readers
  /// and writers. An empty file is a new one.
  private static func hasUsualHeader(_ path: String) -> Bool {
    guard let file = FileHandle(forReadingAtPath: path), let header = try? file.read(upToCount: 20) else { return true }
    return header.isEmpty
      || header.elementsEqual(
        Array("SQLite format 3\u{0}".utf8) + [
          UInt8(StoreSchema.pageSize >> 8), UInt8(StoreSchema.pageSize & 255), 2, 2,
        ])
  }

  /// SQLite gives its log the mode of the file, so the file is made first, for its owner alone.
  private static func makePrivate(_ path: String, _ directory: String) throws {
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
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

  private static func identity(_ db: Database) throws -> (NodeID, StoreID)? {
    func value<Kind>(_ key: String) throws -> Identifier<Kind>? {
      try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = ?", arguments: [key])?.identifier("value")
    }
    guard let nodeID: NodeID = try value("node"), let storeID: StoreID = try value("store") else { return nil }
    return (nodeID, storeID)
  }

  // MARK: Replacing

  /// A new file with what could be read of the damaged one, complete: from here on the replacing is finished, if need be
  /// by the next start.
  private static let salvaged = "salvaged.sqlite"
  /// The same while it is written.
  private static let unfinished = "salvage.tmp"

  private static func replace(
    _ directory: String, _ options: StoreOptions, _ damage: Damage, readsBack: Bool, notices: [String]
  ) throws -> Self {
    let salvage = readsBack ? try readBack(directory, options) : nil
    let place = try setAside(directory)
    if salvage != nil { try finishReplacing(directory) }
    let what = salvage?.sentence ?? "nothing of it is read back"
    let notices =
      notices + ["the store was damaged (\(damage.what)); it was set aside as \(place) and a new one begins: \(what)"]
    do {
      return try open(directory, options, notices)
    } catch let again as Damage where readsBack {
      return try replace(directory, options, again, readsBack: false, notices: notices)
    }
  }

  private static func readBack(_ directory: String, _ options: StoreOptions) throws -> Salvage {
    let path = directory + "/" + unfinished
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    let queue = try openQueue(path, directory, options)
    let salvage: Salvage
    do {
      salvage = try Salvage(from: directory + "/" + name, into: queue)
    } catch {
      try? queue.close()
      unlink(path)
      throw error
    }
    try queue.close()
    guard rename(path, "\(directory)/\(salvaged)") == 0 else { throw RunBusError(.store, explain(errno, directory)) }
    PrivateDirectory.sync(directory)
    return salvage
  }

  /// Puts a new file that is complete in the place of the damaged one.
  private static func finishReplacing(_ directory: String) throws {
    var info = stat()
    guard lstat("\(directory)/\(salvaged)", &info) == 0 else { return }
    // Whatever of the damaged store is still there: a start was cut short.
    if ["", "-wal"].contains(where: { lstat("\(directory)/\(name)\($0)", &info) == 0 }) { _ = try setAside(directory) }
    guard rename("\(directory)/\(salvaged)", "\(directory)/\(name)") == 0 else {
      throw RunBusError(.store, explain(errno, directory))
    }
    PrivateDirectory.sync(directory)
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
