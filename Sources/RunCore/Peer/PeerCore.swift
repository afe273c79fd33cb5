import DequeModule

/// The pure state machine of a peer: it receives an event and the time, and returns actions. The time is the peer's own
/// monotonic clock, at real speed.
///
/// - `down` can go to: `greeting` (the link comes up).
/// - `greeting` can go to: `up` (a welcome), `renewing` (its streams begin anew), `down` (the link is lost), `refused`.
/// - `renewing` can go to: `greeting` (the new store id is durable), `down` (the link is lost).
/// - `up` can go to: `greeting` (the hub does not know the session), `down` (the link is lost), `refused`.
/// - `refused` can go to nothing: the wire versions differ, and only an update helps.
public struct PeerCore: Sendable {
  /// The state of the link to the hub.
  enum Link: Hashable, Sendable {
    case down
    case greeting(retryAt: BusTime, attempts: Int)
    case renewing
    case up(session: UInt64)
    case refused
  }

  /// What the peer does once a commit is durable.
  enum Effect: Sendable {
    case act(Action)
    /// Commands up to this sequence may be sent.
    case commandsSendable(through: UInt64, durabilityGeneration: UInt64)
    case samplesSendable(through: UInt64, durabilityGeneration: UInt64)
    /// Verdicts are processed up to this mark, on the streams that belong to this store id of the peer.
    case verdictsProcessed(StreamMark, by: StoreID)
    case courier(Courier.Effect)
    /// Says hello with the new store id, so that the streams begin anew.
    case greet
    /// Tells the alarm with this number, which is durable now.
    case alarm(UInt64)
    /// A change of the hub's records was written; the news for the app, if it is any.
    indirect case recordWritten(RecordNews?)
  }

  let settings: Settings
  var storeID: StoreID
  /// The hub's store and device that the streams go to.
  var hub: (storeID: StoreID, deviceID: DeviceID)?
  var link = Link.down
  /// Whether a new store id is being made durable. No hello is sent before it is.
  var isRenewing = false
  var renewedAt: BusTime?
  var nonce: UInt64 = 0
  var generator: SeededGenerator
  var commands: OutboundStream
  var samples: OutboundStream
  /// Samples up to this sequence are written or being written.
  var samplesFlushed: UInt64
  var flushAt: BusTime?
  var courier: Courier
  /// How far the hub's stream of verdicts was received, and the durable part of that.
  var verdicts: Watermark
  var verdictsDurable: StreamMark
  /// Commands from the spool, until their verdicts are known.
  var forwards: [CommandID: ForwardedCommand] = [:]
  /// The forwarded ones that may have been sent, and so cannot be cancelled.
  var forwarded: Set<CommandID> = []
  var forwardAt: BusTime?
  /// Judged commands that the authoritative state does not show yet.
  var settling: [Settling] = []
  var commits = CommitQueue<Effect>()
  var retryCommitAt: BusTime?
  var isEnding = false
  /// The last snapshot that was received.
  public internal(set) var authoritative = Snapshot.none
  /// Converts this peer's clock to the hub's bus time; `nil` before the first snapshot.
  public internal(set) var clock: BusClock?
  /// Whether the hub has answered lately.
  public internal(set) var isReachable = false
  /// When the hub was last heard; `nil` if it never was.
  public internal(set) var heardAt: BusTime?
  /// The last round trip.
  public internal(set) var roundTrip: BusDuration?
  var speed = BusSpeed.realTime
  var termSeen: UInt64
  var pings = Pings()
  var failureDetector: HubFailureDetector
  /// The hub's records, as far as they have been received.
  var records: RecordInbox
  /// Questions about records that wait for changes on their way.
  var recordQuestions: [(inquiry: Inquiry, number: UInt64, until: BusTime)] = []
  /// The number of the last session that was opened.
  var lastSession: UInt64 = 0
  private let shift: BusDuration?

  /// A judged command that the authoritative state does not show yet.
  struct Settling: Sendable {
    let kind: CommandKind
    let verdict: Verdict
  }

  /// The last ping, and when the next is due.
  struct Pings: Sendable {
    var nextAt: BusTime?
    var number: UInt64 = 0
    var sentAt = BusTime.zero
  }

  /// Creates a peer from what its store kept; a new store has an empty history.
  ///
  /// - Parameters:
  ///   - now: the peer's monotonic clock.
  ///   - wallSeconds: the wall clock now, in seconds since 1970. It dates the rows of an earlier boot.
  ///   - bootID: the boot that `now` belongs to; empty when unknown.
  public init(
    settings: Settings, history: PeerHistory = PeerHistory(), now: BusTime = .zero, wallSeconds: Double = 0,
    bootID: String = ""
  ) {
    self.settings = settings
    storeID = settings.storeID
    hub = history.hub
    generator = SeededGenerator(seed: settings.seed)
    nonce = generator.next()
    termSeen = min(history.term, HubTerm.limit)
    shift = history.clock.flatMap { $0.shift(real: now, wallSeconds: wallSeconds, bootID: bootID) }
    let receiver = history.hub?.storeID ?? .none
    let delivery = history.delivery
    func stream(_ kind: StreamID.Kind, _ bounds: OutboundStream.Bounds) -> OutboundStream {
      let id = OutboundStreamID(receiver: receiver, kind: kind)
      return OutboundStream(
        id, bounds: bounds, rows: delivery.rows.filter { $0.stream == id }, acknowledged: delivery.acknowledged[id] ?? 0
      )
    }
    commands = stream(.commands, .commands)
    samples = stream(.samples, .samples)
    samplesFlushed = samples.assigned
    let sender = { StreamID(sender: receiver, kind: $0) }
    verdictsDurable = delivery.watermarks[sender(.verdicts)] ?? .start
    verdicts = Watermark(verdictsDurable)
    courier = Courier(
      device: history.hub?.deviceID, stream: stream(.messages, .messages),
      inbox: InboundStream(sender(.messages), durable: delivery.watermarks[sender(.messages)] ?? .start),
      latestSent: delivery.latestSent, latestReceived: delivery.latestReceived)
    if let view = history.view { authoritative = view }
    failureDetector = HubFailureDetector(limit: settings.hubLostAfter, mark: history.failureMark)
    records = RecordInbox(history.records, through: history.recordsThrough)
    if let shift {
      commands.shift(by: shift)
      samples.shift(by: shift)
      courier.shift(by: shift)
    }
    quarantine = delivery.quarantine
    if let shift { for index in quarantine.indices { quarantine[index].since = quarantine[index].since + shift } }
  }

  /// Questions of the app that the hub has not answered; they are asked again in every session.
  var questions: [Inquiry] = []
  /// Messages of this peer that the hub's handler refused too often.
  var quarantine: [QuarantinedMessage]

  /// The phase with this peer's own commands applied that the snapshot does not show yet, for buttons that react at
  /// once.
  public var predicted: RunPhase {
    var machine = RunMachine(phase: authoritative.phase)
    for entry in settling where entry.verdict.outcome == .applied { _ = machine.apply(entry.kind) }
    for row in commands.rows { if case .command(let command)? = row.item { _ = machine.apply(command.kind) } }
    return machine.phase
  }

  /// How many commands wait for their verdict.
  public var unjudgedCount: Int { commands.rows.count { $0.item != nil } }

  /// How many samples the hub has not acknowledged.
  public var spooledCount: Int { samples.rows.count { $0.item != nil } }

  /// Whether no more samples are accepted until the hub acknowledges some.
  public var isSpoolFull: Bool { samples.isFull }

  /// Whether no more commands are accepted until some are judged.
  public var isOutboxFull: Bool { commands.isFull }

  /// The newest value of a key that the hub sent; `nil` if it has sent none.
  public func latest(_ key: String) -> AppMessage? { courier.value(of: key) }

  /// The hub's bus time now, as far as this peer knows; `nil` before the first snapshot.
  public func busNow(at now: BusTime) -> BusTime? { clock?.bus(at: now) }

  /// The next moment at which the driver has to feed ``Event/deadline``; `nil` if nothing is due.
  public var deadline: BusTime? {
    let own = BusTime.earliest(
      commits.deadline, retryCommitAt, flushAt, failureDeadline, recordQuestions.first?.until)
    switch link {
    case .down, .refused, .renewing: return own
    case .greeting(let retryAt, _): return BusTime.earliest(own, retryAt)
    case .up:
      return BusTime.earliest(
        own, pings.nextAt, commands.retryAt, samples.retryAt, courier.deadline, forwardAt, records.retryAt)
    }
  }

  /// Processes one event and returns the actions for the driver to carry out, in order.
  public mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var actions: [Action] = []
    failureDetector.pass(to: now, isRunOn: authoritative.phase.isOn)
    switch event {
    case .started: start(at: now)
    case .linkUp: greet(attempts: 0, at: now, into: &actions)
    case .linkDown: loseLink(into: &actions)
    case .suspended:
      failureDetector.setListening(false)
      loseLink(into: &actions)
    case .resumed: failureDetector.setListening(true)
    case .frame(let frame): receive(frame, at: now, into: &actions)
    case .event(let event): receive(event, at: now, into: &actions)
    case .press(let command): press(command, at: now, into: &actions)
    case .sample(let sample): receive(sample, at: now, into: &actions)
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
    case .spooled(let presses): forward(presses, at: now, into: &actions)
    case .inquire(let inquiry, let number): answer(inquiry, number, at: now, into: &actions)
    case .recordRead(let reading, .inquiry(let number)): actions.append(.answer(reading.answer, number))
    case .recordRead(_, .peer): break
    case .ask(let inquiry):
      questions.append(inquiry)
      send(.inquire(inquiry), at: now, into: &actions)
    case .sendFailed: postpone(at: now)
    case .committed(let id):
      guard commits.isInFlight(id) else { break }
      retryCommitAt = nil
      for effect in commits.committed(id) { perform(effect, at: now, into: &actions) }
    case .commitFailed(let id):
      guard commits.isInFlight(id) else { break }
      retryCommitAt = now + .seconds(1)
      // An alarm is told even if the disk is full.
      raiseAlarm(into: &actions)
      // A node that ends does not wait for a full disk. Whatever is lost was never acknowledged.
      if isEnding { actions += [.note("the store took nothing more before the end"), .ended] }
    case .deadline: meetDeadlines(at: now, into: &actions)
    case .ending: end(at: now, into: &actions)
    }
    checkForHubFailure(at: now, into: &actions)
    if !recordQuestions.isEmpty { answerWaiting(at: now, into: &actions) }
    if let next = commits.next(at: now) { actions.append(.commit(next.id, next.operations)) }
    return actions
  }

  /// Sends a message in the present session, if there is one.
  mutating func send(_ message: PeerMessage, at now: BusTime, into actions: inout [Action]) {
    guard case .up(let session) = link else { return }
    actions.append(.send(PeerFrame(session: session, sentAt: now, message: message)))
  }

  private mutating func start(at now: BusTime) {
    failureDetector.start(at: now)
    guard !settings.isOneShot else { return }
    var operations: [StoreOperation] = [.setClock(real: now, bus: .zero)]
    if let shift { operations.append(.shiftRows(by: shift)) }
    commits.add(operations, then: [])
  }

  private mutating func end(at now: BusTime, into actions: inout [Action]) {
    guard !isEnding else { return }
    isEnding = true
    flushSamples(at: now)
    commits.add([], then: [.act(.ended)])
    if case .up = link { send(.goodbye, at: now, into: &actions) }
    link = .down
  }

  private mutating func meetDeadlines(at now: BusTime, into actions: inout [Action]) {
    if let due = flushAt, due <= now { flushSamples(at: now) }
    if let due = retryCommitAt, due <= now {
      retryCommitAt = nil
      if let again = commits.again() { actions.append(.commit(again.id, again.operations)) }
    }
    switch link {
    case .down, .refused, .renewing: break
    case .greeting(let retryAt, let attempts):
      if retryAt <= now { greet(attempts: attempts, at: now, into: &actions) }
    case .up:
      if let due = pings.nextAt, due <= now { beat(at: now, into: &actions) }
      if let due = commands.retryAt, due <= now { retryCommands(at: now, into: &actions) }
      if let due = samples.retryAt, due <= now {
        _ = samples.retry(at: now, generator: &generator)
        sendSamples(at: now, into: &actions)
      }
      if let due = forwardAt, due <= now { sendForwards(at: now, into: &actions) }
      if let due = records.retryAt, due <= now { askForRecords(at: now, into: &actions) }
      withCourier(at: now, into: &actions) { $0.meetDeadlines(at: now, generator: &$1, into: &$2) }
    }
  }

  private mutating func perform(_ effect: Effect, at now: BusTime, into actions: inout [Action]) {
    switch effect {
    case .act(let action): actions.append(action)
    case .commandsSendable(let sequence, let durabilityGeneration):
      commands.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
      sendCommands(at: now, into: &actions)
    case .samplesSendable(let sequence, let durabilityGeneration):
      samples.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
      sendSamples(at: now, into: &actions)
    case .verdictsProcessed(let mark, let store):
      // The streams have begun anew since, and the mark belongs to the old ones.
      guard store == storeID else { break }
      if mark.sequence > verdictsDurable.sequence { verdictsDurable = mark }
      send(.delivery(.acknowledge(.verdicts, through: verdictsDurable.sequence)), at: now, into: &actions)
    case .courier(let effect):
      withCourier(at: now, into: &actions) { $0.perform(effect, at: now, generator: &$1, into: &$2) }
    case .greet:
      isRenewing = false
      if case .renewing = link { greet(attempts: 0, at: now, into: &actions) }
    case .alarm(let number): raiseAlarm(number, into: &actions)
    case .recordWritten(let news):
      records.finishWriting()
      if let news { actions.append(.record(news)) }
      askForRecords(at: now, into: &actions)
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
        note(operations)
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
