import Foundation
import GRDB
import RunCore
import RunWire

/// What the tables of a store know about its log: one row, written in each transaction that takes commits over.
struct LogMark: Equatable {
  /// The key of the store, with which the checksums of its log begin.
  var key: [UInt8]
  /// The position of the last commit that the tables have.
  var drained: UInt64
  /// Whether commits may be in the log. With no segment there, some are lost.
  var isOpen: Bool

  static let write: StaticString = "INSERT OR REPLACE INTO meta (key, value) VALUES ('log', ?)"

  /// Its form in the row, with a checksum.
  var bytes: [UInt8] {
    Codec.seal(key + withUnsafeBytes(of: drained.littleEndian) { Array($0) } + [isOpen ? 1 : 0])
  }

  init(key: [UInt8], drained: UInt64, isOpen: Bool) {
    self.key = key
    self.drained = drained
    self.isOpen = isOpen
  }

  /// The mark in a store; `nil` in one that never had a log.
  ///
  /// - Throws: ``StoreFile/Damage`` for a row that is not as it was written.
  init?(storedIn db: Database) throws {
    guard let row = try Row.fetchOne(db, sql: "SELECT value FROM meta WHERE key = 'log'") else { return nil }
    let value: DatabaseValue? = row["value"]
    guard case .blob(let data)? = value?.storage, let mark = LogMark(Array(data)) else {
      throw StoreFile.Damage(what: "what it says of its log is damaged")
    }
    self = mark
  }

  /// `nil` for bytes that are no mark.
  init?(_ bytes: [UInt8]) {
    let keySize = LogSegment.keySize
    guard bytes.count == keySize + 13, Codec.seal(Array(bytes.dropLast(4))) == bytes else { return nil }
    key = Array(bytes[..<keySize])
    drained = bytes[keySize..<keySize + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    guard drained < LogSegment.positionMax else { return nil }
    isOpen = bytes[keySize + 8] != 0
  }
}

/// What the log of a closed store holds that its tables have not taken over.
struct LogFindings {
  /// What the tables know; `nil` in a store that never had a log.
  var mark: LogMark?
  /// The commits, of which those behind a gap cannot be applied as if nothing was missing.
  var tail: LogTail

  /// Reads the log in the directory of a store whose tables are at hand.
  ///
  /// A segment has its full size before the tables know that commits may be in it. The second one may just have been made.
  ///
  /// - Throws: ``StoreFile/Damage``, also when a commit is missing; errors of the database.
  init(_ db: Database, in directory: String) throws {
    mark = try LogMark(storedIn: db)
    let segments = try StoreLog.segments(in: directory)
    tail = LogTail(of: segments, key: mark?.key ?? [], drained: mark?.drained)
    if mark?.isOpen == true, tail.segmentCount == 0 { throw StoreFile.Damage(what: "its log is gone") }
    if mark?.isOpen == true, !StoreLog.hasWhole(segments) { throw StoreFile.Damage(what: "its log was cut off") }
    if !tail.behindGap.isEmpty { throw StoreFile.Damage(what: "a commit in its log is damaged or gone") }
  }

  /// Decodes commits; what breaks a rule of the schema is left out.
  ///
  /// - Throws: `StoredError.unknownKind` for a commit of a later version.
  static func decode(_ commits: [LogSegment.Commit]) throws -> (commits: [LoggedCommit], unreadable: Int) {
    var unreadable = 0
    let decoded = try commits.map { commit in try Codec.loggedCommit(commit.bytes) { unreadable += 1 } }
    return (decoded, unreadable)
  }
}
