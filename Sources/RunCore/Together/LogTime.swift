/// A moment on the clock of a room's log: nanoseconds since an origin that the log chose.
///
/// The log stamps each entry; a hub relates log time to its own clock with a ``LogClock``.
package struct LogTime: Hashable, Comparable, Sendable {
  /// Nanoseconds since the log's origin.
  package let nanoseconds: Int64

  /// A moment from nanoseconds since the log's origin.
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The origin of the log's clock.
  package static let zero = LogTime(nanoseconds: 0)
  /// A moment that is never reached.
  package static let distantFuture = LogTime(nanoseconds: .max)

  /// Earlier moments are smaller.
  package static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  /// The moment a span later; saturates, because the log's times are another's numbers.
  package static func + (left: Self, right: BusDuration) -> Self {
    LogTime(nanoseconds: (BusTime(nanoseconds: left.nanoseconds) + right).nanoseconds)
  }
  /// The moment a span earlier; saturates.
  package static func - (left: Self, right: BusDuration) -> Self {
    LogTime(nanoseconds: (BusTime(nanoseconds: left.nanoseconds) - right).nanoseconds)
  }
  /// The span from `right` to `left`; saturates.
  package static func - (left: Self, right: Self) -> BusDuration {
    BusTime(nanoseconds: left.nanoseconds) - BusTime(nanoseconds: right.nanoseconds)
  }
}
