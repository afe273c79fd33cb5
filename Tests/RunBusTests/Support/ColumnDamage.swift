import Foundation
import GRDB
import RunCore

@testable import RunBus

/// Draws damage to single columns of a closed store from a seed, and knows which rows it has hit.
struct ColumnDamage {
  /// A table with the columns that are damaged, and its rows in the order in which a store reads them back.
  private struct Table {
    let name: String
    let columns: [String]
    var rows = ""
  }

  private static let tables = [
    Table(name: "accepted", columns: ["press"], rows: "ORDER BY position"),
    Table(
      name: "verdicts",
      columns: ["judged_at", "verdict"],
      rows: "WHERE position IN (SELECT MAX(position) FROM verdicts GROUP BY command) ORDER BY position"),
    Table(name: "journal", columns: ["run", "kind", "entry"], rows: "ORDER BY position"),
    Table(name: "windows", columns: ["settled"], rows: "ORDER BY position"),
    Table(name: "clock", columns: ["real", "boot", "wall"]),
    Table(name: "outbox", columns: ["item", "since", "flags", "tries"], rows: "ORDER BY position"),
    Table(name: "streams", columns: ["receiver", "kind", "acknowledged"], rows: "ORDER BY number"),
    Table(name: "quarantine", columns: ["id", "since", "message"], rows: "ORDER BY position"),
    Table(name: "latest_sent", columns: ["value"], rows: "ORDER BY device, key"),
    Table(name: "latest_received", columns: ["value"], rows: "ORDER BY device, key"),
    Table(name: "paired", columns: ["revoked", "device"], rows: "ORDER BY key"),
    Table(name: "devices", columns: ["role", "store", "heard_at"], rows: "ORDER BY device"),
    Table(name: "hub", columns: ["store", "device"]), Table(name: "view", columns: ["snapshot"]),
    Table(
      name: "records", columns: ["version", "summary", "body"], rows: "WHERE summary IS NOT NULL ORDER BY number"),
    Table(name: "expected_records", columns: ["conflicted"], rows: "ORDER BY run"),
    Table(name: "watermarks", columns: ["sequence", "id"], rows: "ORDER BY sender, stream"),
  ]

  private var random: SeededGenerator
  /// The places of the rows that were hit, by table.
  private(set) var places: [String: Set<Int>] = [:]
  /// The rows themselves as they were before, by table.
  private(set) var rows: [String: [Row]] = [:]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Damages a fifth of the rows of each column.
  mutating func apply(to path: String) throws {
    let queue = try DatabaseQueue(path: path)
    try queue.writeWithoutTransaction { db in
      for table in Self.tables {
        let keys = try db.primaryKey(table.name).columns
        let found = try Row.fetchAll(db, sql: "SELECT * FROM \(table.name) \(table.rows)")
        rows[table.name] = found
        for column in table.columns {
          let value = value()
          for (place, row) in found.enumerated() where Int.random(in: 0..<5, using: &random) == 0 {
            places[table.name, default: []].insert(place)
            let condition = keys.map { "\"\($0)\" = ?" }.joined(separator: " AND ")
            try db.execute(
              sql: "UPDATE OR IGNORE \(table.name) SET \"\(column)\" = ? WHERE \(condition)",
              arguments: StatementArguments([value] + keys.map { row[$0] as DatabaseValue }))
          }
        }
      }
      _ = try db.checkpoint(.truncate)
    }
    try queue.close()
  }

  private mutating func value() -> DatabaseValue {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: bytes(17).databaseValue
    case 1: bytes(3).databaseValue
    case 2: "x".databaseValue
    case 3: 1.5.databaseValue
    case 4: Int64.min.databaseValue
    default: Data().databaseValue
    }
  }
  private mutating func bytes(_ count: Int) -> Data {
    Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
  }

  /// What a list that was read from a table holds without the rows that were hit.
  func intact<Element>(_ list: [Element], of table: String) -> [Element] {
    list.enumerated().filter { places[table]?.contains($0.offset) != true }.map(\.element)
  }
  /// The rows of a table that were hit.
  func hit(_ table: String) -> [Row] {
    (places[table] ?? []).sorted().compactMap { place in rows[table].map { $0[place] } }
  }
}
