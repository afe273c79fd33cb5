// Peers: hello and welcome, pings, queries, presence.
extension HubCore {
  /// Handles a frame from a connection.
  mutating func receive(
    _ frame: PeerFrame, from connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard mayEnter(identity, with: frame.message, on: connection, in: &turn) else { return }
    if case .request(let request) = frame.message, connection.isRequest || frame.session == 0 {
      return receive(request, on: connection, by: identity, in: &turn)
    }
    guard !connection.isRequest else {
      return refuse(connection, .malformed, "a REQ socket can only send a request", in: &turn)
    }
    switch frame.message {
    case .pair(let request): return receive(request, by: identity, on: connection, in: &turn)
    case .announceKey(let key): return announce(key, by: identity, on: connection, in: &turn)
    case .hello(let hello):
      return receive(hello, sentAt: frame.sentAt, on: connection, by: identity, in: &turn)
    default: break
    }
    guard let session = sessions.session(on: connection, by: identity) else {
      return refuse(connection, .unknownSession, "say hello first", in: &turn)
    }
    guard frame.session == session.number else {
      // The refusal makes a peer that uses an old session say hello again.
      turn.act(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
      return refuse(connection, .unknownSession, "that session is over", in: &turn)
    }
    let arrival = sessions.arrival(sentAt: frame.sentAt, on: connection, at: turn.now)
    hear(connection, in: &turn)
    switch frame.message {
    case .command(let transmission):
      receive(transmission, of: session, on: connection, arrival: arrival, in: &turn)
    case .samples(let transmissions):
      receive(transmissions, of: session, arrival: arrival, in: &turn)
    case .ping(let number, let nextWithin, let roundTrip):
      sessions.ping(connection, nextWithin: nextWithin, roundTrip: roundTrip)
      turn.act(.send(HubFrame(session: session.number, message: pong(number)), to: connection))
    case .query:
      // A peer that lacks the newest snapshot hears of it again with the next pong.
      guard admitsQuestion(nil, by: identity, at: turn.now) else { break }
      let state = StateMessage(snapshot: authoritative, at: turn.now)
      turn.act(.send(HubFrame(session: session.number, message: .state(state)), to: connection))
    case .goodbye: close(connection, isOver: true, in: &turn)
    case .request(let request): receive(request, on: connection, by: identity, in: &turn)
    case .delivery(let message):
      if admits(message, of: session, at: turn.now) { receive(message, of: session, in: &turn) }
    case .inquire(let inquiry): answer(inquiry, of: session, on: connection, in: &turn)
    case .fetchRecord(let fetch):
      if members.admits(.recordParts, identity, at: turn.now) { receive(fetch, of: session, on: connection, in: &turn) }
    case .room(let ask): receive(ask, from: .session(connection, session.number), by: identity, in: &turn)
    case .hello, .pair, .announceKey: break
    }
  }

  /// Refuses a connection, with a message that says what to do.
  func refuse(
    _ connection: ConnectionID, _ code: Refusal.Code, _ message: String, in turn: inout Turn
  ) {
    let session = sessions[connection]?.number ?? 0
    turn.act(
      .send(HubFrame(session: session, message: .refused(Refusal(code: code, message: message))), to: connection))
  }

  /// The identity that uses a device's name; `nil` if none does.
  func user(of device: DeviceID) -> ConnectionIdentity? {
    device == settings.deviceID ? .localOwner : mail.devices[device]?.identity
  }

  /// The refusal message for a name that another identity uses.
  static func belongsToAnother(_ device: DeviceID) -> String {
    "\(device) belongs to another identity: give the device another name"
  }

  /// Drops a frame of a kind that this version does not know. A refusal would make a peer react to it; only a REQ socket
  /// gets one, because it waits for its one reply.
  func drop(_ connection: ConnectionID, in turn: inout Turn) {
    guard connection.isRequest else {
      return turn.act(.note("a frame of a kind that this version does not know was dropped"))
    }
    refuse(connection, .malformed, "this hub does not know that kind of frame: update the hub", in: &turn)
  }

  /// The refusal message for a sender of another wire version; 0 for one that states none.
  static func mismatch(_ who: String, _ version: UInt32) -> String {
    "this hub speaks wire version \(wireVersion), \(who) speaks \(version == 0 ? "an earlier one" : "\(version)"): "
      + "update the older"
  }

  /// Sends the welcome of a session and opens delivery to it.
  mutating func welcome(_ connection: ConnectionID, in turn: inout Turn) {
    guard let session = sessions[connection] else { return }
    let hello = session.hello
    sessions.expectFirstPing(of: connection, isRunOn: authoritative.phase.isOn)
    let welcome = Welcome(
      nonce: hello.nonce, nodeID: settings.nodeID, storeID: storeID, deviceID: settings.deviceID,
      eventsEndpoint: incarnation.eventsEndpoint(for: connection), speed: settings.clock.speed,
      debounce: settings.debounce, received: received(from: hello.storeID),
      state: StateMessage(snapshot: authoritative, at: turn.now),
      recordsThrough: records.durableChange, enrolment: members.enrolment(of: session.identity))
    turn.act(.send(HubFrame(session: session.number, message: .welcome(welcome)), to: connection))
    openDelivery(to: hello, within: session.limits, in: &turn)
  }

  /// Closes the session of a connection that is gone, and publishes that its device is unreachable.
  mutating func close(
    _ connection: ConnectionID, isOver: Bool = false, in turn: inout Turn
  ) {
    guard let session = sessions.close(connection) else { return }
    closeDelivery(to: session, isOver: isOver, in: &turn)
    publish(sessions.loss(of: session.hello, wasReachable: session.isReachable), in: &turn)
  }

  /// Says goodbye to every peer, so that peers can tell a normal end from a crash, and ends the hub.
  mutating func sayFarewell(in turn: inout Turn) {
    for (connection, session) in sessions.inOrder {
      turn.act(.send(HubFrame(session: session.number, message: .goodbye), to: connection))
    }
    turn.act(.ended)
    incarnation.ending = .over
  }

  /// Marks silent peers as unreachable, closes sessions that have been silent for ten minutes, and schedules the next
  /// check.
  mutating func checkSilence(in turn: inout Turn) {
    for (connection, session, isOver) in sessions.silent(at: turn.now) {
      if isOver {
        close(connection, in: &turn)
      } else if session.isReachable {
        sessions.fallSilent(connection)
        publish(sessions.loss(of: session.hello, wasReachable: true), in: &turn)
      }
    }
    sessions.scheduleSilenceCheck()
  }

  /// Why a hello is refused; `nil` if it is not. docs/protocol.md lists these checks and those of
  /// ``receive(_:sentAt:on:by:in:)`` in the same order, and a test compares the lists.
  ///
  /// - Parameter hello: As the device states it; afterwards with the device name that it counts under.
  private mutating func refusal(
    of hello: inout Hello, by identity: ConnectionIdentity, in turn: inout Turn
  ) -> Refusal? {
    // 1. Version.
    guard hello.version == wireVersion else {
      return Refusal(code: .versionMismatch, message: Self.mismatch("\(hello.deviceID)", hello.version))
    }
    // 2. Pace.
    guard members.admits(.hellos, identity, at: turn.now) else {
      return Refusal(code: .tooFast, message: PacedKind.hellos.refusal)
    }
    // 3. Hub's name.
    guard hello.deviceID != settings.deviceID else {
      let message = "\(hello.deviceID) is this hub's own name: give the device another"
      return Refusal(code: .malformed, message: message)
    }
    // 4. Device name, and role.
    hello.deviceID = members.list.standIn(for: hello.deviceID, by: identity)
    if let reason = reasonToForbid(hello, by: identity) {
      turn.act(.forbade(identity, reason))
      return Refusal(code: .forbidden, message: reason)
    }
    hello = members.counted(hello, by: identity)
    hear(hello, by: identity, in: &turn)
    // 5. Share of the key.
    guard hasRoom(for: hello, by: identity) else {
      return Refusal(code: .busy, message: "this key has enough sessions and stores here: end some")
    }
    // 6. Store.
    guard hello.storeID != storeID else {
      return Refusal(code: .storeRegressed, message: "this store id is the hub's: the device begins anew")
    }
    guard identity.mayUse(storeOf: mail.owner(of: hello.storeID)) else {
      return Refusal(
        code: .storeRegressed, message: "this store belongs to another identity: the device begins anew")
    }
    // 7. Term. Adopting one that no number of starts reaches would leave no terms above it.
    guard hello.termSeen <= max(term, HubTerm.seenMax) else {
      let message = "no hub comes to term \(hello.termSeen): the device forgets it, or its store is deleted"
      return Refusal(code: .malformed, message: message)
    }
    guard hello.termSeen <= term || incarnation.admitRaise(at: turn.monotonic) else {
      return Refusal(code: .busy, message: "the hub was passed too often in a minute: say hello again")
    }
    return nil
  }

  private mutating func receive(
    _ stated: Hello, sentAt: BusTime, on connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    var hello = stated
    if let refusal = refusal(of: &hello, by: identity, in: &turn) {
      return refuse(connection, refusal.code, refusal.message, in: &turn)
    }
    // 8. Repetition. The session that its first welcome named goes on.
    if sessions.session(on: connection, by: identity)?.hello == hello {
      hear(connection, in: &turn)
      return welcome(hello, on: connection, in: &turn)
    }
    let wasReachable = sessions.isReachable(hello.deviceID)
    // A peer has one session: a new hello closes its earlier one, on this connection or another.
    let earlier = [connection, sessions.connection(of: hello.storeID)].compactMap { $0 }
    let closed = earlier.compactMap { sessions.close($0) }
    for session in closed { closeDelivery(to: session, in: &turn) }
    // 9. Table of sessions.
    if sessions.isFull, let session = sessions.closeLongestSilent() { closeDelivery(to: session, in: &turn) }
    guard !sessions.isFull else {
      return refuse(connection, .busy, "the hub's table of sessions is full", in: &turn)
    }
    sessions.open(
      hello, sentAt: sentAt, on: connection, by: identity, limits: incarnation.limits(of: connection),
      isRunOn: authoritative.phase.isOn, at: turn.now)
    // 10. One history, and 11. table of devices.
    guard join(hello, on: connection, by: identity, in: &turn) else {
      for session in closed {
        publish(sessions.loss(of: session.hello, wasReachable: session.isReachable), in: &turn)
      }
      return
    }
    welcome(hello, on: connection, in: &turn)
    for session in closed where session.hello.deviceID != hello.deviceID {
      publish(sessions.loss(of: session.hello, wasReachable: session.isReachable), in: &turn)
    }
    if !wasReachable {
      publish(Presence(deviceID: hello.deviceID, role: hello.role, isReachable: true), in: &turn)
    }
  }

  /// Welcomes a peer at once, or after a commit if the peer has seen a higher term or its marks are not durable yet.
  private mutating func welcome(
    _ hello: Hello, on connection: ConnectionID, in turn: inout Turn
  ) {
    guard let session = sessions[connection]?.number else { return }
    if hello.termSeen > term {
      // The peer has seen a higher term, from an incarnation whose store is lost. The hub makes a term above it durable
      // before it answers.
      incarnation.raise(above: hello.termSeen)
      commands.setTerm(term)
      publishNow([.setTerm(term)], then: [.welcome(connection, session: session)], in: &turn)
    } else if hello.termSeen > authoritative.order.term || !isDurable(hello.storeID, in: &turn) {
      // A welcome states durable marks only, so it waits for the commit.
      turn.write([], then: [.welcome(connection, session: session)])
    } else {
      welcome(connection, in: &turn)
    }
  }

  private mutating func hear(_ connection: ConnectionID, in turn: inout Turn) {
    publish(sessions.hear(connection, at: turn.now), in: &turn)
    noteHeard(connection, in: &turn)
  }

  /// Stores when a device was heard, so that it is known after a crash of the hub: a minute after the last time, with the
  /// next commit for another reason, and ten minutes later at the latest. An idle hub should leave the flash alone.
  private mutating func noteHeard(_ connection: ConnectionID, in turn: inout Turn) {
    let speed = settings.clock.speed
    guard let hello = sessions[connection]?.hello, var device = mail.devices[hello.deviceID],
      device.storeID == hello.storeID, turn.now - device.heardAt >= speed.bus(fromReal: .seconds(60))
    else { return }
    device.heardAt = turn.now
    mail.meet(device)
    turn.write([.meet(device)], by: turn.now + speed.bus(fromReal: .seconds(600)))
  }

  /// The writes that store when each connected device was heard last.
  mutating func heardMarks() -> [StoreOperation] {
    sessions.inOrder.compactMap { _, session in
      guard var device = mail.devices[session.hello.deviceID], device.storeID == session.hello.storeID,
        device.heardAt < session.heardAt
      else { return nil }
      device.heardAt = session.heardAt
      mail.meet(device)
      return .meet(device)
    }
  }

  private func publish(_ presence: Presence?, in turn: inout Turn) {
    if let presence { turn.act(.publish(.presence(presence))) }
  }
}
