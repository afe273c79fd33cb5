/// Tells which times of a log's entries cannot be true.
///
/// A log stamps each entry by its own clock, so no entry is later than that clock. One that is was stamped by somebody who
/// writes past the log's rules. It counts as written when the next entry was that is stamped rightly, or now.
package enum LogStamps {
  /// How far ahead of the log's clock a time may be: the clock was read by another process, and entries of one moment are
  /// a nanosecond apart.
  package static let aheadMax = BusDuration.seconds(2)

  /// Whether a time is further ahead of the log's clock than its entry can be.
  package static func isAhead(_ time: LogTime, of clock: LogTime) -> Bool { time > clock + aheadMax }

  /// Entries that were read, in their order, when the log's clock stood there.
  package static func believed(_ entries: [ReadEntry], by clock: LogTime) -> [ReadEntry] {
    guard entries.contains(where: { isAhead($0.entry.time, of: clock) }) else { return entries }
    var (entries, next) = (entries, clock)
    for place in entries.indices.reversed() {
      if isAhead(entries[place].entry.time, of: clock) {
        entries[place].taken = next
      } else {
        next = entries[place].entry.time
      }
    }
    return entries
  }
}
