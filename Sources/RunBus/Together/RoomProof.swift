import RunCore

/// Compares what a log has of a room with what was read of it before, again and again.
///
/// Signatures are checked once: of rows that are the same as at the last comparison the digest is known.
struct RoomProof: Sendable {
  /// How many rows were compared last, and their hash.
  private var (count, rows) = (0, LogHash.of([]))
  /// The reader of those rows.
  private var reader: RoomReader
  private let fresh: RoomReader
  /// How many rows are read at a time.
  private let batch: Int

  /// A proof that has read nothing.
  init(room: RoomID, fleet: FleetID, batch: Int = LogBounds.batch) {
    self.batch = batch
    fresh = RoomReader(room: room, fleet: fleet)
    reader = fresh
  }

  /// The digest that a log has at a position: after the last entry up to there.
  mutating func digest(in log: any SharedLog, through position: UInt64) async throws(SharedLogError) -> LogHash {
    var (found, from): ([LogRow], UInt64) = ([], 0)
    while from <= position {
      let rows = try await log.rows(of: fresh.room, from: from, count: batch)
      found += rows.prefix { $0.position <= position }
      guard rows.count == batch, let last = rows.last, last.position < .max else { break }
      from = last.position + 1
    }
    return digest(after: found)
  }

  private mutating func digest(after found: [LogRow]) -> LogHash {
    var (hash, known) = (LogHash.of([]), 0)
    for (place, row) in found.enumerated() {
      hash = .of(hash.bytes + row.hash.bytes)
      if place + 1 == count, hash == rows { known = count }
    }
    if known == 0 { reader = fresh }
    _ = reader.read(Array(found.dropFirst(known)))
    (count, rows) = (found.count, hash)
    return reader.digest.hash
  }
}

extension LogRow {
  /// Of everything that the log says of the row.
  fileprivate var hash: LogHash {
    func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    return .of(bytes(position) + bytes(UInt64(bitPattern: time.nanoseconds)) + author.bytes + body)
  }
}
