/// Estimates when a frame would have arrived without waiting in a queue.
///
/// The smallest offset between the two clocks in the last minute is that of the fastest frame. If the offset of another
/// frame is larger, the difference counts as time in a queue, and so as age.
package struct ClockOffset: Hashable, Sendable {
  private struct Bucket: Hashable {
    let begins: BusTime
    var smallest: BusDuration
  }
  /// The last minute is kept as twelve buckets of five seconds, so that a sender costs twelve numbers.
  private static let bucketLength = BusDuration.seconds(5)
  private static let bucketsMax = 12
  private var buckets: [Bucket] = []

  /// An estimator without a frame yet.
  package init() {}

  /// Adds a frame's clock reading and estimates when the frame arrived.
  ///
  /// - Parameters:
  ///   - sentAt: the sender's clock at the moment of sending.
  ///   - now: the receiver's clock, which must run at the same rate.
  /// - Returns: the arrival on the receiver's clock, never later than `now`.
  package mutating func arrival(sentAt: BusTime, now: BusTime) -> BusTime {
    let offset = now - sentAt
    if let last = buckets.last, now < last.begins + Self.bucketLength {
      buckets[buckets.count - 1].smallest = min(last.smallest, offset)
    } else {
      buckets.append(Bucket(begins: now, smallest: offset))
      if buckets.count > Self.bucketsMax { buckets.removeFirst() }
    }
    let horizon = now - .seconds(60)
    buckets.removeAll { $0.begins + Self.bucketLength < horizon }
    let smallest = buckets.map(\.smallest).min() ?? offset
    return min(now, sentAt + smallest)
  }
}
