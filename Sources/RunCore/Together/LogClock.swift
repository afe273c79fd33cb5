/// Relates a log's time to the own monotonic clock: keeps, from what was sent and heard, between which spans the log's
/// time minus the own clock's lies (docs/together.md, "Clocks").
///
/// An own entry that was sent at t0, stamped ts and heard of at t1 says: ts − t1 ≤ offset ≤ ts − t0. Another's entry
/// says only the first half. Both clocks may run wrong, so each such bound widens with its age; the estimate is the
/// middle of what they have in common, and its stated error half of that span. The two directions of a link cannot be
/// told apart: the error covers that.
///
/// The own clock is monotonic and at real speed, never a bus time that is scaled.
package struct LogClock: Hashable, Sendable {
  /// How many own entries are kept.
  package static let ownMax = 16
  /// How long another's entry is of use.
  package static let otherAgeMax = BusDuration.seconds(30 * 60)
  /// How many bounds from others are kept; the best one counts, the rest are for when it is too old.
  static let othersMax = 16
  /// One part in so many is how far two clocks drift apart at most: 100 ppm, and the rounding of 50 ppm on either side.
  private static let driftParts: Int128 = 9_999

  /// What an entry says. Wide integers, because a stamp is another's number.
  private struct Bound: Hashable {
    /// When it was heard of, and when an own one was sent (never later).
    let heard: BusTime
    let sent: BusTime
    /// ts − t1 and, for an own entry, ts − t0.
    let low: Int128
    let high: Int128?

    init(stamped: LogTime, sent: BusTime?, heard: BusTime) {
      self.heard = heard
      self.sent = min(sent ?? heard, heard)
      low = Int128(stamped.nanoseconds) - Int128(heard.nanoseconds)
      high = sent == nil ? nil : Int128(stamped.nanoseconds) - Int128(self.sent.nanoseconds)
    }
    func low(at now: BusTime) -> Int128 { low - LogClock.drift(from: heard, to: now) }
    func high(at now: BusTime) -> Int128? { high.map { $0 + LogClock.drift(from: sent, to: now) } }
    /// Orders lower bounds by how good they are, which their ageing does not change.
    var merit: Int128 { low * LogClock.driftParts + Int128(heard.nanoseconds) }
  }

  /// Oldest first.
  private var own: [Bound] = []
  /// Oldest first, each better than all after it.
  private var others: [Bound] = []
  /// When something was last heard.
  private var heard: BusTime?

  /// A clock that has heard nothing.
  package init() {}

  /// Takes an own entry.
  ///
  /// - Parameters:
  ///   - sent: When its first append was sent: a repetition of it may be the one that was stamped.
  ///   - stamped: The log's time of it.
  ///   - heard: When the log's bell for it was heard, not when it was read.
  package mutating func heardOwn(sent: BusTime, stamped: LogTime, heard: BusTime) {
    own.append(Bound(stamped: stamped, sent: sent, heard: heard))
    if own.count > Self.ownMax { own.removeFirst() }
    settle(heard)
  }

  /// Takes another's entry that was heard of when it was stamped or later; one that was read from the past says little,
  /// but nothing wrong.
  package mutating func heardOther(stamped: LogTime, heard: BusTime) {
    let bound = Bound(stamped: stamped, sent: nil, heard: heard)
    while let last = others.last, last.merit <= bound.merit { others.removeLast() }
    // The one before the newest goes when there are too many: the best and the newest are those that are missed.
    if others.count == Self.othersMax { others.removeLast() }
    others.append(bound)
    settle(heard)
  }

  /// Forgets everything: the log was made anew, or its clock was set, or the own clock began anew.
  package mutating func restart() { self = Self() }

  /// The log's time, and by how much it may be wrong; `nil` before an own entry was heard of.
  package func estimate(at now: BusTime) -> (now: LogTime, error: BusDuration)? {
    guard let (low, high) = interval(at: now), let high else { return nil }
    // Up, so that half the width on either side covers the whole.
    let half = (high - low + 1) / 2
    return (
      LogTime(nanoseconds: Int64(clamping: Int128(now.nanoseconds) + low + half)),
      BusDuration(nanoseconds: Int64(clamping: half))
    )
  }

  /// The log's time is this at least; `nil` before any entry was heard of.
  package func earliest(at now: BusTime) -> LogTime? {
    interval(at: now).map { LogTime(nanoseconds: Int64(clamping: Int128(now.nanoseconds) + $0.low)) }
  }

  /// When the own clock will show, or has shown, a moment of the log, by the estimate of `now`.
  package func local(of moment: LogTime, at now: BusTime) -> BusTime? {
    guard let estimate = estimate(at: now) else { return nil }
    let span = Int128(moment.nanoseconds) - Int128(estimate.now.nanoseconds)
    return BusTime(nanoseconds: Int64(clamping: Int128(now.nanoseconds) + span))
  }

  /// How far two clocks may have drifted apart between two moments.
  private static func drift(from past: BusTime, to now: BusTime) -> Int128 {
    let age = max(0, Int128(now.nanoseconds) - Int128(past.nanoseconds))
    return age == 0 ? 0 : age / driftParts + 1
  }

  /// Between what the offset lies; `nil` when nothing is known. Never empty after ``settle(_:)``, since bounds only
  /// widen.
  private func interval(at now: BusTime) -> (low: Int128, high: Int128?)? {
    // A moment before the last one heard would be judged by bounds that were not yet.
    let now = max(now, heard ?? now)
    var (low, high): (Int128?, Int128?) = (others.first?.low(at: now), nil)
    for bound in own {
      low = max(low ?? bound.low(at: now), bound.low(at: now))
      if let top = bound.high(at: now) { high = min(high ?? top, top) }
    }
    return low.map { ($0, high) }
  }

  /// Drops what is too old, and then the oldest until the rest has something in common: the log's clock was set.
  private mutating func settle(_ moment: BusTime) {
    let now = max(moment, heard ?? moment)
    heard = now
    others.removeAll { now - $0.heard > Self.otherAgeMax }
    while let (low, high) = interval(at: now), let high, low > high {
      if let first = own.first, first.heard <= others.first?.heard ?? .distantFuture {
        own.removeFirst()
      } else {
        others.removeFirst()
      }
    }
  }

  /// What is wrong with the clock; `nil` when everything that always holds does.
  package func check() -> String? {
    if own.count > Self.ownMax || others.count > Self.othersMax { return "more is kept than is of use" }
    if zip(others, others.dropFirst()).contains(where: { $0.merit <= $1.merit }) { return "a better bound comes later" }
    guard let heard, let (low, high) = interval(at: heard), let high else { return nil }
    return low > high ? "the bounds have nothing in common" : nil
  }
}
