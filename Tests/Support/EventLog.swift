import Synchronization

/// Events in order, for a test that waits for one with a deadline. Any thread may append.
package final class EventLog<Event: Sendable>: Sendable {
  private struct State {
    var events: [Event] = []
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var watchersMade = 0
  }
  private let state = Mutex(State())

  /// Creates an empty log.
  package init() {}

  /// All events so far.
  package var events: [Event] { state.withLock { $0.events } }

  /// Appends an event and wakes those who wait.
  package func append(_ event: Event) {
    let watchers = state.withLock { state in
      state.events.append(event)
      return Array(state.watchers.values)
    }
    for watcher in watchers { watcher.yield() }
  }

  /// Waits until `find` returns a value for the events so far, and returns it.
  @discardableResult
  package func wait<Found: Sendable>(
    for what: String, within seconds: Double = 60, _ find: @escaping @Sendable ([Event]) -> Found?
  ) async throws -> Found {
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state in
      state.watchersMade += 1
      state.watchers[state.watchersMade] = continuation
      return state.watchersMade
    }
    defer { state.withLock { $0.watchers[number] = nil } }
    if let found = find(events) { return found }
    return try await within(seconds: seconds, what) {
      for await _ in changes {
        if let found = find(self.events) { return found }
      }
      throw DeadlineMissed(what: what)
    }
  }
}
