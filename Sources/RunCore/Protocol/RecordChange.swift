/// A peer's question for the hub's first record change after a given one, from a byte of the record's body on.
package struct RecordFetch: Hashable, Sendable {
  /// The number of the last change that the peer has stored; 0 before the first.
  package var after: UInt64
  /// The first byte of the body that the peer needs; above 0 when it has received the first parts of a change.
  package var from: Int

  /// A fetch from its parts.
  package init(after: UInt64, from: Int) {
    self.after = after
    self.from = from
  }
}

/// The newest change of one record, with a part of the record's body.
///
/// Each record that the hub keeps, edits or removes gets the next number and loses its earlier one. A peer that stores
/// the changes in order, with the number of the last one, therefore receives each record's last version exactly once.
package struct RecordChange: Hashable, Sendable {
  /// The number of the change. Numbers of a hub grow but are not consecutive.
  package var number: UInt64
  /// The run.
  package var runID: RunID
  /// The version of the record; after a removal the version that the removal made.
  package var version: UInt64
  /// The record's summary; `nil` when the record was removed or ``isUnreadable``.
  package var summary: RecordSummary?
  /// Whether the change has a summary that this version cannot read. The peer passes over the change.
  package var isUnreadable: Bool
  /// The offset of the first byte in the whole body.
  package var from: Int
  /// Bytes of ``RecordBody/encoded``, at most ``RecordPart/bytesMax``.
  package var bytes: [UInt8]
  /// How many bytes the whole body has.
  package var total: Int

  /// A change from its parts.
  package init(
    number: UInt64, runID: RunID, version: UInt64, summary: RecordSummary?, isUnreadable: Bool = false, from: Int = 0,
    bytes: [UInt8] = [], total: Int = 0
  ) {
    self.isUnreadable = isUnreadable
    self.number = number
    self.runID = runID
    self.version = version
    self.summary = summary
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}

/// A change of the kept records, as an app hears of it.
public enum RecordNews: Hashable, Sendable {
  /// A record was kept or edited; it is new or has a new version.
  case kept(RecordSummary)
  /// The record of a run was removed.
  case removed(RunID)
}
