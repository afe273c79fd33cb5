import RunCore

/// Future happenings, by time; those of one moment in the order in which they were scheduled.
struct WorldQueue<Happening> {
  private struct Key {
    let time: BusTime
    let place: UInt64
    let slot: Int

    static func < (left: Self, right: Self) -> Bool {
      left.time != right.time ? left.time < right.time : left.place < right.place
    }
  }
  /// A binary heap of small keys. The happenings stay in their slots, because frames are large to move.
  private var keys: [Key] = []
  private var slots: [Happening?] = []
  private var free: [Int] = []
  private var lastPlace: UInt64 = 0

  var nextAt: BusTime? { keys.first?.time }

  mutating func push(_ happening: Happening, at time: BusTime) {
    lastPlace += 1
    let slot: Int
    if let used = free.popLast() {
      slot = used
      slots[slot] = happening
    } else {
      slot = slots.count
      slots.append(happening)
    }
    let key = Key(time: time, place: lastPlace, slot: slot)
    var index = keys.count
    keys.append(key)
    while index > 0, key < keys[(index - 1) / 2] {
      keys[index] = keys[(index - 1) / 2]
      index = (index - 1) / 2
    }
    keys[index] = key
  }

  mutating func pop() -> Happening? {
    guard let first = keys.first, let last = keys.popLast() else { return nil }
    if !keys.isEmpty { sink(last, from: 0) }
    free.append(first.slot)
    return slots[first.slot].take()
  }

  private mutating func sink(_ key: Key, from start: Int) {
    var index = start
    while 2 * index + 1 < keys.count {
      var child = 2 * index + 1
      if child + 1 < keys.count, keys[child + 1] < keys[child] { child += 1 }
      guard keys[child] < key else { break }
      keys[index] = keys[child]
      index = child
    }
    keys[index] = key
  }

  /// Removes and returns unwanted happenings, in the order in which they would have happened.
  mutating func removeAll(where isUnwanted: (Happening) -> Bool) -> [Happening] {
    let sorted = keys.sorted(by: <)
    let unwanted = sorted.filter { key in slots[key.slot].map(isUnwanted) ?? false }
    guard !unwanted.isEmpty else { return [] }
    let gone = Set(unwanted.map(\.slot))
    // A sorted list is a heap.
    keys = sorted.filter { !gone.contains($0.slot) }
    free += unwanted.map(\.slot)
    return unwanted.compactMap { slots[$0.slot].take() }
  }
}
