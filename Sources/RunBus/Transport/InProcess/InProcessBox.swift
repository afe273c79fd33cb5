import Synchronization

/// The queue of one side of an in-process bus: bounded, and emptied on that side's loop.
///
/// Unchecked: the queue is behind a lock; `deliver` is called and released on the loop's thread only.
final class InProcessBox<Event: Sendable>: @unchecked Sendable {
  /// The bound of the queue. Link changes and subscriptions are not counted, because they are few.
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

  /// Queues an event for a later turn of the loop; returns whether there was room.
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

  /// Stops the delivery; on the loop's thread at once, otherwise after the events that are being delivered. Idempotent.
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
      // Read for each event, because an event may close the box.
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
