/// A command of a kind that this version does not know. Only its sender knows what it means, so its answer is made where
/// the wire is understood, and the hub decides no more than when it may leave.
public struct UnsupportedCommand: Hashable, Sendable {
  /// The session that its frame carried.
  public var session: UInt64
  /// Its place in the sender's stream of commands; `nil` for a plain REQ's.
  public var sequence: UInt64?
  /// The verdict `rejected(unsupported)`, ready to be sent.
  public var reply: [UInt8]

  /// An unsupported command from its parts.
  public init(session: UInt64, sequence: UInt64?, reply: [UInt8]) {
    self.session = session
    self.sequence = sequence
    self.reply = reply
  }
}
