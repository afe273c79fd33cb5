public import Foundation
public import RunCore

/// A node's clock as it was at one moment. It converts between bus time, dates and instants of the system's continuous
/// clock.
///
/// Bus time is the hub's: it may run faster than real time, and continues across restarts of the hub. A peer estimates
/// it from what the hub sends. So a conversion needs the clock of a node:
///
/// ```swift
/// if let clock = watch.clock {
///   print("this snapshot was taken at", clock.date(of: snapshot.capturedAt))
/// }
/// ```
///
/// Take a new one for each use: the wall clock can be set, a peer's estimate becomes better, and a hub can be set up
/// with another speed. Instants do not depend on the wall clock.
public struct NodeClock: Hashable, Sendable {
  /// The bus time at this moment.
  public let busTime: BusTime
  /// The wall clock at this moment.
  public let date: Date
  /// The system's continuous clock at this moment.
  public let instant: ContinuousClock.Instant
  /// How fast bus time runs.
  public let speed: BusSpeed

  /// A moment on the machine's two monotonic clocks, which run at the same rate, asleep or awake. All nodes convert by
  /// it, so that their clocks agree to the nanosecond. It is the closest of four readings, because a thread may be
  /// suspended between two clocks.
  private static let machine: (instant: ContinuousClock.Instant, real: BusTime) = {
    let readings = (0..<4).map { _ in
      let before = ContinuousClock.now
      let real = Loop.now
      let span = before.duration(to: .now)
      return (instant: before + span / 2, real: real, span: span)
    }
    let closest = readings.min { $0.span < $1.span } ?? readings[0]
    return (closest.instant, closest.real)
  }()

  /// The clock at the present time of a loop, which a test may steer.
  ///
  /// - Parameter line: Maps the time of the loop to bus time.
  init(_ line: BusClock, on loop: Loop) {
    let pair = ClockPair.now(on: loop)
    busTime = line.bus(at: pair.real)
    date = Date(timeIntervalSinceReferenceDate: pair.wallSeconds)
    instant = loop.isSteered ? .now : Self.machine.instant + Duration(pair.real - Self.machine.real)
    speed = line.speed
  }

  private init(busTime: BusTime, date: Date, instant: ContinuousClock.Instant, speed: BusSpeed) {
    (self.busTime, self.date, self.instant, self.speed) = (busTime, date, instant, speed)
  }

  /// A clock that shows a bus time at a date, in real time.
  static func fixed(busTime: BusTime, date: Date) -> NodeClock {
    NodeClock(busTime: busTime, date: date, instant: .now, speed: .realTime)
  }

  /// The date of a bus time, to a microsecond. It is wrong by as much as the wall clock was set between then and now.
  public func date(of time: BusTime) -> Date { date.addingTimeInterval(real(to: time).seconds) }

  /// The bus time of a date, to a microsecond; see ``date(of:)``.
  public func busTime(of date: Date) -> BusTime {
    busTime + speed.bus(fromReal: BusDuration(seconds: date.timeIntervalSince(self.date)))
  }

  /// The instant of a bus time.
  public func instant(of time: BusTime) -> ContinuousClock.Instant { instant + Duration(real(to: time)) }

  /// The bus time of an instant.
  public func busTime(of instant: ContinuousClock.Instant) -> BusTime {
    busTime + speed.bus(fromReal: BusDuration(self.instant.duration(to: instant)))
  }

  /// The real time from this moment to a bus time.
  private func real(to time: BusTime) -> BusDuration { speed.real(fromBus: time - busTime) }
}

extension Node {
  /// The node's clock now; `nil` while the node does not know bus time: on a hub before it runs, on a peer before its
  /// first snapshot.
  public nonisolated var clock: NodeClock? { runClock.clock }
}

extension ClockPair {
  /// Both clocks of a loop now. The wall clock's origin is that of `timeIntervalSinceReferenceDate`.
  ///
  /// Of up to four attempts the closest counts: a thread that is suspended between two clocks must not place readings
  /// wrongly. An undisturbed attempt takes less than 10 µs.
  static func now(on loop: Loop) -> ClockPair {
    var best = ClockPair.read(loop)
    for _ in 0..<3 where best.uncertainty > BusDuration(nanoseconds: 10_000) {
      let other = ClockPair.read(loop)
      if other.uncertainty < best.uncertainty { best = other }
    }
    return best
  }

  private static func read(_ loop: Loop) -> ClockPair {
    let before = loop.now
    let wall = Date(timeIntervalSince1970: loop.wallSeconds).timeIntervalSinceReferenceDate
    return ClockPair(before: before, wallSeconds: wall, after: loop.now)
  }
}
