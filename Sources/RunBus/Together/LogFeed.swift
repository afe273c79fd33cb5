import Synchronization

/// News of a followed room, for one reader. It ends when the log is closed.
///
/// Nothing is queued for a slow reader: it asks the log for what is next.
package typealias LogFeed = PulledFeed<LogNews>
/// Live messages of a room, for one reader: what is new since it last asked, the newest of each member and kind.
package typealias LiveFeed = PulledFeed<[LiveRow]>

/// A sequence whose elements are made when its reader asks for them.
package struct PulledFeed<Element: Sendable>: AsyncSequence, Sendable {
  package typealias Failure = Never

  /// Tells the source when the last copy of the feed and its iterator is gone.
  private final class Life: Sendable {
    let end: @Sendable () -> Void
    init(_ end: @escaping @Sendable () -> Void) { self.end = end }
    deinit { end() }
  }
  private let want: @Sendable (Pull<Element>) -> Void
  private let life: Life

  /// A feed of a source.
  ///
  /// - Parameters:
  ///   - want: Gives the next element to the pull, when there is one; `nil` at the end.
  ///   - end: Called once nobody can read any more.
  package init(want: @escaping @Sendable (Pull<Element>) -> Void, end: @escaping @Sendable () -> Void) {
    self.want = want
    life = Life(end)
  }

  /// The next element; `nil` at the end, and when the task is cancelled.
  fileprivate func next() async -> Element? {
    let pull = Pull<Element>()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        pull.wait(continuation)
        want(pull)
      }
    } onCancel: {
      _ = pull.give(nil)
    }
  }

  /// Asks for one element after the other.
  package struct Iterator: AsyncIteratorProtocol {
    fileprivate let feed: PulledFeed
    /// The next element; `nil` at the end, and when the task is cancelled.
    package mutating func next() async -> Element? { await feed.next() }
    /// The same.
    package mutating func next(isolation actor: isolated (any Actor)?) async -> Element? { await feed.next() }
  }
  /// An iterator. Several share the elements.
  package func makeAsyncIterator() -> Iterator { Iterator(feed: self) }
}

/// A reader that waits for one element. Any thread may give it.
package final class Pull<Element: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Element?, Never>?
    var isOver = false
  }
  private let state = Mutex(State())

  fileprivate init() {}

  fileprivate func wait(_ continuation: CheckedContinuation<Element?, Never>) {
    let isOver = state.withLock { state in
      if !state.isOver { state.continuation = continuation }
      return state.isOver
    }
    if isOver { continuation.resume(returning: nil) }
  }

  /// Whether the reader does not wait any more.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Gives the element, or the end.
  ///
  /// - Returns: Whether the reader waited for it; otherwise the element is not delivered.
  package func give(_ element: Element?) -> Bool {
    let (continuation, isFirst) = state.withLock { state in
      defer { (state.isOver, state.continuation) = (true, nil) }
      return (state.continuation, !state.isOver)
    }
    continuation?.resume(returning: element)
    return isFirst
  }
}
