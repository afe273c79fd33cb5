import RunCore

/// A peer on a stage: events go in one by one, and what it does comes out as lines.
struct PeerStage {
  var core: PeerCore
  var now = BusTime.zero
  private(set) var sent: [PeerFrame] = []
  private var commandCount: UInt64 = 0
  private var inFlight: CommitID?

  init(isOneShot: Bool = false, termSeen: UInt64 = 0, topics: [Topic] = [.snapshots]) {
    core = PeerCore(
      settings: PeerCore.Settings(
        deviceID: DeviceID("watch")!, role: .watch, nodeID: NodeID(high: 3, low: 1), storeID: StoreID(high: 2, low: 1),
        topics: topics, isOneShot: isOneShot, nonce: 0, termSeen: termSeen))
  }

  /// A peer whose first hello was answered; nothing is in flight.
  static func up(isOneShot: Bool = false, _ snapshot: Snapshot = PeerStage.snapshot(1, 0, 1)) -> PeerStage {
    var stage = PeerStage(isOneShot: isOneShot)
    _ = stage.feed(.linkUp)
    _ = stage.welcome(1, session: 1, snapshot)
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
        Change(source: .phone, deviceID: DeviceID("phone")!, commandID: CommandID(high: 4, low: $0))
      },
      startedAt: nil, capturedAt: origin, metrics: RunMetrics())
  }

  mutating func feed(_ event: PeerCore.Event) -> [String] {
    let actions = core.receive(event, at: now)
    for action in actions {
      switch action {
      case .send(let frame): sent.append(frame)
      case .commit(let id, _): inFlight = id
      case .subscribe, .receipt, .show, .hear, .reachability, .fail, .note: break
      }
    }
    return actions.map(NodeLines.line)
  }

  mutating func commits() {
    while let id = inFlight {
      inFlight = nil
      _ = feed(.committed(id))
    }
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
    _ nonce: UInt64, session: UInt64, _ snapshot: Snapshot = PeerStage.snapshot(1, 0, 1), commands: UInt64 = 0,
    samples: UInt64 = 0, speed: BusSpeed = .realTime, age: BusDuration = .zero
  ) -> [String] {
    hub(
      .welcome(
        Welcome(
          nonce: nonce, nodeID: NodeID(high: 1, low: 1), storeID: HubStage.storeID, deviceID: DeviceID("phone")!,
          eventsEndpoint: "events", speed: speed, debounce: .milliseconds(500), commandWatermark: commands,
          sampleWatermark: samples, state: StateMessage(snapshot: snapshot, age: age))), session: session)
  }

  mutating func hub(_ message: HubMessage, session: UInt64 = 1) -> [String] {
    feed(.frame(HubFrame(session: session, message: message)))
  }

  mutating func publishes(_ snapshot: Snapshot) -> [String] {
    feed(.event(.snapshot(StateMessage(snapshot: snapshot, age: .zero))))
  }

  func command(_ kind: CommandKind, id: UInt64) -> Command {
    Command(id: CommandID(high: 4, low: id), kind: kind, source: .watch)
  }

  mutating func presses(_ kind: CommandKind, id: UInt64) -> [String] { feed(.press(command(kind, id: id))) }

  /// A receipt for a press of this peer.
  func pending(_ kind: CommandKind, id: UInt64) -> HubMessage {
    .receipt(Receipt(commandID: CommandID(high: 4, low: id), kind: kind, source: .watch, stage: .pending))
  }

  func verdict(
    _ kind: CommandKind, id: UInt64, _ outcome: Outcome = .applied, revision: UInt64, term: UInt64 = 1,
    run: UInt64? = nil
  ) -> HubMessage {
    let id = CommandID(high: 4, low: id)
    return .receipt(
      Receipt(
        commandID: id, kind: kind, source: .watch,
        stage: .verdict(
          Verdict(
            commandID: id, kind: kind, source: .watch, outcome: outcome, runID: run.map { RunID(high: 9, low: $0) },
            term: term, revision: revision, effectiveAt: nil))))
  }

  /// The commands that were sent since the last look.
  var transmissions: [Transmission] {
    sent.compactMap { if case .command(let transmission) = $0.message { transmission } else { nil } }
  }

  var sampleTransmissions: [SampleTransmission] {
    sent.flatMap { frame -> [SampleTransmission] in
      if case .samples(let samples) = frame.message { samples } else { [] }
    }
  }
}
