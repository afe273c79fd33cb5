/// The pure state machine of a hub: it receives an event and the time, and returns actions. It makes every decision of
/// a hub, so that the product and the simulation run the same code.
///
/// A hub is `opening` while its term is being made durable. It can then go to `open`, where it stays. Its driver stops
/// it by feeding it no more events.
package struct HubCore: Sendable {
  var members: Membership
  var sessions: SessionTable
  var commands: HubCommands
  var run: HubRun
  var mail: DeviceMail
  var records: RecordKeeping
  var together: HubTogether
  var incarnation: Incarnation
  var rest: Turn.Rest

  typealias Turn = RunCore.Turn<Action>
  typealias Durable = RunCore.Durable<Action>

  /// Creates a hub from what its store kept; a new store has an empty history.
  ///
  /// - Parameters:
  ///   - now: the hub's bus time.
  ///   - wallSeconds: the wall clock now, in seconds since 1970. It dates the rows of an earlier boot.
  ///   - bootID: the boot that the clock's monotonic readings belong to; empty when unknown.
  package init(
    settings: Settings, history: HubHistory = HubHistory(), now: BusTime, wallSeconds: Double = 0, bootID: String = ""
  ) {
    incarnation = Incarnation(settings, after: history, now: now, wallSeconds: wallSeconds, bootID: bootID)
    let (clock, term, shift) = (settings.clock, incarnation.term, incarnation.shift)
    rest = Turn.Rest(generator: SeededGenerator(seed: settings.seed), clock: clock)
    members = Membership(
      history.members, hubName: settings.deviceID, bus: settings.bus, clock: clock, listProof: settings.listProof)
    sessions = SessionTable(term: term, clock: clock)
    commands = HubCommands(
      history,
      rules: HubCommands.Rules(clock: clock, debounce: settings.debounce, owedVerdictsMax: settings.owedVerdictsMax),
      term: term, shift: shift)
    mail = DeviceMail(history, own: settings.deviceID, shift: shift)
    records = RecordKeeping(history, term: term, speed: clock.speed, now: now)
    run = HubRun(
      history,
      rules: HubRun.Rules(
        deviceID: settings.deviceID, clock: clock, metrics: settings.metrics,
        ledgerEntriesMax: settings.ledgerEntriesMax, pastReadingsMax: settings.pastReadingsMax,
        downtime: settings.downtime),
      live: settings.live, control: commands.control, now: now)
    if let unfinished = run.unfinished, let id = commands.control.runOn {
      commands.waitForDecision(about: id, diedAt: unfinished.diedAt, isAsked: false)
    }
    together = HubTogether(settings.together, rows: history.rooms)
    noteDeadline()
  }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  package var deadline: BusTime? { rest.deadline }

  /// What was repeated since the last call.
  package mutating func takeTally() -> DeliveryTally {
    defer { rest.tally = DeliveryTally() }
    return rest.tally
  }

  var settings: Settings { _read { yield incarnation.settings } }
  var storeID: StoreID { settings.storeID }
  /// The number of this life of the hub.
  package var term: UInt64 { incarnation.term }
  /// Everything that happened in the present run, or else in the last one.
  var ledger: RunLedger { _read { yield run.ledger } }

  /// The last published snapshot.
  package var authoritative: Snapshot { run.published ?? .none }

  /// What a lock screen of the hub itself shows; `nil` before the first push.
  package var liveActivity: LiveActivity? { run.lockScreen.map { LiveActivity($0) } }

  /// The phase with the hub's own unjudged presses applied on top.
  package var predicted: RunPhase { commands.predicted }

  /// Processes one event and returns the actions for the driver to carry out, in order.
  package mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    guard incarnation.ending != .over else { return [] }
    var turn = Turn(at: now, &rest)
    switch event {
    case .started: start(in: &turn)
    case .opened(let endpoint, let listener, let limits):
      incarnation.open(listener, eventsEndpoint: endpoint, limits: limits)
    case .frame(let connection, let frame, let identity):
      receive(frame, from: connection, by: identity, in: &turn)
    case .unsupported(let connection, let command, let identity):
      receive(command, on: connection, by: identity, in: &turn)
    case .malformed(let connection, let reason): refuse(connection, .malformed, reason, in: &turn)
    case .unknown(let connection): drop(connection, in: &turn)
    case .foreign(let connection, let version):
      refuse(connection, .versionMismatch, Self.mismatch("the peer", version), in: &turn)
    case .gone(let connection): close(connection, in: &turn)
    case .subscribed(.rooms):
      together.showAgain(at: turn.monotonic)
      showRoom(in: &turn)
    case .subscribed(let topic): run.welcome(subscriberOf: topic, in: &turn)
    case .burden(let burden, let identity): note(burden, by: identity, in: &turn)
    case .press(let command): pressOwn(command, in: &turn)
    case .sample(let sample):
      receiveOwn(sample, in: &turn)
      moveTogether(sample, in: &turn)
    case .room(let news): receive(news, in: &turn)
    case .post(let message, let deliveryClass, let device):
      post(message, deliveryClass, to: device, in: &turn)
    case .handling(let value): setHandling(value, in: &turn)
    case .handled(let stream, let sequence, let handlerGeneration):
      withCourier(of: stream.sender, in: &turn) {
        $0.handle(through: sequence, handlerGeneration: handlerGeneration, in: &$2)
      }
    case .failed(let stream, let sequence, let reason):
      withCourier(of: stream.sender, in: &turn) { $0.fail(sequence, reason, over: $1, in: &$2) }
    case .spooled(let presses): receive(presses, in: &turn)
    case .offerPairing(let token, let number): openPairing(token, number, in: &turn)
    case .pairingUnavailable: members.closePairing(.unavailable)
    case .rotated(let identity, let isNow, let number):
      rotate(to: identity, isNow: isNow, number, in: &turn)
    case .identified(let identity): members.identify(identity)
    case .inquire(let inquiry, let number): answer(inquiry, number, in: &turn)
    case .recover(let answer):
      if !recover(answer, in: &turn) { turn.act(.note(InquiryFailure.nothingToRecover.message)) }
    case .journal(let runID, let entries): receiveJournal(of: runID, entries, in: &turn)
    case .makeDueRecords: makeDueRecords(in: &turn)
    case .recordRead(let reading, let reader): receive(reading, for: reader, in: &turn)
    case .sendFailed(let connection): postpone(connection, in: &turn)
    case .committed(let id):
      let isListChanged = turn.commits.isInFlight(id) && members.endCommit()
      for durable in turn.commits.committed(id) { carryOut(durable, in: &turn) }
      if isListChanged { tellMembers(in: &turn) }
    case .commitFailed(let id):
      guard turn.commits.fail(id, retryAt: turn.now + settings.clock.speed.bus(fromReal: .seconds(1))) else { break }
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
      if incarnation.ending != .no {
        turn.act(.note("the store took nothing more before the end"))
        incarnation.ending = .due
      }
    case .deadline: meetDeadlines(in: &turn)
    case .ending:
      guard incarnation.ending == .no else { break }
      incarnation.ending = .committing
      endMaking(in: &turn)
      turn.write(run.takeReadings() + heardMarks() + [clockMark(at: turn.now)], then: [.farewell])
    }
    if records.hasQuestions { answerWaiting(in: &turn) }
    flushAcknowledgements(in: &turn)
    let next = turn.commits.next(at: turn.now)
    if let next {
      members.beginCommit()
      turn.act(.commit(next.id, next.operations))
    }
    run.pushLive(in: &turn)
    if incarnation.ending == .due { sayFarewell(in: &turn) }
    let actions = turn.end(&rest)
    noteDeadline()
    assert(next == nil || !isSmall || check().isEmpty, check().joined(separator: "; "))
    return actions
  }

  /// Computed once per event, because the driver reads ``deadline`` more often and this looks through many tables.
  private mutating func noteDeadline() {
    // Two by two: after every event an array of them would be made.
    var next = BusTime.earliest(commands.windowDeadline, run.deadline)
    next = BusTime.earliest(next, sessions.silenceCheckAt)
    next = BusTime.earliest(next, records.deadline)
    next = BusTime.earliest(next, records.journalDeadline(present: commands.control.runID))
    next = BusTime.earliest(next, rest.commits.deadline)
    next = BusTime.earliest(next, deliveryDeadline)
    next = BusTime.earliest(next, members.deadline)
    next = BusTime.earliest(next, together.deadline.map(settings.clock.bus(at:)))
    rest.deadline = BusTime.earliest(next, mail.visitorCheckAt)
  }

  private mutating func start(in turn: inout Turn) {
    var operations: [StoreOperation] = [.setTerm(term), clockMark(at: turn.now), records.skip]
    if let shift = incarnation.shift { operations.append(.shiftRows(by: shift)) }
    operations += records.expectMissed(commands.control, at: turn.now)
    turn.write(operations, then: [.makeRecords])
    // Settle what became due while the hub was dead. After a reboot every window settles at once: if the wall clock was
    // set back, an open window would admit presses that were made long after it.
    if incarnation.shift != nil {
      while let deadline = commands.windowDeadline { settle(at: max(turn.now, deadline), in: &turn) }
    }
    settleDueWindows(in: &turn)
    letGoOfLostStores(in: &turn)
    judgeLate(in: &turn)
    forgetVisitors(in: &turn)
    let tickBefore = run.lastTick
    decideRecovery(in: &turn)
    var then: [Durable] = []
    if run.lastTick == tickBefore {
      then.append(.publishSnapshot(run.capture(commands.control, term: term, at: turn.now)))
    }
    then.append(.act(.open))
    if run.isTicking(commands.control) { then.append(.anchor) }
    turn.write([], then: then)
    if !members.admittedKeys.isEmpty { turn.act(.admit(members.admittedKeys)) }
    startTogether(in: &turn)
  }

  private mutating func meetDeadlines(in turn: inout Turn) {
    // Windows settle first, so that a tick at the same moment shows the result.
    settleDueWindows(in: &turn)
    if members.endSuspensions(at: turn.now) { turn.act(.admit(members.admittedKeys)) }
    if run.isSettling {
      let tickBefore = run.lastTick
      decideRecovery(in: &turn)
      if isRecovering || run.unfinished == nil, run.lastTick == tickBefore {
        publishNow([], then: [.anchor], in: &turn)
      }
    }
    if let due = run.nextTick, due <= turn.now {
      tick(in: &turn)
    } else if let due = run.intakeDeadline, due <= turn.now {
      commitSamples(in: &turn)
    }
    run.repeatWhenDue(in: &turn)
    if let due = sessions.silenceCheckAt, due <= turn.now { checkSilence(in: &turn) }
    if let due = mail.visitorCheckAt, due <= turn.now { forgetVisitors(in: &turn) }
    if let due = records.deadline, due <= turn.now { makePiece(in: &turn) }
    if let due = records.journalDeadline(present: commands.control.runID), due <= turn.now { dropJournals(in: &turn) }
    if let due = deliveryDeadline, due <= turn.now { deliver(in: &turn) }
    if let due = together.deadline, due <= turn.monotonic { actTogether(in: &turn) }
    let now = turn.now
    changePairing(in: &turn) { $0.expirePairing(at: now) }
    if let again = turn.commits.retry(at: turn.now) { turn.act(.commit(again.id, again.operations)) }
  }

  private mutating func carryOut(_ durable: Durable, in turn: inout Turn) {
    if let store = durable.courier {
      return withCourier(of: store, in: &turn) { $0.carryOut(durable, over: $1, in: &$2) }
    }
    switch durable {
    case .act(let action): turn.act(action)
    case .answer(let receipt, let press): answer(receipt, to: press, in: &turn)
    case .publishSnapshot(let snapshot): run.show(snapshot, in: &turn)
    case .anchor: run.setAnchor(at: turn.now)
    case .processed(let stream, let mark, _, _): makeDurable(mark, of: stream)
    case .acknowledge(let stream): acknowledge(stream)
    case .sendable(let stream, let sequence, let durabilityGeneration):
      commands.makeSendable(stream.receiver, through: sequence, durabilityGeneration: durabilityGeneration)
      sendVerdicts(to: stream.receiver, in: &turn)
    case .welcome(let connection, let session):
      if sessions[connection]?.number == session { welcome(connection, in: &turn) }
    case .makeRecords: makeRecords(in: &turn)
    case .recordChanged(let news, let change): if let news { tell(news, change, in: &turn) }
    case .tellChange(let change, let connection, let session):
      tell(change, connection, session: session, in: &turn)
    case .reply(let message, let connection):
      sessions.payAnswer(to: connection)
      reply(message, on: connection, in: &turn)
    case .tellPaired(let key, let connection): tellPaired(key, on: connection, in: &turn)
    case .tell(let answer, let connection, let session):
      guard sessions.payAnswer(on: connection, session: session) else { break }
      turn.act(.send(HubFrame(session: session, message: .answer(answer)), to: connection))
    case .farewell: incarnation.ending = .due
    case .room(let receipt): keep(receipt, in: &turn)
    case .valueSendable, .valueReceived, .greet, .alarm: break
    }
  }
}
