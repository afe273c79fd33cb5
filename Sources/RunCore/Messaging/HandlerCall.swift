/// Why a node refuses to post a message.
package enum PostRefusal: Hashable, Sendable {
  /// The name, key or body is longer than the wire carries, or the name or key is empty or has control characters.
  case tooLong
  /// The other side is not reachable, and the message may only be delivered now.
  case unreachable
  /// The outbox is full, or has the most keys that it may have.
  case full
  /// The hub has never met the receiving device.
  case unknownDevice
}

/// A message that is handed to the app. If it has a sequence number, the driver reports whether the app's handler has
/// returned or failed.
package struct HandlerCall: Hashable, Sendable {
  /// The message.
  package let received: ReceivedMessage
  /// The stream from the message's sender.
  package let stream: StreamID
  /// Its sequence number in that stream; `nil` for a live message or a newest value, whose sender does not wait for the
  /// handler.
  package let sequence: UInt64?
  /// Grows whenever unhandled messages will be handed over again. Calls of an earlier generation are then stale: their
  /// messages arrive again, unless the sender has put them in quarantine.
  package let handlerGeneration: UInt64

  /// A handler call from its parts.
  package init(received: ReceivedMessage, stream: StreamID, sequence: UInt64?, handlerGeneration: UInt64 = 0) {
    self.received = received
    self.stream = stream
    self.sequence = sequence
    self.handlerGeneration = handlerGeneration
  }
}
