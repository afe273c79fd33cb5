/// A part of a record's body.
package struct RecordPart: Hashable, Sendable {
  /// The most bytes in one part: half of the largest frame.
  package static let bytesMax = 32_768

  /// The run.
  package var runID: RunID
  /// The version of the record. Parts of different versions do not fit together.
  package var version: UInt64
  /// The offset of its first byte in the whole body.
  package var from: Int
  /// The bytes.
  package var bytes: [UInt8]
  /// How many bytes the whole body has.
  package var total: Int

  /// A part from its parts.
  package init(runID: RunID, version: UInt64, from: Int, bytes: [UInt8], total: Int) {
    self.runID = runID
    self.version = version
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}

/// A part of a record that the hub is to keep. A client sends the parts in order, and the hub keeps the record when it
/// has the last one. A part from byte 0 begins a new upload.
package struct RecordUpload: Hashable, Sendable {
  /// The offset of its first byte in ``RunRecord/encoded``.
  package var from: Int
  /// The bytes, at most ``RecordPart/bytesMax``.
  package var bytes: [UInt8]
  /// How many bytes the whole record has.
  package var total: Int

  /// A part from its parts.
  package init(from: Int, bytes: [UInt8], total: Int) {
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}
