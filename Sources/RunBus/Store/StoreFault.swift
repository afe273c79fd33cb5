import GRDB
import GRDBSQLite

/// Why a commit failed. Nothing of its batch is in the store then.
package struct StoreFault: Error, Hashable, Sendable, CustomStringConvertible {
  private enum Value: Hashable {
    case full, readOnly, closed, refused(String), damaged(String), moved(String), broken(String)
  }
  private let value: Value

  /// The disk is full. The batch was rolled back and may be tried again.
  package static let full = StoreFault(value: .full)
  /// This process cannot write the store's files now. The batch was rolled back and may be tried again.
  package static let readOnly = StoreFault(value: .readOnly)
  /// The store was closed before the batch was handed over.
  package static let closed = StoreFault(value: .closed)
  /// The disk refused the batch for a reason that may pass (a quota, a limit, a read or write error). The batch was
  /// rolled back and may be tried again.
  package static func refused(_ message: String) -> StoreFault { StoreFault(value: .refused(message)) }
  /// The content of the file is inconsistent. The node sets the file aside and goes on with what can be read of it.
  package static func damaged(_ message: String) -> StoreFault { StoreFault(value: .damaged(message)) }
  /// A file of the store is not at its path any more, so that writes would be lost with the process. The node must
  /// stop.
  package static func moved(_ path: String) -> StoreFault { StoreFault(value: .moved(path)) }
  /// The disk failed in a way that leaves its content unknown, or the node wrote what a store cannot contain. The node
  /// must stop.
  package static func broken(_ message: String) -> StoreFault { StoreFault(value: .broken(message)) }

  /// Whether the same batch may succeed later.
  package var isTemporary: Bool {
    switch value {
    case .full, .readOnly, .refused: true
    case .closed, .damaged, .moved, .broken: false
    }
  }
  /// Whether the content of the file is inconsistent.
  package var isDamage: Bool {
    if case .damaged = value { true } else { false }
  }
  /// The cause alone, without its consequence.
  var reason: String {
    switch value {
    case .refused(let message), .damaged(let message), .moved(let message), .broken(let message): message
    case .full, .readOnly, .closed: description
    }
  }
  /// One sentence for people.
  package var description: String {
    switch value {
    case .full: "the disk is full: make room, what waits is written then"
    case .readOnly: "the store cannot be written: check the owner and mode of its directory"
    case .closed: "the store is closed"
    case .refused(let message): "the disk takes nothing (\(message))"
    case .damaged(let message): "the store is damaged (\(message))"
    case .moved(let path):
      "\(path) was removed or replaced while it was open: what it held is lost unless you put it back, then start again"
    case .broken(let message): "the store failed: \(message)"
    }
  }
}

extension Database {
  /// The errno behind the last read or write that failed on the log, or else on the file; 0 when there was none.
  /// `sqlite3_system_errno` stays 0 for these.
  var lastSystemCode: CInt {
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
