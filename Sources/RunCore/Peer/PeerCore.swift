/// The pure state machine of a peer: it receives an event and the time, and returns actions. The time is the peer's own
/// monotonic clock, at real speed.
///
/// The core routes: it gives each event to its parts, which write into the turn or return what the core has to do. A part
/// has private state and does not know another part.
package struct PeerCore: Sendable {
  typealias Turn = RunCore.Turn<Action>
  typealias Durable = RunCore.Durable<Action>

  let settings: Settings
  /// How far the times of an earlier boot are moved; `nil` when they fit this boot's clock.
  private let shift: BusDuration?
  var rest: Turn.Rest
  var identity: PeerIdentity
  var session: PeerSession
  var pace: HeartbeatPace
  var view: PeerView
  var outbox: PeerOutbox
  var mail: PeerMail
  var records: RecordCopies
  var enrolment: PeerEnrolment
  var asks = PeerAsks()

  /// Creates a peer from what its store kept; a new store has an empty history.
  ///
  /// - Parameters:
  ///   - now: the peer's monotonic clock.
  ///   - wallSeconds: the wall clock now, in seconds since 1970. It dates the rows of an earlier boot.
  ///   - bootID: the boot that `now` belongs to; empty when unknown.
  package init(
    settings: Settings, history: PeerHistory = PeerHistory(), now: BusTime = .zero, wallSeconds: Double = 0,
    bootID: String = ""
  ) {
    self.settings = settings
    enrolment = PeerEnrolment(settings.enrolment)
    let shift = history.clock.flatMap { $0.shift(real: now, wallSeconds: wallSeconds, bootID: bootID) }
    self.shift = shift
    rest = Turn.Rest(
      generator: SeededGenerator(seed: settings.seed),
      clock: BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime))
    identity = PeerIdentity(
      storeID: settings.storeID,
      hub: history.hub.map { PeerIdentity.Hub(storeID: $0.storeID, deviceID: $0.deviceID) })
    view = PeerView(
      HubView(history.view, termSeen: history.term),
      failureDetector: HubFailureDetector(limit: settings.hubLostAfter, mark: history.failureMark))
    pace = HeartbeatPace(limits: settings.limits)
    session = PeerSession(
      nonce: rest.generator.next(), interval: settings.limits.heartbeat(Heartbeat.first(isRunOn: view.hub.isRunOn)))
    let receiver = identity.receiver
    let delivery = history.delivery
    func stream(_ kind: StreamID.Kind, _ bounds: OutboundStream.Bounds) -> OutboundStream {
      let id = OutboundStreamID(receiver: receiver, kind: kind)
      var stream = OutboundStream(
        id, bounds: bounds, rows: delivery.rows.filter { $0.stream == id }, acknowledged: delivery.acknowledged[id] ?? 0
      )
      if let shift { stream.shift(by: shift) }
      return stream
    }
    func mark(_ kind: StreamID.Kind) -> StreamMark {
      delivery.watermarks[StreamID(sender: receiver, kind: kind)] ?? .start
    }
    outbox = PeerOutbox(
      stream: stream, verdicts: VerdictInbox(from: identity.hub?.storeID, durable: mark(.verdicts)), bootID: bootID)
    mail = PeerMail(
      Courier(
        own: settings.deviceID, device: history.hub?.deviceID, stream: stream(.messages, .messages),
        inbox: InboundStream(StreamID(sender: receiver, kind: .messages), durable: mark(.messages)),
        latestSent: delivery.latestSent, latestReceived: delivery.latestReceived),
      quarantine: Quarantine(delivery.quarantine, shift: shift))
    records = RecordCopies(
      history.records, removed: history.removedRecords, through: history.recordsThrough)
  }

  // MARK: What the app and the driver read

  /// The last snapshot that was received.
  package var authoritative: Snapshot { view.authoritative }
  /// What the lock screen of this peer shows; `nil` before the first push.
  package var liveActivity: LiveActivity? { view.liveActivity }
  /// Converts this peer's clock to the hub's bus time; `nil` before the first snapshot.
  package var clock: BusClock? { view.hub.clock }
  /// Whether the hub has answered lately.
  package var isReachable: Bool { session.isReachable }
  /// When the hub was last heard; `nil` if it never was.
  package var heardAt: BusTime? { session.hearing.heardAt }
  /// The last round trip.
  package var roundTrip: BusDuration? { session.roundTrip }
  /// Why the hub did not let this peer in when it was asked last; `nil` when it did, or was not asked yet.
  package var refusal: String? { session.refusal }

  /// The phase with this peer's own commands applied that the snapshot does not show yet, for buttons that react at
  /// once.
  package var predicted: RunPhase { outbox.predicted(from: view.authoritative.phase) }

  /// How many commands wait for their verdict.
  package var unjudgedCount: Int { outbox.unjudgedCount }

  /// How many samples the hub has not acknowledged.
  package var spooledCount: Int { outbox.readingCount }

  /// Whether no more samples are accepted until the hub acknowledges some.
  package var isSpoolFull: Bool { outbox.isFullOfReadings }
  /// How many more readings are accepted now.
  package var sampleRoom: Int { outbox.roomForReadings }

  /// Whether no more commands are accepted until some are judged.
  package var isOutboxFull: Bool { outbox.isFull }

  /// The newest value of a key that the hub sent; `nil` if it has sent none.
  package func latest(_ key: String) -> AppMessage? { mail.latest(key) }

  /// The hub's bus time now, as far as this peer knows; `nil` before the first snapshot.
  package func busNow(at now: BusTime) -> BusTime? { view.hub.clock?.bus(at: now) }

  /// How old the view is, whether it is stale, and whether the hub has said goodbye.
  package func viewState(at now: BusTime) -> ViewState { view.state(hearing: session.hearing, at: now) }

  /// The last alarm, of this incarnation or an earlier one; `nil` if there never was one.
  package var lastHubLost: HubLost? { view.lastHubLost }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package var deadline: BusTime? {
    let own = BusTime.earliest(
      rest.commits.deadline, outbox.flushAt, session.isEnded ? nil : view.deadline(hearing: session.hearing),
      BusTime.earliest(records.answerAt, asks.deadline), session.deadline)
    guard session.isUp else { return own }
    return BusTime.earliest(own, outbox.retryAt, mail.retryAt, records.retryAt)
  }

  /// What was repeated since the last call.
  package mutating func takeTally() -> DeliveryTally {
    defer { rest.tally = DeliveryTally() }
    return rest.tally
  }

  // MARK: Events

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var turn = Turn(at: now, &rest)
    view.pass(to: turn.now, hearing: session.hearing)
    switch event {
    case .started: start(in: &turn)
    case .linkUp: greet(in: &turn)
    case .linkDown: loseLink(in: &turn)
    case .linkRefused(let reason):
      loseLink(in: &turn)
      if session.refuseLink(reason) { turn.act(.reachability(false)) }
    case .suspended:
      view.setListening(false, hearing: session.hearing)
      loseLink(in: &turn)
    case .resumed: view.setListening(true, hearing: session.hearing)
    case .frame(let frame): receive(frame, in: &turn)
    case .event(let event): receive(event, in: &turn)
    case .press(let command): press(command, in: &turn)
    case .samples(let samples):
      outbox.add(samples, shown: view.hub, over: session.number, in: &turn)
    case .post(let message, let deliveryClass): post(message, deliveryClass, in: &turn)
    case .handling(let value): mail.setHandling(value, over: session.number, in: &turn)
    case .handled(let stream, let sequence, let handlerGeneration):
      mail.handle(stream, through: sequence, handlerGeneration: handlerGeneration, in: &turn)
    case .failed(let stream, let sequence, let reason):
      mail.fail(stream, sequence, reason, over: session.number, in: &turn)
    case .spooled(let presses): outbox.add(presses, over: session.number, in: &turn)
    case .inquire(let inquiry, let number): answer(inquiry, number, in: &turn)
    case .recordRead(let reading, .inquiry(let number)): turn.act(.answer(reading.answer, number))
    case .recordRead(_, .peer): break
    case .ask(let inquiry): mail.ask(inquiry, over: session.number, in: &turn)
    case .announceKey(let key): enrolment.announce(key, over: session.number, in: &turn)
    case .sendFailed: postpone(in: &turn)
    case .committed(let id): for durable in turn.commits.committed(id) { carryOut(durable, in: &turn) }
    case .commitFailed(let id):
      guard turn.commits.fail(id, retryAt: turn.now + .seconds(1)) else { break }
      // The app gets an alarm even if the disk is full.
      view.raiseAlarm(in: &turn)
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
      if session.isEnded { turn.act(.note("the store took nothing more before the end"), .ended) }
    case .deadline: meetDeadlines(in: &turn)
    case .ending: end(in: &turn)
    }
    if !session.isEnded { view.check(hub: identity.hub?.deviceID, hearing: session.hearing, in: &turn) }
    view.draw(pending: outbox.unjudgedKinds, hearing: session.hearing, in: &turn)
    if records.hasQuestions { answerWaiting(in: &turn) }
    let next = turn.commits.next(at: turn.now)
    if let next { turn.act(.commit(next.id, next.operations)) }
    let actions = turn.end(&rest)
    assert(next == nil || check().isEmpty, check().joined(separator: "; "))
    return actions
  }

  /// Sends a message in the present session, if there is one.
  func send(_ message: PeerMessage, in turn: inout Turn) {
    turn.send(message, over: session.number)
  }

  private mutating func start(in turn: inout Turn) {
    view.start(at: turn.now)
    var operations: [StoreOperation] = [.setClock(real: turn.now, bus: .zero)]
    if let shift { operations.append(.shiftRows(by: shift)) }
    turn.write(operations, then: [])
  }

  private mutating func end(in turn: inout Turn) {
    guard !session.isEnded else { return }
    outbox.flush(in: &turn)
    turn.write([], then: [.act(.ended)])
    send(.goodbye, in: &turn)
    session.end()
    closeStreams()
  }

  private mutating func meetDeadlines(in turn: inout Turn) {
    if let due = outbox.flushAt, due <= turn.now { outbox.flush(in: &turn) }
    if let again = turn.commits.retry(at: turn.now) { turn.act(.commit(again.id, again.operations)) }
    if let due = asks.deadline, due <= turn.now { asks.meetDeadline(over: session.number, in: &turn) }
    let wasUp = session.isUp
    carryOut(session.meetDeadline(at: turn.now, interval: pace.interval(at: turn.now)), in: &turn)
    guard wasUp else { return }
    outbox.retry(over: session.number, in: &turn)
    if let due = records.retryAt, due <= turn.now { records.fetchNext(over: session.number, in: &turn) }
    mail.retry(over: session.number, in: &turn)
  }

  /// Notes a press or news of the run. The heartbeat becomes quick again if it was slow in a pause.
  mutating func noteNews(in turn: inout Turn) {
    pace.note(view.authoritative.phase, at: turn.now)
    carryOut(session.quicken(at: turn.now, interval: pace.interval(at: turn.now)), in: &turn)
  }

  private mutating func carryOut(_ step: PeerSession.Step?, in turn: inout Turn) {
    switch step {
    case nil: break
    case .greet: greet(isRepeat: true, in: &turn)
    case .ping(let number, let interval):
      send(.ping(number, nextWithin: interval, roundTrip: session.roundTrip), in: &turn)
    case .startOver(let wasReachable):
      if wasReachable { turn.act(.reachability(false)) }
      greet(in: &turn)
    }
  }

  private mutating func carryOut(_ durable: Durable, in turn: inout Turn) {
    guard durable.courier == nil else { return mail.carryOut(durable, over: session.number, in: &turn) }
    switch durable {
    case .act(let action): turn.act(action)
    case .sendable, .processed: outbox.carryOut(durable, over: session.number, in: &turn)
    case .recordChanged(let news, _):
      if let news { turn.act(.record(news)) }
      records.finishWriting(over: session.number, in: &turn)
    case .greet: if session.finishRenewal() { greet(in: &turn) }
    case .alarm(let number): view.raiseAlarm(number, in: &turn)
    case .acknowledge, .valueSendable, .valueReceived, .answer, .publishSnapshot,
      .anchor, .welcome, .makeRecords, .tellChange, .tellPaired, .reply, .tell, .farewell, .room:
      break
    }
  }
}

extension PeerCore.Action: CourierAction {
  static func deliver(_ message: DeliveryMessage, over link: UInt64, at now: BusTime) -> Self {
    .send(PeerFrame(session: link, sentAt: now, message: .delivery(message)))
  }

  /// The hub tells everybody.
  static func announce(_ event: MessageEvent) -> Self? { nil }
}

extension Turn where Action == PeerCore.Action {
  /// Sends a message in the session with this number, if there is one.
  mutating func send(_ message: PeerMessage, over link: UInt64?) {
    if let link { act(.send(PeerFrame(session: link, sentAt: now, message: message))) }
  }
}
