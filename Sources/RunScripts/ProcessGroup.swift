import Subprocess

/// The processes that a command has started in a group of its own.
struct ProcessGroup: Sendable {
  /// Sends a signal to all of them; `false` when there is none.
  private let send: @Sendable (Signal) -> Bool

  /// The group that this command leads.
  init<Input, Output, Failure>(_ command: Execution<Input, Output, Failure>) {
    send = { signal in (try? command.send(signal: signal, toProcessGroup: true)) != nil }
  }

  /// Ends what is left of the group once the command itself has ended, and not as it should: SIGTERM, and SIGKILL after
  /// `farewell` to what is there still.
  ///
  /// `Subprocess` stops at the end of the command itself, which may be sooner than that of what it has started. Also a
  /// task that is cancelled waits for the end.
  func end(farewell: Duration) async {
    await Task.detached {
      let end = ContinuousClock.now + farewell
      var isThere = send(.terminate)
      // The number of the group is not used again while one of its processes is there.
      while isThere {
        guard ContinuousClock.now < end else {
          _ = send(.kill)
          return
        }
        try? await Task.sleep(for: .milliseconds(20))
        isThere = send(Signal(rawValue: 0))
      }
    }.value
  }
}
