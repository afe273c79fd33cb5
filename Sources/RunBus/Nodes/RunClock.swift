public import Foundation
public import RunCore
import Synchronization

/// The clock of the run as a node knows it at one moment: the last snapshot and the node's idea of bus time. It gives
/// elapsed and active time at any instant without a call into the node.
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
  /// Converts the loop's clock to bus time; `nil` before the node knows bus time.
  let line: BusClock?
  /// A moment on the system's clock and on the loop's. They run at the same rate, asleep or awake.
  private let instant: ContinuousClock.Instant
  private let real: BusTime
  /// The moment of reading on the loop's clock and on the wall.
  private let dated: (real: BusTime, date: Date)

  /// A moment on the machine's clocks. All clocks of real nodes share it, so that they agree to the nanosecond.
  private static let machine = (instant: ContinuousClock.now, real: Loop.now)

  /// - Parameter loop: The node's loop, whose time a test may steer; `nil` for the machine's clocks.
  init(snapshot: Snapshot, line: BusClock?, on loop: Loop? = nil) {
    self.snapshot = snapshot
    self.line = line
    let steered = loop.flatMap { $0.isSteered ? $0 : nil }
    (instant, real) = steered.map { (.now, $0.now) } ?? Self.machine
    dated = (loop?.now ?? Loop.now, loop.map { Date(timeIntervalSince1970: $0.wallSeconds) } ?? Date())
  }

  /// Bus time at an instant.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The bus time; `nil` before the node knows it: a hub that does not run yet, a peer that has not met its
  ///   hub since it started.
  public func busTime(at moment: ContinuousClock.Instant = .now) -> BusTime? {
    line?.bus(at: real + BusDuration(rounding: instant.duration(to: moment)))
  }

  /// Time from the start of the run to an instant, pauses included; see ``RunCore/Snapshot/elapsed(at:)``.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func elapsed(at moment: ContinuousClock.Instant = .now) -> BusDuration? {
    busTime(at: moment).map(snapshot.elapsed(at:))
  }

  /// Time in which the run was running up to an instant; see ``RunCore/Snapshot/active(at:)``.
  ///
  /// - Parameter moment: The instant, by default now.
  /// - Returns: The time; `nil` before the node knows bus time.
  public func active(at moment: ContinuousClock.Instant = .now) -> BusDuration? {
    busTime(at: moment).map(snapshot.active(at:))
  }

  /// Bus time at a date.
  ///
  /// - Parameter date: A date near the present, such as that of a frame which a screen draws. It is taken as a distance
  ///   from the date at which this value was read: take a new one for each use, because the wall clock can be set.
  /// - Returns: The bus time; `nil` before the node knows it.
  public func busTime(at date: Date) -> BusTime? {
    line?.bus(at: dated.real + BusDuration(seconds: date.timeIntervalSince(dated.date)))
  }
}

/// Holds the present clock of a node, for readers on any thread.
final class RunClockHolder: Sendable {
  private let shown = Mutex<(snapshot: Snapshot, line: BusClock?)>((.none, nil))

  /// The clock at the present time of a loop.
  func value(on loop: Loop) -> RunClock {
    let (snapshot, line) = shown.withLock { $0 }
    return RunClock(snapshot: snapshot, line: line, on: loop)
  }

  /// Replaces the snapshot and the idea of bus time if they have changed.
  func update(_ snapshot: Snapshot, _ line: BusClock?) {
    shown.withLock { shown in
      guard shown.line != line || shown.snapshot.order != snapshot.order else { return }
      shown = (snapshot, line)
    }
  }
}

extension BusDuration {
  /// A span that saturates where nanoseconds in 64 bits end.
  init(rounding duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let (nanoseconds, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    self =
      isOver
      ? BusDuration(nanoseconds: seconds < 0 ? .min : .max)
      : BusDuration(nanoseconds: nanoseconds) + BusDuration(nanoseconds: attoseconds / 1_000_000_000)
  }
}
