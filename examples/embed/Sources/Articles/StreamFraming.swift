import RunBus

/// Hands the messages of one connection to a bridge until the connection ends.
func read(_ connection: some AsyncSequence<[UInt8], any Error>, into bridge: FrameBridge) async throws {
  var framer = MessageFramer(messageBytesMax: bridge.messageBytesMax)
  bridge.setReachable(true)
  defer { bridge.setReachable(false) }
  for try await bytes in connection {
    for message in try framer.receive(bytes) { bridge.receive(message) }
  }
}
