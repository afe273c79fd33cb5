package import RunCore
import Synchronization

/// By how much the monotonic clock of a process is wrong. Only a test sets it, so that the processes of one machine have
/// clocks as those of several have.
package struct ClockError: Hashable, Sendable {
  /// The bounds of what a test may set: far more than clocks differ, and far less than would overflow.
  package static let aheadBounds = BusDuration.zero...BusDuration.seconds(1_000_000)
  /// See ``drift``.
  package static let driftBounds: ClosedRange<Int64> = -1_000_000...1_000_000

  /// How far the clock is ahead of the machine's.
  package var ahead: BusDuration
  /// How many parts in 10^9 it is too fast.
  package var drift: Int64

  /// An error from its parts.
  package init(ahead: BusDuration, drift: Int64) { (self.ahead, self.drift) = (ahead, drift) }

  private static let aheadNanoseconds = Atomic<Int64>(0)
  private static let driftParts = Atomic<Int64>(0)

  /// Makes the clock of this process wrong. It comes before everything that reads the clock.
  package static func set(_ error: ClockError) {
    aheadNanoseconds.store(error.ahead.nanoseconds, ordering: .relaxed)
    driftParts.store(error.drift, ordering: .relaxed)
  }

  /// What the clock of this process shows at a moment of the machine's.
  static func shown(at machine: BusTime) -> BusTime {
    let ahead = aheadNanoseconds.load(ordering: .relaxed)
    let drift = driftParts.load(ordering: .relaxed)
    guard ahead != 0 || drift != 0 else { return machine }
    return ClockError(ahead: BusDuration(nanoseconds: ahead), drift: drift).shown(at: machine)
  }

  /// What a clock with this error shows at a moment of the machine's.
  package func shown(at machine: BusTime) -> BusTime {
    let (seconds, rest) = machine.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return machine + ahead + BusDuration(nanoseconds: seconds * drift + rest * drift / 1_000_000_000)
  }
}
