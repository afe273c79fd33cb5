import Foundation
import GRDB
import SystemC

/// Replaces a damaged file by a new one with what could be read of it.
extension StoreFile {
  /// The complete new file with what was salvaged. Once it exists, the replacement is finished, by the next start if
  /// necessary.
  static let salvaged = "salvaged.sqlite"
  /// The new file while it is being written.
  private static let unfinished = "salvage.tmp"
  /// A copy of the damaged file with other descriptions of its tables.
  private static let described = "salvage-source.tmp"

  static func replace(
    _ directory: String, _ options: StoreOptions, _ damage: Damage, readsBack: Bool, notices: [String]
  ) throws -> Self {
    // SQLite removes the log of an empty file when it opens that.
    let salvage = readsBack && lostFile(directory) == nil ? try readBack(directory, options) : nil
    let place = try setAside(directory)
    if salvage != nil { try finishReplacing(directory) }
    let what = salvage?.sentence ?? "nothing of it is read back"
    let notices =
      notices + ["the store was damaged (\(damage.what)); it was set aside as \(place) and a new one begins: \(what)"]
    do {
      return try openChecked(directory, nil, options, notices)
    } catch let again as Damage where readsBack {
      return try replace(directory, options, again, readsBack: false, notices: notices)
    }
  }

  private static func readBack(_ directory: String, _ options: StoreOptions) throws -> Salvage {
    let path = directory + "/" + unfinished
    for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    var notices: [String] = []
    let queue = try openQueue(path, directory, nil, options, &notices)
    var salvage: Salvage
    do {
      salvage = try Salvage(from: directory + "/" + name, into: queue)
      if !salvage.isComplete { try addBehindDescriptions(to: &salvage, directory, queue) }
      try salvage.finish(withLogIn: directory, into: queue)
      try closeWhole(queue)
    } catch {
      try? queue.close()
      unlink(path)
      throw error
    }
    guard rename(path, "\(directory)/\(salvaged)") == 0 else { throw RunBusError(.store, explain(errno, directory)) }
    PrivateDirectory.sync(directory)
    return salvage
  }

  /// Reads a copy of the damaged store in which the descriptions of the tables are whole, if what is left of them shows
  /// that they are those of this version.
  private static func addBehindDescriptions(
    to salvage: inout Salvage, _ directory: String, _ queue: DatabaseQueue
  ) throws {
    let (path, copy) = (directory + "/" + name, directory + "/" + described)
    func unlinkCopy() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(copy + suffix) } }
    unlinkCopy()
    defer { unlinkCopy() }
    let pages = try StoreSchemaPages(makingStoreAt: copy)
    guard try pages.belong(to: path) else { return }
    for suffix in ["", "-wal"] where suffix.isEmpty || access(path + suffix, F_OK) == 0 {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    try pages.write(to: copy)
    try salvage.add(from: copy, into: queue)
  }

  /// Copies a file, checks the copy, and puts it in the place of the store, which is set aside.
  ///
  /// - Returns: Where the former store is now; `nil` when there was none.
  static func restore(_ file: String, to directory: String, role: StoreRole?) throws -> String? {
    try finishReplacing(directory)
    let path = directory + "/" + unfinished
    func unlinkNew() { for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) } }
    unlinkNew()
    do {
      try FileManager.default.copyItem(atPath: file, toPath: path)
      guard chmod(path, 0o600) == 0 else { throw RunBusError(.store, explain(errno, directory)) }
      var notices: [String] = []
      let queue = try openQueue(path, directory, role, StoreOptions(), &notices)
      do {
        // A copy has all that was in the log.
        guard try queue.read(LogMark.init(storedIn:))?.isOpen != true else {
          throw Damage(what: "it is the file of a store without its log")
        }
        guard try queue.read(StoreSchema.isMade) else { throw Damage(what: "it has not the tables of a store") }
        try closeWhole(queue)
      } catch {
        try? queue.close()
        throw error
      }
    } catch {
      unlinkNew()
      throw error
    }
    guard rename(path, "\(directory)/\(salvaged)") == 0 else { throw RunBusError(.store, explain(errno, directory)) }
    PrivateDirectory.sync(directory)
    return try finishReplacing(directory)
  }

  /// Moves the complete new file to the path of the damaged one.
  ///
  /// - Returns: Where the former file is now; `nil` when there was none.
  @discardableResult
  static func finishReplacing(_ directory: String) throws -> String? {
    var info = stat()
    guard lstat("\(directory)/\(salvaged)", &info) == 0 else { return nil }
    // Parts of the damaged store that are still here were left by a start that was interrupted.
    let parts = parts(of: directory).filter { $0 != "\(name)-shm" }
    let hasFormer = parts.contains { lstat("\(directory)/\($0)", &info) == 0 }
    let former = hasFormer ? try setAside(directory) : nil
    guard rename("\(directory)/\(salvaged)", "\(directory)/\(name)") == 0 else {
      throw RunBusError(.store, explain(errno, directory))
    }
    PrivateDirectory.sync(directory)
    return former
  }

  /// The files of a store. SQLite's log goes first: if it stayed alone, SQLite would apply it to the new file.
  private static func parts(of directory: String) -> [String] {
    ["\(name)-wal", "\(name)-shm"] + StoreLog.paths(in: directory).map { ($0 as NSString).lastPathComponent } + [name]
  }

  /// Moves file and logs to the first free `damaged-<n>`, where SQLite can still open them together.
  private static func setAside(_ directory: String) throws -> String {
    var number = 1
    while mkdir("\(directory)/damaged-\(number)", 0o700) != 0 {
      guard errno == EEXIST else { throw RunBusError(.store, explain(errno, directory)) }
      number += 1
    }
    for file in parts(of: directory) {
      guard rename("\(directory)/\(file)", "\(directory)/damaged-\(number)/\(file)") == 0 || errno == ENOENT else {
        throw RunBusError(.store, explain(errno, directory))
      }
    }
    PrivateDirectory.sync(directory)
    return "\(directory)/damaged-\(number)"
  }
}
