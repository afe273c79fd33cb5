/// The limits of every transport.
enum TransportLimits {
  /// The largest frame in bytes: 512 encoded samples with every field at its longest are smaller.
  static let frameBytesMax = 65_536
  /// How many messages one source delivers before the loop's other sources get their turn: more than a burst of
  /// presses, less than a millisecond of work.
  static let messagesPerDrainMax = 64
}
