import RunCore

// The clock on screen: the last published snapshot says what the hub's own clocks show.
extension World {
  /// How far the clock on screen may be from the hub's.
  private static let clockErrorMax = BusDuration.milliseconds(1)

  /// Compares the clocks that the published snapshot gives for this moment with those of the hub's ledger. The world
  /// calls this before each event of the hub, when the state has stood longest.
  ///
  /// Two states are exempt:
  ///
  /// - A snapshot is captured and its commit is not durable. The ledger has what happened, and nobody can have been
  ///   told.
  /// - In a run with auto-pause, readings have arrived since the snapshot (active time only). What auto-pause makes of
  ///   them is published with the next tick.
  mutating func checkDisplayClock(at time: BusTime) {
    guard let core = hub.core else { return }
    let published = core.authoritative
    guard published.order != Snapshot.none.order else { return }
    let clocks = core.clocks(at: time)
    guard !clocks.isPublishing else { return tally.count("clock while a commit is under way") }
    tally.count("clock compared")
    if published.isClockStopped { tally.count("clock compared while it stands") }
    check(published, against: clocks, at: time, who: "the hub")
    for index in peers.indices {
      guard let shown = peers[index].core?.authoritative, shown.order == published.order else { continue }
      // A hub that has lost its store may use an order again; the peer then shows the snapshot of an earlier one.
      if loss == .hub, shown != published { continue }
      check(shown, against: clocks, at: time, who: "peer \(index)")
    }
  }

  private mutating func check(_ shown: Snapshot, against clocks: HubClocks, at time: BusTime, who: String) {
    let elapsed = shown.elapsed(at: time) - clocks.elapsed
    if isWrong(elapsed) { faults.append("\(who) shows an elapsed time that is \(elapsed.seconds) s off") }
    if shown.goal != clocks.goal { faults.append("\(who) shows another goal than that of the run") }
    if shown.goal != nil { tally.count("goal compared") }
    if let remaining = shown.remaining(at: time), let goal = clocks.goal {
      let error = remaining - max(.zero, goal.time - clocks.elapsed)
      if isWrong(error) || remaining < .zero { faults.append("\(who) shows \(remaining.seconds) s to the goal") }
    }
    if climate.setup.isAutoPauseOn, hub.readingAt >= shown.capturedAt { return }
    let active = shown.active(at: time) - clocks.active
    if isWrong(active) { faults.append("\(who) shows an active time that is \(active.seconds) s off") }
  }

  private func isWrong(_ error: BusDuration) -> Bool {
    error > Self.clockErrorMax || error < .zero - Self.clockErrorMax
  }
}
