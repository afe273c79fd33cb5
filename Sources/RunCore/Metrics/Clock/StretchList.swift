/// What measured the distance, in order: increments of one source that touch are one stretch.
struct StretchList: Hashable, Sendable {
  /// Those that have ended. Apart from the last one, which grows all the time: a checkpoint can share this.
  private var ended: [DistanceStretch] = []
  private var last: DistanceStretch?

  /// All of them.
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
