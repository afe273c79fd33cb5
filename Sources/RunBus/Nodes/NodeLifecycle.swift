/// The life of a node's `run()`: `idle` can go to `running`, that to `ended`, and there it stays.
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

  /// Whether it has ended, or never will run.
  var hasEnded: Bool {
    switch state {
    case .ended: true
    case .idle, .running: false
    }
  }

  /// Begins; a node runs once.
  mutating func begin() throws(RunBusError) {
    switch state {
    case .idle: state = .running(nil)
    case .running: throw RunBusError(.closed, "this node runs already")
    case .ended: throw RunBusError(.closed, "this node has ended: make a new one")
    }
  }

  /// Whoever waits for the end; resumed at once when it has come already.
  mutating func wait(_ continuation: CheckedContinuation<RunBusError?, Never>) {
    switch state {
    case .idle: continuation.resume(returning: nil)
    case .running: state = .running(continuation)
    case .ended(let error): continuation.resume(returning: error)
    }
  }

  /// Ends, with what went wrong if something did; only the first end counts.
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
