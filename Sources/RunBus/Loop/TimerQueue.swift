import RunCore

/// The timers of a loop in the order of their deadlines. A node moves its deadline with almost every event, mostly to a
/// later time. So a timer keeps its place in the queue until that place comes up, and only then moves on.
///
/// Used on the loop's thread only; a timer may be released on any thread.
final class TimerQueue {
  private struct Place {
    let due: BusTime
    /// The number of the timer. At one time the older timer fires first.
    let number: UInt64

    static func < (left: Place, right: Place) -> Bool { (left.due, left.number) < (right.due, right.number) }
  }
  private struct WeakTimer { weak var timer: LoopTimer? }

  private var timers: [UInt64: WeakTimer] = [:]
  /// A binary heap: each place is not before the one at half its index.
  private var places: [Place] = []
  private var lastNumber: UInt64 = 0
  /// How many timers there may be before those that were released are looked for.
  private var timersMax = 64

  /// Makes a timer.
  func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    if timers.count >= timersMax {
      timers = timers.filter { $0.value.timer != nil }
      timersMax = max(64, 2 * timers.count)
    }
    lastNumber += 1
    let timer = LoopTimer(handler, lastNumber, in: self)
    timers[lastNumber] = WeakTimer(timer: timer)
    return timer
  }

  /// How many places the queue has, those included that their timers have left.
  var placeCount: Int { places.count }

  /// Releases all timers from the queue.
  func removeAll() {
    timers = [:]
    places = []
  }

  /// A timer has a deadline before its place.
  fileprivate func place(_ timer: LoopTimer, at due: BusTime) {
    timer.place = due
    // Places that their timers have left stay until they come up. A deadline far away, set again and again, leaves many.
    if places.count > 64 + 4 * timers.count { rebuild() } else { insert(Place(due: due, number: timer.number)) }
  }

  private func rebuild() {
    places = timers.compactMap { number, box in
      box.timer?.place.map { Place(due: $0, number: number) }
    }
    places.sort(by: <)
  }

  /// The next deadline; `nil` when no timer has one.
  var next: BusTime? {
    while let first = places.first {
      guard let timer = timers[first.number]?.timer else {
        removeFirst()
        timers[first.number] = nil
        continue
      }
      guard timer.place == first.due else {
        removeFirst()
        continue
      }
      if timer.deadline == first.due { return first.due }
      removeFirst()
      timer.place = nil
      if let later = timer.deadline { place(timer, at: later) }
    }
    return nil
  }

  /// Takes the timers that are due from the queue, in order.
  func takeDue(at now: BusTime) -> [LoopTimer] {
    var due: [LoopTimer] = []
    while let next, next <= now {
      let number = places[0].number
      removeFirst()
      guard let timer = timers[number]?.timer else { continue }
      timer.place = nil
      due.append(timer)
    }
    return due
  }

  // MARK: The heap

  private func insert(_ place: Place) {
    places.append(place)
    var index = places.count - 1
    while index > 0, places[index] < places[(index - 1) / 2] {
      places.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  private func removeFirst() {
    places.swapAt(0, places.count - 1)
    places.removeLast()
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < places.count && places[child] < places[least] {
        least = child
      }
      if least == index { return }
      places.swapAt(index, least)
      index = least
    }
  }
}

/// A timer of a loop, used on the loop's thread only. Its maker keeps it: a timer without a reference never fires.
public final class LoopTimer {
  /// When it fires, on the clock of its loop (``Loop/now-swift.property``): once, at or after this time. `nil` turns it
  /// off. A firing timer is turned off before its handler runs; the handler may set it again.
  public var deadline: BusTime? {
    didSet {
      guard let deadline, place.map({ deadline < $0 }) ?? true else { return }
      queue.place(self, at: deadline)
    }
  }
  /// Where it is in the queue: never after its deadline.
  fileprivate var place: BusTime?
  fileprivate let number: UInt64
  private let queue: TimerQueue
  private let handler: () -> Void

  fileprivate init(_ handler: @escaping () -> Void, _ number: UInt64, in queue: TimerQueue) {
    (self.handler, self.number, self.queue) = (handler, number, queue)
  }

  func fire() {
    deadline = nil
    handler()
  }
}
