import Synchronization

/// Whether a node takes commands, and who waits for that. It is safe to use from any thread, because a waiting task may
/// be cancelled on any thread.
final class Readiness: Sendable {
  private struct State {
    var isOpen = false
    var end: RunBusError?
    var nextKey: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Result<Void, any Error>, Never>] = [:]
  }
  private let state = Mutex(State())

  /// Waits until ``open()`` was called.
  ///
  /// - Throws: The error of ``end(_:)``, or `CancellationError`.
  func wait(isolation: isolated any Actor) async throws {
    let key = state.withLock { state -> UInt64? in
      guard !state.isOpen || state.end != nil else { return nil }
      state.nextKey += 1
      return state.nextKey
    }
    guard let key else { return }
    let result: Result<Void, any Error> = await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let known = state.withLock { state -> Result<Void, any Error>? in
          if let end = state.end { return .failure(end) }
          if state.isOpen { return .success(()) }
          if Task.isCancelled { return .failure(CancellationError()) }
          state.waiters[key] = continuation
          return nil
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: key) }?.resume(returning: .failure(CancellationError()))
    }
    try result.get()
  }

  /// The node takes commands.
  func open() {
    finish(.success(())) { $0.isOpen = true }
  }

  /// The node has ended and takes no commands any more.
  func end(_ error: RunBusError) {
    finish(.failure(error)) { $0.end = error }
  }

  private func finish(_ result: Result<Void, any Error>, _ change: (inout State) -> Void) {
    let waiters = state.withLock { state in
      change(&state)
      defer { state.waiters = [:] }
      return state.waiters.values.map { $0 }
    }
    for waiter in waiters { waiter.resume(returning: result) }
  }
}
