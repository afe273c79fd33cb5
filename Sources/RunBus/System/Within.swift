/// The result of an operation; `nil` when it takes too long. It is told to end then, and not waited for.
///
/// - Throws: What the operation throws; `CancellationError` when the task is cancelled.
package func within<Value: Sendable>(
  _ patience: Duration, _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
  let (results, result) = AsyncThrowingStream.makeStream(of: Value?.self, bufferingPolicy: .bufferingOldest(1))
  let work = Task {
    do { result.yield(try await operation()) } catch { result.finish(throwing: error) }
  }
  let limit = Task {
    guard (try? await Task.sleep(for: patience)) != nil else { return }
    result.yield(nil)
  }
  defer {
    work.cancel()
    limit.cancel()
  }
  for try await value in results { return value }
  // The stream ends without a value when the caller's task is cancelled.
  throw CancellationError()
}
