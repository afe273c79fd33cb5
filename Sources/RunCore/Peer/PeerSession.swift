import DequeModule

// The link: hello and welcome, pings, and what the hub says.
extension PeerCore {
  /// Says hello and expects a welcome. Repeats the hello after 1, 2, 4, then every 5 seconds.
  mutating func greet(attempts: Int, at now: BusTime, into actions: inout [Action]) {
    if case .refused = link { return }
    guard !isEnding else { return }
    guard !isRenewing else {
      link = .renewing
      return
    }
    nonce &+= 1
    var hello = Hello(
      deviceID: settings.deviceID, role: settings.role, nodeID: settings.nodeID, storeID: storeID,
      nonce: nonce, termSeen: termSeen, isOneShot: settings.isOneShot)
    if !settings.isOneShot, let hub {
      hello.hub = hub.storeID
      for stream in [commands, samples, courier.stream] where stream.acknowledged > 0 {
        hello.acknowledged[stream.id.kind] = stream.acknowledged
      }
      for (kind, mark) in [(StreamID.Kind.verdicts, verdictsDurable), (.messages, courier.inbox.durable)]
      where mark.sequence > 0 {
        hello.received[kind] = mark
      }
    }
    closeStreams()
    let wait = generator.jittered(.seconds(min(5, Int64(1) << Int64(min(attempts, 3)))))
    link = .greeting(retryAt: now + wait, attempts: attempts + 1)
    actions.append(.send(PeerFrame(session: 0, sentAt: now, message: .hello(hello))))
  }

  /// Ends the session after the control connection was lost. The transport reconnects by itself.
  mutating func loseLink(into actions: inout [Action]) {
    if case .refused = link { return }
    link = .down
    pings.nextAt = nil
    closeStreams()
    setReachable(false, into: &actions)
  }

  mutating func closeStreams() {
    commands.close()
    samples.close()
    courier.close()
    records.close()
    forwardAt = nil
  }

  /// Handles a frame that the hub sent to this peer.
  mutating func receive(_ frame: HubFrame, at now: BusTime, into actions: inout [Action]) {
    guard frame.isPossible else { return actions.append(.note(Self.impossible)) }
    if case .goodbye = frame.message { return receiveGoodbye(session: frame.session, at: now, into: &actions) }
    noteSignOfLife(at: now)
    switch frame.message {
    case .welcome(let welcome): return receive(welcome, session: frame.session, at: now, into: &actions)
    case .refused(let refusal): return receive(refusal, session: frame.session, at: now, into: &actions)
    case .receipt, .delivery, .pong, .state, .answer, .recordChange, .goodbye: break
    }
    guard case .up(frame.session) = link else {
      return actions.append(.note("a frame of an earlier session was dropped"))
    }
    hear(at: now, into: &actions)
    switch frame.message {
    case .receipt(let receipt): receive(receipt, at: now, into: &actions)
    case .delivery(let message): receive(message, at: now, into: &actions)
    case .pong(let number, let newest, let recordsThrough):
      if number == pings.number { roundTrip = now - pings.sentAt }
      // The newest snapshot was lost, and the next one may be far away: ask for it.
      if newest > authoritative.order { send(.query, at: now, into: &actions) }
      noteRecords(newest: recordsThrough, at: now, into: &actions)
    case .recordChange(let change): receive(change, at: now, into: &actions)
    case .state(let message): observe(message, isNewSession: false, at: now, into: &actions)
    case .answer(let answer):
      guard !questions.isEmpty else { return }
      questions.removeFirst()
      actions.append(.answered(answer))
    case .welcome, .refused, .goodbye: break
    }
  }

  /// Handles an event that the hub published.
  mutating func receive(_ event: BusEvent, at now: BusTime, into actions: inout [Action]) {
    // Events that were queued before the link was lost must not make the hub look alive.
    guard case .up = link else { return }
    guard event.isPossible else { return actions.append(.note(Self.impossible)) }
    noteSignOfLife(at: now)
    hear(at: now, into: &actions)
    if case .snapshot(let message) = event {
      observe(message, isNewSession: false, at: now, into: &actions)
    } else {
      actions.append(.hear(event))
    }
  }

  /// Pings the hub, or notes that it has not answered for three beats.
  mutating func beat(at now: BusTime, into actions: inout [Action]) {
    let isRunOn = authoritative.phase.isOn
    if let heardAt, now - heardAt >= Heartbeat.silence(isRunOn: isRunOn) {
      setReachable(false, into: &actions)
      // The hub may have forgotten this session, so say hello again.
      return greet(attempts: 0, at: now, into: &actions)
    }
    pings.number += 1
    pings.sentAt = now
    pings.nextAt = now + Heartbeat.interval(isRunOn: isRunOn)
    send(.ping(pings.number, roundTrip: roundTrip), at: now, into: &actions)
  }

  private mutating func receive(_ welcome: Welcome, session: UInt64, at now: BusTime, into actions: inout [Action]) {
    guard case .greeting = link, welcome.nonce == nonce else {
      return actions.append(.note("a welcome to an earlier hello was dropped"))
    }
    if !settings.isOneShot {
      let isKnown = hub?.storeID == welcome.storeID
      if !isKnown { actions.append(.met) }
      guard join(welcome, isKnown: isKnown, at: now, into: &actions) else { return }
      guard isOfOurPast(welcome.state.snapshot.order) else { return claimTerm(at: now, into: &actions) }
    }
    link = .up(session: session)
    lastSession = session
    speed = welcome.speed
    hear(at: now, into: &actions)
    setReachable(true, into: &actions)
    observe(welcome.state, isNewSession: true, at: now, into: &actions)
    if !settings.topics.isEmpty { actions.append(.subscribe(welcome.eventsEndpoint, settings.topics)) }
    if !settings.isOneShot { pings.nextAt = now + Heartbeat.interval(isRunOn: authoritative.phase.isOn) }
    openStreams(welcome, at: now, into: &actions)
  }

  /// Checks that this peer's streams and the hub's marks are of one history. The streams of a peer without a hub go to
  /// this hub from now on. The streams begin anew if the peer had another hub, or if the histories differ.
  ///
  /// - Returns: whether the session can be opened; `false` if the streams begin anew.
  private mutating func join(
    _ welcome: Welcome, isKnown: Bool, at now: BusTime, into actions: inout [Action]
  ) -> Bool {
    let standings = [commands, samples, courier.stream].map { stream in
      var stream = stream
      return stream.open(received: welcome.received[stream.id.kind] ?? .start)
    }
    // A peer stores its hub before it sends anything. If it knows no hub and the hub has data of it, its store lost
    // history.
    let hasForgotten = hub == nil && welcome.received.values.contains { $0.sequence > 0 }
    if let reason = hasForgotten ? .senderLost : standings.first(where: { $0 != .good }) {
      let text = reason == .senderLost ? "this device's store has lost history" : "the hub's store has lost history"
      resetIdentity(toward: (welcome.storeID, welcome.deviceID), because: text, at: now, into: &actions)
      return false
    }
    guard !isKnown else { return true }
    if hub != nil {
      let text = "the hub has another store than before"
      resetIdentity(toward: (welcome.storeID, welcome.deviceID), because: text, at: now, into: &actions)
      return false
    }
    bind(to: (welcome.storeID, welcome.deviceID), at: now, then: [])
    return true
  }

  private static let impossible = "the hub speaks of a term, a session or a count that no hub comes to: dropped"
  private static let renewalPatience = BusDuration.seconds(5)

  /// Whether the hub's state continues what this peer has seen. A hub that shows less of the same term is another
  /// incarnation with that number: its store was lost, or is an older copy.
  private func isOfOurPast(_ order: SnapshotOrder) -> Bool {
    order.term != authoritative.order.term || order >= authoritative.order
  }

  /// Asks the hub for a term above everything that was seen, because its snapshots would be dropped as old ones
  /// forever.
  private mutating func claimTerm(at now: BusTime, into actions: inout [Action]) {
    termSeen = max(termSeen, authoritative.order.term) + 1
    actions.append(.note("the hub shows less than it once did: its store has lost history, and it takes a new term"))
    // Its changes of records may differ from earlier ones with the same numbers.
    records.renumber()
    commits.add([.setTerm(termSeen), .setRecordsThrough(0)], then: [])
    greet(attempts: 0, at: now, into: &actions)
  }

  /// Gives this peer a new store id, and with it new streams that cannot be confused with the old ones.
  private mutating func resetIdentity(
    toward hub: (storeID: StoreID, deviceID: DeviceID)?, because reason: String, at now: BusTime,
    into actions: inout [Action]
  ) {
    // A hub that refuses every store must not make this peer write without end. The same hello is repeated later.
    if let renewedAt, now - renewedAt < Self.renewalPatience { return }
    renewedAt = now
    actions.append(.note("\(reason): what is unacknowledged goes again as a new store"))
    storeID = generator.identifier()
    isRenewing = true
    link = .renewing
    // A peer that knows no hub has nothing to renumber: the hub refused it before it was welcomed.
    commits.add([.setStoreID(storeID)], then: hub == nil ? [.greet] : [])
    if let hub { bind(to: hub, at: now, then: [.greet]) }
  }

  private mutating func bind(
    to hub: (storeID: StoreID, deviceID: DeviceID), at now: BusTime, then: [Effect]
  ) {
    let old = self.hub?.storeID ?? .none
    self.hub = hub
    var operations: [StoreOperation] = [.setHub(hub.storeID, hub.deviceID)]
    if old != .none {
      operations += [StreamID.Kind.verdicts, .messages].map { .forgetStream(StreamID(sender: old, kind: $0)) }
    }
    for kind in [StreamID.Kind.commands, .messages] {
      let id = OutboundStreamID(receiver: hub.storeID, kind: kind)
      operations.append(.renumber(OutboundStreamID(receiver: old, kind: kind), to: id))
      if kind == .commands { commands.renumber(to: id) }
    }
    courier.device = hub.deviceID
    operations += courier.renumber(
      to: OutboundStreamID(receiver: hub.storeID, kind: .messages), from: StreamID(sender: hub.storeID, kind: .messages)
    )
    // Some samples are not in the store, and some sequence numbers are reserved, so the stream is written anew.
    operations.append(.drop(samples.id))
    samples.renumber(to: OutboundStreamID(receiver: hub.storeID, kind: .samples))
    operations += samples.rows.map(StoreOperation.enqueue)
    samplesFlushed = samples.assigned
    verdicts = Watermark()
    verdictsDurable = .start
    records.renumber()
    if old != .none { operations.append(.setRecordsThrough(0)) }
    commits.add(
      operations,
      then: [.samplesSendable(through: samples.assigned, durabilityGeneration: samples.durabilityGeneration)] + then)
  }

  private mutating func openStreams(_ welcome: Welcome, at now: BusTime, into actions: inout [Action]) {
    func mark(_ kind: StreamID.Kind) -> StreamMark { welcome.received[kind] ?? .start }
    // `join` found both sides to be of one history, so opening cannot fail any more.
    _ = commands.open(received: mark(.commands))
    if !settings.isOneShot {
      acceptCommands(through: mark(.commands).sequence, at: now, into: &actions)
      expireCommands(at: now, into: &actions)
    }
    if let range = commands.countFirstTries() {
      // The tries are durable before anything is sent: a later incarnation may cancel what was never sent, and knows
      // only what is durable.
      commands.blockUntilDurable()
      let count = StoreOperation.countTries(commands.id, from: range.lowerBound, through: range.upperBound)
      commits.add(
        settings.isOneShot ? [] : [count],
        then: [.commandsSendable(through: commands.assigned, durabilityGeneration: commands.durabilityGeneration)])
    } else if commands.isHeld {
      // All rows were tried before their stream was renumbered. They go once the renumbering is durable.
      commits.add(
        [], then: [.commandsSendable(through: commands.assigned, durabilityGeneration: commands.durabilityGeneration)])
    }
    sendCommands(at: now, into: &actions)
    sendForwards(at: now, into: &actions)
    for question in questions { send(.inquire(question), at: now, into: &actions) }
    guard !settings.isOneShot else { return }
    _ = samples.open(received: mark(.samples))
    acknowledgeSamples(through: mark(.samples).sequence, at: now)
    sendSamples(at: now, into: &actions)
    withCourier(at: now, into: &actions) {
      _ = $0.open(received: mark(.messages), at: now, generator: &$1, into: &$2)
    }
    openRecords(newest: welcome.recordsThrough, at: now, into: &actions)
  }

  private mutating func receive(_ refusal: Refusal, session: UInt64, at now: BusTime, into actions: inout [Action]) {
    switch refusal.code {
    case .versionMismatch:
      link = .refused
      setReachable(false, into: &actions)
      actions.append(.fail(refusal))
    case .unknownSession:
      // If the refusal names another session than this peer's, the hub has restarted: say hello again. If it names this
      // one, it answers an older frame: ignore it. A hello that waits for its welcome is not repeated.
      if case .up(let mine) = link, mine != session { greet(attempts: 0, at: now, into: &actions) }
    case .storeRegressed:
      guard case .greeting = link else { return }
      resetIdentity(toward: hub, because: "storeRegressed: \(refusal.message)", at: now, into: &actions)
    case .malformed, .busy:
      actions.append(.note("the hub refused a frame: \(refusal.message)"))
      if refusal.code == .malformed { forgetTerm(at: now, into: &actions) }
    }
  }

  /// Forgets a term that no hub comes to, because the hub does not believe it: another node or a wrong hub has stated
  /// it. From the next welcome on, the peer shows what the hub shows.
  private mutating func forgetTerm(at now: BusTime, into actions: inout [Action]) {
    guard case .greeting = link, !settings.isOneShot, termSeen > HubTerm.seenMax else { return }
    actions.append(.note("term \(termSeen) is forgotten: no hub comes to it"))
    (termSeen, lastSession) = (0, 0)
    authoritative.order = Snapshot.none.order
    settling = []
    records.renumber()
    var view = authoritative
    view.metrics = RunMetrics()
    commits.add([.setTerm(0), .setView(view), .setRecordsThrough(0)], then: [])
    greet(attempts: 0, at: now, into: &actions)
  }

  private mutating func hear(at now: BusTime, into actions: inout [Action]) {
    heardAt = now
    setReachable(true, into: &actions)
  }

  mutating func setReachable(_ value: Bool, into actions: inout [Action]) {
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
    // Listeners hear each snapshot once, whether it was published, came with a welcome or answered a query.
    actions.append(.hear(.snapshot(message)))
    let before = authoritative
    authoritative = snapshot
    settling.removeAll { $0.verdict.term < snapshot.order.term || $0.verdict.revision <= snapshot.order.revision }
    keepView(before: before, at: now)
    // The ping interval depends on the run: when a run begins, a ping that was due in ten seconds is due in two.
    if snapshot.phase.isOn != before.phase.isOn, pings.nextAt != nil {
      pings.nextAt = now + Heartbeat.interval(isRunOn: snapshot.phase.isOn)
    }
    actions.append(.show(snapshot))
  }

  /// Stores the view and the term, because a later incarnation must know which run its buttons refer to and which term
  /// was seen.
  private mutating func keepView(before: Snapshot, at now: BusTime) {
    guard !settings.isOneShot else { return }
    let order = authoritative.order
    guard order.term != before.order.term || order.revision != before.order.revision else { return }
    var view = authoritative
    view.metrics = RunMetrics()
    // Tick 0 comes before every snapshot of the revision, so the next incarnation shows the first one that it receives.
    view.order = SnapshotOrder(term: order.term, revision: order.revision, tick: 0)
    var operations: [StoreOperation] = [.setView(view)]
    if order.term > termSeen {
      termSeen = order.term
      operations.append(.setTerm(termSeen))
    }
    commits.add(operations, then: [], dueAt: now + CommitTiming.writeDelayMax)
  }

  /// Estimates the hub's bus time. Transit makes every estimate late, so the one that is furthest ahead is the best.
  private mutating func readClock(_ message: StateMessage, isNewSession: Bool, at now: BusTime) {
    let heard = BusClock(
      realAnchor: now, busAnchor: message.snapshot.capturedAt + message.age, speed: speed)
    if let clock, !isNewSession, clock.speed == speed, clock.bus(at: now) >= heard.busAnchor { return }
    clock = heard
  }
}
