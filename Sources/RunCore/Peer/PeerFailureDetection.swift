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
  mutating func noteSignOfLife(in turn: inout Turn) {
    if let write = failureDetector.hear() {
      turn.write([write], isUrgent: false)
    }
  }

  /// Handles the hub's goodbye.
  mutating func receiveGoodbye(session number: UInt64, in turn: inout Turn) {
    guard session.believesGoodbye(of: number) else {
      return turn.act(.note("a goodbye of an earlier life of the hub was dropped"))
    }
    if let write = failureDetector.dismiss() { turn.write([write], then: []) }
    guard session.isUp else { return }
    closeStreams()
    if session.leave(at: turn.now, generator: &turn.generator) { turn.act(.reachability(false)) }
  }

  /// Tells the app when the state of the view has changed, and raises the alarm when the silence has lasted too long.
  mutating func checkForHubFailure(in turn: inout Turn) {
    guard !session.isEnded else { return }
    failureDetector.check(
      view.authoritative, hearing: session.hearing, hub: identity.hub?.deviceID, in: &turn)
  }

  mutating func raiseAlarm(_ durable: UInt64? = nil, in turn: inout Turn) {
    if let lost = failureDetector.takePending(durable) { turn.act(.hubLost(lost)) }
  }
}
