/// The pure state machine of a hub: it receives an event and the time, and returns actions. It makes every decision of
/// a hub, so that the product and the simulation run the same code.
///
/// A hub is `opening` while its term is being made durable. It can then go to `open`, where it stays. Its driver stops
/// it by feeding it no more events.
public struct HubCore: Sendable {
  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  public private(set) var deadline: BusTime?

  let settings: Settings
  let storeID: StoreID
  var generator: SeededGenerator
  var term: UInt64
  var termRaises = TermRaises()
  var arbiter: Arbiter
  var ledger: RunLedger
  /// How many readings this incarnation has accepted of each run but the present one.
  var pastReadings: [RunID: Int] = [:]
  /// The run that was last reported as full; each is reported once.
  var fullRun: RunID?
  var sessions: SessionTable
  var archive: VerdictArchive
  var watermarks: [StreamID: Watermark]
  /// The durable part of ``watermarks``. A welcome states nothing beyond it.
  var durable: [StreamID: StreamMark]
  /// The latest press time of each stream: press times of one stream never decrease.
  var lastPress: [StreamID: BusTime] = [:]
  /// Connections that wait for the verdict of a command that arrived without a numbered stream.
  var requests: [CommandID: [ConnectionID]] = [:]
  /// Streams whose senders are due an acknowledgement. It is sent at the end of the event, after the effects of a
  /// commit.
  var unacknowledged: Set<StreamID> = []
  /// Accepted commands without a verdict, with the device and stream that their receipts go to.
  var unjudged: [CommandID: AcceptedCommand] = [:]
  /// Other stores that sent an unjudged command: its verdict is owed to each of them as well.
  var claims: [CommandID: [StoreID]] = [:]
  /// Counts the unjudged commands of each sender and bounds them.
  var queue = CommandQueue()
  var busyNotes = BusyNotes()
  /// Commands that came from this machine's spool and have no verdict yet.
  var spooled: Set<CommandID> = []
  /// The devices that the hub knows, and the streams of what it owes to their stores.
  var devices: [DeviceID: KnownDevice] = [:]
  var verdictStreams: [StoreID: OutboundStream] = [:]
  var couriers: [StoreID: Courier] = [:]
  /// How many streams to devices have begun in this incarnation (``nextDurabilityGeneration()``).
  var streamsBegun: UInt64 = 0
  /// The stores whose present session was welcomed: only these are sent deliveries.
  var openStores: Set<StoreID> = []
  var quarantine: [QuarantinedMessage]
  var isHandling = false
  let shift: BusDuration?
  var commits = CommitQueue<Effect>()
  var retryCommitAt: BusTime?
  var published: Snapshot?
  var lastTick: UInt64 = 0
  /// When the snapshot was last repeated for new subscribers, and when it is due to be repeated next.
  var republishedAt: BusTime?
  var republishAt: BusTime?
  var lastPosition: UInt64
  var ownSequence: UInt64 = 0
  /// When the last transition was committed. While the run is running, snapshots are published at whole multiples of
  /// three seconds after it.
  var tickAnchor: BusTime?
  var nextTick: BusTime?
  var samples = SampleBatch()
  var route = RouteFollowing()
  var records: RecordKeeping
  var journalDue = JournalDue()
  /// The bus time and the wall clock at the beginning of this incarnation.
  let wall: (bus: BusTime, seconds: Double)
  var silenceCheckAt: BusTime?
  /// When the heartbeat last became faster because a run began. Silence counts from here at the earliest, because peers
  /// kept the slow rate until then.
  var quickenedAt: BusTime?
  var isEnding = false
  var eventsEndpoint = ""
  /// A run that was on when the hub died, until its recovery is decided.
  var unfinished: UnfinishedRun?

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

  /// Processes one event and returns the actions for the driver to carry out, in order.
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
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
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

  /// Computed once per event, because the driver reads ``deadline`` more often and this looks through many tables.
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
    // Settle what became due while the hub was dead. After a reboot every window settles at once: if the wall clock was
    // set back, an open window would admit presses that were made long after it.
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
    // Windows settle first, so that a tick at the same moment shows the result.
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
      // The stream may have been forgotten meanwhile and begun anew; this mark then belongs to the old one.
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
