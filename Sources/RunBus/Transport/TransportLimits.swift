import RunCore

/// The limits of every transport.
enum TransportLimits {
  /// The largest frame in bytes.
  static let frameBytesMax = ConnectionLimits.frameBytes.upperBound
  /// How many messages one source delivers before the loop's other sources get their turn: more than a burst of
  /// presses, less than a millisecond of work.
  static let messagesPerDrainMax = 64
  /// After how long a source that is not empty gives the others their turn, also with fewer messages: one with hundreds
  /// of readings is more work than a press, and commits and other peers wait for the loop meanwhile.
  static let drainTimeMax = BusDuration.milliseconds(1)
}
