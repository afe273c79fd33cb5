// Peers: hello and welcome, pings, queries, presence.
extension HubCore {
  /// Handles a frame from a connection.
  mutating func receive(
    _ frame: PeerFrame, from connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) {
    if case .request(let request) = frame.message, connection.isRequest {
      return receive(request, on: connection, at: now, into: &actions)
    }
    guard !connection.isRequest else {
      return refuse(connection, .malformed, "a REQ socket can only send a request", into: &actions)
    }
    if case .hello(let hello) = frame.message {
      return receive(hello, sentAt: frame.sentAt, on: connection, at: now, into: &actions)
    }
    guard var session = sessions[connection] else {
      return refuse(connection, .unknownSession, "say hello first", into: &actions)
    }
    guard frame.session == session.number else {
      // The refusal makes a peer that uses an old session say hello again.
      actions.append(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
      return refuse(connection, .unknownSession, "that session is over", into: &actions)
    }
    let arrival = arrivalTime(of: frame, session: &session, at: now)
    hear(&session, on: connection, at: now, into: &actions)
    switch frame.message {
    case .command(let transmission):
      receive(transmission, of: session, on: connection, arrival: arrival, at: now, into: &actions)
    case .samples(let transmissions):
      receive(transmissions, of: session, arrival: arrival, at: now, into: &actions)
    case .ping(let number, let roundTrip):
      sessions[connection]?.roundTrip = roundTrip
      if sessions.sessions.count <= Self.smallBusMax { putOffSilenceCheck() }
      actions.append(.send(HubFrame(session: session.number, message: pong(number)), to: connection))
    case .query:
      let state = stateMessage(at: now, authoritative)
      actions.append(.send(HubFrame(session: session.number, message: .state(state)), to: connection))
    case .goodbye: close(connection, at: now, into: &actions)
    case .request(let request): receive(request, on: connection, at: now, into: &actions)
    case .delivery(let message): receive(message, of: session, at: now, into: &actions)
    case .inquire(let inquiry): answer(inquiry, of: session, on: connection, at: now, into: &actions)
    case .fetchRecord(let fetch): receive(fetch, of: session, on: connection, into: &actions)
    case .hello: break
    }
  }

  /// Refuses a connection, with a message that says what to do.
  mutating func refuse(
    _ connection: ConnectionID, _ code: Refusal.Code, _ message: String, into actions: inout [Action]
  ) {
    let session = sessions[connection]?.number ?? 0
    actions.append(
      .send(HubFrame(session: session, message: .refused(Refusal(code: code, message: message))), to: connection))
  }

  /// The refusal message for a peer of another wire version.
  static func mismatch(_ who: String, _ version: UInt32) -> String {
    "this hub speaks wire version \(wireVersion), \(who) speaks \(version): update the older"
  }

  /// Sends the welcome of a session and opens delivery to it.
  mutating func welcome(_ connection: ConnectionID, at now: BusTime, into actions: inout [Action]) {
    guard let session = sessions[connection] else { return }
    let hello = session.hello
    let welcome = Welcome(
      nonce: hello.nonce, nodeID: settings.nodeID, storeID: storeID, deviceID: settings.deviceID,
      eventsEndpoint: eventsEndpoint, speed: settings.clock.speed, debounce: settings.debounce,
      received: hello.isOneShot ? [:] : received(from: hello.storeID), state: stateMessage(at: now, authoritative),
      recordsThrough: records.durableChange)
    actions.append(.send(HubFrame(session: session.number, message: .welcome(welcome)), to: connection))
    if !hello.isOneShot { openDelivery(to: hello, at: now, into: &actions) }
  }

  /// Closes the session of a connection that is gone, and publishes that its device is unreachable.
  mutating func close(_ connection: ConnectionID, at now: BusTime, into actions: inout [Action]) {
    guard let session = sessions.close(connection) else { return }
    closeDelivery(to: session.hello, at: now)
    tell(session.hello, wasReachable: session.isReachable, into: &actions)
  }

  /// Says goodbye to every peer, so that peers can tell a normal end from a crash.
  mutating func sayFarewell(into actions: inout [Action]) {
    for (connection, session) in sessions.sessions.sorted(by: { $0.value.number < $1.value.number }) {
      actions.append(.send(HubFrame(session: session.number, message: .goodbye), to: connection))
    }
    actions.append(.ended)
  }

  /// Marks silent peers as unreachable, closes silent one-shots and sessions that have been silent for ten minutes, and
  /// schedules the next check.
  mutating func checkSilence(at now: BusTime, into actions: inout [Action]) {
    let silence = real(Heartbeat.silence(isRunOn: authoritative.phase.isOn))
    let forgotten = real(Self.forgottenAfter)
    let silent = sessions.sessions.filter { now - lastBeat(of: $0.value) >= silence }
    for (connection, session) in silent.sorted(by: { $0.value.number < $1.value.number }) {
      if now - session.heardAt >= forgotten || session.hello.isOneShot {
        close(connection, at: now, into: &actions)
      } else if session.isReachable {
        sessions[connection]?.isReachable = false
        tell(session.hello, wasReachable: true, into: &actions)
      }
    }
    putOffSilenceCheck()
  }

  /// Applies the shorter silence limit of a run that is on.
  mutating func quickenBeat(at now: BusTime) {
    quickenedAt = now
    guard let due = silenceCheckAt else { return }
    silenceCheckAt = min(due, now + real(Heartbeat.silence(isRunOn: true)))
  }

  private func lastBeat(of session: SessionTable.Session) -> BusTime {
    max(session.heardAt, quickenedAt ?? session.heardAt)
  }

  /// Schedules the next check for when a session could fall silent, or be closed.
  private mutating func putOffSilenceCheck() {
    let silence = real(Heartbeat.silence(isRunOn: authoritative.phase.isOn))
    let forgotten = real(Self.forgottenAfter)
    silenceCheckAt = nil
    for session in sessions.sessions.values {
      // A session is closed by a check of the silent ones only, so never before it counts as silent.
      let silentAt = lastBeat(of: session) + silence
      let due = session.isReachable ? silentAt : max(silentAt, session.heardAt + forgotten)
      silenceCheckAt = min(silenceCheckAt ?? due, due)
    }
  }

  private static let forgottenAfter = BusDuration.seconds(600)
  /// Up to this many sessions, rescheduling the check at every ping costs less than a wake-up that finds nobody silent.
  private static let smallBusMax = 16

  private mutating func receive(
    _ hello: Hello, sentAt: BusTime, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) {
    guard hello.version == wireVersion else {
      let message = Self.mismatch("\(hello.deviceID)", hello.version)
      return refuse(connection, .versionMismatch, message, into: &actions)
    }
    guard hello.isOneShot || hello.deviceID != settings.deviceID else {
      let message = "\(hello.deviceID) is this hub's own name: give the device another"
      return refuse(connection, .malformed, message, into: &actions)
    }
    // Adopting a term that no number of starts reaches would leave no terms above it.
    guard hello.termSeen <= max(term, HubTerm.seenMax) else {
      let message = "no hub comes to term \(hello.termSeen): the device forgets it, or its store is deleted"
      return refuse(connection, .malformed, message, into: &actions)
    }
    guard hello.termSeen <= term || termRaises.admit(at: monotonic(at: now)) else {
      return refuse(connection, .busy, "the hub was passed too often in a minute: say hello again", into: &actions)
    }
    if var session = sessions[connection], session.hello == hello {
      // A repeated hello keeps the session that its first welcome named.
      hear(&session, on: connection, at: now, into: &actions)
      return welcome(hello, on: connection, at: now, into: &actions)
    }
    let wasReachable = sessions.isReachable(hello.deviceID)
    // A peer has one session: a new hello closes its earlier one, on this connection or another.
    let earlier = [connection, sessions.connection(of: hello.storeID)].compactMap { $0 }
    let closed = earlier.compactMap { sessions.close($0) }
    for session in closed { closeDelivery(to: session.hello, at: now) }
    if sessions.isFull, let silent = sessions.longestSilent, let session = sessions.close(silent) {
      closeDelivery(to: session.hello, at: now)
    }
    guard !sessions.isFull else {
      return refuse(connection, .busy, "the hub's table of sessions is full", into: &actions)
    }
    var session = sessions.open(hello, on: connection, at: now)
    _ = arrivalTime(of: PeerFrame(session: 0, sentAt: sentAt, message: .hello(hello)), session: &session, at: now)
    sessions[connection] = session
    if silenceCheckAt == nil { silenceCheckAt = now + real(Heartbeat.silence(isRunOn: authoritative.phase.isOn)) }
    guard hello.isOneShot || join(hello, on: connection, at: now, into: &actions) else { return }
    welcome(hello, on: connection, at: now, into: &actions)
    for session in closed where session.hello.deviceID != hello.deviceID {
      tell(session.hello, wasReachable: session.isReachable, into: &actions)
    }
    if !hello.isOneShot, !wasReachable {
      let presence = Presence(deviceID: hello.deviceID, role: hello.role, isReachable: true)
      actions.append(.publish(.presence(presence)))
    }
  }

  /// Welcomes a peer at once, or after a commit if the peer has seen a higher term or its marks are not durable yet.
  private mutating func welcome(
    _ hello: Hello, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) {
    guard let session = sessions[connection]?.number else { return }
    if hello.termSeen > term {
      // The peer has seen a higher term, from an incarnation whose store is lost. The hub makes a term above it durable
      // before it answers.
      term = HubTerm.next(after: hello.termSeen)
      arbiter.setTerm(term)
      publishNow([.setTerm(term)], then: [.welcome(connection, session: session)], at: now)
    } else if hello.termSeen > authoritative.order.term || !isDurable(hello.storeID, at: now) {
      // A welcome states durable marks only, so it waits for the commit.
      commits.add([], then: [.welcome(connection, session: session)])
    } else {
      welcome(connection, at: now, into: &actions)
    }
  }

  private mutating func hear(
    _ session: inout SessionTable.Session, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) {
    let wasReachable = session.isReachable || sessions.isReachable(session.hello.deviceID)
    if !session.isReachable {
      // The peer is back after a silence, and can fall silent again long before the next check.
      let due = now + real(Heartbeat.silence(isRunOn: authoritative.phase.isOn))
      silenceCheckAt = min(silenceCheckAt ?? due, due)
    }
    session.heardAt = now
    session.isReachable = true
    sessions[connection] = session
    if !wasReachable, !session.hello.isOneShot {
      let hello = session.hello
      actions.append(
        .publish(.presence(Presence(deviceID: hello.deviceID, role: hello.role, isReachable: true))))
    }
  }

  private func tell(_ hello: Hello, wasReachable: Bool, into actions: inout [Action]) {
    guard wasReachable, !hello.isOneShot, !sessions.isReachable(hello.deviceID) else { return }
    actions.append(.publish(.presence(Presence(deviceID: hello.deviceID, role: hello.role, isReachable: false))))
  }

  /// When a frame would have arrived without waiting in a socket's queue, in bus time.
  private func arrivalTime(
    of frame: PeerFrame, session: inout SessionTable.Session, at now: BusTime
  ) -> BusTime {
    let clock = settings.clock
    let arrived = session.offset.arrival(sentAt: frame.sentAt, now: clock.real(at: now))
    return min(now, clock.bus(at: arrived))
  }

  /// A real duration in bus time.
  private func real(_ duration: BusDuration) -> BusDuration { settings.clock.speed.bus(fromReal: duration) }
}
