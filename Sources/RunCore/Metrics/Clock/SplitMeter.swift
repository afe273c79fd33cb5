/// Running totals that a split takes its share of.
struct SplitTotals: Hashable, Sendable {
  var heartRate = HeldMean.Totals()
  /// Metres climbed and descended.
  var gainMeters: Double?
  var lossMeters: Double?
}

/// A place in a run: what the clocks and the distance show there.
struct RunPlace: Hashable, Sendable {
  /// Run time, from the start.
  var offset: BusDuration
  /// Active time.
  var active: BusDuration
  /// Metres covered.
  var meters: Double

  /// A place on the straight line from here to another.
  func between(_ end: RunPlace, share: Double) -> RunPlace {
    RunPlace(
      offset: offset + BusDuration(seconds: (end.offset - offset).seconds * share),
      active: active + BusDuration(seconds: (end.active - active).seconds * share),
      meters: meters + (end.meters - meters) * share)
  }
}

/// Cuts a run into pieces of one length; the boundary is interpolated on active time between the two ends of the
/// increment that passes it.
struct SplitMeter: Hashable, Sendable {
  /// The completed ones.
  private(set) var completed: [Split] = []
  private let unit: SplitUnit
  private var start = RunPlace(offset: .zero, active: .zero, meters: 0)
  private var totals = SplitTotals()

  init(_ unit: SplitUnit) { self.unit = unit }

  /// Takes some metres from one place to another.
  ///
  /// Heart rate and climb have no place between two readings: they are cut at the reading that completed the split.
  mutating func fold(from: RunPlace, to: RunPlace, totals: SplitTotals) {
    var next = Double(completed.count + 1) * unit.meters
    while to.meters >= next {
      let length = to.meters - from.meters
      let place = from.between(to, share: length > 0 ? (next - from.meters) / length : 1)
      completed.append(
        Split(
          from: start, to: place, number: completed.count + 1, meters: unit.meters, totals: totals, before: self.totals,
          isComplete: true))
      start = place
      self.totals = totals
      next = Double(completed.count + 1) * unit.meters
    }
  }

  /// All of them, the open one last.
  func splits(to end: RunPlace, totals: SplitTotals) -> [Split] {
    guard end.meters > start.meters else { return completed }
    return completed + [
      Split(
        from: start, to: end, number: completed.count + 1,
        meters: end.meters - Double(completed.count) * unit.meters, totals: totals, before: self.totals,
        isComplete: false)
    ]
  }
}

extension Split {
  init(
    from start: RunPlace, to end: RunPlace, number: Int, meters: Double?, totals: SplitTotals, before: SplitTotals,
    isComplete: Bool
  ) {
    self.init(
      number: number, distanceMeters: meters, active: max(.zero, end.active - start.active), startedAt: start.offset,
      endedAt: end.offset, averageHeartRateBpm: (totals.heartRate - before.heartRate).mean,
      elevationGainMeters: totals.gainMeters.map { $0 - (before.gainMeters ?? 0) },
      elevationLossMeters: totals.lossMeters.map { $0 - (before.lossMeters ?? 0) }, isComplete: isComplete)
  }
}
