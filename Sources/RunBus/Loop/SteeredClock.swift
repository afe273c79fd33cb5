package import RunCore
import Synchronization

/// The clock of a bus in a test. It stands still until the test advances it.
///
/// Its wall clock advances with it, and the seeds that it gives to nodes follow from one number, so that the nodes do
/// the same in each run of a test. Any thread may read it.
package final class SteeredClock: Sendable {
  private struct State {
    var now: BusTime
    var generator: SeededGenerator
  }
  private let state: Mutex<State>
  private let origin: BusTime
  private let wallSecondsAtOrigin: Double

  /// A clock that begins at one hour. A time line that begins at zero would hide faults in the handling of the origin.
  ///
  /// - Parameters:
  ///   - wallSeconds: The wall-clock time at the beginning, in seconds since 1970.
  ///   - seed: The seed of the generator from which nodes get theirs.
  package init(wallSeconds: Double, seed: UInt64) {
    origin = .zero + .seconds(3600)
    wallSecondsAtOrigin = wallSeconds
    state = Mutex(State(now: origin, generator: SeededGenerator(seed: seed)))
  }

  /// The present time.
  package var now: BusTime { state.withLock { $0.now } }

  /// The present wall-clock time in seconds since 1970.
  package var wallSeconds: Double { wallSecondsAtOrigin + (now - origin).seconds }

  /// A seed for a node.
  func seed() -> UInt64 { state.withLock { $0.generator.next() } }

  /// Moves the clock on. An earlier time has no effect.
  func advance(to moment: BusTime) { state.withLock { $0.now = max($0.now, moment) } }
}

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

/// Runs tasks on a loop's thread that belong to no actor, in turn with the loop's other work. A test that runs there
/// cannot overtake the nodes of the loop, nor they it.
package final class LoopTaskExecutor: TaskExecutor {
  private let core: LoopCore

  /// The executor of a loop.
  package init(_ loop: Loop) { core = loop.core }

  /// Queues a job of a task. Any thread may call it.
  package func enqueue(_ job: consuming ExecutorJob) { core.enqueue(.task(UnownedJob(job), self)) }
}
