public import Foundation
public import RunCore

extension Node {
  /// The messages of one name, with their bodies read as JSON.
  ///
  /// ```swift
  /// for await photo in try phone.messages(named: "photo", as: Photo.self) {
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
  /// an app reads some names, the same happens to a queued message of a name without a reader; ``handleMessages(_:)``
  /// beside the loops receives the messages of all other names. While an app reads no messages at all, all of them stay
  /// with their senders.
  ///
  /// - Parameters:
  ///   - name: The name of the messages, of every delivery class.
  ///   - type: The type of their bodies.
  ///   - decoder: The decoder of the bodies.
  /// - Returns: The messages. They begin with the oldest that is not processed, and end with the node.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when this name has a reader already.
  public nonisolated func messages<Content: Decodable & Sendable>(
    named name: MessageName, as type: Content.Type, using decoder: JSONDecoder = JSONDecoder()
  ) throws(RunBusError) -> IncomingMessages<Content> {
    try messages(named: name) { try $0.decode(as: type, using: decoder) }
  }

  /// The messages of one name, with their bodies as bytes; see ``messages(named:as:using:)``.
  ///
  /// ```swift
  /// for await track in try watch.messages(named: "gpx") {
  ///   try track.content.write(to: file)
  /// }
  /// ```
  public nonisolated func messages(named name: MessageName) throws(RunBusError) -> IncomingMessages<Data> {
    try messages(named: name) { $0.data }
  }
}
