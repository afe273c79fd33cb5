/// What sends to a store, and knows when it tries again.
protocol Retrying: Sendable {
  /// When it has something to do, real time; `nil` for never.
  var deadline: BusTime? { get }
}

/// One sender for each store. The table keeps the deadlines apart, because the next one is looked for after every event,
/// and of a thousand stores only a few have one.
struct RetryTable<Sender: Retrying>: Sendable {
  /// All senders, to be read. By index: iterating over the values would copy each of them.
  private(set) var all: [StoreID: Sender] = [:]
  /// The deadlines of those that have one.
  private(set) var deadlines: [StoreID: BusTime] = [:]

  subscript(store: StoreID) -> Sender? {
    get { all[store] }
    _modify {
      defer { note(store) }
      yield &all[store]
    }
  }

  mutating func removeValue(forKey store: StoreID) -> Sender? {
    deadlines[store] = nil
    return all.removeValue(forKey: store)
  }

  private mutating func note(_ store: StoreID) {
    let deadline = all.index(forKey: store).flatMap { all.values[$0].deadline }
    if deadline != nil || !deadlines.isEmpty { deadlines[store] = deadline }
  }

  /// The stores whose deadline has come, in order.
  func due(at now: BusTime) -> [StoreID] {
    deadlines.isEmpty ? [] : deadlines.filter { $0.value <= now }.keys.sorted()
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] {
    let right = all.compactMapValues(\.deadline)
    return right == deadlines ? [] : ["\(deadlines.count) deadlines of retries, and \(right.count) senders with one"]
  }
}
