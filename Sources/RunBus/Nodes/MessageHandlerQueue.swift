import RunCore

/// Calls an app's message handler, in order and one message at a time. It runs off the node's thread, so that a slow
/// handler delays only messages.
struct MessageHandlerQueue: Sendable {
  /// What became of a message; the node makes it durable.
  enum Report: Sendable {
    /// The handler has returned for all messages of a stream up to this sequence.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64)
    /// The handler has thrown.
    case failed(StreamID, UInt64, String)
  }

  private let stream: AsyncStream<[HandlerCall]>
  private let continuation: AsyncStream<[HandlerCall]>.Continuation

  init() {
    // Unbounded, because a sender sends no more than one flight of its stream without an acknowledgement.
    (stream, continuation) = AsyncStream.makeStream(of: [HandlerCall].self)
  }

  func put(_ handlerCalls: [HandlerCall]) { continuation.yield(handlerCalls) }
  func close() { continuation.finish() }

  /// After how many messages their completion is reported; a report for each one would wake the node many thousand
  /// times.
  private static let reportEvery = 256

  /// Calls the handler for queued messages until the queue is closed or the task is cancelled.
  @concurrent func serve(
    _ handler: @Sendable (ReceivedMessage) async throws -> Void, report: @Sendable (Report) -> Void
  ) async {
    /// The handler generation in which a stream's handler failed. Later calls of that generation are skipped: the core
    /// delivers these messages again in a newer one.
    var failed: [StreamID: UInt64] = [:]
    for await batch in stream {
      var done: [StreamID: (sequence: UInt64, handlerGeneration: UInt64)] = [:]
      var count = 0
      func tell() {
        for (stream, last) in done.sorted(by: { $0.key.sender < $1.key.sender }) {
          report(.handled(stream, through: last.sequence, handlerGeneration: last.handlerGeneration))
        }
        done = [:]
        count = 0
      }
      for handlerCall in batch {
        if Task.isCancelled { break }
        if handlerCall.sequence != nil, let handlerGeneration = failed[handlerCall.stream] {
          if handlerCall.handlerGeneration <= handlerGeneration { continue }
          failed[handlerCall.stream] = nil
        }
        do {
          try await handler(handlerCall.received)
          guard let sequence = handlerCall.sequence else { continue }
          done[handlerCall.stream] = (sequence, handlerCall.handlerGeneration)
          count += 1
          if count >= Self.reportEvery { tell() }
        } catch {
          tell()
          // An error after a cancellation is no verdict on the message.
          if Task.isCancelled { break }
          guard let sequence = handlerCall.sequence else { continue }
          failed[handlerCall.stream] = handlerCall.handlerGeneration
          report(.failed(handlerCall.stream, sequence, "\(error)"))
        }
      }
      tell()
      if Task.isCancelled { return }
    }
  }
}
