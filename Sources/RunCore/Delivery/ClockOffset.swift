/// Estimates when a frame arrived had it not waited in a queue: the smallest offset between the receiver's clock and
/// the sender's over the last minute tells how fast a frame can be; what a frame took longer counts as age.
public struct ClockOffset: Hashable, Sendable {
  private struct Bucket: Hashable {
    let begins: BusTime
    var smallest: BusDuration
  }
  /// Twelve buckets of five seconds make the last minute, at twelve numbers a sender.
  private static let bucketLength = BusDuration.seconds(5)
  private static let bucketsMax = 12
  private var buckets: [Bucket] = []

  /// Nothing heard yet.
  public init() {}

  /// Takes in a frame's reading and says when it arrived: never later than `now`.
  ///
  /// - Parameters:
  ///   - sentAt: the sender's own reading at the moment of sending.
  ///   - now: the receiver's reading, at the same rate as the sender's.
  public mutating func arrival(sentAt: BusTime, now: BusTime) -> BusTime {
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
