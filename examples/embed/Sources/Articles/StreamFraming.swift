import RunBus

/// Makes messages of a stream of bytes: each is sent as its length in four bytes, most significant first, then itself.
struct MessageFramer {
  /// What ends the connection: bytes that the other end's framer does not send.
  struct UnreadableStream: Error {}
  /// The largest message: ``FrameBridge/messageBytesMax`` of the bridge.
  let messageBytesMax: Int
  private var buffer: [UInt8] = []

  init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

  /// The bytes to write for a message.
  static func bytes(of message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
  }

  /// The messages that are complete with these bytes.
  mutating func receive(_ bytes: some Sequence<UInt8>) throws -> [[UInt8]] {
    buffer += bytes
    var messages: [[UInt8]] = []
    while buffer.count >= 4 {
      let count = buffer.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard (1...messageBytesMax).contains(count) else { throw UnreadableStream() }
      guard buffer.count >= 4 + count else { break }
      messages.append(Array(buffer[4..<4 + count]))
      buffer.removeFirst(4 + count)
    }
    return messages
  }
}
