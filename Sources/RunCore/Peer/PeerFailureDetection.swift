// Routes signs of life and silence to the hub failure detector.
extension PeerCore {
  /// How old the view is, whether it is stale, and whether the hub has said goodbye.
  package func viewState(at now: BusTime) -> ViewState {
    failureDetector.viewState(of: view.authoritative, hearing: session.hearing, at: now)
  }

  /// The last alarm, of this incarnation or an earlier one; `nil` if there never was one.
  package var lastHubLost: HubLost? { failureDetector.lastTold }

  /// When the view becomes stale or silence has to be counted, if no event comes before.
  var failureDeadline: BusTime? {
    session.isEnded ? nil : failureDetector.deadline(of: view.authoritative, hearing: session.hearing)
  }

  /// Notes that the hub was heard: anything that it sends is a sign of life.
  mutating func noteSignOfLife(at now: BusTime) {
    if let write = failureDetector.hear() { commits.add([write], then: [], dueAt: now + CommitTiming.writeDelayMax) }
  }

  /// Handles the hub's goodbye.
  mutating func receiveGoodbye(session number: UInt64, at now: BusTime, into actions: inout [Action]) {
    guard session.believesGoodbye(of: number) else {
      return actions.append(.note("a goodbye of an earlier life of the hub was dropped"))
    }
    if let write = failureDetector.dismiss() { commits.add([write], then: []) }
    guard session.isUp else { return }
    closeStreams()
    if session.leave(at: now, generator: &generator) { actions.append(.reachability(false)) }
  }

  /// Tells the app when the state of the view has changed, and raises the alarm when the silence has lasted too long.
  mutating func checkForHubFailure(at now: BusTime, into actions: inout [Action]) {
    guard !session.isEnded else { return }
    let wanted = failureDetector.check(
      view.authoritative, hearing: session.hearing, hub: identity.hub?.deviceID, at: now)
    for action in wanted {
      switch action {
      case .show(let state): actions.append(.view(state))
      case .alarm(let write, let number): commits.add([write], then: [.alarm(number)])
      }
    }
  }

  mutating func raiseAlarm(_ durable: UInt64? = nil, into actions: inout [Action]) {
    if let lost = failureDetector.takePending(durable) { actions.append(.hubLost(lost)) }
  }

  /// Tells the app when what the lock screen shows has changed.
  mutating func drawScreen(at now: BusTime, into actions: inout [Action]) {
    let state = viewState(at: now)
    let activity = screen.look(
      at: view.clock?.bus(at: now), isStale: state.isStale, isHubLost: failureDetector.isAlarmed,
      pending: commands.unjudgedKinds)
    if let activity { actions.append(.showLive(activity)) }
  }

  /// When the lock screen becomes stale.
  var screenDeadline: BusTime? {
    guard !session.isEnded, let staleAt = screen.staleAt else { return nil }
    return view.clock?.real(at: staleAt)
  }
}
