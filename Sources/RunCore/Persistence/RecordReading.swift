/// A part of a record's body as the store reads it, with the record's summary.
package struct StoredRecord: Hashable, Sendable {
  /// The number of the record's last change.
  package var change: UInt64
  /// The record's summary.
  package var summary: RecordSummary
  /// The part of the body.
  package var part: RecordPart

  /// A stored record from its parts.
  package init(change: UInt64, summary: RecordSummary, part: RecordPart) {
    self.change = change
    self.summary = summary
    self.part = part
  }
}

/// The result of reading a part of a record from the store.
package enum RecordReading: Hashable, Sendable {
  /// The part, with the record's summary.
  case found(StoredRecord)
  /// The store keeps no record of that run.
  case missing
  /// The store cannot read it; with the reason.
  case failed(String)
}

/// For whom the store reads a part of a record.
package enum RecordAsker: Hashable, Sendable {
  /// A client of the node's admin socket, by the number of its inquiry.
  case inquiry(UInt64)
  /// A peer, with the session of its question.
  case peer(ConnectionID, session: UInt64, RecordFetch)
}
