import RunCore

/// The limits of every transport.
enum TransportLimits {
  /// The largest frame in bytes.
  static let frameBytesMax = ConnectionLimits.frameBytes.upperBound
  /// How many messages one source delivers before the loop's other sources get their turn: more than a burst of
  /// presses, less than a millisecond of work.
  static let messagesPerDrainMax = 64
}
