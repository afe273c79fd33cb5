import RunBus
import Synchronization

/// A node of a test bus and the task that runs it.
final class RunningNode: Sendable {
  /// Makes a node of the same configuration and runs it.
  let again: @Sendable (TestBus) async throws -> any Node
  private let task: Task<Void, Never>
  private let failure: FailureBox

  init(
    _ node: some Node, on executor: LoopTaskExecutor, again: @escaping @Sendable (TestBus) async throws -> any Node
  ) {
    self.again = again
    let failure = FailureBox()
    self.failure = failure
    task = Task(executorPreference: executor) {
      do { try await node.run() } catch { failure.set(error) }
    }
  }

  /// Ends the node gracefully.
  func cancel() { task.cancel() }

  /// Waits for the end of the node, which takes no steered time.
  func ended() async { await task.value }

  /// Whether the node has ended with an error.
  var hasFailed: Bool { failure.error != nil }

  /// Throws the error with which the node has ended, if there is one.
  func check() throws { if let error = failure.error { throw error } }
}

private final class FailureBox: Sendable {
  private let state = Mutex<(any Error)?>(nil)

  var error: (any Error)? { state.withLock { $0 } }
  func set(_ error: any Error) { state.withLock { $0 = error } }
}
