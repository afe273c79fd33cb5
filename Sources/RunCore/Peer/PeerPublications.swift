// What the hub publishes to all, and whether a peer asks for more.
extension PeerCore {
  /// Handles an event that the hub published.
  mutating func receive(_ event: BusEvent, in turn: inout Turn) {
    // Events that were queued before the link was lost must not make the hub look alive.
    guard session.isUp else { return view.early.keep(event, at: turn.now) }
    guard event.isPossible else { return turn.act(.note(Self.impossible)) }
    view.noteSignOfLife(in: &turn)
    hear(in: &turn)
    switch event {
    case .snapshot(let message): observe(message, isNewSession: false, in: &turn)
    case .command:
      turn.act(.hear(event))
      noteNews(in: &turn)
    case .live(let message):
      view.receive(message.push)
      turn.act(.hear(event))
      if !hearsSnapshots, message.push.order > view.authoritative.order { send(.query, in: &turn) }
    case .receipt, .presence, .message, .route, .room, .cue: turn.act(.hear(event))
    }
  }

  private var hearsSnapshots: Bool { settings.topics.contains(.snapshots) }

  /// Whether the hub has a snapshot that this peer should ask for. A lock screen does not ask for the numbers of a
  /// running run, which come with the next push.
  func lacks(_ newest: SnapshotOrder) -> Bool {
    let shown = view.authoritative
    guard settings.topics.contains(.live), !hearsSnapshots, shown.phase == .running else {
      return newest > shown.order
    }
    return (newest.term, newest.revision) > (shown.order.term, shown.order.revision)
  }
}
