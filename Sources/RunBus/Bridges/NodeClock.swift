public import Foundation
public import RunCore

/// A node's clock at one moment. It converts between bus time, dates and instants of the system's continuous clock.
///
/// Bus time is the hub's: it may run faster than real time, and continues across restarts of the hub. A peer estimates
/// it from what the hub sends. So a conversion needs the clock of a node:
///
/// ```swift
/// if let clock = await watch.clock {
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

  init(busTime: BusTime, date: Date, instant: ContinuousClock.Instant, speed: BusSpeed) {
    self.busTime = busTime
    self.date = date
    self.instant = instant
    self.speed = speed
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
  ///
  /// Of up to four attempts the closest counts: a thread that is suspended between two clocks must not set them apart.
  public var clock: NodeClock? {
    guard var (best, span) = readClock() else { return nil }
    for _ in 0..<3 where span > .microseconds(10) {
      if let other = readClock(), other.span < span { (best, span) = other }
    }
    return best
  }

  /// Reads the three clocks one after the other.
  ///
  /// - Returns: the clock, and how long the reading took.
  private func readClock() -> (clock: NodeClock, span: Duration)? {
    let before = ContinuousClock.now
    guard let busTime = busNow else { return nil }
    let loop = (self as? any DrivenNode)?.loop
    let date = loop.map { Date(timeIntervalSince1970: $0.wallSeconds) } ?? Date()
    let span = before.duration(to: ContinuousClock.now)
    return (NodeClock(busTime: busTime, date: date, instant: before + span / 2, speed: speed), span)
  }
}
