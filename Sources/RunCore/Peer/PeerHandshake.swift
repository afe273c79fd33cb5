// The link: hello and welcome, the history of the streams, and the frames of the hub.
extension PeerCore {
  /// Says hello and expects a welcome.
  mutating func greet(isRepeat: Bool = false, in turn: inout Turn) {
    guard let nonce = session.greet(isRepeat: isRepeat, at: turn.now, generator: &turn.generator) else { return }
    var hello = Hello(
      deviceID: settings.deviceID, role: settings.role, nodeID: settings.nodeID, storeID: identity.storeID,
      nonce: nonce, termSeen: view.hub.termSeen, listVersion: enrolment.told?.listVersion ?? 0,
      listProof: enrolment.told?.listProof, nextHubKey: enrolment.told?.nextHubKey, isEphemeral: settings.isEphemeral)
    if let hub = identity.hub {
      hello.hub = hub.storeID
      hello.acknowledged = outbox.acknowledged
      hello.acknowledged[.messages] = mail.acknowledged
      hello.acknowledged = hello.acknowledged.filter { $0.value > 0 }
      hello.received = [.verdicts: outbox.verdictMark, .messages: mail.mark].filter { $0.value.sequence > 0 }
    }
    closeStreams()
    turn.act(.send(PeerFrame(session: 0, sentAt: turn.now, message: .hello(hello))))
  }

  /// Ends the session after the control connection was lost.
  mutating func loseLink(in turn: inout Turn) {
    guard !session.isRefused else { return }
    closeStreams()
    if session.loseLink() { turn.act(.reachability(false)) }
  }

  mutating func closeStreams() {
    outbox.close()
    mail.close()
    records.close()
  }

  /// Handles a frame that the hub sent to this peer.
  mutating func receive(_ frame: HubFrame, in turn: inout Turn) {
    guard frame.isPossible else { return turn.act(.note(Self.impossible)) }
    if case .goodbye = frame.message { return receiveGoodbye(session: frame.session, in: &turn) }
    view.noteSignOfLife(in: &turn)
    switch frame.message {
    case .welcome(let welcome): return receive(welcome, session: frame.session, in: &turn)
    case .refused(let refusal): return receive(refusal, session: frame.session, in: &turn)
    case .pairing(.paired(let told)): return _ = enrolment.note(told, in: &turn)
    case .pairing: return
    case .receipt, .delivery, .pong, .state, .answer, .recordChange, .room, .goodbye: break
    }
    guard session.number == frame.session else {
      return turn.act(.note("a frame of an earlier session was dropped"))
    }
    hear(in: &turn)
    switch frame.message {
    case .receipt(let receipt):
      outbox.receive(receipt, shown: view.authoritative.order, over: session.number, in: &turn)
    case .delivery(let message): receive(message, in: &turn)
    case .pong(let number, let newest, let recordsThrough):
      session.receivePong(number, at: turn.now)
      // The newest snapshot was lost, and the next one may be far away: ask for it.
      if lacks(newest) { send(.query, in: &turn) }
      records.note(newest: recordsThrough, over: session.number, in: &turn)
    case .recordChange(let change): records.receive(change, over: session.number, in: &turn)
    case .state(let message): observe(message, isNewSession: false, in: &turn)
    case .answer(let answer): mail.receive(answer, in: &turn)
    case .room(let ask, let answer): asks.receive(answer, to: ask, in: &turn)
    case .welcome, .refused, .pairing, .goodbye: break
    }
  }

  /// Handles the hub's goodbye.
  private mutating func receiveGoodbye(session number: UInt64, in turn: inout Turn) {
    guard session.believesGoodbye(of: number) else {
      return turn.act(.note("a goodbye of an earlier life of the hub was dropped"))
    }
    view.dismiss(in: &turn)
    guard session.isUp else { return }
    closeStreams()
    if session.leave(at: turn.now, generator: &turn.generator) { turn.act(.reachability(false)) }
  }

  static let impossible = "the hub speaks of a term, a session or a count that no hub comes to: dropped"

  mutating func hear(in turn: inout Turn) {
    if session.hear(at: turn.now) { turn.act(.reachability(true)) }
  }

  mutating func observe(
    _ message: StateMessage, isNewSession: Bool, in turn: inout Turn
  ) {
    guard let change = view.observe(message, isNewSession: isNewSession, in: &turn) else { return }
    outbox.dropShown(by: message.snapshot.order)
    if change.isTransition { noteNews(in: &turn) }
  }

  // MARK: Welcome

  private mutating func receive(
    _ welcome: Welcome, session number: UInt64, in turn: inout Turn
  ) {
    guard session.awaits(welcome.nonce) else {
      return turn.act(.note("a welcome to an earlier hello was dropped"))
    }
    let isKnown = identity.hub?.storeID == welcome.storeID
    if !isKnown { turn.act(.met) }
    guard join(welcome, isKnown: isKnown, in: &turn) else { return }
    guard view.isContinued(by: welcome.state.snapshot.order) else { return claimTerm(in: &turn) }
    pace.note(welcome.state.snapshot.phase, at: turn.now)
    session.open(number, at: turn.now, interval: pace.interval(at: turn.now))
    view.open(term: welcome.state.snapshot.order.term, speed: welcome.speed)
    hear(in: &turn)
    observe(welcome.state, isNewSession: true, in: &turn)
    let term = welcome.state.snapshot.order.term
    for event in view.early.take(term: term, speed: welcome.speed, at: turn.now) { receive(event, in: &turn) }
    // A listener without events has no endpoint: pongs tell of newer snapshots.
    if !settings.topics.isEmpty, !welcome.eventsEndpoint.isEmpty {
      turn.act(.subscribe(welcome.eventsEndpoint, settings.topics))
    }
    if let told = welcome.enrolment, enrolment.note(told, in: &turn) { return greet(in: &turn) }
    enrolment.announceAgain(over: session.number, in: &turn)
    openStreams(welcome, in: &turn)
  }

  /// Checks that this peer's streams and the hub's marks are of one history. The streams of a peer without a hub go to
  /// this hub from now on. The streams begin anew if the peer had another hub, or if the histories differ.
  ///
  /// - Returns: whether the session can be opened; `false` if the streams begin anew.
  private mutating func join(
    _ welcome: Welcome, isKnown: Bool, in turn: inout Turn
  ) -> Bool {
    let hub = PeerIdentity.Hub(storeID: welcome.storeID, deviceID: welcome.deviceID)
    let standings = outbox.check(welcome.received) + [mail.check(welcome.received[.messages] ?? .start)]
    // A peer stores its hub before it sends anything. If it knows no hub and the hub has data of it, its store lost
    // history.
    let hasForgotten = identity.hub == nil && welcome.received.values.contains { $0.sequence > 0 }
    if let reason = hasForgotten ? .senderLost : standings.first(where: { $0 != .good }) {
      let text = reason == .senderLost ? "this device's store has lost history" : "the hub's store has lost history"
      resetIdentity(toward: hub, because: text, in: &turn)
      return false
    }
    guard !isKnown else { return true }
    guard identity.hub == nil else {
      resetIdentity(toward: hub, because: "the hub has another store than before", in: &turn)
      return false
    }
    bind(to: hub, then: [], in: &turn)
    return true
  }

  private mutating func openStreams(_ welcome: Welcome, in turn: inout Turn) {
    let (link, limits) = (session.number, settings.limits)
    outbox.open(received: welcome.received, shown: view.authoritative.order, over: link, in: &turn)
    mail.askAgain(over: link, in: &turn)
    asks.open(over: link, in: &turn)
    outbox.sendSamples(over: link, in: &turn)
    mail.open(received: welcome.received[.messages] ?? .start, within: limits, over: link, in: &turn)
    if limits.carriesRecords { records.open(newest: welcome.recordsThrough, over: link, in: &turn) }
  }

  // MARK: Lost history

  /// Asks the hub for a term above everything that was seen.
  private mutating func claimTerm(in turn: inout Turn) {
    turn.act(.note("the hub shows less than it once did: its store has lost history, and it takes a new term"))
    // Its changes of records may differ from earlier ones with the same numbers.
    turn.write([view.claimTerm(), records.renumber()], then: [])
    greet(in: &turn)
  }

  /// Gives this peer a new store id, and with it new streams that cannot be confused with the old ones.
  private mutating func resetIdentity(
    toward hub: PeerIdentity.Hub?, because reason: String, in turn: inout Turn
  ) {
    guard let write = identity.renew(at: turn.now, generator: &turn.generator) else { return }
    turn.act(.note("\(reason): what is unacknowledged goes again as a new store"))
    session.renew()
    // A peer that knows no hub has nothing to renumber: the hub refused it before it was welcomed.
    turn.write([write], then: hub == nil ? [.greet] : [])
    if let hub { bind(to: hub, then: [.greet], in: &turn) }
  }

  /// Moves the streams to a hub.
  private mutating func bind(to hub: PeerIdentity.Hub, then: [Durable], in turn: inout Turn) {
    let old = identity.receiver
    var operations = [identity.bind(to: hub)]
    if old != .none {
      operations += [StreamID.Kind.verdicts, .messages].map { .forgetStream(StreamID(sender: old, kind: $0)) }
    }
    operations.append(outbox.renumberCommands(to: hub.storeID))
    operations += mail.renumber(to: hub)
    let (writes, sendable) = outbox.renumberSamples(to: hub.storeID)
    operations += writes
    let restart = records.renumber()
    if old != .none { operations.append(restart) }
    turn.write(operations, then: [sendable] + then)
  }

  // MARK: Refusals

  private mutating func receive(
    _ refusal: Refusal, session number: UInt64, in turn: inout Turn
  ) {
    switch refusal.code {
    case .versionMismatch:
      closeStreams()
      if session.refuse() { turn.act(.reachability(false)) }
      turn.act(.fail(refusal))
    case .unknownSession:
      // If the refusal names another session than this peer's, the hub has restarted: say hello again. If it names this
      // one, it answers an older frame: ignore it. A hello that waits for its welcome is not repeated.
      if let mine = session.number, mine != number { greet(in: &turn) }
    case .storeRegressed:
      guard session.isGreeting else { return }
      resetIdentity(toward: identity.hub, because: "storeRegressed: \(refusal.message)", in: &turn)
    case .forbidden where session.isGreeting, .busy where session.isGreeting:
      if session.refuseHello(refusal.message) { turn.act(.reachability(false)) }
    case .malformed, .busy, .listBehind, .tooFast, .storeBehind, .forbidden, .unknown:
      turn.act(.note("the hub refused a frame: \(refusal.message)"))
      if refusal.code == .malformed { forgetTerm(in: &turn) }
    }
  }

  /// Forgets a term that no hub comes to, because the hub does not believe it.
  private mutating func forgetTerm(in turn: inout Turn) {
    let term = view.hub.termSeen
    guard session.isGreeting, let writes = view.forgetTerm() else { return }
    turn.act(.note("term \(term) is forgotten: no hub comes to it"))
    session.forgetNumber()
    outbox.dropJudged()
    turn.write(writes + [records.renumber()], then: [])
    greet(in: &turn)
  }
}
