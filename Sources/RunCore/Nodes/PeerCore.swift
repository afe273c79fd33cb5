/// A peer as a pure machine: event and now in, actions out. `now` is the peer's own monotonic clock, at real speed.
///
/// - `down` can go to: `greeting` (the link comes up).
/// - `greeting` can go to: `up` (a welcome), `down` (the link is lost), `refused`.
/// - `up` can go to: `greeting` (the hub does not know the session), `down` (the link is lost), `refused`.
/// - `refused` can go to nothing: the wires do not fit, and only an update helps.
public struct PeerCore: Sendable {
  /// How a peer is set up.
  public struct Settings: Sendable {
    /// The device's name.
    public var deviceID: DeviceID
    /// What kind of node it is.
    public var role: NodeRole
    /// The node.
    public var nodeID: NodeID
    /// Names its streams.
    public var storeID: StoreID
    /// What it wants to hear.
    public var topics: [Topic]
    /// A sender of one command, no member of the bus.
    public var isOneShot: Bool
    /// The first hello's nonce, drawn at random by whoever drives the machine.
    public var nonce: UInt64
    /// The highest hub term that an earlier life has seen.
    public var termSeen: UInt64

    /// Settings from their parts.
    public init(
      deviceID: DeviceID, role: NodeRole, nodeID: NodeID, storeID: StoreID, topics: [Topic], isOneShot: Bool,
      nonce: UInt64, termSeen: UInt64 = 0
    ) {
      self.deviceID = deviceID
      self.role = role
      self.nodeID = nodeID
      self.storeID = storeID
      self.topics = topics
      self.isOneShot = isOneShot
      self.nonce = nonce
      self.termSeen = termSeen
    }
  }

  /// What can happen to a peer.
  public enum Event: Sendable {
    /// The control connection stands.
    case linkUp
    /// The control connection is gone.
    case linkDown
    /// The hub spoke to this peer.
    case frame(HubFrame)
    /// The hub published.
    case event(BusEvent)
    /// Somebody pressed a button.
    case press(Command)
    /// A sensor spoke.
    case sample(Sample)
    /// A frame could not be handed over: the link's queue is full.
    case sendFailed
    /// A commit is durable.
    case committed(CommitID)
    /// Time has passed: perhaps a deadline has come.
    case deadline
    /// The node ends.
    case ending
  }

  /// What a peer wants done, in order.
  public enum Action: Hashable, Sendable {
    /// Send to the hub.
    case send(PeerFrame)
    /// Subscribe to these topics at this endpoint.
    case subscribe(String, [Topic])
    /// Make these writes durable, then say ``Event/committed(_:)``.
    case commit(CommitID, [StoreOperation])
    /// One of this peer's presses reached a stage.
    case receipt(Receipt)
    /// The state changed.
    case show(Snapshot)
    /// Something was heard on the bus.
    case hear(BusEvent)
    /// The hub became reachable or unreachable.
    case reachability(Bool)
    /// The hub does not take this peer, ever.
    case fail(Refusal)
    /// For the log.
    case note(String)
  }

  /// How the peer stands to its hub.
  enum Link: Hashable, Sendable {
    case down
    case greeting(retryAt: BusTime, attempts: Int)
    case up(session: UInt64)
    case refused
  }

  let settings: Settings
  var link = Link.down
  var nonce: UInt64
  var outbox = Outbox()
  var spool = Spool()
  /// Judged commands that the authoritative state does not show yet.
  var settling: [Settling] = []
  var commits = CommitQueue<Action>()
  /// The last snapshot.
  public internal(set) var authoritative = Snapshot.none
  /// The hub's bus time at a moment of this peer's clock; `nil` before the first snapshot.
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

  /// A command with its verdict, on its way into the state.
  struct Settling: Sendable {
    let kind: CommandKind
    let verdict: Verdict
  }

  /// The pings on their way.
  struct Pings: Sendable {
    var nextAt: BusTime?
    var number: UInt64 = 0
    var sentAt = BusTime.zero
  }

  /// A peer that has not spoken yet.
  public init(settings: Settings) {
    self.settings = settings
    nonce = settings.nonce
    termSeen = settings.termSeen
  }

  /// The phase with this peer's own unsettled commands applied on top: what a button shows at once.
  public var predicted: RunPhase {
    var machine = RunMachine(phase: authoritative.phase)
    for entry in settling where entry.verdict.outcome == .applied { _ = machine.apply(entry.kind) }
    for entry in outbox.entries { _ = machine.apply(entry.command.kind) }
    return machine.phase
  }

  /// How many commands wait for their verdict.
  public var unsettledCount: Int { outbox.entries.count }

  /// How many samples the hub has not acknowledged.
  public var spooledCount: Int { spool.count }

  /// Whether no more samples can be taken in until the hub acknowledges some.
  public var isSpoolFull: Bool { spool.isFull }

  /// Whether no more commands can be taken in until some are judged.
  public var isOutboxFull: Bool { outbox.isFull }

  /// The hub's bus time now, as far as this peer knows.
  public func busNow(at now: BusTime) -> BusTime? { clock?.bus(at: now) }

  /// The next moment at which ``Event/deadline`` has something to do.
  public var deadline: BusTime? {
    switch link {
    case .down, .refused: nil
    case .greeting(let retryAt, _): retryAt
    case .up: [pings.nextAt, outbox.retryAt, spool.retryAt].compactMap { $0 }.min()
    }
  }

  /// Takes in one event and says what is to be done about it.
  public mutating func receive(_ event: Event, at now: BusTime) -> [Action] {
    var actions: [Action] = []
    switch event {
    case .linkUp: greet(attempts: 0, at: now, into: &actions)
    case .linkDown: loseLink(into: &actions)
    case .frame(let frame): take(frame, at: now, into: &actions)
    case .event(let event): take(event, at: now, into: &actions)
    case .press(let command): press(command, at: now, into: &actions)
    case .sample(let sample): take(sample, at: now, into: &actions)
    case .sendFailed:
      // What did not go out goes out again with the next beat, from the oldest on.
      outbox.retryAt = outbox.entries.isEmpty ? nil : now + .milliseconds(200)
      spool.retryAt = spool.count == 0 ? nil : now + .milliseconds(200)
    case .committed(let id): actions += commits.committed(id)
    case .deadline: meetDeadlines(at: now, into: &actions)
    case .ending:
      if case .up = link { send(.goodbye, at: now, into: &actions) }
      link = .down
    }
    if let next = commits.next() { actions.append(.commit(next.id, next.operations)) }
    return actions
  }

  /// Sends within the session.
  mutating func send(_ message: PeerMessage, at now: BusTime, into actions: inout [Action]) {
    guard case .up(let session) = link else { return }
    actions.append(.send(PeerFrame(session: session, sentAt: now, message: message)))
  }

  private mutating func meetDeadlines(at now: BusTime, into actions: inout [Action]) {
    switch link {
    case .down, .refused: break
    case .greeting(let retryAt, let attempts):
      if retryAt <= now { greet(attempts: attempts, at: now, into: &actions) }
    case .up:
      if let due = pings.nextAt, due <= now { beat(at: now, into: &actions) }
      if let due = outbox.retryAt, due <= now { transmitCommands(at: now, into: &actions) }
      if let due = spool.retryAt, due <= now { transmitSamples(at: now, into: &actions) }
    }
  }
}
