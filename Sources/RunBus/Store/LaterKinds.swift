import Foundation
import GRDB
import RunCore
import RunWire

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Looks for what a later version has written and what this one would have to work on: a command or an admission of an
/// unknown kind that waits for its verdict, an item of an unknown kind in an outbox, or an entry of an unknown kind in
/// the journal of a run that is not over.
///
/// A node that left these out would lose what a person pressed or a sensor measured. What is finished is left out when it
/// is read, and stays in the file.
enum LaterKinds {
  /// Refuses the store in a directory. It is only read, so no byte of it changes: not even its log is copied into it.
  ///
  /// - Throws: ``RunBusError/Code/storeMismatch``.
  static func refuse(in directory: String) throws {
    let path = directory + "/" + StoreFile.name
    guard StoreHeader(at: path)?.version == StoreSchema.version else { return }
    // A file that cannot be read is damaged, and what opens it next tells.
    guard let what = try? StoreFile.look(at: path, find) else { return }
    throw RunBusError(
      .storeMismatch,
      "the store in \(directory) holds \(what) of a newer RunBus: update this one; nothing was changed")
  }

  /// What was found, for people; `nil` when there is nothing.
  private static func find(_ db: Database) throws -> String? {
    try find(db, "SELECT press FROM accepted", "a command that waits for its verdict") { _ = try Codec.accepted($0) }
      ?? find(db, "SELECT item FROM outbox WHERE item IS NOT NULL", "something to send") { _ = try Codec.item($0) }
      ?? find(db, entries, "an entry of a run") { _ = try Codec.entry($0) { _ in nil } }
  }

  /// Readings of the first schema have no number of a kind. The last change of a run says which run is the present one,
  /// whether it is over or not.
  private static let entries = """
    SELECT entry FROM journal JOIN runs ON runs.number = journal.run
    WHERE journal.kind IS NOT NULL AND runs.over_at IS NULL AND runs.swept_to IS NULL
    UNION ALL
    SELECT entry FROM (
      SELECT entry FROM journal WHERE kind = \(JournalKind.transition.rawValue) ORDER BY position DESC LIMIT 1)
    """

  private static func find(
    _ db: Database, _ sql: String, _ what: String, _ read: ([UInt8]) throws -> Void
  ) throws -> String? {
    let rows = try Row.fetchCursor(db, sql: sql)
    while let row = try rows.next() {
      guard let bytes = row.data(at: 0) else { continue }
      do { try read([UInt8](bytes)) } catch StoredError.unknownKind { return what } catch {}
    }
    return nil
  }
}

extension StoreFile {
  /// Reads a file whose lock the caller holds, and changes no byte of the directory.
  static func look<Value>(at path: String, _ read: (Database) throws -> Value) throws -> Value {
    // Even to read, SQLite makes these two files, and it leaves them when it may not write. They are no node's: it would
    // need the lock.
    let made = ["-wal", "-shm"].map { path + $0 }.filter { !FileManager.default.fileExists(atPath: $0) }
    defer { for file in made { unlink(file) } }
    var configuration = Configuration()
    configuration.label = "runbus.store.look"
    configuration.readonly = true
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? queue.close() }
    return try queue.read(read)
  }
}
