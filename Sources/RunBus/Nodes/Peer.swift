import CoreMetrics
import Logging
public import RunCore
import RunWire

/// A node that is not its bus's hub: watch, live activity, shell, another program.
///
/// ```swift
/// let watch = try Peer(
///   at: BusLocation(bus: "default"),
///   configuration: PeerConfiguration(deviceID: "watch", role: .watch), loop: Loop())
/// try await watch.run()  // until its task is cancelled
/// ```
///
/// The peer passes events to its `PeerCore`, which makes all decisions, and carries out the actions that come
/// back. The actor runs on its loop's thread, where its sockets are.
public actor Peer: Node, DrivenNode {
  /// The loop's thread, which executes this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  nonisolated let loop: Loop
  nonisolated let readers = MessageReaders()
  nonisolated let openQuestions = OpenQuestions()
  nonisolated let broadcaster = Broadcaster()
  nonisolated let readiness = Readiness()
  let driver: NodeDriver<PeerCore.Event>
  private let connector: any PeerConnector
  private let garbage = Counter(.peerGarbage)
  /// Frames and events of a kind that this version does not know. They are dropped.
  private let unknown = Counter(.peerUnknown)
  private let configuration: PeerConfiguration
  /// The device that this peer is.
  public nonisolated var deviceID: DeviceID { configuration.deviceID }
  /// See ``Node/internals``.
  public nonisolated var internals: NodeInternals { NodeInternals(node: self) }
  /// The keys of a paired device; `nil` for a peer without keys.
  private let keyring: DeviceKeyring?
  private(set) var core: PeerCore?
  private var transport: (any PeerTransport)?
  /// Whether the transport has a connection.
  private var isLinkUp = false
  private var hasComplained = false
  private nonisolated let shownClock = RunClockHolder()
  /// Whether the app follows the route, for which the peer then subscribes besides its configured topics.
  private var isRouteFollowed = false
  /// Where the hub publishes, and the configured topics, as of the last welcome on this transport.
  private var subscription: (endpoint: String, topics: [Topic])?
  /// Callers that wait for the hub's answers, in the order of their inquiries. The continuation is `nil` after a
  /// cancellation.
  private var inquiries: [(number: UInt64, continuation: CheckedContinuation<InquiryAnswer, Never>?)] = []
  private var lastInquiry: UInt64 = 0

  /// Makes a peer from its parts; ``init(at:configuration:loop:)`` is the usual way.
  ///
  /// - Parameters:
  ///   - configuration: How the peer is set up.
  ///   - connector: Connects to the hub.
  ///   - store: Where the peer keeps its state.
  ///   - loop: The thread that the peer runs on; several nodes may share it.
  public init(configuration: PeerConfiguration, connector: any PeerConnector, store: NodeStore, loop: Loop) {
    self.init(
      configuration: configuration, connector: connector, store: store, loop: loop, services: LocalServices())
  }

  /// Makes a peer with what it has on its own machine.
  ///
  /// - Parameters:
  ///   - services: The spool and the admin socket on this machine.
  ///   - keyring: The keys of a paired device.
  package init(
    configuration: PeerConfiguration, connector: any PeerConnector, store: NodeStore, loop: Loop,
    services: LocalServices = LocalServices(), keyring: DeviceKeyring? = nil
  ) {
    self.keyring = keyring
    self.configuration = configuration
    self.connector = connector
    self.loop = loop
    driver = NodeDriver(
      store: store, services: services, log: Logger(label: "runbus.peer"), word: "node", failsUnwritten: false)
  }

  deinit { readers.end() }

  /// Runs until the task is cancelled; see ``Node/run()``.
  public func run() async throws(RunBusError) { try await drive() }

  /// Adds sensor readings and keeps them until the hub has acknowledged them; see ``Node/add(_:)``.
  public func add(_ samples: [Sample]) async throws {
    try await check(samples)
    guard samples.count <= core?.sampleRoom ?? 0 else {
      throw RunBusError(
        .full, "too many readings wait for the hub already; none of these \(samples.count) was taken in")
    }
    if samples.count == 1 { feed(.sample(samples[0])) } else { feed(.samples(samples)) }
  }

  /// The clock of the run; see ``Node/runClock``.
  public nonisolated var runClock: RunClock { shownClock.value(on: loop) }
  func followRoute() {
    guard !isRouteFollowed else { return }
    isRouteFollowed = true
    subscribe()
  }
  var liveActivity: LiveActivity? { core?.liveActivity }
  func followLiveActivity() {}
  var knownNews: [NodeNews] { [.link(reachability), .view(viewState)] }
  var isOutboxFull: Bool { core?.isOutboxFull ?? false }

  /// The last snapshot.
  public var authoritative: Snapshot { core?.authoritative ?? .none }
  /// The phase with this peer's own unanswered commands applied on top.
  public var predicted: RunPhase { core?.predicted ?? .idle }
  /// Bus time now, as far as this peer knows.
  public var busNow: BusTime? { core?.busNow(at: loop.now) }
  /// How fast bus time runs.
  public var speed: BusSpeed { core?.clock?.speed ?? .realTime }
  /// How many samples the hub has not acknowledged yet.
  public var unacknowledgedSamples: Int { core?.spooledCount ?? 0 }
  /// Whether the hub has not acknowledged all samples yet.
  public var hasPendingSamples: Bool { unacknowledgedSamples > 0 }

  /// The state of the connection to the hub.
  public var reachability: Reachability { core?.reachability(at: loop.now) ?? Reachability() }
  /// Changes of ``reachability``, the present one first.
  public func reachabilities() -> AsyncStream<Reachability> { broadcaster.reachabilities(first: reachability) }

  /// How old the shown state is, and whether it is stale.
  public var viewState: ViewState {
    core?.viewState(at: loop.now) ?? ViewState(age: nil, isStale: false, isHubOffDuty: false)
  }
  /// Changes of ``viewState``, the present one first. The view becomes stale after three missed heartbeats (6 s while a
  /// run is running, 30 s without one and in a long pause) or when the hub has said goodbye, and fresh again with the
  /// hub's next message. A slow reader gets the newest.
  public func views() -> AsyncStream<ViewState> { broadcaster.views(first: viewState) }

  /// Alarms: the hub has been silent for ``PeerConfiguration/hubLostAfter`` while a run is on, so the run may have
  /// stopped.
  ///
  /// There is one alarm for each silence, also over restarts of this peer, and it is durable before it is reported. The
  /// hub's next message ends the silence. A hub that said goodbye raises no alarm. Time in which this peer slept or was
  /// disconnected does not count as silence of the hub.
  public func hubLost() -> AsyncStream<HubLost> { broadcaster.hubLosses() }
  /// The last alarm, also one from before a restart of this peer; `nil` when there never was one.
  public var lastHubLost: HubLost? { core?.lastHubLost }

  /// Closes the sockets; commands and samples are kept.
  public func disconnect() {
    guard let transport else { return }
    transport.close()
    self.transport = nil
    subscription = nil
    feed(.suspended)
  }

  /// Connects again.
  public func reconnect() {
    guard driver.lifecycle.isRunning, transport == nil else { return }
    feed(.resumed)
    do {
      try connect()
    } catch {
      driver.lifecycle.end(error)
    }
  }

  // MARK: Inquiries

  /// Asks the hub and waits until it is in reach and answers, the task is cancelled, or the node ends. In the last two
  /// cases the answer is `failed`.
  func inquire(_ inquiry: Inquiry) async -> InquiryAnswer {
    lastInquiry += 1
    let number = lastInquiry
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !driver.lifecycle.hasEnded else {
          return continuation.resume(returning: .failed(InquiryFailure(.closed, "the peer has ended")))
        }
        inquiries.append((number, continuation))
        feed(.ask(inquiry))
      }
    } onCancel: {
      loop.submit { [self] in assumeIsolated { $0.abandon(number) } }
    }
  }

  /// The entry stays in the list without its continuation, because answers arrive in the order of the inquiries.
  private func abandon(_ number: UInt64) {
    guard let index = inquiries.firstIndex(where: { $0.number == number }) else { return }
    inquiries[index].continuation?.resume(
      returning: .failed(InquiryFailure(.closed, "the task that waited for the answer was cancelled")))
    inquiries[index].continuation = nil
  }

  // MARK: Events in

  func begin() throws(RunBusError) {
    try driver.store.claim(for: .peer)
    let settings = PeerCore.Settings(
      deviceID: configuration.deviceID, role: configuration.role, nodeID: driver.store.nodeID,
      storeID: driver.store.storeID, topics: configuration.topics, limits: connector.limits,
      hubLostAfter: configuration.hubLostAfter, enrolment: keyring?.value.enrolment,
      isEphemeral: driver.store.isEphemeral, seed: loop.seed())
    core = PeerCore(
      settings: settings, history: try driver.store.peerHistory(), now: loop.now,
      wallSeconds: loop.wallSeconds, bootID: MachineBoot.id)
    start()
    // After the store was replaced, the core's snapshot may be older than what was shown last.
    if !driver.hasBegunAnew, core?.authoritative.order.term ?? 0 > 0, let core {
      broadcaster.tell(.snapshot(core.authoritative))
    }
    try openLocalServices()
    // The hub may not have heard of it before this node ended.
    if let next = keyring?.value.next, !next.isKnown { feed(.announceKey(next.pair.publicKey)) }
    try connect()
    readiness.open()
  }

  private func connect() throws(RunBusError) {
    transport = try connector.connect(on: loop) { [weak self] event in
      self?.assumeIsolated { $0.receive(event) }
    }
  }

  func receive(_ event: PeerCore.Event) {
    var event = event
    if case .inquire(.rotateKey, let number) = event, keyring != nil {
      guard let key = rotateKey(number) else { return }
      event = .announceKey(key)
    }
    guard let actions = core?.receive(event, at: loop.now) else { return }
    if let tally = core?.takeTally() { driver.count(tally) }
    // Before the actions: a reader of a snapshot finds the clock that belongs to it, and a reader of a press's stage the
    // phase that the buttons show with it.
    showClock()
    broadcaster.tellPredicted(predicted)
    for action in actions {
      carryOut(action)
      if let news = PeerCore.news(of: action, link: reachability) { broadcaster.tell(news) }
    }
  }

  private func showClock() {
    if let core { shownClock.update(core.authoritative, core.clock) }
  }

  var wakeAt: BusTime? { core?.deadline }

  private func receive(_ event: PeerTransportEvent) {
    switch event {
    case .linkUp:
      isLinkUp = true
      feed(.linkUp)
    case .linkDown(let reason):
      driver.log.debug("the link to the hub is down: \(reason)")
      // Without a connection before, an attempt has failed, which does not mend itself.
      feed(isLinkUp ? .linkDown : .linkRefused(reason))
      isLinkUp = false
    case .frame(let bytes):
      do { feed(.frame(try Codec.hubFrame(bytes))) } catch { complain(error) }
    case .event(_, let bytes):
      do { feed(.event(try Codec.busEvent(bytes))) } catch { complain(error) }
    }
  }

  // MARK: Actions out

  private func carryOut(_ action: PeerCore.Action) {
    switch action {
    case .send(let frame):
      if let transport, transport.send(Codec.encode(frame)) == .full { driver.queue.append(.sendFailed) }
    case .subscribe(let endpoint, let topics):
      subscription = (endpoint, topics)
      subscribe()
    case .commit(let id, let operations): commit(id, operations)
    case .receipt(let receipt): driver.log.log(receipt, of: configuration.deviceID)
    case .messageReceipt(let receipt): broadcaster.tell(receipt)
    case .refusePost(let id, let refusal): broadcaster.refuse(id, refusal)
    case .hand(let handlerCall): driver.handlerCalls.append(handlerCall)
    case .spooledCommandJudged(let id): driver.localServices?.remove(id)
    case .answer(let answer, let number): driver.localServices?.answer(answer, number)
    case .readRecord(let run, let from, let asker): readRecord(of: run, from: from, for: asker)
    case .answered(let answer):
      if !inquiries.isEmpty { inquiries.removeFirst().continuation?.resume(returning: answer) }
    case .met: driver.localServices?.meet()
    case .ended: driver.lifecycle.end(nil)
    case .show(let snapshot): driver.log.log(snapshot)
    case .record, .showLive, .view: break
    case .hear(let event): broadcaster.hear(event)
    case .reachability:
      if let refusal = reachability.refusal {
        driver.log.warning("no session with the hub: \(refusal)")
      } else {
        driver.log.debug("the hub \(reachability.isReachable ? "answers" : "is out of reach")")
      }
    case .hubLost(let lost):
      driver.log.notice("the hub has been silent for \(lost.silence.seconds) s while a run is on: it may have stopped")
    case .enrolled(let told, let announced): keep(told, announced: announced)
    case .fail(let refusal):
      driver.log.debug("the hub refused this node (\(refusal.code.rawValue)): \(refusal.message)")
      driver.lifecycle.end(RunBusError(.wireMismatch, refusal.message))
    case .note(let text): driver.log.debug("\(text)")
    }
  }

  /// Makes the next key of this machine, on disk first, and answers the caller; `nil` when that failed.
  private func rotateKey(_ number: UInt64) -> KeyFingerprint? {
    do throws(RunBusError) {
      guard let keyring else { return nil }
      let pair = try keyring.makeNext()
      driver.localServices?.answer(.done(nil), number)
      return pair.publicKey
    } catch {
      driver.localServices?.answer(.failed(InquiryFailure(.store, error.message)), number)
      return nil
    }
  }

  /// Keeps what the hub told this paired device. A key that the hub knows from now on is used at once.
  private func keep(_ told: Enrolment, announced: KeyFingerprint?) {
    do {
      try keyring?.note(told, announced: announced)
    } catch {
      return driver.log.error("what the hub told this device could not be kept: \(error.message)")
    }
    guard announced != nil else { return }
    transport?.close()
    driver.queue.append(.linkDown)
    do { try connect() } catch { driver.log.error("cannot connect with the new key: \(error.message)") }
  }

  private func subscribe() {
    guard let (endpoint, topics) = subscription else { return }
    let more: [Topic] = isRouteFollowed && !topics.contains(.route) ? [.route] : []
    transport?.subscribe(to: endpoint, topics: topics + more)
  }

  private func complain(_ error: WireError) {
    if case .unknown(let what) = error {
      unknown.increment()
      return driver.log.debug("the hub sent \(what), which this version does not know: dropped")
    }
    garbage.increment()
    guard !hasComplained else { return }
    hasComplained = true
    driver.log.warning("the hub sent what is no frame (\(error)); more of it is counted and not logged")
  }

  func abandon() {
    let ended = InquiryFailure(.closed, "the node has ended or begins anew")
    for inquiry in inquiries { inquiry.continuation?.resume(returning: .failed(ended)) }
    inquiries = []
    transport?.close()
    transport = nil
    subscription = nil
  }

  var lostHold: RunBusError? { nil }

  func closeOwn() {}
}
