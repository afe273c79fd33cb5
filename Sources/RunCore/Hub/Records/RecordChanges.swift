/// The number of the last change of each record, removed ones included, in the order of the numbers: a new peer asks for
/// one after the other.
struct RecordChanges: Sendable {
  private var last: [RunID: UInt64]
  /// Sorted. The earlier changes of a record stay in it until there are more of them than records.
  private var order: [(change: UInt64, run: RunID)]

  init(_ last: [RunID: UInt64]) {
    self.last = last
    order = last.map { ($0.value, $0.key) }.sorted { $0.0 < $1.0 }
  }

  /// The highest number; `nil` when there is no change.
  var highest: UInt64? { order.last?.change }

  /// Notes the last change of a record. Its number is higher than all before it.
  mutating func append(_ change: UInt64, of run: RunID) {
    last[run] = change
    order.append((change, run))
    if order.count > 2 * last.count { order.removeAll { last[$0.run] != $0.change } }
  }

  /// The record with the first change after a number, and that change's number.
  func next(after change: UInt64) -> (run: RunID, change: UInt64)? {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if order[middle].change > change { high = middle } else { low = middle + 1 }
    }
    return order[low...].first { last[$0.run] == $0.change }.map { ($0.run, $0.change) }
  }
}
