import RunCore
import Synchronization

/// Gives an app's readers the messages that a node has received; see ``RunCore/ReaderQueue``. It is safe to use from
/// any thread, so that a slow reader delays only messages.
final class MessageReaders: Sendable {
  private typealias Waiter = CheckedContinuation<ReaderQueue.Handed?, Never>
  private struct State {
    var queue = ReaderQueue()
    /// Readers that wait for a message.
    var waiters: [UInt64: Waiter] = [:]
    /// Makes the node call ``MessageReaders/news()`` on its loop.
    var wake: (@Sendable () -> Void)?
    /// Whether the node was woken and has not called ``MessageReaders/news()`` yet. So a fast reader wakes it as often as
    /// it can follow, and not for each message.
    var isAwake = false
    var hasEnded = false
  }
  /// What a node learns from its readers.
  struct News {
    let reports: [ReaderQueue.Report]
    /// Whether the core has to be told that the last reader has closed, although there may be a new reader already.
    let isGivingBack: Bool
  }
  private let state = Mutex(State())

  // MARK: The node's side

  /// Adds messages in the order in which the core hands them over.
  func put(_ calls: [HandlerCall]) { change { $0.queue.put(calls) } }

  /// What has happened since the last call.
  func news() -> News {
    state.withLock { state in
      state.isAwake = false
      return News(reports: state.queue.takeReports(), isGivingBack: state.queue.isGivingBack)
    }
  }

  /// Whether the app reads messages.
  var hasReaders: Bool { state.withLock { $0.queue.hasReaders } }

  /// The core knows that there is no reader.
  func finishGivingBack() { change { $0.queue.finishGivingBack() } }

  /// Forgets all messages, because the core was replaced.
  func restart() { change { $0.queue.restart() } }

  /// Ends all readers.
  func end() {
    let waiters = state.withLock { state in
      state.hasEnded = true
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume(returning: nil) }
  }

  // MARK: The readers' side

  /// Opens a reader of the messages of a name, or of all names that have no reader of their own.
  ///
  /// - Parameters:
  ///   - isVisitor: Whether it listens in the place of the node's app.
  ///   - wake: Makes the node call ``news()`` on its loop. It must not keep the node alive.
  /// - Throws: ``RunBusError/Code/alreadyHandled`` when there is such a reader already.
  func open(
    _ name: String?, isVisitor: Bool = false, wake: @escaping @Sendable () -> Void
  ) throws(RunBusError) -> MessageReader {
    let number = change(isNews: true) { state in
      state.wake = wake
      return state.queue.open(name, isVisitor: isVisitor)
    }
    guard let number else {
      let what = name.map { "messages named \"\($0)\"" } ?? "messages"
      throw RunBusError(.alreadyHandled, "this node has a handler for \(what) already")
    }
    return MessageReader(readers: self, number: number)
  }

  fileprivate func close(_ reader: UInt64) {
    let waiter = change(isNews: true) { state in
      state.queue.close(reader)
      return state.waiters.removeValue(forKey: reader)
    }
    waiter?.resume(returning: nil)
  }

  fileprivate func next(_ reader: UInt64, finished: UInt64?) async -> ReaderQueue.Handed? {
    // An element that was under way when the task was cancelled may be half done: it does not count as finished.
    guard !Task.isCancelled else { return nil }
    let (handed, hasEnded) = change { ($0.queue.take(reader, finished: finished), $0.hasEnded) }
    if hasEnded { return nil }
    if let handed { return handed }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early: ReaderQueue.Handed?? = change { state in
          if state.hasEnded || Task.isCancelled { return .some(nil) }
          if let handed = state.queue.take(reader, finished: nil) { return handed }
          precondition(state.waiters[reader] == nil, "two tasks read the same messages: one stream has one reader")
          state.waiters[reader] = continuation
          return nil
        }
        if let early { continuation.resume(returning: early) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: reader) }?.resume(returning: nil)
    }
  }

  /// A message is finished: it counts as processed.
  func finish(_ number: UInt64) { change { $0.queue.finish(number) } }

  /// The app has failed for a message.
  func fail(_ number: UInt64, _ reason: String) { change { $0.queue.fail(number, reason) } }

  /// Changes the state, then gives the next message to a reader that waits for it, and wakes the node if it has to
  /// hear something.
  private func change<Value: Sendable>(isNews: Bool = false, _ body: (inout State) -> Value) -> Value {
    let (value, turn, wake) = state.withLock { state in
      let value = body(&state)
      var turn: (waiter: Waiter, handed: ReaderQueue.Handed?)?
      if let reader = state.queue.nextReader, let waiter = state.waiters.removeValue(forKey: reader) {
        turn = (waiter, state.queue.take(reader, finished: nil))
      }
      let isDue = (isNews || state.queue.hasReports) && !state.isAwake && !state.hasEnded
      if isDue { state.isAwake = true }
      return (value, turn, isDue ? state.wake : nil)
    }
    turn?.waiter.resume(returning: turn?.handed)
    wake?()
    return value
  }
}

/// One reader of messages; it is closed with its last reference.
final class MessageReader: Sendable {
  let readers: MessageReaders
  private let number: UInt64

  fileprivate init(readers: MessageReaders, number: UInt64) {
    self.readers = readers
    self.number = number
  }

  deinit { readers.close(number) }

  /// The next message; `nil` when the task is cancelled or the node has ended. A message that was given out and is not
  /// finished comes again.
  ///
  /// - Parameter finished: The number of the message that is finished by asking for the next one.
  func next(finished: UInt64?) async -> ReaderQueue.Handed? { await readers.next(number, finished: finished) }

  /// Calls a handler for each message until the task is cancelled or the node ends.
  @concurrent func serve(_ handler: @Sendable (ReceivedMessage) async throws -> Void) async {
    while let handed = await next(finished: nil) {
      do {
        try await handler(handed.call.received)
        readers.finish(handed.number)
      } catch {
        // An error after a cancellation is no verdict on the message.
        if Task.isCancelled { return }
        readers.fail(handed.number, "\(error)")
      }
    }
  }
}
