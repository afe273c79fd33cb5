/// Joins consecutive increments of one source to stretches.
struct StretchList: Hashable, Sendable {
  /// The stretches that have ended. The last one, which still grows, is stored apart, so that checkpoints can share
  /// this array.
  private var ended: [DistanceStretch] = []
  private var last: DistanceStretch?

  /// All stretches, in order.
  var stretches: [DistanceStretch] { last.map { ended + [$0] } ?? [] }

  mutating func fold(_ source: DistanceSource, from start: BusDuration, to end: BusDuration, meters: Double) {
    if let last, last.source == source, last.endedAt == start {
      self.last?.endedAt = end
      self.last?.meters += meters
    } else {
      if let last { ended.append(last) }
      last = DistanceStretch(source: source, startedAt: start, endedAt: end, meters: meters)
    }
  }
}
