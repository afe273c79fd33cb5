/// The journals that are kept of runs that are over, and when each run ended. There may be thousands, and each record that
/// is made asks for the oldest.
struct EndedJournals: Sendable {
  private var ends: [RunID: BusTime]
  /// In the order of their ends. Those that are forgotten stay in it until they are half of it.
  private var order: [(at: BusTime, run: RunID)]

  init(_ ends: [RunID: BusTime]) {
    self.ends = ends
    order = ends.map { ($0.value, $0.key) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }
  }

  /// When a run ended; `nil` for one without a journal.
  subscript(run: RunID) -> BusTime? { ends[run] }

  /// Adds the journal of a run that has ended now.
  mutating func add(_ run: RunID, at now: BusTime) {
    ends[run] = now
    // The clock never goes back but at a start, so this is its end.
    let place = order.lastIndex { ($0.at, $0.run) < (now, run) }.map { $0 + 1 } ?? 0
    order.insert((now, run), at: place)
  }

  /// Forgets a journal; `false` if there is none.
  mutating func remove(_ run: RunID) -> Bool {
    guard ends.removeValue(forKey: run) != nil else { return false }
    if order.count > 2 * ends.count + 16 { order.removeAll { ends[$0.run] != $0.at } }
    return true
  }

  /// When the first of the runs that meet a condition ended.
  func firstEnd(where meets: (RunID) -> Bool) -> BusTime? {
    order.first { ends[$0.run] == $0.at && meets($0.run) }?.at
  }

  /// The runs that ended before a moment, sorted.
  func runs(endedBefore moment: BusTime) -> [RunID] {
    order.prefix { $0.at < moment }.filter { ends[$0.run] == $0.at }.map(\.run).sorted()
  }
}
