/// What every transport keeps to.
enum TransportLimits {
  /// The largest frame: what protobuf makes of 512 samples with every field at its longest stays below it.
  static let frameBytesMax = 65_536
  /// Messages that one source takes in before the others of its loop get their turn: more than a burst of presses, less
  /// than a millisecond of work.
  static let messagesPerDrainMax = 64
}
