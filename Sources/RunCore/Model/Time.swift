/// A moment on a node's own time line: nanoseconds since an origin that only that node knows.
///
/// The hub's time line is *bus time*: monotonic, it includes time asleep, continues across restarts of the hub, and can
/// be scaled (``BusSpeed``). A peer's time line is its monotonic clock at real speed. Moments of two nodes are never
/// compared; nodes send each other ages instead.
public struct BusTime: Hashable, Comparable, Sendable, Codable {
  /// Nanoseconds since the line's origin.
  public var nanoseconds: Int64

  /// A moment from nanoseconds since the line's origin.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin of the line.
  public static let zero = BusTime(nanoseconds: 0)
  /// A moment that is never reached; stands for "no deadline".
  public static let distantFuture = BusTime(nanoseconds: .max)

  /// Earlier moments are smaller.
  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The earlier of two moments, if both are there.
  static func earliest(_ one: Self?, _ other: Self?) -> Self? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }
  /// The earliest of the moments that are not `nil`; `nil` when all are.
  static func earliest(_ moments: Self?...) -> Self? {
    var earliest: Self?
    for case let moment? in moments where moment < earliest ?? .distantFuture { earliest = moment }
    return earliest
  }
  /// The moment a span later. Saturates, so that a number from another node cannot cause an overflow trap.
  public static func + (left: Self, right: BusDuration) -> Self {
    BusTime(nanoseconds: saturating(left.nanoseconds.addingReportingOverflow(right.nanoseconds), right.nanoseconds))
  }
  /// The moment a span earlier; saturates.
  public static func - (left: Self, right: BusDuration) -> Self {
    BusTime(
      nanoseconds: saturating(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds), ~right.nanoseconds))
  }
  /// The span from `right` to `left`; saturates.
  public static func - (left: Self, right: Self) -> BusDuration {
    BusDuration(
      nanoseconds: saturating(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds), ~right.nanoseconds))
  }
}

/// A span of time in nanoseconds; may be negative.
public struct BusDuration: Hashable, Comparable, Sendable, Codable {
  /// Nanoseconds.
  public var nanoseconds: Int64

  /// A span from nanoseconds.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// No time at all.
  public static let zero = BusDuration(nanoseconds: 0)
  /// A span of whole seconds.
  public static func seconds(_ count: Int64) -> Self { BusDuration(nanoseconds: count &* 1_000_000_000) }
  /// A span from fractional seconds, rounded to the nearest nanosecond; out of range (or NaN) saturates (or is zero).
  public init(seconds: Double) {
    let nanoseconds = (seconds * 1e9).rounded()
    if nanoseconds.isNaN {
      self.nanoseconds = 0
    } else {
      self.nanoseconds = Int64(exactly: nanoseconds) ?? (nanoseconds < 0 ? .min : .max)
    }
  }
  /// A span of whole milliseconds.
  public static func milliseconds(_ count: Int64) -> Self { BusDuration(nanoseconds: count &* 1_000_000) }

  /// The span in seconds.
  public var seconds: Double { Double(nanoseconds) / 1e9 }

  /// Shorter spans are smaller.
  public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The sum; saturates.
  public static func + (left: Self, right: Self) -> Self {
    BusDuration(
      nanoseconds: saturating(left.nanoseconds.addingReportingOverflow(right.nanoseconds), right.nanoseconds))
  }
  /// The difference; saturates.
  public static func - (left: Self, right: Self) -> Self {
    BusDuration(
      nanoseconds: saturating(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds), ~right.nanoseconds))
  }
  /// Adds in place; saturates.
  public static func += (left: inout Self, right: Self) { left = left + right }
}

/// The result of an addition, clamped when it overflowed; the sign of the added value (`sign`) tells at which end.
private func saturating(_ result: (partialValue: Int64, overflow: Bool), _ sign: Int64) -> Int64 {
  guard result.overflow else { return result.partialValue }
  return sign < 0 ? .min : .max
}

/// How fast bus time runs compared with real time: 1 in the product, 60 to play an hour in a minute.
///
/// Stored in thousandths: conversions use integers only, so two nodes never differ by a rounding error.
public struct BusSpeed: Hashable, Sendable, Codable {
  /// Bus seconds in a thousand real seconds.
  public let thousandths: Int64

  /// Real time.
  public static let realTime = BusSpeed(thousandths: 1000)!
  /// The highest accepted speed: 10,000 bus seconds per real second.
  public static let thousandthsMax: Int64 = 10_000_000

  /// A speed from thousandths; `nil` outside 0.001 … 10,000.
  public init?(thousandths: Int64) {
    guard (1...Self.thousandthsMax).contains(thousandths) else { return nil }
    self.thousandths = thousandths
  }
  /// A speed from a factor (`60` is sixty times real time); `nil` outside 0.001 … 10,000.
  public init?(factor: Double) {
    guard factor.isFinite, abs(factor) <= 10_000 else { return nil }
    self.init(thousandths: Int64((factor * 1000).rounded()))
  }

  /// The factor as a number.
  public var factor: Double { Double(thousandths) / 1000 }
  /// The bus time that passes during a span of real time.
  public func bus(fromReal real: BusDuration) -> BusDuration {
    BusDuration(nanoseconds: Self.scale(real.nanoseconds, by: thousandths, over: 1000, up: false))
  }
  /// The real time in which a span of bus time passes, rounded up so that a timer set to it never fires early.
  public func real(fromBus bus: BusDuration) -> BusDuration {
    BusDuration(nanoseconds: Self.scale(bus.nanoseconds, by: 1000, over: thousandths, up: true))
  }

  private static func scale(_ value: Int64, by multiplier: Int64, over divisor: Int64, up: Bool) -> Int64 {
    let product = Int128(value) * Int128(multiplier)
    let (quotient, remainder) = product.quotientAndRemainder(dividingBy: Int128(divisor))
    let rounded = up && remainder > 0 ? quotient + 1 : quotient
    return Int64(clamping: rounded)
  }
}

/// Maps a monotonic clock at real speed to bus time and back.
package struct BusClock: Hashable, Sendable {
  /// A reading of the monotonic clock.
  package let realAnchor: BusTime
  /// The bus time at `realAnchor`.
  package let busAnchor: BusTime
  /// How fast bus time runs.
  package let speed: BusSpeed

  /// A clock that shows `busAnchor` when the monotonic clock shows `realAnchor`.
  package init(realAnchor: BusTime, busAnchor: BusTime, speed: BusSpeed) {
    self.realAnchor = realAnchor
    self.busAnchor = busAnchor
    self.speed = speed
  }

  /// Bus time at a monotonic reading.
  package func bus(at real: BusTime) -> BusTime { busAnchor + speed.bus(fromReal: real - realAnchor) }
  /// The first reading of the monotonic clock at which bus time has reached `bus`.
  package func real(at bus: BusTime) -> BusTime {
    bus == .distantFuture ? .distantFuture : realAnchor + speed.real(fromBus: bus - busAnchor)
  }
}
