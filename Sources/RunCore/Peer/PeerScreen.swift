// The lock screen of a peer: when it is drawn anew, and when it becomes stale.
extension PeerCore {
  /// Tells the app when what the lock screen shows has changed.
  mutating func drawScreen(in turn: inout Turn) {
    let state = viewState(at: turn.now)
    let activity = screen.look(
      at: view.clock?.bus(at: turn.now), isStale: state.isStale, isHubLost: failureDetector.isAlarmed,
      pending: outbox.unjudgedKinds)
    if let activity { turn.act(.showLive(activity)) }
  }

  /// When the lock screen becomes stale.
  var screenDeadline: BusTime? {
    guard !session.isEnded, let staleAt = screen.staleAt else { return nil }
    return view.clock?.real(at: staleAt)
  }
}
