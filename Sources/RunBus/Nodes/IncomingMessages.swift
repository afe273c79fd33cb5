public import RunCore

/// The messages of one name that a node receives, in order; see ``NodeMessages/named(_:as:using:)``.
///
/// One task reads them. The name is free again when the sequence and its iterator are gone.
public struct IncomingMessages<Content: Sendable>: AsyncSequence, Sendable {
  /// One message.
  public typealias Element = IncomingMessage<Content>
  /// Reading does not fail.
  public typealias Failure = Never

  let reader: MessageReader
  let decode: @Sendable (AppMessage) throws -> Content

  /// Reads the messages. A message that an earlier iterator has not finished comes again, unless it is
  /// live.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: reader, decode: decode) }

  /// Reads messages one after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let reader: MessageReader
    fileprivate let decode: @Sendable (AppMessage) throws -> Content
    private var last: UInt64?

    fileprivate init(reader: MessageReader, decode: @escaping @Sendable (AppMessage) throws -> Content) {
      self.reader = reader
      self.decode = decode
    }

    /// The next message; the one before it counts as processed. `nil` when the node has ended or the task is cancelled.
    public mutating func next() async -> Element? {
      while let handed = await reader.next(finished: last) {
        do {
          let content = try decode(handed.call.received.message)
          last = handed.number
          return IncomingMessage(
            content: content, received: handed.call.received, readers: reader.readers, number: handed.number)
        } catch {
          last = nil
          reader.readers.fail(handed.number, "\(error)")
        }
      }
      return nil
    }

    /// The next message, in the caller's isolation; see ``next()``.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await next() }
  }
}

/// A message that a node has received, with its content.
public struct IncomingMessage<Content: Sendable>: Sendable {
  /// What the message says.
  public let content: Content
  /// The message as it was sent, and by whom.
  public let received: ReceivedMessage

  private let readers: MessageReaders
  private let number: UInt64

  init(content: Content, received: ReceivedMessage, readers: MessageReaders, number: UInt64) {
    self.content = content
    self.received = received
    self.readers = readers
    self.number = number
  }

  /// The message's id. It is the same when the message comes again.
  public var id: MessageID { received.message.id }
  /// The device that it came from.
  public var from: DeviceID { received.from }

  /// The message counts as processed now, and not only when the next one is asked for. Call it before leaving the
  /// loop, and before work that needs a message of another name. Further calls have no effect.
  public func done() { readers.finish(number) }

  /// The app cannot process the message now, as if a handler had thrown: its sender sends it again after 1, 2, 4 and
  /// 8 s, and then sets it aside with this reason. It has no effect on a live message, or after ``done()``.
  ///
  /// - Parameter reason: A sentence for people; its first 1,024 bytes are kept.
  public func failed(_ reason: String) { readers.fail(number, reason) }
}
