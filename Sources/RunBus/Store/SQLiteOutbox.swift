import Foundation
import GRDB
import RunCore
import RunWire
import Synchronization

/// The outbox in SQLite, and how far each of its streams is acknowledged.
final class SQLiteOutbox: Sendable {
  private struct Stream {
    let number: Int64
    var acknowledged: UInt64?
  }
  /// A cache of the streams, one for each receiver and kind; emptied when a batch is rolled back.
  private let streams = Mutex<[OutboundStreamID: Stream]>([:])

  static let uncertain: Int64 = 1

  /// Empties the cache, which may contain streams of a batch that was rolled back.
  func forget() { streams.withLock { $0 = [:] } }

  func enqueue(_ row: OutboxRow, _ db: StoreWriter) throws {
    try OutboxKey.check(row)
    try db.run(
      "INSERT OR REPLACE INTO outbox (position, item, since, flags, tries) VALUES (?, ?, ?, ?, ?)",
      OutboxKey.position(try make(row.stream, db).number, row.sequence), row.item.map(Codec.stored),
      StoredNumber.nanoseconds(row.since), row.isUncertain ? Self.uncertain : 0, Int64(row.tries))
  }

  func acknowledge(_ id: OutboundStreamID, through sequence: UInt64, _ db: StoreWriter) throws {
    var stream = try make(id, db)
    if sequence > stream.acknowledged ?? 0 || stream.acknowledged == nil {
      stream.acknowledged = sequence
      try db.run(
        "UPDATE streams SET acknowledged = ? WHERE number = ?",
        min(Int64(clamping: sequence), OutboxKey.places.upperBound), stream.number)
      keep(stream, id)
    }
    guard id.kind != .commands else { return }
    try db.run(
      "DELETE FROM outbox WHERE position BETWEEN ? AND ?",
      OutboxKey.position(stream.number, 0), OutboxKey.position(stream.number, sequence))
  }

  func remove(_ id: OutboundStreamID, _ sequence: UInt64, _ db: StoreWriter) throws {
    guard sequence <= OutboxKey.sequenceMax, let stream = try find(id, db) else { return }
    try db.run("DELETE FROM outbox WHERE position = ?", OutboxKey.position(stream.number, sequence))
  }

  func tombstone(_ id: OutboundStreamID, _ sequence: UInt64, _ db: StoreWriter) throws {
    guard sequence <= OutboxKey.sequenceMax, let stream = try find(id, db) else { return }
    try db.run(
      "UPDATE outbox SET item = NULL WHERE position = ?",
      OutboxKey.position(stream.number, sequence))
  }

  func countTries(_ id: OutboundStreamID, from first: UInt64, through last: UInt64, _ db: StoreWriter) throws {
    guard first <= OutboxKey.sequenceMax, let stream = try find(id, db) else { return }
    try db.run(
      "UPDATE outbox SET tries = MIN(tries + 1, ?) WHERE position BETWEEN ? AND ?",
      Int64(UInt32.max), OutboxKey.position(stream.number, first), OutboxKey.position(stream.number, last))
  }

  /// Numbering from 1 in ascending order only lowers sequences, so no row moves to a position that is still used, even
  /// when the stream stays the same.
  func renumber(_ id: OutboundStreamID, to target: OutboundStreamID, _ db: StoreWriter) throws {
    guard let stream = try find(id, db) else { return }
    let positions = try positions(stream, db)
    if !positions.isEmpty {
      var (number, sequence) = (stream.number, UInt64(0))
      if target != id {
        let other = try make(target, db)
        number = other.number
        sequence = try self.positions(other, db).last.map(OutboxKey.sequence) ?? 0
      }
      for position in positions {
        sequence += 1
        try db.run(
          "UPDATE outbox SET position = ? WHERE position = ?",
          OutboxKey.position(number, sequence), position)
      }
    }
    try forget(id, stream, db)
  }

  func drop(_ id: OutboundStreamID, _ db: StoreWriter) throws {
    guard let stream = try find(id, db) else { return }
    try db.run(
      "DELETE FROM outbox WHERE position BETWEEN ? AND ?",
      OutboxKey.position(stream.number, 0), OutboxKey.position(stream.number, .max))
    try forget(id, stream, db)
  }

  /// The sum is limited to the moments that a store has. A row with another moment is damaged, and stays as it is:
  /// SQLite would turn a sum that overflows into a floating-point number.
  func shift(by span: BusDuration, _ db: StoreWriter) throws {
    let since = """
      CASE WHEN since NOT BETWEEN ?2 AND ?3 THEN since WHEN ?1 > 0 AND since > ?3 - ?1 THEN ?3
        WHEN ?1 < 0 AND since < ?2 - ?1 THEN ?2 ELSE since + ?1 END
      """
    let arguments: StatementArguments = [
      StoredNumber.clamped(span.nanoseconds), StoredNumber.times.lowerBound, StoredNumber.times.upperBound,
    ]
    try db.connection.execute(
      sql: "UPDATE outbox SET flags = flags | \(Self.uncertain), since = \(since)", arguments: arguments)
    try db.connection.execute(sql: "UPDATE quarantine SET since = \(since)", arguments: arguments)
  }

  private func positions(_ stream: Stream, _ db: StoreWriter) throws -> [Int64] {
    try Int64.fetchAll(
      db.connection, sql: "SELECT position FROM outbox WHERE position BETWEEN ? AND ? ORDER BY position",
      arguments: [
        OutboxKey.position(stream.number, 1),
        OutboxKey.position(stream.number, UInt64(OutboxKey.places.upperBound)),
      ])
  }

  private func find(_ id: OutboundStreamID, _ db: StoreWriter) throws -> Stream? {
    if let known = streams.withLock({ $0[id] }) { return known }
    let stream = try db.first(
      "SELECT number, acknowledged FROM streams WHERE receiver = ? AND kind = ?", id.receiver, id.kind.code
    ) { row in
      row.integer(0).map { number in
        Stream(
          number: number,
          acknowledged: row.integer(1).flatMap { OutboxKey.places.contains($0) ? UInt64($0) : nil })
      }
    }
    guard let stream else { return nil }
    keep(stream, id)
    return stream
  }

  private func make(_ id: OutboundStreamID, _ db: StoreWriter) throws -> Stream {
    if let stream = try find(id, db) { return stream }
    try db.run("INSERT INTO streams (receiver, kind) VALUES (?, ?)", id.receiver, id.kind.code)
    guard db.connection.lastInsertedRowID <= OutboxKey.numberMax else {
      // Numbers are given from 1 on, and no store has ever had so many streams.
      throw StoreFault.damaged("a stream has a number beyond \(OutboxKey.numberMax)")
    }
    let stream = Stream(number: db.connection.lastInsertedRowID, acknowledged: nil)
    keep(stream, id)
    return stream
  }

  private func keep(_ stream: Stream, _ id: OutboundStreamID) { streams.withLock { $0[id] = stream } }

  /// Deletes a stream without rows; SQLite uses its number again.
  private func forget(_ id: OutboundStreamID, _ stream: Stream, _ db: StoreWriter) throws {
    streams.withLock { $0[id] = nil }
    // A stream that was renumbered in place keeps its number and loses its acknowledgement.
    let isEmpty = try positions(stream, db).isEmpty
    if isEmpty {
      try db.run("DELETE FROM streams WHERE number = ?", stream.number)
    } else {
      try db.run("UPDATE streams SET acknowledged = NULL WHERE number = ?", stream.number)
    }
  }
}
