/// Makes messages of a stream of bytes, such as a socket or a channel of Bluetooth, for a ``FrameBridge``: each is sent as
/// its length in four bytes, most significant first, then itself. One framer reads one connection; the next connection
/// gets a new one.
///
/// ```swift
/// var framer = MessageFramer(messageBytesMax: bridge.messageBytesMax)
/// for try await bytes in connection { for message in try framer.receive(bytes) { bridge.receive(message) } }
/// ```
public struct MessageFramer: Sendable {
  /// The largest message in bytes: ``FrameBridge/messageBytesMax`` of the bridge.
  public let messageBytesMax: Int
  private var buffer: [UInt8] = []

  /// A framer for a connection from which nothing was read yet.
  public init(messageBytesMax: Int) { self.messageBytesMax = messageBytesMax }

  /// The bytes to write for a message.
  public static func bytes(of message: [UInt8]) -> [UInt8] {
    withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
  }

  /// The messages that are complete with these bytes, oldest first. The framer keeps the rest, at most one message.
  ///
  /// - Throws: ``RunBusError/Code/transport`` for a length that the other end's framer does not send: close the
  ///   connection, because the next message cannot be found.
  public mutating func receive(_ bytes: some Sequence<UInt8>) throws(RunBusError) -> [[UInt8]] {
    buffer += bytes
    var messages: [[UInt8]] = []
    var begin = 0
    defer { buffer.removeFirst(begin) }
    while buffer.count - begin >= 4 {
      let count = buffer[begin..<begin + 4].reduce(0) { $0 << 8 | Int($1) }
      guard (1...messageBytesMax).contains(count) else {
        throw RunBusError(
          .transport, "a message of \(count) bytes on a link of \(messageBytesMax): close the connection")
      }
      guard buffer.count - begin >= 4 + count else { break }
      messages.append(Array(buffer[begin + 4..<begin + 4 + count]))
      begin += 4 + count
    }
    return messages
  }
}
