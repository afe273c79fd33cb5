/// A command of a kind that this version does not know. The codec builds the reply, which repeats the unknown kind; the
/// hub only decides when to send it.
package struct UnsupportedCommand: Hashable, Sendable {
  /// The session's number in the command's frame.
  package var session: UInt64
  /// Its sequence number in the sender's stream of commands; `nil` when it came in a request.
  package var sequence: UInt64?
  /// The encoded verdict `rejected(unsupported)`.
  package var reply: [UInt8]

  /// An unsupported command from its parts.
  package init(session: UInt64, sequence: UInt64?, reply: [UInt8]) {
    self.session = session
    self.sequence = sequence
    self.reply = reply
  }
}
