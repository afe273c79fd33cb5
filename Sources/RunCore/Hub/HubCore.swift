/// The hub as a pure machine: event and now in, actions out. Everything that a hub decides is decided here, so that the
/// same code runs in the product and in a simulated world.
///
/// The life of a hub: `opening` (its term is being made durable) can go to `open`, to which it then stays. Whoever
/// drives it stops it by feeding it nothing more.
public struct HubCore: Sendable {
  /// The next moment at which ``Event/deadline`` has something to do.
  public private(set) var deadline: BusTime?

  let settings: Settings
  let storeID: StoreID
  var generator: SeededGenerator
  var term: UInt64
  var termRaises = TermRaises()
  var arbiter: Arbiter
  var ledger: RunLedger
  /// Readings that this life has taken in of each run but the present one.
  var pastReadings: [RunID: Int] = [:]
  /// The run of which was said that it takes no more readings in.
  var fullRun: RunID?
  var sessions: SessionTable
  var archive: VerdictArchive
  var watermarks: [StreamID: Watermark]
  /// What is durable of them: what a welcome may state.
  var durable: [StreamID: StreamMark]
  /// The latest press time of each stream: presses of one stream never go back in time.
  var lastPress: [StreamID: BusTime] = [:]
  /// Who waits for the verdict of a command that came by no numbered stream.
  var requests: [CommandID: [ConnectionID]] = [:]
  /// Streams whose senders are to hear how far they are durable, once all that follows a commit is done.
  var unacknowledged: Set<StreamID> = []
  /// What is accepted and not judged: which device and stream a receipt goes to.
  var unjudged: [CommandID: AcceptedCommand] = [:]
  /// The other stores that have sent a command that is not judged: its verdict is owed to each.
  var claims: [CommandID: [StoreID]] = [:]
  /// Whose commands those are, and how many more each sender may have there.
  var queue = CommandQueue()
  var busyNotes = BusyNotes()
  /// Commands that came from this machine's spool and have no verdict yet.
  var spooled: Set<CommandID> = []
  /// The devices that were met, and what is owed to their stores.
  var devices: [DeviceID: KnownDevice] = [:]
  var verdictStreams: [StoreID: OutboundStream] = [:]
  var couriers: [StoreID: Courier] = [:]
  /// How many streams to devices have begun in this life.
  var streamsBegun: UInt64 = 0
  /// The stores that were welcomed in their present session.
  var openStores: Set<StoreID> = []
  var quarantine: [QuarantinedMessage]
  var isHandling = false
  let shift: BusDuration?
  var commits = CommitQueue<Effect>()
  var retryCommitAt: BusTime?
  var published: Snapshot?
  var lastTick: UInt64 = 0
  /// When the last snapshot was shown again to late subscribers, and when the next are shown it.
  var republishedAt: BusTime?
  var republishAt: BusTime?
  var lastPosition: UInt64
  var ownSequence: UInt64 = 0
  /// The last transition's commit while running: snapshots go out at whole multiples of three seconds after it.
  var tickAnchor: BusTime?
  var nextTick: BusTime?
  var samples = SampleBatch()
  var route = RouteFollowing()
  var records: RecordKeeping
  var journalDue = JournalDue()
  /// What the wall clock showed at the beginning of this life.
  let wall: (bus: BusTime, seconds: Double)
  var silenceCheckAt: BusTime?
  /// When the beat last quickened because a run began: who kept the slow one until then was not silent.
  var quickenedAt: BusTime?
  var isEnding = false
  var eventsEndpoint = ""
  /// A run that was on when the last life ended, until it is clear what is to become of it.
  var unfinished: UnfinishedRun?

  /// What may leave once a commit is durable.
  enum Effect: Sendable {
    case act(Action)
    /// To whoever sent the command, wherever that is now.
    indirect case answer(Receipt, AcceptedCommand)
    indirect case publishSnapshot(Snapshot)
    /// The transition is durable: the schedule of ticks is anchored here.
    case anchor
    case durable(StreamID, StreamMark)
    case acknowledge(StreamID)
    /// In the session for which it was to be sent: for a later one more may have to become durable.
    case welcome(ConnectionID, session: UInt64)
    /// The records that are due can be made.
    case makeRecords
    indirect case recordChanged(RecordNews, UInt64)
    /// A removed record, to a peer in the session in which it asked.
    indirect case tellChange(RecordChange, ConnectionID, session: UInt64)
    case verdictsSendable(StoreID, through: UInt64, durabilityGeneration: UInt64)
    case courier(StoreID, Courier.Effect)
    /// The answer to a peer's question, in the session in which it was asked.
    case tell(InquiryAnswer, ConnectionID, session: UInt64)
    /// All is durable: whoever is there hears that this is a normal end.
    case farewell
  }

  /// A hub with a past; the first life has an empty one.
  ///
  /// - Parameters:
  ///   - now: the hub's bus time.
  ///   - wallSeconds: seconds since 1970 now: how old the rows of an earlier boot are.
  ///   - bootID: which boot the clock's monotonic readings belong to; empty when unknown.
  public init(
    settings: Settings, history: HubHistory = HubHistory(), now: BusTime, wallSeconds: Double = 0, bootID: String = ""
  ) {
    self.settings = settings
    wall = (now, wallSeconds)
    term = HubTerm.next(after: history.term)
    records = RecordKeeping(history, term: term, now: now)
    storeID = settings.storeID
    generator = SeededGenerator(seed: settings.seed)
    shift = history.clock.flatMap {
      $0.shift(real: settings.clock.real(at: now), wallSeconds: wallSeconds, bootID: bootID)
    }
    quarantine = history.delivery.quarantine
    if let shift { for index in quarantine.indices { quarantine[index].since = quarantine[index].since + shift } }
    let control = ControlState(
      transitions: history.transitions, windows: history.windows, aliases: history.aliases,
      verdicts: history.verdicts.map { ($0.verdict, $0.press) })
    arbiter = Arbiter(
      control: control, accepted: history.accepted, window: settings.debounce,
      lateAfter: settings.clock.speed.bus(fromReal: .milliseconds(500)), term: term)
    for (press, _) in history.accepted {
      unjudged[press.command.id] = press
      claims[press.command.id] = history.claims[press.command.id]
      lastPress[press.stream] = max(lastPress[press.stream] ?? press.pressedAt, press.pressedAt)
    }
    for (_, press, _) in history.verdicts where history.delivery.watermarks[press.stream] != nil {
      lastPress[press.stream] = max(lastPress[press.stream] ?? press.pressedAt, press.pressedAt)
    }
    sessions = SessionTable(term: term)
    archive = VerdictArchive(history.verdicts)
    watermarks = history.delivery.watermarks.mapValues { Watermark($0) }
    durable = history.delivery.watermarks
    lastPosition = history.lastPosition
    ledger = RunLedger(settings: settings.unchosenMetrics, entries: history.journal)
    for device in history.devices { devices[device.deviceID] = device }
    (verdictStreams, couriers) = Self.delivery(history, shift: shift)
    for (press, _) in history.accepted {
      queue.accept(press.command.id, from: sender(of: press), isHeld: arbiter.isUnfinished(press.command.id))
    }
    if let diedAt = Self.death(of: history, control: control, ledger: ledger, now: now) {
      let judgedFirst = history.accepted.filter { $0.class == .window || $0.class == .next }
      unfinished = UnfinishedRun(
        diedAt: diedAt, backAt: now, stage: .settling(Set(judgedFirst.map(\.press.command.id))))
      if control.phase.isOn { holdClock() }
    }
    noteDeadline()
  }

  /// The last published snapshot.
  public var authoritative: Snapshot { published ?? .none }

  /// The phase with the hub's own unjudged presses applied on top.
  public var predicted: RunPhase {
    let own = unjudged.values.filter { $0.stream == ownStream }.sorted(by: AcceptedCommand.precedes)
    return own.reduce(into: RunMachine(phase: arbiter.control.phase)) { _ = $0.apply($1.command.kind) }.phase
  }

  /// Takes in one event and says what is to be done about it.
  public mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .started: start(at: now)
    case .opened(let endpoint): eventsEndpoint = endpoint
    case .frame(let connection, let frame): receive(frame, from: connection, at: now, into: &actions)
    case .unsupported(let connection, let command): receive(command, on: connection, into: &actions)
    case .malformed(let connection, let reason): refuse(connection, .malformed, reason, into: &actions)
    case .foreign(let connection, let version):
      refuse(connection, .versionMismatch, Self.mismatch("the peer", version), into: &actions)
    case .gone(let connection): close(connection, at: now, into: &actions)
    case .subscribed(let topic): republish(topic, at: now, into: &actions)
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
    case .inquire(let inquiry, let number): answer(inquiry, number, at: now, into: &actions)
    case .recover(let answer):
      if !recover(answer, at: now) { actions.append(.note(Self.nothingToRecover)) }
    case .journal(let runID, let entries): receiveJournal(of: runID, entries, at: now)
    case .makeDueRecords: makeDueRecords(at: now)
    case .recordRead(let reading, let reader): receive(reading, for: reader, into: &actions)
    case .sendFailed(let connection): postpone(connection, at: now)
    case .committed(let id):
      guard commits.isInFlight(id) else { break }
      retryCommitAt = nil
      for effect in commits.committed(id) { perform(effect, at: now, into: &actions) }
    case .commitFailed(let id):
      guard commits.isInFlight(id) else { break }
      retryCommitAt = now + settings.clock.speed.bus(fromReal: .seconds(1))
      // Nobody waits for a disk to get room while a node is to end; what was not durable was not promised to anybody.
      if isEnding {
        actions.append(.note("the store took nothing more before the end"))
        sayFarewell(into: &actions)
      }
    case .deadline: meetDeadlines(at: now, into: &actions)
    case .ending:
      guard !isEnding else { break }
      isEnding = true
      let batch = samples.take()
      commits.add(batch.operations + [clockMark(at: now)], then: [.farewell])
    }
    if !records.questions.isEmpty { answerWaiting(at: now, into: &actions) }
    flushAcknowledgements(into: &actions)
    if let next = commits.next(at: now) { actions.append(.commit(next.id, next.operations)) }
    noteDeadline()
    return actions
  }

  /// Once an event: whoever drives the machine asks more often, and of a large value.
  private mutating func noteDeadline() {
    deadline = BusTime.earliest(
      arbiter.deadline, nextTick, samples.deadline, silenceCheckAt, retryCommitAt, republishAt, records.deadline,
      journalDeadline(), commits.deadline, deliveryDeadline)
  }

  private mutating func start(at now: BusTime) {
    var operations: [StoreOperation] = [.setTerm(term), clockMark(at: now), records.skip]
    if let shift { operations.append(.shiftRows(by: shift)) }
    operations += expectMissedRecord(at: now)
    commits.add(operations, then: [.makeRecords])
    // What waited for nothing but this life. No window outlasts a boot: where the wall clock was set back, it would take
    // in what was pressed long after it.
    if shift != nil {
      while let deadline = arbiter.deadline { settle(at: max(now, deadline), now: now) }
    }
    settleDueWindows(at: now)
    letGoOfLostStores(at: now)
    judgeLate(at: now)
    let tickBefore = lastTick
    decideRecovery(at: now)
    var then: [Effect] = []
    if lastTick == tickBefore { then.append(.publishSnapshot(capture(at: now))) }
    then.append(.act(.open))
    if isTicking { then.append(.anchor) }
    commits.add([], then: then)
  }

  private mutating func meetDeadlines(at now: BusTime, into actions: inout [Action]) {
    // Windows first: a tick at the same moment shows what has settled. What opens behind a settled window can be due.
    settleDueWindows(at: now)
    if case .settling = unfinished?.stage {
      let tickBefore = lastTick
      decideRecovery(at: now)
      if isRecovering || unfinished == nil, lastTick == tickBefore { publishNow([], then: [.anchor], at: now) }
    }
    if let due = nextTick, due <= now {
      tick(at: now)
    } else if let due = samples.deadline, due <= now {
      commitSamples(at: now)
    }
    if let due = republishAt, due <= now { republish(.snapshots, at: now, into: &actions) }
    if let due = silenceCheckAt, due <= now { checkSilence(at: now, into: &actions) }
    if let due = records.deadline, due <= now { makeRecords(at: now) }
    if let due = journalDeadline(), due <= now { dropJournals(at: now) }
    if let due = deliveryDeadline, due <= now { deliver(at: now, into: &actions) }
    if let due = retryCommitAt, due <= now {
      retryCommitAt = nil
      if let again = commits.again() { actions.append(.commit(again.id, again.operations)) }
    }
  }

  private mutating func perform(_ effect: Effect, at now: BusTime, into actions: inout [Action]) {
    switch effect {
    case .act(let action): actions.append(action)
    case .answer(let receipt, let press): answer(receipt, to: press, at: now, into: &actions)
    case .publishSnapshot(let snapshot):
      if snapshot.phase.isOn, !authoritative.phase.isOn { quickenBeat(at: now) }
      published = snapshot
      republishAt = nil
      actions.append(.show(snapshot))
      actions.append(.publish(.snapshot(stateMessage(at: now, snapshot))))
    case .anchor:
      tickAnchor = now
      nextTick = published?.phase == .running && unfinished == nil ? now + Self.tickInterval : nil
    case .durable(let stream, let mark):
      // Forgotten meanwhile, and begun again perhaps: then it speaks of another stream.
      guard let taken = watermarks[stream]?.sequence, mark.sequence <= taken,
        mark.sequence > durable[stream]?.sequence ?? 0
      else { break }
      durable[stream] = mark
    case .acknowledge(let stream): unacknowledged.insert(stream)
    case .verdictsSendable(let store, let sequence, let durabilityGeneration):
      verdictStreams[store]?.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
      sendVerdicts(to: store, at: now, into: &actions)
    case .courier(let store, let effect):
      withCourier(of: store, at: now, into: &actions) { $0.perform(effect, at: $3, generator: &$1, into: &$2) }
    case .welcome(let connection, let session):
      if sessions[connection]?.number == session { welcome(connection, at: now, into: &actions) }
    case .makeRecords: makeRecords(at: now)
    case .recordChanged(let news, let change): tell(news, change, into: &actions)
    case .tellChange(let change, let connection, let session):
      tell(change, connection, session: session, into: &actions)
    case .tell(let answer, let connection, let session):
      guard sessions[connection]?.number == session else { break }
      sessions[connection]?.owedAnswers -= 1
      actions.append(.send(HubFrame(session: session, message: .answer(answer)), to: connection))
    case .farewell: sayFarewell(into: &actions)
    }
  }
}
