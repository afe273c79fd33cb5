/// The pure state machine of a peer: it receives an event and the time, and returns actions. The time is the peer's own
/// monotonic clock, at real speed.
///
/// The core routes: it gives each event to its parts and turns what they return into writes and actions. A part has
/// private state and does not know the core or another part.
package struct PeerCore: Sendable {
  /// What the peer does once a commit is durable.
  enum Effect: Sendable {
    case act(Action)
    case commands(CommandOutbox.Effect)
    case samples(SampleOutbox.Effect)
    case verdicts(VerdictInbox.Effect)
    case courier(Courier.Effect)
    case records(RecordCopies.Effect)
    /// Says hello with the new store id, so that the streams begin anew.
    case greet
    /// Raises the alarm with this number, which is durable now.
    case alarm(UInt64)
  }

  let settings: Settings
  /// How far the times of an earlier boot are moved; `nil` when they fit this boot's clock.
  private let shift: BusDuration?
  var generator: SeededGenerator
  var identity: PeerIdentity
  var session: PeerSession
  var pace: HeartbeatPace
  var view: HubView
  var commands: CommandOutbox
  var samples: SampleOutbox
  var verdicts: VerdictInbox
  var forwarder: SpoolForwarder
  var courier: Courier
  /// Messages of this peer that the hub's handler refused too often.
  var quarantine: Quarantine
  var records: RecordCopies
  var questions: HubQuestions
  var failureDetector: HubFailureDetector
  var screen = LiveScreen()
  /// What the hub told this paired device last; `nil` for a peer without a key.
  var enrolment: Enrolment?
  /// The key that the hub is to know of this machine, until it does.
  var announcing: KeyFingerprint?
  var commits = CommitQueue<Effect>()

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
    enrolment = settings.enrolment
    let shift = history.clock.flatMap { $0.shift(real: now, wallSeconds: wallSeconds, bootID: bootID) }
    self.shift = shift
    generator = SeededGenerator(seed: settings.seed)
    identity = PeerIdentity(
      storeID: settings.storeID,
      hub: history.hub.map { PeerIdentity.Hub(storeID: $0.storeID, deviceID: $0.deviceID) })
    view = HubView(history.view, termSeen: history.term)
    pace = HeartbeatPace(limits: settings.limits)
    session = PeerSession(
      nonce: generator.next(), interval: settings.limits.heartbeat(Heartbeat.first(isRunOn: view.isRunOn)))
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
    commands = CommandOutbox(stream(.commands, .commands))
    samples = SampleOutbox(stream(.samples, .samples))
    verdicts = VerdictInbox(from: identity.hub?.storeID, durable: mark(.verdicts))
    forwarder = SpoolForwarder(bootID: bootID)
    courier = Courier(
      device: history.hub?.deviceID, stream: stream(.messages, .messages),
      inbox: InboundStream(StreamID(sender: receiver, kind: .messages), durable: mark(.messages)),
      latestSent: delivery.latestSent, latestReceived: delivery.latestReceived)
    quarantine = Quarantine(delivery.quarantine, shift: shift)
    records = RecordCopies(
      history.records, removed: history.removedRecords, through: history.recordsThrough)
    questions = HubQuestions()
    failureDetector = HubFailureDetector(limit: settings.hubLostAfter, mark: history.failureMark)
  }

  // MARK: What the app and the driver read

  /// The last snapshot that was received.
  package var authoritative: Snapshot { view.authoritative }
  /// What the lock screen of this peer shows; `nil` before the first push.
  package var liveActivity: LiveActivity? { screen.shown }
  /// Converts this peer's clock to the hub's bus time; `nil` before the first snapshot.
  package var clock: BusClock? { view.clock }
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
  package var predicted: RunPhase { commands.predicted(from: view.authoritative.phase) }

  /// How many commands wait for their verdict.
  package var unjudgedCount: Int { commands.unjudgedCount }

  /// How many samples the hub has not acknowledged.
  package var spooledCount: Int { samples.waitingCount }

  /// Whether no more samples are accepted until the hub acknowledges some.
  package var isSpoolFull: Bool { samples.isFull }
  /// How many more readings are accepted now.
  package var sampleRoom: Int { samples.room }

  /// Whether no more commands are accepted until some are judged.
  package var isOutboxFull: Bool { commands.isFull }

  /// The newest value of a key that the hub sent; `nil` if it has sent none.
  package func latest(_ key: String) -> AppMessage? { courier.value(of: key) }

  /// The hub's bus time now, as far as this peer knows; `nil` before the first snapshot.
  package func busNow(at now: BusTime) -> BusTime? { view.clock?.bus(at: now) }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package var deadline: BusTime? {
    let own = BusTime.earliest(
      commits.deadline, samples.flushAt, failureDeadline, records.answerAt, session.deadline, screenDeadline)
    guard session.isUp else { return own }
    return BusTime.earliest(
      own, commands.retryAt, samples.retryAt, courier.deadline, forwarder.retryAt, records.retryAt)
  }

  // MARK: Events

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var actions: [Action] = []
    failureDetector.pass(to: now, isRunOn: view.isRunOn, hearing: session.hearing)
    switch event {
    case .started: start(at: now)
    case .linkUp: greet(at: now, into: &actions)
    case .linkDown: loseLink(into: &actions)
    case .linkRefused(let reason):
      loseLink(into: &actions)
      if session.refuseLink(reason) { actions.append(.reachability(false)) }
    case .suspended:
      failureDetector.setListening(false, hearing: session.hearing)
      loseLink(into: &actions)
    case .resumed: failureDetector.setListening(true, hearing: session.hearing)
    case .frame(let frame): receive(frame, at: now, into: &actions)
    case .event(let event): receive(event, at: now, into: &actions)
    case .press(let command): press(command, at: now, into: &actions)
    case .samples(let samples): receive(samples, at: now, into: &actions)
    case .post(let message, let deliveryClass): post(message, deliveryClass, at: now, into: &actions)
    case .handling(let value): withCourier(at: now, into: &actions) { $0.setHandling(value, into: &$2) }
    case .handled(let stream, let sequence, let handlerGeneration):
      guard stream == courier.inbox.stream else { break }
      withCourier(at: now, into: &actions) {
        $0.handle(through: sequence, handlerGeneration: handlerGeneration, into: &$2)
      }
    case .failed(let stream, let sequence, let reason):
      guard stream == courier.inbox.stream else { break }
      withCourier(at: now, into: &actions) { $0.fail(sequence, reason, into: &$2) }
    case .spooled(let presses): if forwarder.add(presses) { sendForwards(at: now, into: &actions) }
    case .inquire(let inquiry, let number): answer(inquiry, number, at: now, into: &actions)
    case .recordRead(let reading, .inquiry(let number)): actions.append(.answer(reading.answer, number))
    case .recordRead(_, .peer): break
    case .ask(let inquiry):
      questions.add(inquiry)
      send(.inquire(inquiry), at: now, into: &actions)
    case .announceKey(let key):
      announcing = key
      send(.announceKey(key), at: now, into: &actions)
    case .sendFailed: postpone(at: now)
    case .committed(let id): for effect in commits.committed(id) { perform(effect, at: now, into: &actions) }
    case .commitFailed(let id):
      guard commits.fail(id, retryAt: now + .seconds(1)) else { break }
      // The app gets an alarm even if the disk is full.
      raiseAlarm(into: &actions)
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
      if session.isEnded { actions += [.note("the store took nothing more before the end"), .ended] }
    case .deadline: meetDeadlines(at: now, into: &actions)
    case .ending: end(at: now, into: &actions)
    }
    checkForHubFailure(at: now, into: &actions)
    drawScreen(at: now, into: &actions)
    if records.hasQuestions { answerWaiting(at: now, into: &actions) }
    if let next = commits.next(at: now) { actions.append(.commit(next.id, next.operations)) }
    return actions
  }

  /// Sends a message in the present session, if there is one.
  func send(_ message: PeerMessage, at now: BusTime, into actions: inout [Action]) {
    guard let number = session.number else { return }
    actions.append(.send(PeerFrame(session: number, sentAt: now, message: message)))
  }

  private mutating func start(at now: BusTime) {
    failureDetector.start(at: now)
    var operations: [StoreOperation] = [.setClock(real: now, bus: .zero)]
    if let shift { operations.append(.shiftRows(by: shift)) }
    commits.add(operations, then: [])
  }

  private mutating func end(at now: BusTime, into actions: inout [Action]) {
    guard !session.isEnded else { return }
    flushSamples()
    commits.add([], then: [.act(.ended)])
    send(.goodbye, at: now, into: &actions)
    session.end()
    closeStreams()
  }

  private mutating func meetDeadlines(at now: BusTime, into actions: inout [Action]) {
    if let due = samples.flushAt, due <= now { flushSamples() }
    if let again = commits.retry(at: now) { actions.append(.commit(again.id, again.operations)) }
    let wasUp = session.isUp
    carryOut(session.meetDeadline(at: now, interval: pace.interval(at: now)), at: now, into: &actions)
    guard wasUp else { return }
    if let due = commands.retryAt, due <= now { retryCommands(at: now, into: &actions) }
    if let due = samples.retryAt, due <= now {
      samples.retry(at: now, generator: &generator)
      sendSamples(at: now, into: &actions)
    }
    if let due = forwarder.retryAt, due <= now { sendForwards(at: now, into: &actions) }
    if let due = records.retryAt, due <= now { fetchRecords(at: now, into: &actions) }
    withCourier(at: now, into: &actions) { $0.meetDeadlines(at: now, generator: &$1, into: &$2) }
  }

  /// Notes a press or news of the run. The heartbeat becomes quick again if it was slow in a pause.
  mutating func noteNews(at now: BusTime, into actions: inout [Action]) {
    pace.note(view.authoritative.phase, at: now)
    carryOut(session.quicken(at: now, interval: pace.interval(at: now)), at: now, into: &actions)
  }

  private mutating func carryOut(_ step: PeerSession.Step?, at now: BusTime, into actions: inout [Action]) {
    switch step {
    case nil: break
    case .greet: greet(isRepeat: true, at: now, into: &actions)
    case .ping(let number, let interval):
      send(.ping(number, nextWithin: interval, roundTrip: session.roundTrip), at: now, into: &actions)
    case .startOver(let wasReachable):
      if wasReachable { actions.append(.reachability(false)) }
      greet(at: now, into: &actions)
    }
  }

  private mutating func perform(_ effect: Effect, at now: BusTime, into actions: inout [Action]) {
    switch effect {
    case .act(let action): actions.append(action)
    case .commands(let effect):
      if let receipt = commands.perform(effect) { return actions.append(.receipt(receipt)) }
      sendCommands(at: now, into: &actions)
    case .samples(let effect):
      samples.perform(effect)
      sendSamples(at: now, into: &actions)
    case .verdicts(let effect):
      guard verdicts.perform(effect) else { break }
      send(.delivery(verdicts.acknowledgement), at: now, into: &actions)
    case .courier(let effect):
      withCourier(at: now, into: &actions) { $0.perform(effect, at: now, generator: &$1, into: &$2) }
    case .records(let effect):
      if let news = records.perform(effect) { actions.append(.record(news)) }
      fetchRecords(at: now, into: &actions)
    case .greet: if session.finishRenewal() { greet(at: now, into: &actions) }
    case .alarm(let number): raiseAlarm(number, into: &actions)
    }
  }

  /// Calls the courier and carries out the actions that it returns.
  mutating func withCourier(
    at now: BusTime, into actions: inout [Action],
    _ body: (inout Courier, inout SeededGenerator, inout [Courier.Action]) -> Void
  ) {
    var wanted: [Courier.Action] = []
    body(&courier, &generator, &wanted)
    for action in wanted {
      switch action {
      case .send(let message): send(.delivery(message), at: now, into: &actions)
      case .write(let operations, let isUrgent, let effect):
        quarantine.note(operations)
        commits.add(
          operations, then: effect.map { [.courier($0)] } ?? [],
          dueAt: isUrgent ? nil : now + CommitTiming.writeDelayMax)
      case .hand(let handlerCall): actions.append(.hand(handlerCall))
      case .receipt(let receipt): actions.append(.messageReceipt(receipt))
      // The hub publishes this to everybody.
      case .processed: break
      case .note(let text): actions.append(.note(text))
      }
    }
  }
}
