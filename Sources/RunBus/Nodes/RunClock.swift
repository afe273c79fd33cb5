public import RunCore
import Synchronization

/// The clock of the run as a node knows it at one moment: the last snapshot and the node's clock. It gives elapsed and
/// active time, and what remains of a goal, at any instant without a call into the node.
///
/// A screen draws it as often as it likes:
///
/// ```swift
/// let now = ContinuousClock.now
/// if let elapsed = node.runClock.elapsed(at: now), let active = node.runClock.active(at: now) {
///   print(elapsed.seconds, active.seconds)
/// }
/// ```
///
/// While the hub is out of reach the clock goes on from the last snapshot. A peer's clock is behind the hub's by the
/// time that the quickest snapshot of the session took to arrive.
public struct RunClock: Sendable {
  /// The last snapshot; ``RunCore/Snapshot/none`` before the first.
  public let snapshot: Snapshot
  /// The node's clock; `nil` before the node knows bus time: a hub that does not run yet, a peer that has not met its
  /// hub since it started.
  public let clock: NodeClock?

  /// Time from the start of the run to an instant, pauses included; see ``RunCore/Snapshot/elapsed(at:)``.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func elapsed(at moment: ContinuousClock.Instant = .now) -> BusDuration? {
    clock.map { snapshot.elapsed(at: $0.busTime(of: moment)) }
  }

  /// What remains of the run's goal at an instant; see ``RunCore/Snapshot/remaining(at:)``.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The time; zero once the goal is reached, `nil` in a run without one and before the node knows bus time.
  public func remaining(at moment: ContinuousClock.Instant = .now) -> BusDuration? {
    clock.flatMap { snapshot.remaining(at: $0.busTime(of: moment)) }
  }

  /// Time in which the run was running up to an instant; see ``RunCore/Snapshot/active(at:)``.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func active(at moment: ContinuousClock.Instant = .now) -> BusDuration? {
    clock.map { snapshot.active(at: $0.busTime(of: moment)) }
  }
}

/// Holds what the clock of the run follows from, for readers on any thread.
final class RunClockHolder: Sendable {
  private let shown = Mutex<(snapshot: Snapshot, line: BusClock?)>((.none, nil))

  /// The clock at the present time of the node's loop.
  func value(on loop: Loop) -> RunClock {
    let (snapshot, line) = shown.withLock { $0 }
    return RunClock(snapshot: snapshot, clock: line.map { NodeClock($0, on: loop) })
  }

  /// Replaces the snapshot and the idea of bus time if they have changed.
  func update(_ snapshot: Snapshot, _ line: BusClock?) {
    shown.withLock { shown in
      guard shown.line != line || shown.snapshot.order != snapshot.order else { return }
      shown = (snapshot, line)
    }
  }
}
