/// A part of a record's body, as an answer holds it.
public struct RecordPart: Hashable, Sendable {
  /// The most bytes in one part: half of what a frame holds.
  public static let bytesMax = 32_768

  /// The run.
  public var runID: RunID
  /// The version that it is of: parts of two versions do not fit together.
  public var version: UInt64
  /// The place of its first byte in the whole body.
  public var from: Int
  /// The bytes.
  public var bytes: [UInt8]
  /// How many bytes the whole body has.
  public var total: Int

  /// A part from its parts.
  public init(runID: RunID, version: UInt64, from: Int, bytes: [UInt8], total: Int) {
    self.runID = runID
    self.version = version
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}

/// A part of a record that is to be kept. They come in order, from the first byte on; with the last one the record is
/// taken. A new first part begins anew.
public struct RecordUpload: Hashable, Sendable {
  /// The place of its first byte among ``RunRecord/encoded``.
  public var from: Int
  /// The bytes, at most ``RecordPart/bytesMax``.
  public var bytes: [UInt8]
  /// How many bytes the record has.
  public var total: Int

  /// A part from its parts.
  public init(from: Int, bytes: [UInt8], total: Int) {
    self.from = from
    self.bytes = bytes
    self.total = total
  }
}
