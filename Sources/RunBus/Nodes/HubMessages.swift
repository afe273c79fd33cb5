public import RunCore

/// The messages of the app on the hub.
extension Hub {
  /// Sends an app's message to a device. Returns when the message is durable here; for a live message, when it is on
  /// its way.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - deliveryClass: Whether it is queued, replaces the last value of its key, or is delivered now or never.
  ///   - device: The receiver.
  /// - Throws: ``RunBusError/Code/unknownDevice`` for a device that this hub has never met,
  ///   ``RunBusError/Code/badInput`` for a message that does not fit into a frame, ``RunBusError/Code/unreachable`` for a live message when the device is not connected,
  ///   ``RunBusError/Code/full`` when the outbox is full, ``RunBusError/Code/closed`` when the hub ends first.
  public func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID
  ) async throws(RunBusError) {
    guard !driver.lifecycle.hasEnded else { throw RunBusError(.closed, "the hub has ended") }
    try await driver.broadcaster.posting(of: message.id, isolation: self) {
      feed(.post(message, deliveryClass, to: device))
    }.get()
  }

  /// See ``Node/messageReceipts(for:)``.
  public func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> {
    driver.broadcaster.messageReceipts(for: id)
  }

  func postLive(_ message: AppMessage, to device: DeviceID?) async throws(RunBusError) {
    guard let device else { return }
    try await post(message, by: .live, to: device)
  }

  /// The newest value of a key that a device has sent with the class `latest`.
  public func latest(_ key: String, from device: DeviceID) -> AppMessage? { core?.latest(key, from: device) }

  /// See ``Node/handleMessages(_:)``.
  public func handleMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError) {
    try await serveMessages(handler)
  }

  /// See ``Node/messages(named:decodedBy:)``.
  public nonisolated func messages<Content>(
    named name: MessageName, decodedBy decode: @escaping @Sendable (AppMessage) throws -> Content
  ) throws(RunBusError) -> IncomingMessages<Content> {
    IncomingMessages(reader: try openReader(name.rawValue), decode: decode)
  }

  /// See ``Node/replies(to:_:)``.
  public func replies(
    to name: MessageName, _ answer: @escaping @Sendable (ReceivedMessage) async throws -> [UInt8]
  ) async throws(RunBusError) {
    try await serveQuestions(name, answer)
  }
}
