import DequeModule

/// Laps by command.
///
/// A press falls between two readings. Its distance is interpolated by the time between them, and is known once an
/// increment has passed it.
struct LapMeter: Hashable, Sendable {
  /// The number of laps marked so far.
  private(set) var count = 0
  private var completed: [Split] = []
  private var start = RunPlace(offset: .zero, active: .zero, meters: 0)
  private var totals = SplitTotals()
  private var pressed: Deque<MarkedLap> = []

  private struct MarkedLap: Hashable {
    let offset: BusDuration
    let active: BusDuration
    let totals: SplitTotals
  }

  /// Marks a lap.
  mutating func press(offset: BusDuration, active: BusDuration, totals: SplitTotals) {
    count += 1
    pressed.append(MarkedLap(offset: offset, active: active, totals: totals))
  }

  /// Receives an increment of the distance by its two ends.
  mutating func fold(from: RunPlace, to: RunPlace) {
    while let press = pressed.first, press.offset <= to.offset {
      pressed.removeFirst()
      let span = (to.offset - from.offset).seconds
      let share = span > 0 ? max(0, (press.offset - from.offset).seconds / span) : 1
      cut(press, meters: from.meters + (to.meters - from.meters) * share)
    }
  }

  /// All laps, the open one last; empty when none was marked.
  func laps(to end: RunPlace, totals: SplitTotals, hasDistance: Bool) -> [Split] {
    guard count > 0 else { return [] }
    var copy = self
    for press in pressed { copy.cut(press, meters: end.meters) }
    copy.completed.append(
      Split(
        from: copy.start, to: end, number: copy.completed.count + 1, meters: end.meters - copy.start.meters,
        totals: totals, before: copy.totals, isComplete: false))
    if !hasDistance { for index in copy.completed.indices { copy.completed[index].distanceMeters = nil } }
    return copy.completed
  }

  private mutating func cut(_ press: MarkedLap, meters: Double) {
    let place = RunPlace(offset: press.offset, active: press.active, meters: meters)
    completed.append(
      Split(
        from: start, to: place, number: completed.count + 1, meters: meters - start.meters, totals: press.totals,
        before: totals, isComplete: true))
    start = place
    totals = press.totals
  }
}
