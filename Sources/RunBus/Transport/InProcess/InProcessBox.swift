import Synchronization

/// What waits for one side of an in-process bus: a bounded queue that is emptied on that side's loop.
///
/// Unchecked: the queue is behind a lock; `deliver` is called, and let go of, on the loop's thread only.
final class InProcessBox<Event: Sendable>: @unchecked Sendable {
  /// Messages that wait for one side. Link changes and subscriptions come on top; they are few.
  static var messagesMax: Int { 256 }

  private struct Queue {
    var events: [Event] = []
    var isScheduled = false
    var isClosed = false
  }

  let loop: Loop
  private let queue = Mutex(Queue())
  private var deliver: ((Event) -> Void)?

  init(loop: Loop, deliver: @escaping (Event) -> Void) {
    self.loop = loop
    self.deliver = deliver
  }

  /// Takes in an event for a later turn of the loop; returns whether there was room.
  func put(_ event: Event, isBounded: Bool = true) -> Bool {
    let (hasRoom, mustSchedule) = queue.withLock { queue in
      if queue.isClosed { return (false, false) }
      if isBounded && queue.events.count >= Self.messagesMax { return (false, false) }
      queue.events.append(event)
      defer { queue.isScheduled = true }
      return (true, !queue.isScheduled)
    }
    if mustSchedule { loop.submit { self.empty() } }
    return hasRoom
  }

  /// Delivers nothing more, from this moment when called on the loop's thread. Idempotent.
  func close() {
    queue.withLock { queue in
      queue.isClosed = true
      queue.events.removeAll()
    }
    if loop.isCurrent {
      deliver = nil
    } else {
      loop.submit { self.deliver = nil }
    }
  }

  private func empty() {
    var left = TransportLimits.messagesPerDrainMax
    while left > 0, let event = next() {
      // Taken anew each time: an event may close the box.
      deliver?(event)
      left -= 1
    }
    let hasMore = queue.withLock { queue in
      queue.isScheduled = !queue.events.isEmpty
      return queue.isScheduled
    }
    if hasMore { loop.submit { self.empty() } }
  }

  private func next() -> Event? {
    queue.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
  }
}
