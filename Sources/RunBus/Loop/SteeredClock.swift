package import RunCore
import Synchronization

/// A clock that stands still until somebody moves it on: the time of a bus in a test.
///
/// Its wall clock keeps pace, and its seeds follow from one number, so that nodes on it do the same in each run of a
/// test. Any thread may read it.
package final class SteeredClock: Sendable {
  private struct State {
    var now: BusTime
    var generator: SeededGenerator
  }
  private let state: Mutex<State>
  private let origin: BusTime
  private let wallSecondsAtOrigin: Double

  /// A clock that shows an hour, because a time line that begins at zero would hide mistakes with the first moment.
  ///
  /// - Parameters:
  ///   - wallSeconds: The wall-clock time at the beginning, in seconds since 1970.
  ///   - seed: What the nodes' jitter follows from.
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
