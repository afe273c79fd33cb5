/// What measured the distance, in order: increments of one source that touch are one stretch.
struct StretchList: Hashable, Sendable {
  private(set) var stretches: [DistanceStretch] = []

  mutating func fold(_ source: DistanceSource, from start: BusDuration, to end: BusDuration, meters: Double) {
    if let last = stretches.last, last.source == source, last.endedAt == start {
      stretches[stretches.count - 1].endedAt = end
      stretches[stretches.count - 1].meters += meters
    } else {
      stretches.append(DistanceStretch(source: source, startedAt: start, endedAt: end, meters: meters))
    }
  }
}
