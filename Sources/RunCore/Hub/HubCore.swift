/// The pure state machine of a hub: it receives an event and the time, and returns actions. It makes every decision of
/// a hub, so that the product and the simulation run the same code.
///
/// A hub is `opening` while its term is being made durable. It can then go to `open`, where it stays. Its driver stops
/// it by feeding it no more events.
package struct HubCore: Sendable {
  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package private(set) var deadline: BusTime?

  let settings: Settings
  /// The hub's key and addresses; `nil` if it pairs no devices.
  var bus: BusIdentity?
  /// The paired devices.
  var members: Members
  /// How fast paired devices are.
  var paces = Paces()
  /// Keys of paired devices that are shut out for a while.
  var suspensions = Suspensions()
  /// The devices, by their keys, that have said in this incarnation that they keep the hub's next key.
  var knowingNextKey: Set<KeyFingerprint> = []
  /// The pairing of a further device.
  var pairing = PairingDesk()
  var generator: SeededGenerator
  var incarnation: Incarnation
  var arbiter: Arbiter
  var presentRun: PresentRun
  var sessions: SessionTable
  var book: CommandBook
  var marks: StreamMarks
  var verdicts: VerdictStreams
  var mail: DeviceMail
  /// Messages that a device's handler refused too often.
  var quarantine: Quarantine
  var commits = CommitQueue<Effect>()
  var publisher = Publisher()
  var live: LivePusher
  var samples = SampleIntake()
  var records: RecordKeeping
  var ending = Ending.no
  /// A run that was on when the hub died, until its recovery is decided.
  var unfinished: UnfinishedRun?

  /// How far the hub is with an orderly end.
  enum Ending: Sendable {
    /// Can go to: committing.
    case no
    /// What it has gathered is being written. Can go to: due.
    case committing
    /// It says goodbye at the end of this turn, behind everything else that it sends. Can go to: over.
    case due
    /// It has said goodbye. A further frame would tell its peers that it goes on.
    case over
  }

  /// What the hub does once a commit is durable.
  enum Effect: Sendable {
    case act(Action)
    /// Tells the command's sender, wherever it is connected by then.
    indirect case answer(Receipt, AcceptedCommand)
    indirect case publishSnapshot(Snapshot)
    /// Restarts the schedule of ticks now that the transition is durable.
    case anchor
    case durable(StreamID, StreamMark)
    case acknowledge(StreamID)
    /// Welcomes a peer in the session that said hello only: a later session may wait for further writes.
    case welcome(ConnectionID, session: UInt64)
    /// Makes the records that are due.
    case makeRecords
    indirect case recordChanged(RecordNews, UInt64)
    /// Tells a peer of a removed record, in the session in which it asked.
    indirect case tellChange(RecordChange, ConnectionID, session: UInt64)
    case verdictsSendable(StoreID, through: UInt64, durabilityGeneration: UInt64)
    case courier(StoreID, Courier.Effect)
    /// Tells a device that its key is paired.
    case tellPaired(KeyFingerprint, ConnectionID)
    /// Answers a request.
    indirect case reply(HubMessage, ConnectionID)
    /// Answers a peer's inquiry, in the session in which it asked.
    case tell(InquiryAnswer, ConnectionID, session: UInt64)
    /// Ends the hub once everything is durable: peers are told that this is a normal end.
    case farewell
  }

  /// Creates a hub from what its store kept; a new store has an empty history.
  ///
  /// - Parameters:
  ///   - now: the hub's bus time.
  ///   - wallSeconds: the wall clock now, in seconds since 1970. It dates the rows of an earlier boot.
  ///   - bootID: the boot that the clock's monotonic readings belong to; empty when unknown.
  package init(
    settings: Settings, history: HubHistory = HubHistory(), now: BusTime, wallSeconds: Double = 0, bootID: String = ""
  ) {
    self.settings = settings
    bus = settings.bus
    members = Members(history.members)
    live = LivePusher(settings.live)
    incarnation = Incarnation(
      after: history, clock: settings.clock, now: now, wallSeconds: wallSeconds, bootID: bootID)
    let (term, shift) = (incarnation.term, incarnation.shift)
    records = RecordKeeping(history, term: term, now: now)
    generator = SeededGenerator(seed: settings.seed)
    let control = ControlState(
      transitions: history.transitions, windows: history.windows, aliases: history.aliases,
      verdicts: history.verdicts.map { ($0.verdict, $0.press) })
    arbiter = Arbiter(
      control: control, accepted: history.accepted, window: settings.debounce,
      lateAfter: settings.clock.speed.bus(fromReal: .milliseconds(500)), term: term)
    sessions = SessionTable(term: term, clock: settings.clock)
    book = CommandBook(history)
    marks = StreamMarks(history.delivery.watermarks)
    verdicts = VerdictStreams(history.delivery, shift: shift)
    mail = DeviceMail(history, shift: shift)
    quarantine = Quarantine(history.delivery.quarantine, shift: shift)
    presentRun = PresentRun(
      metrics: settings.unchosenMetrics, entries: history.journal, lastPosition: history.lastPosition)
    for (press, _) in history.accepted {
      book.accept(press, from: sender(of: press), isHeld: arbiter.isUnfinished(press.command.id))
    }
    if let diedAt = Self.death(of: history, control: control, ledger: presentRun.ledger, now: now) {
      let judgedFirst = history.accepted.filter { $0.class == .window || $0.class == .next }
      unfinished = UnfinishedRun(
        diedAt: diedAt, backAt: now, stage: .settling(Set(judgedFirst.map(\.press.command.id))))
      if let run = control.runOn {
        presentRun.stopClock(at: diedAt)
        arbiter.waitForDecision(about: run, diedAt: diedAt, askedAt: nil)
      }
    }
    noteDeadline()
  }

  var storeID: StoreID { settings.storeID }
  var term: UInt64 { incarnation.term }
  /// Everything that happened in the present run, or else in the last one.
  var ledger: RunLedger { presentRun.ledger }

  /// The last published snapshot.
  package var authoritative: Snapshot { publisher.published ?? .none }

  /// What a lock screen of the hub itself shows; `nil` before the first push.
  package var liveActivity: LiveActivity? { live.last.map { LiveActivity($0) } }

  /// The phase with the hub's own unjudged presses applied on top.
  package var predicted: RunPhase {
    book.ownUnjudged.reduce(into: RunMachine(phase: arbiter.control.phase)) {
      _ = $0.apply($1.command.kind)
    }.phase
  }

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    guard ending != .over else { return [] }
    var actions: [Action] = []
    switch event {
    case .started: start(at: now, into: &actions)
    case .opened(let endpoint, let listener, let limits):
      incarnation.open(listener, eventsEndpoint: endpoint, limits: limits)
    case .frame(let connection, let frame, let identity):
      receive(frame, from: connection, by: identity, at: now, into: &actions)
    case .unsupported(let connection, let command, let identity):
      receive(command, on: connection, by: identity, into: &actions)
    case .malformed(let connection, let reason): refuse(connection, .malformed, reason, into: &actions)
    case .unknown(let connection): drop(connection, into: &actions)
    case .foreign(let connection, let version):
      refuse(connection, .versionMismatch, Self.mismatch("the peer", version), into: &actions)
    case .gone(let connection): close(connection, at: now, into: &actions)
    case .subscribed(let topic): republish(topic, at: now, into: &actions)
    case .subscribedToNothing(let identity): noteUnknownTopic(by: identity, at: now, into: &actions)
    case .press(let command): pressOwn(command, at: now, into: &actions)
    case .sample(let sample): receiveOwn(sample, at: now, into: &actions)
    case .post(let message, let deliveryClass, let device):
      post(message, deliveryClass, to: device, at: now, into: &actions)
    case .handling(let value): setHandling(value, at: now, into: &actions)
    case .handled(let stream, let sequence, let handlerGeneration):
      withCourier(of: stream.sender, at: now, into: &actions) { courier, _, wanted, _ in
        courier.handle(through: sequence, handlerGeneration: handlerGeneration, into: &wanted)
      }
    case .failed(let stream, let sequence, let reason):
      withCourier(of: stream.sender, at: now, into: &actions) { courier, _, wanted, _ in
        courier.fail(sequence, reason, into: &wanted)
      }
    case .spooled(let presses): receive(presses, at: now, into: &actions)
    case .offerPairing(let token, let number): openPairing(token, number, at: now, into: &actions)
    case .pairingUnavailable: pairing.close(.unavailable)
    case .rotated(let identity, let isNow, let number):
      rotate(to: identity, isNow: isNow, number, at: now, into: &actions)
    case .identified(let identity): bus = identity
    case .inquire(let inquiry, let number): answer(inquiry, number, at: now, into: &actions)
    case .recover(let answer):
      if !recover(answer, at: now) { actions.append(.note(Self.nothingToRecover)) }
    case .journal(let runID, let entries): receiveJournal(of: runID, entries, at: now)
    case .makeDueRecords: makeDueRecords(at: now)
    case .recordRead(let reading, let reader): receive(reading, for: reader, into: &actions)
    case .sendFailed(let connection): postpone(connection, at: now)
    case .committed(let id):
      let isListChanged = commits.isInFlight(id) && members.endCommit()
      for effect in commits.committed(id) { perform(effect, at: now, into: &actions) }
      if isListChanged { tellMembers(into: &actions) }
    case .commitFailed(let id):
      guard commits.fail(id, retryAt: now + settings.clock.speed.bus(fromReal: .seconds(1))) else { break }
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
      if ending != .no {
        actions.append(.note("the store took nothing more before the end"))
        ending = .due
      }
    case .deadline: meetDeadlines(at: now, into: &actions)
    case .ending:
      guard ending == .no else { break }
      ending = .committing
      let batch = samples.take()
      commits.add(batch.operations + heardMarks() + [clockMark(at: now)], then: [.farewell])
    }
    if records.hasQuestions { answerWaiting(at: now, into: &actions) }
    flushAcknowledgements(into: &actions)
    if let next = commits.next(at: now) {
      members.beginCommit()
      actions.append(.commit(next.id, next.operations))
    }
    pushLive(at: now, into: &actions)
    if ending == .due { sayFarewell(into: &actions) }
    noteDeadline()
    return actions
  }

  /// Computed once per event, because the driver reads ``deadline`` more often and this looks through many tables.
  private mutating func noteDeadline() {
    deadline = BusTime.earliest(
      arbiter.deadline, publisher.deadline, live.deadline, samples.deadline, sessions.silenceCheckAt, records.deadline,
      records.journalDeadline(present: arbiter.control.runID), commits.deadline, deliveryDeadline, pairing.deadline,
      suspensions.nextEnd.map(settings.clock.bus(at:)), mail.visitorCheckAt)
  }

  private mutating func start(at now: BusTime, into actions: inout [Action]) {
    var operations: [StoreOperation] = [.setTerm(term), clockMark(at: now), records.skip]
    if let shift = incarnation.shift { operations.append(.shiftRows(by: shift)) }
    operations += expectMissedRecord(at: now)
    commits.add(operations, then: [.makeRecords])
    // Settle what became due while the hub was dead. After a reboot every window settles at once: if the wall clock was
    // set back, an open window would admit presses that were made long after it.
    if incarnation.shift != nil {
      while let deadline = arbiter.deadline { settle(at: max(now, deadline), now: now) }
    }
    settleDueWindows(at: now)
    letGoOfLostStores(at: now)
    judgeLate(at: now)
    forgetVisitors(at: now)
    let tickBefore = publisher.lastTick
    decideRecovery(at: now)
    var then: [Effect] = []
    if publisher.lastTick == tickBefore { then.append(.publishSnapshot(capture(at: now))) }
    then.append(.act(.open))
    if isTicking { then.append(.anchor) }
    commits.add([], then: then)
    if !admittedKeys.isEmpty { actions.append(.admit(admittedKeys)) }
  }

  private mutating func meetDeadlines(at now: BusTime, into actions: inout [Action]) {
    // Windows settle first, so that a tick at the same moment shows the result.
    settleDueWindows(at: now)
    endSuspensions(at: now, into: &actions)
    if case .settling = unfinished?.stage {
      let tickBefore = publisher.lastTick
      decideRecovery(at: now)
      if isRecovering || unfinished == nil, publisher.lastTick == tickBefore {
        publishNow([], then: [.anchor], at: now)
      }
    }
    if let due = publisher.nextTick, due <= now {
      tick(at: now)
    } else if let due = samples.deadline, due <= now {
      commitSamples(at: now)
    }
    if let snapshot = publisher.dueRepetition(at: now, speed: settings.clock.speed) {
      actions.append(.publish(.snapshot(stateMessage(at: now, snapshot))))
    }
    if let due = sessions.silenceCheckAt, due <= now { checkSilence(at: now, into: &actions) }
    if let due = mail.visitorCheckAt, due <= now { forgetVisitors(at: now) }
    if let due = records.deadline, due <= now { makeRecords(at: now) }
    if let due = records.journalDeadline(present: arbiter.control.runID), due <= now { dropJournals(at: now) }
    if let due = deliveryDeadline, due <= now { deliver(at: now, into: &actions) }
    if let due = pairing.deadline, due <= now { closePairing(.expired, into: &actions) }
    if let again = commits.retry(at: now) { actions.append(.commit(again.id, again.operations)) }
  }

  private mutating func perform(_ effect: Effect, at now: BusTime, into actions: inout [Action]) {
    switch effect {
    case .act(let action): actions.append(action)
    case .answer(let receipt, let press): answer(receipt, to: press, at: now, into: &actions)
    case .publishSnapshot(let snapshot):
      publisher.publish(snapshot)
      live.observe(snapshot)
      actions.append(.show(snapshot))
      actions.append(.publish(.snapshot(stateMessage(at: now, snapshot))))
    case .anchor:
      publisher.setAnchor(isRunning: authoritative.phase == .running && unfinished == nil, at: now)
    case .durable(let stream, let mark): marks.makeDurable(mark, of: stream)
    case .acknowledge(let stream): marks.acknowledge(stream)
    case .verdictsSendable(let store, let sequence, let durabilityGeneration):
      verdicts.makeDurable(store, through: sequence, durabilityGeneration: durabilityGeneration)
      sendVerdicts(to: store, at: now, into: &actions)
    case .courier(let store, let effect):
      withCourier(of: store, at: now, into: &actions) { $0.perform(effect, at: $3, generator: &$1, into: &$2) }
    case .welcome(let connection, let session):
      if sessions[connection]?.number == session { welcome(connection, at: now, into: &actions) }
    case .makeRecords: makeRecords(at: now)
    case .recordChanged(let news, let change): tell(news, change, into: &actions)
    case .tellChange(let change, let connection, let session):
      tell(change, connection, session: session, into: &actions)
    case .reply(let message, let connection):
      sessions.owedAnswers.pay(connection)
      reply(message, on: connection, into: &actions)
    case .tellPaired(let key, let connection): tellPaired(key, on: connection, into: &actions)
    case .tell(let answer, let connection, let session):
      guard sessions.payAnswer(on: connection, session: session) else { break }
      actions.append(.send(HubFrame(session: session, message: .answer(answer)), to: connection))
    case .farewell: ending = .due
    }
  }
}
