import RunCore
import Simulation

/// A peer core for tests: takes events one by one and returns its actions as lines.
struct PeerStage {
  static let storeID = StoreID(high: 2, low: 1)

  var core: PeerCore
  var now = BusTime.zero
  private(set) var sent: [PeerFrame] = []
  private(set) var disk: WorldPeerStore
  private let bootID: String
  private var inFlight: (id: CommitID, operations: [StoreOperation])?
  /// The nonce of the last hello.
  private(set) var nonce: UInt64 = 0

  init(
    termSeen: UInt64 = 0, topics: [Topic] = [.snapshots],
    limits: ConnectionLimits = .full, hubLostAfter: BusDuration = .seconds(600)
  ) {
    var history = PeerHistory()
    history.term = termSeen
    self.init(
      history: history, storeID: Self.storeID, topics: topics, limits: limits, hubLostAfter: hubLostAfter)
  }

  init(
    history: PeerHistory, storeID: StoreID, topics: [Topic] = [.snapshots], limits: ConnectionLimits = .full,
    hubLostAfter: BusDuration = .seconds(600), now: BusTime = .zero, wallSeconds: Double = 0, bootID: String = "boot"
  ) {
    (self.now, self.bootID) = (now, bootID)
    disk = WorldPeerStore(storeID: storeID)
    core = PeerCore(
      settings: PeerCore.Settings(
        deviceID: DeviceID("watch"), role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: storeID,
        topics: topics, limits: limits, hubLostAfter: hubLostAfter, seed: 1),
      history: history, now: now, wallSeconds: wallSeconds, bootID: bootID)
  }

  /// The next incarnation of a peer, with what the disk holds.
  init(_ disk: WorldPeerStore, now: BusTime, wallSeconds: Double = 0, bootID: String = "boot") {
    self.init(history: disk.history, storeID: disk.storeID, now: now, wallSeconds: wallSeconds, bootID: bootID)
    self.disk = disk
  }

  /// A peer whose first hello was answered; no commit is in flight.
  static func up(_ snapshot: Snapshot = PeerStage.snapshot(1, 0, 1)) -> PeerStage {
    var stage = PeerStage()
    _ = stage.feed(.started)
    stage.commits()
    _ = stage.feed(.linkUp)
    _ = stage.welcome(session: 1, snapshot)
    stage.commits()
    stage.forgetSent()
    return stage
  }

  static let origin = BusTime.zero + .seconds(1000)

  static func snapshot(
    _ term: UInt64, _ revision: UInt64, _ tick: UInt64, _ phase: RunPhase = .idle, run: UInt64? = nil,
    by command: UInt64? = nil
  ) -> Snapshot {
    Snapshot(
      order: SnapshotOrder(term: term, revision: revision, tick: tick), phase: phase,
      runID: run.map { RunID(high: 9, low: $0) },
      changedBy: command.map {
        Author(source: .phone, deviceID: DeviceID("phone"), commandID: CommandID(high: 4, low: $0))
      },
      startedAt: nil, capturedAt: origin, metrics: RunMetrics())
  }

  mutating func feed(_ event: PeerCore.Event) -> [String] { act(event).map(NodeLines.line) }

  mutating func act(_ event: PeerCore.Event) -> [PeerCore.Action] {
    let actions = core.receive(event, at: now)
    for action in actions {
      switch action {
      case .send(let frame):
        sent.append(frame)
        if case .hello(let hello) = frame.message { nonce = hello.nonce }
      case .commit(let id, let operations): inFlight = (id, operations)
      default: break
      }
    }
    return actions
  }

  /// The commit in flight.
  var flight: CommitID? { inFlight?.id }

  /// Makes the commit in flight durable.
  mutating func commit() -> [String] {
    guard let (id, operations) = inFlight else { return ["nothing in flight"] }
    inFlight = nil
    disk.commit(operations, bootID: bootID, wallSeconds: 0)
    return feed(.committed(id))
  }

  /// Makes all commits durable, including those that follow.
  @discardableResult
  mutating func commits() -> [String] {
    var lines: [String] = []
    while inFlight != nil { lines += commit() }
    return lines
  }

  mutating func forgetSent() { sent = [] }

  mutating func passes(to end: BusTime) -> [String] {
    var lines: [String] = []
    while let deadline = core.deadline, deadline <= end {
      now = max(now, deadline)
      lines += feed(.deadline).map { "\(NodeLines.seconds(now - .zero)) \($0)" }
    }
    now = end
    return lines
  }

  mutating func passes(_ duration: BusDuration) -> [String] { passes(to: now + duration) }

  mutating func welcome(
    _ nonce: UInt64? = nil, session: UInt64, _ snapshot: Snapshot = PeerStage.snapshot(1, 0, 1),
    received: [StreamID.Kind: StreamMark] = [:], store: StoreID = HubStage.storeID, speed: BusSpeed = .realTime,
    age: BusDuration = .zero, events: String = "events", recordsThrough: UInt64 = 0
  ) -> [String] {
    hub(
      .welcome(
        Welcome(
          nonce: nonce ?? self.nonce, nodeID: NodeID(high: 1, low: 1), storeID: store, deviceID: DeviceID("phone"),
          eventsEndpoint: events, speed: speed, debounce: .milliseconds(500), received: received,
          state: StateMessage(snapshot: snapshot, age: age), recordsThrough: recordsThrough)), session: session)
  }

  mutating func hub(_ message: HubMessage, session: UInt64 = 1) -> [String] {
    feed(.frame(HubFrame(session: session, message: message)))
  }

  /// The hub answers the last ping, if there was one.
  mutating func answersPing() -> [String] {
    let pings: [UInt64] = sent.compactMap { frame in
      if case .ping(let number, _, _) = frame.message { number } else { nil }
    }
    guard let last = pings.last else { return [] }
    return hub(.pong(last, core.authoritative.order))
  }

  mutating func publishes(_ snapshot: Snapshot) -> [String] {
    feed(.event(.snapshot(StateMessage(snapshot: snapshot, age: .zero))))
  }

  func command(_ kind: CommandKind, id: UInt64) -> Command {
    Command(id: CommandID(high: 4, low: id), kind: kind, source: .watch)
  }

  /// A press, made durable at once, and the lines that follow.
  mutating func presses(_ kind: CommandKind, id: UInt64) -> [String] {
    let lines = feed(.press(command(kind, id: id)))
    return lines.filter { !$0.hasPrefix("commit") } + commits()
  }

  /// A verdict on the hub's stream.
  func verdict(
    _ kind: CommandKind, id: UInt64, at sequence: UInt64, _ outcome: Outcome = .applied, revision: UInt64,
    term: UInt64 = 1, run: UInt64? = nil
  ) -> HubMessage {
    let receipt = self.receipt(kind, id: id, outcome, revision: revision, term: term, run: run)
    return .delivery(.verdicts([VerdictTransmission(sequence: sequence, receipt: receipt)]))
  }

  func receipt(
    _ kind: CommandKind, id: UInt64, _ outcome: Outcome = .applied, revision: UInt64, term: UInt64 = 1,
    run: UInt64? = nil
  ) -> Receipt {
    let id = CommandID(high: 4, low: id)
    return Receipt(
      commandID: id, kind: kind, source: .watch,
      stage: .verdict(
        Verdict(
          commandID: id, kind: kind, source: .watch, outcome: outcome, runID: run.map { RunID(high: 9, low: $0) },
          term: term, revision: revision, effectiveAt: nil)))
  }

  /// The commands that were sent since the last call.
  var transmissions: [CommandTransmission] {
    sent.compactMap { if case .command(let transmission) = $0.message { transmission } else { nil } }
  }

  var sampleTransmissions: [SampleTransmission] {
    sent.flatMap { frame -> [SampleTransmission] in
      if case .samples(let samples) = frame.message { samples } else { [] }
    }
  }
}
