// The watch over the hub: how old the view is, and whether the run may have stopped.
extension PeerCore {
  /// How far what is shown can be believed.
  public func viewState(at now: BusTime) -> ViewState {
    let isDismissed = failureDetector.mark.duty == .dismissed
    let isStale = isDismissed || staleAt.map { $0 <= now } ?? false
    return ViewState(age: heardAt.map { now - $0 }, isStale: isStale, isHubOffDuty: isDismissed)
  }

  /// The last alarm, of this life or an earlier one; `nil` when there never was one.
  public var lastHubLost: HubLost? { failureDetector.lastTold }

  /// When the hub will have missed three beats; `nil` as long as there is nothing to show, or nobody who stays.
  private var staleAt: BusTime? {
    guard !settings.isOneShot, authoritative.order.term > 0, let since = heardAt ?? failureDetector.startedAt else {
      return nil
    }
    return since + Heartbeat.silence(isRunOn: authoritative.phase.isOn)
  }

  /// When something changes though nobody says anything.
  var failureDeadline: BusTime? {
    guard !settings.isOneShot, !isEnding else { return nil }
    let wake = failureDetector.deadline(isRunOn: authoritative.phase.isOn)
    guard !failureDetector.shown.isStale, let staleAt else { return wake }
    return wake.map { min($0, staleAt) } ?? staleAt
  }

  /// A word of the hub's, whatever it says, is a sign of life.
  mutating func noteSignOfLife(at now: BusTime) {
    if failureDetector.hear() {
      commits.add([.setFailureMark(failureDetector.mark)], then: [], dueAt: now + CommitTiming.writeDelayMax)
    }
  }

  /// The hub ends in good order. It may be back at once or never: a hello now and then finds out.
  mutating func receiveGoodbye(session: UInt64, at now: BusTime, into actions: inout [Action]) {
    // It is said to whatever session the hub last knew: its welcome to a later one may be lost, or still on its way. Who
    // has no session takes it whatever it names: a hub that has lost its store counts its terms anew.
    let isUp = if case .up = link { true } else { false }
    guard !isUp || HubTerm.of(session: session) >= HubTerm.of(session: lastSession) else {
      return actions.append(.note("a goodbye of an earlier life of the hub was dropped"))
    }
    if !settings.isOneShot, failureDetector.dismiss() { commits.add([.setFailureMark(failureDetector.mark)], then: []) }
    guard isUp else { return }
    closeStreams()
    pings.nextAt = nil
    // No welcome to an earlier hello counts any more.
    nonce &+= 1
    link = .greeting(retryAt: now + generator.jittered(Self.leavePatience), attempts: 4)
    setReachable(false, into: &actions)
  }

  /// As often as a hello that gets no welcome is repeated.
  private static let leavePatience = BusDuration.seconds(5)

  /// Tells what time has made of the view, and raises the alarm when the silence has lasted too long.
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
    // Durable before it is told: a later life of this peer in the same silence does not tell it again.
    commits.add([.setFailureMark(failureDetector.mark)], then: [.alarm(number)])
  }

  mutating func raiseAlarm(_ durable: UInt64? = nil, into actions: inout [Action]) {
    if let lost = failureDetector.takePending(durable) { actions.append(.hubLost(lost)) }
  }
}
