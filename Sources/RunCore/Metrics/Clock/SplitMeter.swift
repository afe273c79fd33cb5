/// Running totals of the run; a split has the difference of those at its two ends.
struct SplitTotals: Hashable, Sendable {
  var heartRate = HeldMean.Totals()
  /// Metres climbed and descended.
  var gainMeters: Double?
  var lossMeters: Double?
}

/// A point in a run: what the clocks and the distance show there.
struct RunPlace: Hashable, Sendable {
  /// Run time, from the start.
  var offset: BusDuration
  /// Active time.
  var active: BusDuration
  /// Metres covered.
  var meters: Double

  /// The point at a share of the way to another one, by linear interpolation.
  func between(_ end: RunPlace, share: Double) -> RunPlace {
    RunPlace(
      offset: offset + BusDuration(seconds: (end.offset - offset).seconds * share),
      active: active + BusDuration(seconds: (end.active - active).seconds * share),
      meters: meters + (end.meters - meters) * share)
  }
}

/// Divides a run into splits of one length. A boundary is interpolated between the two ends of the increment that
/// passes it.
struct SplitMeter: Hashable, Sendable {
  /// The completed splits.
  private(set) var completed: [Split] = []
  private let unit: SplitUnit
  private var start = RunPlace(offset: .zero, active: .zero, meters: 0)
  private var totals = SplitTotals()

  init(_ unit: SplitUnit) { self.unit = unit }

  /// Receives an increment of the distance by its two ends.
  ///
  /// Heart rate and climb are not interpolated: a split ends for them at the reading that completed it.
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

  /// All splits, the open one last.
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
