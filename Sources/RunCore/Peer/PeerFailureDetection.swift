// Failure detection: how old the view is, and whether the run may have stopped.
extension PeerCore {
  /// How old the view is, whether it is stale, and whether the hub has said goodbye.
  public func viewState(at now: BusTime) -> ViewState {
    let isDismissed = failureDetector.mark.duty == .dismissed
    let isStale = isDismissed || staleAt.map { $0 <= now } ?? false
    return ViewState(age: heardAt.map { now - $0 }, isStale: isStale, isHubOffDuty: isDismissed)
  }

  /// The last alarm, of this incarnation or an earlier one; `nil` if there never was one.
  public var lastHubLost: HubLost? { failureDetector.lastTold }

  /// When the hub will have missed three beats; `nil` for a one-shot, and while there is no snapshot to show.
  private var staleAt: BusTime? {
    guard !settings.isOneShot, authoritative.order.term > 0, let since = heardAt ?? failureDetector.startedAt else {
      return nil
    }
    return since + Heartbeat.silence(isRunOn: authoritative.phase.isOn)
  }

  /// When the view becomes stale or silence has to be counted, if no event comes before.
  var failureDeadline: BusTime? {
    guard !settings.isOneShot, !isEnding else { return nil }
    let wake = failureDetector.deadline(isRunOn: authoritative.phase.isOn)
    guard !failureDetector.shown.isStale, let staleAt else { return wake }
    return wake.map { min($0, staleAt) } ?? staleAt
  }

  /// Notes that the hub was heard: anything that it sends is a sign of life.
  mutating func noteSignOfLife(at now: BusTime) {
    if failureDetector.hear() {
      commits.add([.setFailureMark(failureDetector.mark)], then: [], dueAt: now + CommitTiming.writeDelayMax)
    }
  }

  /// Handles the hub's goodbye. The hub may be back at once or never, so the peer repeats its hello from now on.
  mutating func receiveGoodbye(session: UInt64, at now: BusTime, into actions: inout [Action]) {
    // A goodbye names the last session that the hub knew, because its welcome to a later one may be lost or on its way.
    // A session of the present term is therefore accepted. A peer without a session accepts any, because a hub that has
    // lost its store counts its terms anew.
    let isUp = if case .up = link { true } else { false }
    guard !isUp || HubTerm.of(session: session) >= HubTerm.of(session: lastSession) else {
      return actions.append(.note("a goodbye of an earlier life of the hub was dropped"))
    }
    if !settings.isOneShot, failureDetector.dismiss() { commits.add([.setFailureMark(failureDetector.mark)], then: []) }
    guard isUp else { return }
    closeStreams()
    pings.nextAt = nil
    // With a new nonce, a welcome to an earlier hello is dropped.
    nonce &+= 1
    link = .greeting(retryAt: now + generator.jittered(Self.leavePatience), attempts: 4)
    setReachable(false, into: &actions)
  }

  /// The interval at which a hello without a welcome is repeated.
  private static let leavePatience = BusDuration.seconds(5)

  /// Tells the app when the state of the view has changed, and raises the alarm when the silence has lasted too long.
  mutating func checkForHubFailure(at now: BusTime, into actions: inout [Action]) {
    guard !settings.isOneShot, !isEnding else { return }
    let state = viewState(at: now)
    if (state.isStale, state.isHubOffDuty) != (failureDetector.shown.isStale, failureDetector.shown.isHubOffDuty) {
      failureDetector.shown = state
      actions.append(.view(state))
    }
    guard failureDetector.isDue, authoritative.phase.isOn else { return }
    let number = failureDetector.alarm(
      HubLost(
        runID: authoritative.runID, deviceID: hub?.deviceID, order: authoritative.order,
        silence: now - (heardAt ?? failureDetector.startedAt ?? now)))
    // The alarm is durable before it is told, so that a later incarnation does not tell it again in the same silence.
    commits.add([.setFailureMark(failureDetector.mark)], then: [.alarm(number)])
  }

  mutating func raiseAlarm(_ durable: UInt64? = nil, into actions: inout [Action]) {
    if let lost = failureDetector.takePending(durable) { actions.append(.hubLost(lost)) }
  }
}
