import RunBus

/// Returns the result of `body`, or `nil` when it takes longer than `span` of real time.
func within<Value: Sendable>(
  _ span: BusDuration, _ body: @Sendable @escaping () async throws -> Value
) async throws -> Value? {
  try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try? await Task.sleep(for: .nanoseconds(span.nanoseconds))
      return nil
    }
    let first = try await group.next()
    group.cancelAll()
    return first.flatMap { $0 }
  }
}
