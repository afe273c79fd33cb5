import RunCore

/// Where messages wait for an app's handler, and what the handler makes of them: in order, one at a time, off the node's
/// thread, so that a slow handler delays nothing but messages.
struct MessageDesk: Sendable {
  /// What became of messages; the node makes it durable.
  enum Report: Sendable {
    /// The handler has returned for everything of a stream up to here.
    case handled(StreamID, through: UInt64, turn: UInt64)
    /// The handler has thrown.
    case failed(StreamID, UInt64, String)
  }

  private let stream: AsyncStream<[Handover]>
  private let continuation: AsyncStream<[Handover]>.Continuation

  init() {
    // Not bounded here: a sender has no more under way than its stream's flight.
    (stream, continuation) = AsyncStream.makeStream(of: [Handover].self)
  }

  func put(_ handovers: [Handover]) { continuation.yield(handovers) }
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
      var done: [StreamID: (sequence: UInt64, turn: UInt64)] = [:]
      var count = 0
      func tell() {
        for (stream, last) in done.sorted(by: { $0.key.sender < $1.key.sender }) {
          report(.handled(stream, through: last.sequence, turn: last.turn))
        }
        done = [:]
        count = 0
      }
      for handover in batch {
        if Task.isCancelled { break }
        if handover.sequence != nil, let turn = failed[handover.stream] {
          if handover.turn <= turn { continue }
          failed[handover.stream] = nil
        }
        do {
          try await handler(handover.received)
          guard let sequence = handover.sequence else { continue }
          done[handover.stream] = (sequence, handover.turn)
          count += 1
          if count >= Self.reportEvery { tell() }
        } catch {
          tell()
          // A handler that was told to end has not judged the message.
          if Task.isCancelled { break }
          guard let sequence = handover.sequence else { continue }
          failed[handover.stream] = handover.turn
          report(.failed(handover.stream, sequence, "\(error)"))
        }
      }
      tell()
      if Task.isCancelled { return }
    }
  }
}
