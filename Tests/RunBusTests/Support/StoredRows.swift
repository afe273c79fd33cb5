import Foundation
import GRDB
import SwiftProtobuf

@testable import RunBus
@testable import RunWire

/// The values in the rows of a closed store, as a later version would have written them.
enum StoredRows {
  /// A field that this version does not know: number 100, two bytes.
  static let field = Data([0xA2, 0x06, 2, 7, 7])

  /// Changes the values of a column that a condition selects.
  ///
  /// - Returns: how many there were.
  @discardableResult
  static func change<Stored: Message>(
    _ table: String, _ column: String, _ condition: String = "1", at path: String,
    _ change: (inout Stored) throws -> Void
  ) throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.writeWithoutTransaction { db in
      let keys = try db.primaryKey(table).columns
      let rows = try Row.fetchAll(db, sql: "SELECT * FROM \(table) WHERE \(condition)")
      for row in rows {
        var message: Stored = try Codec.open(try row.sealed(column))
        try change(&message)
        let value = Data(Codec.stored(message))
        try db.execute(
          sql: "UPDATE \(table) SET \(column) = ? WHERE \(keys.map { "\($0) = ?" }.joined(separator: " AND "))",
          arguments: StatementArguments([value.databaseValue] + keys.map { row[$0] as DatabaseValue }))
      }
      _ = try db.checkpoint(.truncate)
      return rows.count
    }
  }

  /// The bytes of a column.
  static func bytes(_ table: String, _ column: String, at path: String) throws -> [Data] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read {
      try Row.fetchAll($0, sql: "SELECT \(column) FROM \(table)").map { $0.data(at: 0) ?? Data() }
    }
  }
}

extension Message {
  /// Adds the field that this version does not know.
  mutating func addUnknownField() throws { try merge(serializedBytes: StoredRows.field) }
}
