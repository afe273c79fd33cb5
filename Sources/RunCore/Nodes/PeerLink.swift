// The link: hello and welcome, pings, and what the hub says.
extension PeerCore {
  /// Says hello and expects a welcome; asks again after 1, 2, 4, then every 5 seconds.
  mutating func greet(attempts: Int, at now: BusTime, into actions: inout [Action]) {
    if case .refused = link { return }
    nonce &+= 1
    let hello = Hello(
      deviceID: settings.deviceID, role: settings.role, nodeID: settings.nodeID, storeID: settings.storeID,
      nonce: nonce, termSeen: termSeen, isOneShot: settings.isOneShot)
    link = .greeting(retryAt: now + .seconds(min(5, Int64(1) << Int64(min(attempts, 3)))), attempts: attempts + 1)
    actions.append(.send(PeerFrame(session: 0, sentAt: now, message: .hello(hello))))
  }

  /// The control connection is gone; the transport tries again by itself.
  mutating func loseLink(into actions: inout [Action]) {
    if case .refused = link { return }
    link = .down
    pings.nextAt = nil
    setReachable(false, into: &actions)
  }

  /// A frame of the hub to this peer.
  mutating func take(_ frame: HubFrame, at now: BusTime, into actions: inout [Action]) {
    switch frame.message {
    case .welcome(let welcome): return take(welcome, session: frame.session, at: now, into: &actions)
    case .refused(let refusal): return take(refusal, at: now, into: &actions)
    case .receipt, .delivery, .pong, .state, .answer: break
    }
    guard case .up(frame.session) = link else {
      return actions.append(.note("a frame of an earlier session was dropped"))
    }
    hear(at: now, into: &actions)
    switch frame.message {
    case .receipt(let receipt): take(receipt, at: now, into: &actions)
    case .delivery(.acknowledge(.samples, let sequence)): acknowledge(sequence, at: now)
    case .delivery, .answer: break
    case .pong(let number, let newest):
      if number == pings.number { roundTrip = now - pings.sentAt }
      // A lost last snapshot before a quiet stretch heals here.
      if newest > authoritative.order { send(.query, at: now, into: &actions) }
    case .state(let message): observe(message, isNewSession: false, at: now, into: &actions)
    case .welcome, .refused: break
    }
  }

  /// Something that the hub published.
  mutating func take(_ event: BusEvent, at now: BusTime, into actions: inout [Action]) {
    // What is still in the subscription's queue from before a loss of the link must not make the hub look alive.
    guard case .up = link else { return }
    hear(at: now, into: &actions)
    if case .snapshot(let message) = event {
      observe(message, isNewSession: false, at: now, into: &actions)
    } else {
      actions.append(.hear(event))
    }
  }

  /// Asks whether the hub is there, or notes that it has not answered for three beats.
  mutating func beat(at now: BusTime, into actions: inout [Action]) {
    let isRunOn = authoritative.phase.isOn
    if let heardAt, now - heardAt >= Heartbeat.silence(isRunOn: isRunOn) {
      setReachable(false, into: &actions)
      // The link may be one to a hub that has forgotten this session: begin again.
      return greet(attempts: 0, at: now, into: &actions)
    }
    pings.number += 1
    pings.sentAt = now
    pings.nextAt = now + Heartbeat.interval(isRunOn: isRunOn)
    send(.ping(pings.number), at: now, into: &actions)
  }

  private mutating func take(_ welcome: Welcome, session: UInt64, at now: BusTime, into actions: inout [Action]) {
    guard case .greeting = link, welcome.nonce == nonce else {
      return actions.append(.note("a welcome to an earlier hello was dropped"))
    }
    link = .up(session: session)
    speed = welcome.speed
    hear(at: now, into: &actions)
    setReachable(true, into: &actions)
    observe(welcome.state, isNewSession: true, at: now, into: &actions)
    if !settings.topics.isEmpty { actions.append(.subscribe(welcome.eventsEndpoint, settings.topics)) }
    if !settings.isOneShot { pings.nextAt = now + Heartbeat.interval(isRunOn: authoritative.phase.isOn) }
    outbox.renumber(behind: welcome.received[.commands]?.sequence ?? 0)
    outbox.attempts = 0
    transmitCommands(at: now, into: &actions)
    acknowledge(welcome.received[.samples]?.sequence ?? 0, at: now)
    spool.renumber(behind: welcome.received[.samples]?.sequence ?? 0)
    transmitSamples(at: now, into: &actions)
  }

  private mutating func take(_ refusal: Refusal, at now: BusTime, into actions: inout [Action]) {
    switch refusal.code {
    case .versionMismatch:
      link = .refused
      setReachable(false, into: &actions)
      actions.append(.fail(refusal))
    case .unknownSession:
      // A hub that was restarted: only a hello helps. One that is on its way is not repeated.
      if case .up = link { greet(attempts: 0, at: now, into: &actions) }
    case .malformed, .busy, .storeRegressed: actions.append(.note("the hub refused a frame: \(refusal.message)"))
    }
  }

  private mutating func hear(at now: BusTime, into actions: inout [Action]) {
    heardAt = now
    setReachable(true, into: &actions)
  }

  private mutating func setReachable(_ value: Bool, into actions: inout [Action]) {
    guard isReachable != value else { return }
    isReachable = value
    actions.append(.reachability(value))
  }

  private mutating func observe(
    _ message: StateMessage, isNewSession: Bool, at now: BusTime, into actions: inout [Action]
  ) {
    let snapshot = message.snapshot
    readClock(message, isNewSession: isNewSession, at: now)
    guard snapshot.order > authoritative.order else { return }
    // However it came (published, with a welcome, as an answer): a listener hears every state once.
    actions.append(.hear(.snapshot(message)))
    let wasOn = authoritative.phase.isOn
    authoritative = snapshot
    settling.removeAll { $0.verdict.term < snapshot.order.term || $0.verdict.revision <= snapshot.order.revision }
    if snapshot.order.term > termSeen {
      termSeen = snapshot.order.term
      if !settings.isOneShot { commits.add([.setTerm(termSeen)], then: []) }
    }
    // The beat quickens when a run begins: what was due in ten seconds is due in two.
    if snapshot.phase.isOn != wasOn, pings.nextAt != nil {
      pings.nextAt = now + Heartbeat.interval(isRunOn: snapshot.phase.isOn)
    }
    actions.append(.show(snapshot))
  }

  /// Every message on its way adds to the age it states: the estimate that lies furthest ahead is the nearest one.
  private mutating func readClock(_ message: StateMessage, isNewSession: Bool, at now: BusTime) {
    let heard = BusClock(
      realAnchor: now, busAnchor: message.snapshot.capturedAt + message.age, speed: speed)
    if let clock, !isNewSession, clock.speed == speed, clock.bus(at: now) >= heard.busAnchor { return }
    clock = heard
  }
}
