import Foundation
import GRDB
import GRDBSQLite
import RunCore

/// The connection of a transaction, with the statements that are prepared once.
///
/// Statements are found by the address of their text and bound by hand: a commit runs about ten of them, and hashing
/// their texts and boxing their arguments took longer than running them.
struct StoreWriter {
  let connection: Database
  let statements: PreparedStatements

  /// Runs a statement, with its values in the order of its question marks.
  func run<each Value: StoreValue>(_ sql: StaticString, _ values: repeat each Value) throws {
    _ = try step(sql, repeat each values) { _ in }
  }

  /// Reads the first row of a query; `nil` when there is none.
  func first<each Value: StoreValue, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (StoreColumns) -> Result?
  ) throws -> Result? {
    try step(sql, repeat each values, read: read) ?? nil
  }

  @inline(__always)
  private func step<each Value: StoreValue, Result>(
    _ sql: StaticString, _ values: repeat each Value, read: (StoreColumns) -> Result
  ) throws -> Result? {
    let statement = try statements.pointer(sql, connection)
    var place: CInt = 0
    for value in repeat each values {
      place += 1
      value.put(into: statement, at: place)
    }
    let code = sqlite3_step(statement)
    let result = code == SQLITE_ROW ? read(StoreColumns(statement: statement)) : nil
    // The message must be read before the statement is reset.
    let message = code == SQLITE_DONE || code == SQLITE_ROW ? nil : connection.lastErrorMessage
    sqlite3_reset(statement)
    // A body of a record is not to stay in memory.
    sqlite3_clear_bindings(statement)
    guard code == SQLITE_DONE || code == SQLITE_ROW else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }
    return result
  }
}

/// The prepared statements of one connection.
///
/// `@unchecked Sendable`: used only while the connection is, which belongs to one thread at a time.
final class PreparedStatements: @unchecked Sendable {
  private var known: [UnsafePointer<UInt8>: Statement] = [:]

  func statement(_ sql: StaticString, _ connection: Database) throws -> Statement {
    if let known = known[sql.utf8Start] { return known }
    let statement = try connection.makeStatement(sql: sql.description)
    known[sql.utf8Start] = statement
    return statement
  }

  fileprivate func pointer(_ sql: StaticString, _ connection: Database) throws -> OpaquePointer {
    try statement(sql, connection).sqliteStatement
  }

  /// Ends all statements. With any of them left the connection does not close.
  func forget() { known = [:] }
}

/// The columns of a row, by their numbers from 0; `nil` for a value of another type.
struct StoreColumns {
  fileprivate let statement: OpaquePointer

  func integer(_ column: CInt) -> Int64? {
    sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
  }
  /// An empty blob is not NULL.
  func bytes(_ column: CInt) -> [UInt8]? {
    guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
    return Array(
      UnsafeRawBufferPointer(
        start: sqlite3_column_blob(statement, column), count: Int(sqlite3_column_bytes(statement, column))))
  }
}

/// What a statement can be given.
protocol StoreValue {
  func put(into statement: OpaquePointer, at place: CInt)
}

/// SQLite copies what it is given.
private let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func bindBytes(_ bytes: UnsafeRawBufferPointer, to statement: OpaquePointer, at place: CInt) {
  // An empty buffer may have no address, which SQLite takes for NULL.
  if bytes.isEmpty {
    sqlite3_bind_zeroblob(statement, place, 0)
  } else {
    sqlite3_bind_blob(statement, place, bytes.baseAddress, CInt(bytes.count), copied)
  }
}

extension Int64: StoreValue {
  func put(into statement: OpaquePointer, at place: CInt) { sqlite3_bind_int64(statement, place, self) }
}
extension Int: StoreValue {
  func put(into statement: OpaquePointer, at place: CInt) { Int64(self).put(into: statement, at: place) }
}
extension Double: StoreValue {
  func put(into statement: OpaquePointer, at place: CInt) { sqlite3_bind_double(statement, place, self) }
}
extension String: StoreValue {
  func put(into statement: OpaquePointer, at place: CInt) {
    guard !isEmpty else { return _ = sqlite3_bind_text(statement, place, "", 0, copied) }
    var text = self
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        _ = sqlite3_bind_text(statement, place, $0.baseAddress, CInt($0.count), copied)
      }
    }
  }
}
extension Array: StoreValue where Element == UInt8 {
  func put(into statement: OpaquePointer, at place: CInt) {
    withUnsafeBytes { bindBytes($0, to: statement, at: place) }
  }
}
extension Identifier: StoreValue {
  /// Its 16 bytes.
  func put(into statement: OpaquePointer, at place: CInt) {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bindBytes($0, to: statement, at: place) }
  }
}
extension Optional: StoreValue where Wrapped: StoreValue {
  func put(into statement: OpaquePointer, at place: CInt) {
    if let self { self.put(into: statement, at: place) } else { sqlite3_bind_null(statement, place) }
  }
}
