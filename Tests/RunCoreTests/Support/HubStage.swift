import RunCore

/// A hub core for tests: takes events one by one and returns its actions as lines.
struct HubStage {
  static let debounce = BusDuration.milliseconds(500)
  static let storeID = StoreID(high: 1, low: 1)

  /// Each stage is a boot of its own.
  let bootID: String
  let clock: BusClock
  var core: HubCore
  var now: BusTime
  /// The commit in flight.
  private(set) var inFlight: (id: CommitID, operations: [StoreOperation])?
  /// Committed operations, in order.
  private(set) var durable: [StoreOperation] = []
  /// The list of paired devices with which it began.
  private(set) var firstMembers = MemberHistory()
  /// The run whose journal the hub has asked to read.
  var askedJournal: RunID?
  private var sessions: [String: UInt64] = [:]
  /// Verdicts that peers have acknowledged, and peers that met this hub before, perhaps in an earlier incarnation.
  private var received: [String: UInt64] = [:]
  private var metBefore: Set<String>
  private var sequences: [String: UInt64] = [:]
  private var commandCount: UInt64 = 0
  /// Peers acknowledge verdicts at once; lines about that and about devices that were met are left out.
  var isTerse = true
  private var verdicts: [(name: String, last: UInt64)] = []

  init(
    debounce: BusDuration = HubStage.debounce, speed: Int64 = 1, history: HubHistory = HubHistory(),
    now: BusTime = .zero, metrics: MetricsSettings = MetricsSettings(), recovery: RecoveryChoice = .resume,
    downtime: Downtime = .paused, ledgerEntriesMax: Int? = nil, owedVerdictsMax: Int? = nil,
    pastReadingsMax: Int? = nil, recordPiece: Int? = nil, together: TogetherDesk.Settings? = nil,
    wallSeconds: Double = 0
  ) {
    self.now = now
    firstMembers = history.members
    bootID = "boot \(history.term + 1)"
    metBefore = Set(history.devices.map(\.deviceID.rawValue))
    for name in metBefore {
      received[name] = history.delivery.acknowledged[OutboundStreamID(receiver: Self.store(name), kind: .verdicts)]
    }
    clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: BusSpeed(thousandths: speed * 1000)!)
    var settings = HubCore.Settings(
      deviceID: DeviceID("phone"), nodeID: NodeID(high: 1, low: 1), storeID: Self.storeID, debounce: debounce,
      clock: clock, metrics: metrics, recovery: recovery, downtime: downtime, seed: history.term)
    settings.listProof = { Self.proof(of: $0, by: $1) }
    settings.ledgerEntriesMax = ledgerEntriesMax ?? settings.ledgerEntriesMax
    settings.pastReadingsMax = pastReadingsMax ?? settings.pastReadingsMax
    settings.recordPiece = recordPiece ?? settings.recordPiece
    settings.owedVerdictsMax = owedVerdictsMax ?? settings.owedVerdictsMax
    settings.together = together
    core = HubCore(settings: settings, history: history, now: now, wallSeconds: wallSeconds, bootID: bootID)
  }

  /// A hub that has started; no commit is in flight.
  static func opened(
    debounce: BusDuration = HubStage.debounce, speed: Int64 = 1, history: HubHistory = HubHistory(),
    now: BusTime = .zero, metrics: MetricsSettings = MetricsSettings(), recovery: RecoveryChoice = .resume,
    downtime: Downtime = .paused, ledgerEntriesMax: Int? = nil, owedVerdictsMax: Int? = nil,
    pastReadingsMax: Int? = nil, recordPiece: Int? = nil, together: TogetherDesk.Settings? = nil,
    wallSeconds: Double = 0
  ) -> HubStage {
    var stage = HubStage(
      debounce: debounce, speed: speed, history: history, now: now, metrics: metrics, recovery: recovery,
      downtime: downtime, ledgerEntriesMax: ledgerEntriesMax, owedVerdictsMax: owedVerdictsMax,
      pastReadingsMax: pastReadingsMax, recordPiece: recordPiece, together: together, wallSeconds: wallSeconds)
    _ = stage.feed(.started)
    _ = stage.commits()
    _ = stage.feed(.opened(eventsEndpoint: "events"))
    return stage
  }

  /// The same hub once it has started, and a peer of an earlier incarnation has said hello to it.
  func met(by peer: String) -> HubStage {
    var hub = self
    _ = hub.feed(.started)
    hub.commitsAll()
    _ = hub.feed(.opened(eventsEndpoint: "events"))
    _ = hub.hello(peer, nonce: 5)
    hub.commitsAll()
    return hub
  }

  /// A hub with these peers, whose hellos were answered; no commit is in flight.
  static func with(
    _ peers: String..., debounce: BusDuration = HubStage.debounce, speed: Int64 = 1
  ) -> HubStage {
    var stage = opened(debounce: debounce, speed: speed)
    for peer in peers { _ = stage.hello(peer) }
    stage.commitsAll()
    return stage
  }

  /// Feeds one event and returns the resulting lines.
  mutating func feed(_ event: HubCore.Event) -> [String] {
    let lines = act(event).compactMap(line)
    guard isTerse else { return lines }
    let heard = verdicts
    verdicts = []
    let said = heard.reduce(lines) { $0 + says($1.name, .delivery(.acknowledge(.verdicts, through: $1.last))) }
    return said + keepsRecords()
  }

  /// Records follow a stop in commits of their own, which the lines leave out.
  private mutating func keepsRecords() -> [String] {
    if let operations = inFlight?.operations, !operations.isEmpty, operations.allSatisfy(Self.isOfRecord) {
      return commits()
    }
    guard let run = askedJournal else { return [] }
    askedJournal = nil
    return feed(.journal(run, journal(of: run)))
  }

  private static func isOfRecord(_ operation: StoreOperation) -> Bool {
    switch operation {
    case .keepRecord, .forgetExpected, .dropJournal: true
    default: false
    }
  }

  /// The durable journal entries of a run.
  func journal(of run: RunID) -> [LedgerEntry] {
    durable.compactMap { operation in
      if case .append(run, let entry) = operation { entry } else { nil }
    }
  }

  private func line(_ action: HubCore.Action) -> String? {
    if NodeLines.isOfLockScreens(action) { return nil }
    if isTerse, case .forbade = action { return nil }
    guard isTerse, case .commit(let id, let operations) = action, !operations.isEmpty else {
      return NodeLines.line(action)
    }
    let told = operations.filter {
      switch $0 {
      case .own(_, .localOwner), .disown: false
      case .acknowledge, .meet, .expectRecord, .forgetExpected, .keepRecord, .endJournal, .dateRun, .dropJournal: false
      case .enqueue(let row): row.stream.kind != .verdicts
      default: true
      }
    }
    return told.isEmpty ? nil : NodeLines.line(HubCore.Action.commit(id, told))
  }

  /// Feeds one event and returns the actions.
  mutating func act(_ event: HubCore.Event) -> [HubCore.Action] {
    let actions = core.receive(event, at: now)
    for action in actions {
      switch action {
      case .commit(let id, let operations): inFlight = (id, operations)
      case .send(let frame, let connection):
        if case .welcome = frame.message { sessions[NodeLines.name(connection)] = frame.session }
        if case .delivery(.verdicts(let transmissions)) = frame.message {
          if let last = transmissions.last { verdicts.append((NodeLines.name(connection), last.sequence)) }
        }
      case .readJournal(let run): askedJournal = run
      case .open, .forward, .publish, .receipt, .messageReceipt, .refusePost, .hand, .keep, .spooledCommandJudged,
        .answer,
        .readRecord, .record, .show, .recovered, .admit, .cutConnections, .useNextKey, .listenForPairing, .forbade,
        .showLive, .note, .room, .ended:
        break
      }
    }
    return actions
  }

  /// Makes the commit in flight durable.
  mutating func commits() -> [String] {
    guard let (id, operations) = inFlight else { return ["nothing in flight"] }
    inFlight = nil
    durable += operations
    return feed(.committed(id))
  }

  /// Makes the commit in flight durable without telling the hub.
  mutating func takeInFlight() -> CommitID? {
    guard let (id, operations) = inFlight else { return nil }
    inFlight = nil
    durable += operations
    return id
  }

  /// Makes all commits durable, including those that follow.
  @discardableResult
  mutating func commitsAll() -> [String] {
    var lines: [String] = []
    while inFlight != nil { lines += commits() }
    return lines
  }

  /// Lets time pass until a moment: each deadline fires, and each commit is durable at once.
  @discardableResult
  mutating func passes(to end: BusTime) -> [String] {
    var lines: [String] = []
    while let deadline = core.deadline, deadline <= end {
      now = max(now, deadline)
      lines += feed(.deadline)
      lines += commitsAll()
    }
    now = end
    return lines
  }

  /// The machine sleeps: time goes on, and the hub is called once, at its end.
  mutating func sleeps(_ duration: BusDuration) {
    now = now + duration
    _ = feed(.deadline)
    _ = commitsAll()
  }

  @discardableResult
  mutating func passes(_ duration: BusDuration) -> [String] { passes(to: now + duration) }

  // MARK: Peers

  static func store(_ name: String) -> StoreID {
    StoreID(high: 2, low: name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
  }

  func greeting(
    _ name: String, nonce: UInt64 = 1, termSeen: UInt64 = 0, version: UInt32 = wireVersion
  ) -> Hello {
    Hello(
      version: version, deviceID: DeviceID(name)!, role: NodeRole(rawValue: name), nodeID: NodeID(high: 3, low: 1),
      storeID: Self.store(name), nonce: nonce, termSeen: termSeen)
  }

  mutating func hello(_ name: String, nonce: UInt64 = 1, termSeen: UInt64 = 0) -> [String] {
    var hello = greeting(name, nonce: nonce, termSeen: termSeen)
    // A repeated hello repeats what it said before.
    if nonce > 1 || metBefore.contains(name) {
      hello.hub = Self.storeID
      hello.received[.verdicts] = received[name].map { StreamMark(sequence: $0) }
    }
    return says(name, .hello(hello), session: 0)
  }

  func session(of name: String) -> UInt64 { sessions[name] ?? 0 }

  /// Delivers a frame without delay.
  mutating func says(
    _ name: String, _ message: PeerMessage, session: UInt64? = nil, sentAt: BusTime? = nil,
    by identity: ConnectionIdentity = .localOwner
  ) -> [String] {
    if case .delivery(.acknowledge(.verdicts, let sequence)) = message { received[name] = sequence }
    let frame = PeerFrame(
      session: session ?? self.session(of: name), sentAt: sentAt ?? clock.real(at: now), message: message)
    return feed(.frame(.named(name), frame, by: identity))
  }

  mutating func command(
    _ kind: CommandKind, by name: String, id: UInt64? = nil, runID: RunID? = nil, base: ObservedRevision? = nil
  ) -> Command {
    commandCount += 1
    let run = kind == .start ? runID ?? RunID(high: 9, low: commandCount) : runID
    return Command(
      id: CommandID(high: 4, low: id ?? 1000 + commandCount), kind: kind, source: ControlSource(rawValue: name),
      runID: run, base: base)
  }

  /// A press on a peer; its frame arrives without delay.
  mutating func presses(_ name: String, _ kind: CommandKind, id: UInt64? = nil, age: BusDuration = .zero) -> [String] {
    let command = command(kind, by: name, id: id)
    return sends(name, command, age: age)
  }

  mutating func sends(_ name: String, _ command: Command, sequence: UInt64? = nil, age: BusDuration = .zero)
    -> [String]
  {
    let place = sequence ?? sequences[name, default: 0] + 1
    sequences[name] = place
    return says(name, .command(CommandTransmission(command: command, sequence: place, age: age)))
  }

  /// Starts a run and makes everything about it durable.
  mutating func startRun(by name: String = "watch") {
    _ = presses(name, .start)
    commitsAll()
    _ = passes(.milliseconds(500))
  }

  /// Heart rates from a peer, measured just now.
  mutating func beats(_ name: String, _ bpms: Double..., from sequence: UInt64, age: BusDuration = .zero) -> [String] {
    says(
      name,
      .samples(
        bpms.enumerated().map { offset, bpm in
          SampleTransmission(
            sequence: sequence + UInt64(offset), moment: .age(age), value: .heartRate(bpm: bpm), runID: nil)
        }))
  }

  /// A request on a plain REQ.
  mutating func requests(
    _ name: String, _ kind: CommandKind, id: UInt64, age: BusDuration = .zero,
    by identity: ConnectionIdentity = .localOwner
  ) -> [String] {
    let request = CommandRequest(command: command(kind, by: name, id: id), deviceID: DeviceID(name)!, age: age)
    return asks(name, .command(request), isPlain: true, by: identity)
  }

  /// A command in a request on a DEALER, without a session.
  mutating func shell(
    _ name: String, _ command: Command, age: BusDuration = .zero, pressed: MachineTime? = nil
  ) -> [String] {
    asks(
      name, .command(CommandRequest(command: command, deviceID: DeviceID(name)!, age: age, pressed: pressed)))
  }

  /// A request without a session.
  mutating func asks(
    _ name: String, _ subject: Request.Subject, version: UInt32 = wireVersion, isPlain: Bool = false,
    by identity: ConnectionIdentity = .localOwner
  ) -> [String] {
    let request = PeerMessage.request(Request(subject, version: version))
    return feed(
      .frame(
        .named(name, isRequest: isPlain), PeerFrame(session: 0, sentAt: .zero, message: request), by: identity))
  }
}

extension PeerMessage {
  /// A ping that states within what time the next one comes.
  static func beat(_ number: UInt64, within interval: BusDuration = .seconds(10)) -> PeerMessage {
    .ping(number, nextWithin: interval)
  }
}
