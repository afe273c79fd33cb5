/// What a hub repeated for a new subscriber while this peer had no session: events and frames take different ways, and
/// after a restart of the hub the events may be there before its welcome. It is not repeated again, so it is kept for
/// the session.
///
/// Snapshots come with the welcome, and everything else that is published is told once.
struct EarlyEvents: Sendable {
  private var live: (message: LiveMessage, at: BusTime)?
  /// One view or none, outside of the core's own bytes, which are copied with every event.
  private var rooms: [(view: RoomView, at: BusTime)] = []

  /// Keeps an event, if it is worth it: the newest of its kind.
  mutating func keep(_ event: BusEvent, at now: BusTime) {
    switch event {
    case .live(let message): live = (message, now)
    case .room(let view): rooms = [(view, now)]
    case .snapshot, .command, .receipt, .presence, .message, .route, .cue: break
    }
  }

  /// What was kept for a session with a hub of this term, as it stands now. What another life of the hub has said is
  /// dropped.
  mutating func take(term: UInt64, speed: BusSpeed, at now: BusTime) -> [BusEvent] {
    var events: [BusEvent] = []
    if let live, live.message.push.order.term == term {
      let age = live.message.age + speed.bus(fromReal: now - live.at)
      events.append(.live(LiveMessage(push: live.message.push, age: age)))
    }
    for (view, at) in rooms where view.order.term == term { events.append(.room(view.later(by: now - at))) }
    self = EarlyEvents()
    return events
  }
}
