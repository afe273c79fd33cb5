/// The records that are to be made, and which of them is due first. There may be tens of thousands, and every event asks.
struct ExpectedRecords: Sendable {
  /// All of them by their runs.
  private(set) var all: [RunID: RecordKeeping.Expected] = [:]
  /// Their due times, the first one last. Those that have changed since stay in it until they come to its end, or are
  /// half of it.
  private var order: [(dueAt: BusTime, run: RunID)] = []

  /// When the first one is due.
  var firstDue: BusTime? { order.last?.dueAt }

  /// The record that has been due for longest.
  func next(at now: BusTime) -> (run: RunID, expected: RecordKeeping.Expected)? {
    guard let first = order.last, first.dueAt <= now, let expected = all[first.run] else { return nil }
    return (first.run, expected)
  }

  subscript(run: RunID) -> RecordKeeping.Expected? {
    get { all[run] }
    set {
      let old = all[run]?.dueAt
      all[run] = newValue
      if let newValue, newValue.dueAt != old { insert(newValue.dueAt, run) }
      if order.count > 2 * all.count + 16 { order.removeAll { all[$0.run]?.dueAt != $0.dueAt } }
      while let last = order.last, all[last.run]?.dueAt != last.dueAt { order.removeLast() }
    }
  }

  /// Makes all due now.
  mutating func hurry(at now: BusTime) {
    for run in all.keys { all[run]?.dueAt = now }
    order = all.keys.sorted(by: >).map { (now, $0) }
  }

  private mutating func insert(_ dueAt: BusTime, _ run: RunID) {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if (order[middle].dueAt, order[middle].run) > (dueAt, run) { low = middle + 1 } else { high = middle }
    }
    order.insert((dueAt, run), at: low)
  }
}
