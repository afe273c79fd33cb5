public import Foundation
public import RunCore

/// The messages of an app; see ``Node/messages``.
///
/// ```swift
/// for await photo in try phone.messages.named("photo", as: Photo.self) { album.add(photo.content, id: photo.id) }
/// try await watch.messages.post(AppMessage(name: "photo", encoding: photo), by: .queued)
/// ```
///
/// `Member` says whose messages they are: a ``Peer`` sends to its hub, a ``Hub`` to one of its devices.
public struct NodeMessages<Member>: Sendable {
  let node: any DrivenNode

  // MARK: Receiving

  /// Passes an app's messages to `handler`, one at a time and in order, until the task is cancelled or the node ends.
  ///
  /// A queued message counts as processed when `handler` has returned and the node has stored that. Until then it is
  /// delivered again, with the same id, also after a crash. Its sender sets a message aside when the handler has thrown
  /// five times for it. While a node has no handler, queued messages stay with their sender and live ones are dropped.
  ///
  /// The handler does not get messages whose name has a stream of its own (``named(_:as:using:)``). With such streams it
  /// is the handler of all other names.
  ///
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when the node has a handler already: it can have one at a time.
  public func handle(_ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void) async throws(RunBusError) {
    try await node.serveMessages(handler)
  }

  /// The messages of one name, with contents that `decode` makes of them; ``named(_:as:using:)`` is the usual way and
  /// says what counts as processed.
  ///
  /// - Parameters:
  ///   - name: The name of the messages.
  ///   - decode: Makes the content of a message. When it throws, the message counts as one whose handler failed.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when this name has a reader already.
  public func named<Content>(
    _ name: MessageName, decodedBy decode: @escaping @Sendable (AppMessage) throws -> Content
  ) throws(RunBusError) -> IncomingMessages<Content> {
    IncomingMessages(reader: try node.openReader(name.rawValue), decode: decode)
  }

  /// The messages of one name, with their bodies read as JSON.
  ///
  /// ```swift
  /// for await photo in try phone.messages.named("photo", as: Photo.self) {
  ///   album.add(photo.content, id: photo.id)
  /// }
  /// ```
  ///
  /// A queued message counts as processed when the loop asks for the next one, or calls ``IncomingMessage/done()``, and
  /// the node has stored that. Until then it is delivered again, with the same id, also after a crash. A message during
  /// which the loop is left or its task is cancelled is not processed, unless `done()` was called.
  ///
  /// The node gives out one message at a time: the next one, whatever its name, follows when the one before is
  /// processed. So the messages of a sender keep their order, and a slow loop delays the messages of other names.
  ///
  /// A body that cannot be decoded counts as a failure. Its sender sends the message again after 1, 2, 4 and 8 s, then
  /// sets it aside (``RunCore/RejectionReason/quarantined``), and the loop continues with the messages behind it. While
  /// an app reads some names, the same happens to a queued message of a name without a reader; ``handle(_:)`` beside the
  /// loops receives the messages of all other names. While an app reads no messages at all, all of them stay with their
  /// senders.
  ///
  /// - Parameters:
  ///   - name: The name of the messages, of every delivery class.
  ///   - type: The type of their bodies.
  ///   - decoder: The decoder of the bodies.
  /// - Returns: The messages. They begin with the oldest that is not processed, and end with the node.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when this name has a reader already.
  public func named<Content: Decodable & Sendable>(
    _ name: MessageName, as type: Content.Type, using decoder: JSONDecoder = JSONDecoder()
  ) throws(RunBusError) -> IncomingMessages<Content> {
    try named(name) { try $0.decode(as: type, using: decoder) }
  }

  /// The messages of one name, with their bodies as bytes; see ``named(_:as:using:)``.
  ///
  /// ```swift
  /// for await track in try watch.messages.named("gpx") {
  ///   try track.content.write(to: file)
  /// }
  /// ```
  public func named(_ name: MessageName) throws(RunBusError) -> IncomingMessages<Data> {
    try named(name) { $0.data }
  }

  // MARK: Sending

  /// The stages of one of this app's messages from now on, ending with its last. Call this before posting the message
  /// to see all stages.
  ///
  /// After a restart of the node it works with the id of a message that was posted before: it tells the stages that are
  /// still to come and repeats none. For a message that has reached its last stage, or is not known here, the stream
  /// stays empty until the node ends; ``NodeOutbox/entries()`` lists the messages that still wait.
  public func receipts(for id: MessageID) -> AsyncStream<MessageReceipt> { node.broadcaster.messageReceipts(for: id) }
}

extension NodeMessages where Member == Peer {
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
    try await node.post(message, by: deliveryClass, to: nil)
  }

  /// The newest value of a key that the hub has sent with the class `latest`; `nil` before the peer has begun.
  public func latest(_ key: String) async -> AppMessage? { await node.latest(key, from: nil) }
}

extension NodeMessages where Member == Hub {
  /// Sends an app's message to a device. Returns when the message is durable here; for a live message, when it is on
  /// its way.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - deliveryClass: Whether it is queued, replaces the last value of its key, or is delivered now or never.
  ///   - device: The receiver.
  /// - Throws: ``RunBusError/Code/unknownDevice`` for a device that this hub has never met,
  ///   ``RunBusError/Code/badInput`` for a message that does not fit into a frame, ``RunBusError/Code/unreachable`` for
  ///   a live message when the device is not connected, ``RunBusError/Code/full`` when the outbox is full,
  ///   ``RunBusError/Code/closed`` when the hub ends first.
  public func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID
  ) async throws(RunBusError) {
    try await node.post(message, by: deliveryClass, to: device)
  }

  /// The newest value of a key that a device has sent with the class `latest`; `nil` before the hub has begun.
  public func latest(_ key: String, from device: DeviceID) async -> AppMessage? {
    await node.latest(key, from: device)
  }
}

extension Node {
  /// The messages of this node's app.
  public nonisolated var messages: NodeMessages<any Node> { NodeMessages(node: internals.node) }
}

extension Peer {
  /// The messages of this node's app, to and from the hub.
  public nonisolated var messages: NodeMessages<Peer> { NodeMessages(node: self) }

  func posted(_ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID?) -> PeerCore.Event? {
    .post(message, deliveryClass)
  }

  func latest(_ key: String, from device: DeviceID?) -> AppMessage? { core?.latest(key) }

  func receiver(_ device: DeviceID?) throws(RunBusError) -> DeviceID? {
    guard device == nil || device == core?.hubDevice else {
      throw RunBusError(
        .badInput, "a peer's messages go to its hub, and \(device?.rawValue ?? "") is not known as that")
    }
    return nil
  }
}

extension Hub {
  /// The messages of this node's app, to and from the devices.
  public nonisolated var messages: NodeMessages<Hub> { NodeMessages(node: self) }

  func posted(_ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID?) -> HubCore.Event? {
    device.map { .post(message, deliveryClass, to: $0) }
  }

  func latest(_ key: String, from device: DeviceID?) -> AppMessage? { device.flatMap { core?.latest(key, from: $0) } }

  func receiver(_ device: DeviceID?) throws(RunBusError) -> DeviceID? {
    guard let device else { throw RunBusError(.badInput, "say which device it is for") }
    return device
  }
}

extension DrivenNode {
  /// Takes a message of the app, and waits until it is durable or on its way. A node that has not begun takes it when it
  /// begins.
  ///
  /// - Parameter device: The receiver; `nil` on a peer, which sends to its hub.
  func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID?
  ) async throws(RunBusError) {
    if let ending = driver.lifecycle.ending(of: driver.word) { throw ending }
    guard let event = posted(message, by: deliveryClass, to: device) else { return }
    try await broadcaster.posting(of: message.id, isolation: self) { feed(event) }.get()
  }
}
