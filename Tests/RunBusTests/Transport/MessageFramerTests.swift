import RunBus
import Testing

@Suite("Messages of a stream of bytes")
struct MessageFramerTests {
  private let messages: [[UInt8]] = [[1], [2, 3], Array(repeating: 7, count: 300), [0]]

  @Test("Messages come out as they went in, however the bytes are cut", arguments: [1, 2, 5, 7, 64, 1000])
  func cuts(size: Int) throws {
    let bytes = messages.flatMap(MessageFramer.bytes)
    var framer = MessageFramer(messageBytesMax: 300)
    var read: [[UInt8]] = []
    for begin in stride(from: 0, to: bytes.count, by: size) {
      read += try framer.receive(bytes[begin..<min(begin + size, bytes.count)])
    }
    #expect(read == messages)
  }

  @Test(
    "A length that no framer sends ends the connection",
    arguments: [[0, 0, 0, 0], [0, 0, 1, 45], [255, 255, 255, 255]])
  func lengths(bytes: [UInt8]) {
    var framer = MessageFramer(messageBytesMax: 300)
    let error = #expect(throws: RunBusError.self) { try framer.receive(bytes) }
    #expect(error?.code == .transport)
  }
}
