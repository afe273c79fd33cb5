/// A part of a record as the store reads it.
public struct StoredRecord: Hashable, Sendable {
  /// The number of its last change.
  public var change: UInt64
  /// What a list shows of it.
  public var summary: RecordSummary
  /// The part of its body.
  public var part: RecordPart

  /// A stored record from its parts.
  public init(change: UInt64, summary: RecordSummary, part: RecordPart) {
    self.change = change
    self.summary = summary
    self.part = part
  }
}

/// What a store finds when it is asked for a record.
public enum RecordReading: Hashable, Sendable {
  /// The part, with what belongs to it.
  case found(StoredRecord)
  /// None of that run is kept.
  case missing
  /// It cannot be read, and why.
  case failed(String)
}

/// Whom a part of a record is read for.
public enum RecordAsker: Hashable, Sendable {
  /// Somebody who asks at the node's door, by the number of the question.
  case inquiry(UInt64)
  /// A peer, in the session in which it asked.
  case peer(ConnectionID, session: UInt64, RecordFetch)
}
