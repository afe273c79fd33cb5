package import RunCore

// Steering a loop whose clock stands still. The loop does all that is due before it answers.
extension Loop {
  /// Waits until the loop has nothing to do at the present time.
  ///
  /// - Returns: How many jobs, calls and timers it has run so far. Jobs of a ``LoopTaskExecutor`` and these waits do
  ///   not count, so that two equal answers mean that no node did anything in between.
  package func idle() async -> UInt64 {
    await withCheckedContinuation { continuation in
      core.enqueue(.whenIdle { [core] in continuation.resume(returning: core.workCount) })
    }
  }

  /// Waits until the loop has nothing to do, then moves its clock on to the next deadline.
  ///
  /// - Parameter limit: Where the clock stops when there is no deadline before.
  /// - Returns: Whether a timer is due now.
  package func step(to limit: BusTime) async -> Bool {
    await withCheckedContinuation { continuation in
      core.enqueue(.whenIdle { [core] in continuation.resume(returning: core.step(to: limit)) })
    }
  }
}
