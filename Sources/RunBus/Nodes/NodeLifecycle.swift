/// The states of a node's `run()`: `idle` can go to `running` and `ended`, `running` to `ended`.
struct NodeLifecycle {
  private enum State {
    case idle
    case running(CheckedContinuation<RunBusError?, Never>?)
    case ended(RunBusError?)
  }
  private var state = State.idle

  /// Whether the node runs.
  var isRunning: Bool {
    switch state {
    case .running: true
    case .idle, .ended: false
    }
  }

  /// Whether the node has ended.
  var hasEnded: Bool {
    switch state {
    case .ended: true
    case .idle, .running: false
    }
  }

  /// Why a call on a node with this name fails after its end; `nil` before.
  func ending(of word: String) -> RunBusError? {
    guard case .ended(let error) = state else { return nil }
    return error ?? RunBusError(.closed, "the \(word) has ended")
  }

  /// Begins to run; a node can run once.
  mutating func begin() throws(RunBusError) {
    switch state {
    case .idle: state = .running(nil)
    case .running: throw RunBusError(.closed, "this node runs already")
    case .ended: throw RunBusError(.closed, "this node has ended: make a new one")
    }
  }

  /// Registers the caller that waits for the end; it resumes at once when the node does not run any more.
  mutating func wait(_ continuation: CheckedContinuation<RunBusError?, Never>) {
    switch state {
    case .idle: continuation.resume(returning: nil)
    case .running: state = .running(continuation)
    case .ended(let error): continuation.resume(returning: error)
    }
  }

  /// Ends the node, with an error if there was one; only the first call has an effect.
  mutating func end(_ error: RunBusError?) {
    switch state {
    case .idle: state = .ended(error)
    case .running(let continuation):
      state = .ended(error)
      continuation?.resume(returning: error)
    case .ended: break
    }
  }
}
