/// What a peer asks a hub: the first change of its records behind one, from a byte of the record's body on.
public struct RecordFetch: Hashable, Sendable {
  /// The last change that the peer has taken in; 0 before the first.
  public var after: UInt64
  /// The first byte of the body that it wants: not 0 when it has some of the change that it asked for before.
  public var from: Int

  /// A question from its parts.
  public init(after: UInt64, from: Int) {
    self.after = after
    self.from = from
  }
}

/// The newest change of one record, as a hub tells it to a peer, with a part of the body.
///
/// Whatever is kept, edited or removed takes the next number; a record has only its last one. So a peer that takes the
/// changes in their order, and remembers the number of the last one, has everything once and nothing that is outdated.
public struct RecordChange: Hashable, Sendable {
  /// Its number among the changes of the hub: they grow, with holes.
  public var number: UInt64
  /// The run.
  public var runID: RunID
  /// The version; of a removed record the one that says so.
  public var version: UInt64
  /// What a list shows of it; `nil` for a record that was removed.
  public var summary: RecordSummary?
  /// The place of the first byte in the whole body.
  public var from: Int
  /// Bytes of ``RecordBody/encoded``, at most ``RecordPart/bytesMax``.
  public var bytes: [UInt8]
  /// How many bytes the whole body has.
  public var total: Int

  /// A change from its parts.
  public init(
    number: UInt64, runID: RunID, version: UInt64, summary: RecordSummary?, from: Int = 0, bytes: [UInt8] = [],
    total: Int = 0
  ) {
    self.number = number
    self.runID = runID
    self.version = version
    self.summary = summary
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}

/// What has become of a record, for an app.
public enum RecordNews: Hashable, Sendable {
  /// It is kept, for the first time or as a new version.
  case kept(RecordSummary)
  /// Its owner has removed it.
  case removed(RunID)
}
