import RunCore

/// Where messages wait for an app's handler, and what the handler makes of them: in order, one at a time, off the node's
/// thread, so that a slow handler delays nothing but messages.
struct MessageHandlerQueue: Sendable {
  /// What became of messages; the node makes it durable.
  enum Report: Sendable {
    /// The handler has returned for everything of a stream up to here.
    case handled(StreamID, through: UInt64, handlerGeneration: UInt64)
    /// The handler has thrown.
    case failed(StreamID, UInt64, String)
  }

  private let stream: AsyncStream<[HandlerCall]>
  private let continuation: AsyncStream<[HandlerCall]>.Continuation

  init() {
    // Not bounded here: a sender has no more under way than its stream's flight.
    (stream, continuation) = AsyncStream.makeStream(of: [HandlerCall].self)
  }

  func put(_ handlerCalls: [HandlerCall]) { continuation.yield(handlerCalls) }
  func close() { continuation.finish() }

  /// Reports are gathered, or the node would be woken for each of many thousands.
  private static let reportEvery = 256

  /// Hands over until the desk is closed or the task is cancelled.
  @concurrent func serve(
    _ handler: @Sendable (ReceivedMessage) async throws -> Void, report: @Sendable (Report) -> Void
  ) async {
    /// The turn in which a handler failed: what was on its way by then is stale, and comes again.
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
          // A handler that was told to end has not judged the message.
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
