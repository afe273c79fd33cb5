import RunCore

/// What is to happen, by time; at one moment in the order in which it was scheduled.
struct WorldQueue<Happening> {
  private var items: [(time: BusTime, place: UInt64, happening: Happening)] = []
  private var lastPlace: UInt64 = 0

  var nextAt: BusTime? { items.last?.time }

  /// Sorted from the last to the first, so that the first leaves cheaply; worlds are small.
  mutating func push(_ happening: Happening, at time: BusTime) {
    lastPlace += 1
    var low = 0
    var high = items.count
    while low < high {
      let middle = (low + high) / 2
      if items[middle].time > time { low = middle + 1 } else { high = middle }
    }
    items.insert((time, lastPlace, happening), at: low)
  }

  mutating func pop() -> Happening? { items.popLast()?.happening }

  mutating func removeAll(where isUnwanted: (Happening) -> Bool) { items.removeAll { isUnwanted($0.happening) } }

  var all: [Happening] { items.map(\.happening) }
}
