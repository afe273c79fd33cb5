import RunBus

/// An event that a test waited for did not happen in time.
package struct DeadlineMissed: Error, CustomStringConvertible {
  /// The event that was waited for.
  package let what: String
  /// Creates the error for an event.
  package init(what: String) { self.what = what }
  /// A sentence that names the event.
  package var description: String { "\(what) did not come in time" }
}

/// Runs a body that waits for an event; cancels it and throws ``DeadlineMissed`` when the event does not come.
package func within<Value: Sendable>(
  seconds: Double = 60, _ what: String, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  guard let value = try await RunBus.within(.seconds(seconds), body) else { throw DeadlineMissed(what: what) }
  return value
}

/// Repeats an action every 50 ms until a body that waits for its effect returns. A test uses it where one message can be
/// lost on the way.
package func repeating(
  _ body: @escaping @Sendable () async -> Void, until event: @escaping @Sendable () async throws -> Void
) async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask {
      while !Task.isCancelled {
        await body()
        try? await Task.sleep(for: .milliseconds(50))
      }
    }
    defer { group.cancelAll() }
    try await event()
  }
}

/// Polls until a condition holds that sends no notification, such as a file or a count.
package func lookFor(
  _ what: String, within seconds: Double = 60, _ isThere: @escaping @Sendable () throws -> Bool
) async throws {
  try await within(seconds: seconds, what) {
    while try !isThere() { try await Task.sleep(for: .milliseconds(50)) }
  }
}

extension AsyncSequence where Self: Sendable, Element: Sendable {
  /// The first element that satisfies a condition; throws ``DeadlineMissed`` if there is none in time.
  package func first(
    _ what: String, within seconds: Double = 60, where isWanted: @escaping @Sendable (Element) -> Bool
  ) async throws -> Element {
    try await TestSupport.within(seconds: seconds, what) {
      for try await element in self where isWanted(element) { return element }
      throw DeadlineMissed(what: what)
    }
  }
}
