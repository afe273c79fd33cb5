/// Why a message is not taken.
public enum PostRefusal: Hashable, Sendable {
  /// The name, the key or the body is longer than the wire carries, or has control characters in it.
  case tooLong
  /// The other side is not reachable now, and the message is for now or never.
  case unreachable
  /// As much waits already as the outbox holds.
  case full
  /// The hub has never met this device.
  case unknownDevice
}

/// A message on its way to the app. With a place, the app's handler says what became of it: handled, or failed.
public struct HandlerCall: Hashable, Sendable {
  /// The message.
  public let received: ReceivedMessage
  /// The stream that it came by.
  public let stream: StreamID
  /// Its place there; `nil` for one that nobody waits for.
  public let sequence: UInt64?
  /// Grows when what was handed over is taken back. After a failure whatever is left of its turn is stale: it comes
  /// again, unless its sender has set it aside.
  public let handlerGeneration: UInt64

  /// A handler call from its parts.
  public init(received: ReceivedMessage, stream: StreamID, sequence: UInt64?, handlerGeneration: UInt64 = 0) {
    self.received = received
    self.stream = stream
    self.sequence = sequence
    self.handlerGeneration = handlerGeneration
  }
}
