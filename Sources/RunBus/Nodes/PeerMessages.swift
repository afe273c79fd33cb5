public import RunCore

/// The messages of the app on a peer.
extension Peer {
  /// Sends an app's message to the hub. Returns when the message is durable here; for a live message, when it is on its
  /// way.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - deliveryClass: Whether it is queued, replaces the last value of its key, or is delivered now or never.
  /// - Throws: ``RunBusError/Code/badInput`` for a message that does not fit into a frame,
  ///   ``RunBusError/Code/unreachable`` for a live message when the hub is not connected, ``RunBusError/Code/full``
  ///   when the outbox is full, ``RunBusError/Code/closed`` when the peer ends first.
  public func post(_ message: AppMessage, by deliveryClass: DeliveryClass) async throws(RunBusError) {
    guard !driver.lifecycle.hasEnded else { throw RunBusError(.closed, "the peer has ended") }
    try await driver.broadcaster.posting(of: message.id, isolation: self) { feed(.post(message, deliveryClass)) }.get()
  }

  /// See ``Node/messageReceipts(for:)``.
  public func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> {
    driver.broadcaster.messageReceipts(for: id)
  }

  func postLive(_ message: AppMessage, to device: DeviceID?) async throws(RunBusError) {
    try await post(message, by: .live)
  }

  /// The newest value of a key that the hub has sent with the class `latest`.
  public func latest(_ key: String) -> AppMessage? { core?.latest(key) }

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
