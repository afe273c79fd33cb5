import CoreMetrics
import Logging
public import RunCore
import RunWire

/// The node that holds the authoritative run. A bus has exactly one, usually on the phone.
///
/// ```swift
/// let hub = try Hub(
///   at: BusLocation(bus: "default"), configuration: HubConfiguration(deviceID: "phone"),
///   loop: Loop())
/// try await hub.run()  // until its task is cancelled
/// ```
///
/// The hub passes events to its `HubCore`, which makes all decisions, and carries out the actions that come
/// back. The actor runs on its loop's thread, where its sockets are.
public actor Hub: Node, DrivenNode {
  /// The loop's thread, which executes this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  nonisolated let loop: Loop
  nonisolated let readers = MessageReaders()
  nonisolated let openQuestions = OpenQuestions()
  nonisolated let broadcaster = Broadcaster()
  nonisolated let readiness = Readiness()
  let driver: NodeDriver<HubCore.Event>
  private let configuration: HubConfiguration
  /// The device that the hub is.
  public nonisolated var deviceID: DeviceID { configuration.deviceID }
  /// See ``Node/internals``.
  public nonisolated var internals: NodeInternals { NodeInternals(node: self) }
  private let listeners: [any HubListener]
  private let locks: [HubLock]
  private let remote: HubRemote?
  private let remoteAccess: RemoteAccess
  /// The way to the log of the fleet, for a hub that takes part in rooms.
  private var together: TogetherLink?
  private let garbage = Counter(.hubGarbage)
  /// Frames of a kind that this version does not know. They are dropped.
  private let unknown = Counter(.hubUnknown)
  private var meters = HubMeters()
  private(set) var core: HubCore?
  private var clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  /// The open transports, in the order of the listeners; empty while the hub is disconnected.
  private var transports: [any HubTransport] = []
  /// The topics that any peer has subscribed to. Events of other topics are not encoded.
  private var subscribed: Set<Topic> = []
  private var complainedAbout: Set<ConnectionID> = []
  private var hasLoggedBegin = false
  /// Whose refusal was logged.
  private var refused: Set<ConnectionID> = []
  private nonisolated let shownClock = RunClockHolder()
  /// Whether the app follows the route on this hub.
  private var isRouteFollowed = false
  /// Whether the app follows what lock screens show.
  private var isLiveActivityFollowed = false

  /// Makes a hub from its parts; ``init(at:alsoAt:remote:keys:makesNewKeys:configuration:loop:)`` is the usual way.
  ///
  /// - Parameters:
  ///   - configuration: How the hub is set up.
  ///   - listeners: Open the sockets at which peers connect.
  ///   - store: Where the hub keeps its state.
  ///   - loop: The thread that the hub runs on; several nodes may share it.
  public init(configuration: HubConfiguration, listeners: [any HubListener], store: NodeStore, loop: Loop) {
    self.init(
      configuration: configuration, listeners: listeners, store: store, loop: loop, locks: [], services: LocalServices()
    )
  }

  /// Makes a hub with what it has on its own machine.
  ///
  /// - Parameters:
  ///   - locks: The locks that make this hub the only one of its buses; the hub releases them when it has ended.
  ///   - services: The spool and the admin socket on this machine.
  ///   - remote: The keys with which paired devices connect; `nil` for a hub without listeners for them.
  package init(
    configuration: HubConfiguration, listeners: [any HubListener], store: NodeStore, loop: Loop, locks: [HubLock] = [],
    services: LocalServices = LocalServices(), remote: HubRemote? = nil
  ) {
    self.locks = locks
    self.remote = remote
    self.configuration = configuration
    self.listeners = listeners
    self.loop = loop
    driver = NodeDriver(
      store: store, services: services, log: Logger(label: "runbus.hub"), word: "hub", failsUnwritten: true)
    remoteAccess = RemoteAccess(remote, listenerCount: listeners.count, loop: loop, log: driver.log)
  }

  deinit { readers.end() }

  /// Runs until the task is cancelled; see ``Node/run()``.
  public func run() async throws(RunBusError) { try await drive() }

  /// Adds readings of the hub's own sensors; see ``Node/add(_:)``.
  public func add(_ samples: [Sample]) async throws {
    try await check(samples)
    for sample in samples { feed(.sample(sample)) }
  }

  /// Whether readings, those of peers included, are not durable yet or their effect is not published yet.
  public var hasPendingSamples: Bool { core?.hasPendingSamples ?? false }

  /// The clock of the run; see ``Node/runClock``.
  public nonisolated var runClock: RunClock { shownClock.value(on: loop) }
  func followRoute() {
    guard !isRouteFollowed else { return }
    isRouteFollowed = true
    feed(.subscribed(.route))
  }
  var liveActivity: LiveActivity? { core?.liveActivity }
  func followLiveActivity() {
    guard !isLiveActivityFollowed else { return }
    isLiveActivityFollowed = true
    feed(.subscribed(.live))
  }
  /// A hub is always in its own reach.
  var knownNews: [NodeNews] { [.link(Reachability(isReachable: true))] }
  var isOutboxFull: Bool { false }
  /// A hub asks itself.
  func inquire(_ inquiry: Inquiry) async -> InquiryAnswer { await askCore(inquiry) }
  /// Decides about a run that was on when the hub died, while the hub waits for that decision
  /// (``RunCore/Snapshot/isRecovering``). Waits until the hub has begun, and returns when the decision is durable.
  ///
  /// - Throws: ``RunBusError/Code/notRecovering`` when no run waits for a decision; ``RunBusError/Code/closed``, or the
  ///   error that ended the hub, when it has ended; `CancellationError` when the task is cancelled before it has begun.
  public func recover(_ answer: RecoveryAnswer) async throws { try await ask(.recover(answer)) }

  /// The last published snapshot.
  public var authoritative: Snapshot { core?.authoritative ?? .none }
  /// The phase with the hub's own unjudged commands applied on top.
  public var predicted: RunPhase { core?.predicted ?? .idle }
  /// Bus time now; `nil` before the hub runs.
  public var busNow: BusTime? { core == nil ? nil : clock.bus(at: loop.now) }
  /// How fast bus time runs.
  public var speed: BusSpeed { configuration.speed }
  /// Where peers connect, one endpoint for each listener; empty while the sockets are closed.
  public var controlEndpoints: [String] { transports.map(\.controlEndpoint) }

  /// Closes the sockets to the peers; commands on the hub itself are still judged.
  public func disconnect() {
    for transport in transports { transport.close() }
    transports = []
    remoteAccess.close()
  }

  /// Opens the sockets again.
  public func reconnect() {
    if driver.lifecycle.isRunning, transports.isEmpty { open() }
  }

  // MARK: Events in

  func begin() throws(RunBusError) {
    try driver.store.claim(for: .hub)
    let history = try driver.store.history()
    let pairedDevices = history.members.devices.count { !$0.isRevoked }
    if remote?.keyring.isNew == true, pairedDevices > 0 {
      driver.log.warning(
        """
        the key of this bus was gone, and another one was made: \(pairedDevices) paired devices cannot connect; end this \
        hub and put the key back, or pair them anew
        """)
    }
    let real = loop.now
    clock = BusClock.continuing(
      history.clock, lastSign: history.lastSign, real: real, wallSeconds: loop.wallSeconds,
      bootID: MachineBoot.id, speed: configuration.speed)
    var settings = HubCore.Settings(
      deviceID: configuration.deviceID, nodeID: driver.store.nodeID, storeID: driver.store.storeID,
      debounce: configuration.debounce, clock: clock, metrics: configuration.metrics,
      recovery: configuration.recovery, downtime: configuration.downtime, appVersion: configuration.appVersion,
      seed: loop.seed(), bus: remoteAccess.identity)
    settings.listProof = remoteAccess.listProof
    settings.live = configuration.liveActivity
    settings.together = configuration.together?.settings(speed: configuration.speed)
    settings.utcOffset = HubCore.Settings.localOffset
    core = HubCore(
      settings: settings, history: history, now: clock.bus(at: real), wallSeconds: loop.wallSeconds,
      bootID: MachineBoot.id)
    shownClock.update(authoritative, clock)
    join()
    start()
    // A core that was replaced has followers from before.
    if isRouteFollowed { feed(.subscribed(.route)) }
    if isLiveActivityFollowed { feed(.subscribed(.live)) }
    driver.localServices?.meet()
    try openLocalServices()
  }

  func receive(_ event: HubCore.Event) {
    var event = event
    // The token comes from the system's random numbers, which the core does not have.
    if case .inquire(.pairing(.open), let number) = event {
      event = .offerPairing(token: RemoteAccess.token(), number)
    }
    if case .inquire(.rotateKey(let isNow), let number) = event {
      guard let rotated = rotateKey(isNow, number) else { return }
      event = rotated
    }
    guard let actions = core?.receive(event, at: clock.bus(at: loop.now)) else { return }
    if let tally = core?.takeTally() { driver.count(tally) }
    broadcaster.tellPredicted(predicted)
    for action in actions {
      carryOut(action)
      if let news = HubCore.news(of: action) { broadcaster.tell(news) }
    }
  }

  var wakeAt: BusTime? { core?.deadline.map(clock.real(at:)) }

  private func receive(_ event: HubTransportEvent) {
    switch event {
    case .subscribed(let topic):
      subscribed.insert(topic)
      feed(.subscribed(topic))
    case .burden(let burden, let identity): feed(.burden(burden, by: identity))
    case .frame(let connection, let bytes, let identity):
      // Before it is decoded, so that a flood costs as little as possible.
      guard core?.readsFrame(ofBytes: bytes.count, by: identity, at: clock.bus(at: loop.now)) ?? true else {
        return remoteAccess.note(identity, HubCore.tooManyFrames)
      }
      do {
        feed(.frame(connection, try Codec.peerFrame(bytes), by: identity))
      } catch {
        if case .unknown = error {
          unknown.increment()
          return feed(.unknown(connection))
        }
        if let command = Codec.unsupportedCommand(
          in: bytes, term: authoritative.order.term, revision: authoritative.order.revision)
        {
          return feed(.unsupported(connection, command, by: identity))
        }
        garbage.increment()
        complain(about: connection, error)
        switch error {
        case .versionMismatch(let version): feed(.foreign(connection, version: version))
        case .malformed, .unsupportedKind, .unknown: feed(.malformed(connection, "\(error)"))
        }
      }
    }
  }

  // MARK: Actions out

  private func carryOut(_ action: HubCore.Action) {
    driver.log.log(action)
    meters.note(action)
    switch action {
    case .open: open()
    case .send(let frame, let connection):
      if case .refused(let refusal) = frame.message { log(refusal, of: connection) }
      guard let transport = transport(of: connection) else { break }
      let limits = listeners.indices.contains(connection.listener) ? listeners[connection.listener].limits : .full
      switch transport.send(Codec.encode(frame, within: limits), to: connection) {
      case .gone: driver.queue.append(.gone(connection))
      case .full: driver.queue.append(.sendFailed(connection))
      case .sent: break
      }
    case .forward(let bytes, let connection):
      if transport(of: connection)?.send(bytes, to: connection) == .gone { driver.queue.append(.gone(connection)) }
    case .publish(let event):
      if subscribed.contains(event.topic) {
        let bytes = Codec.encode(event)
        for transport in transports { transport.publish(bytes, on: event.topic) }
      }
      broadcaster.hear(event)
    case .commit(let id, let operations): commit(id, operations)
    case .messageReceipt(let receipt): broadcaster.tell(receipt)
    case .refusePost(let id, let refusal): broadcaster.refuse(id, refusal)
    case .hand(let handlerCall): driver.handlerCalls.append(handlerCall)
    case .keep(let run): tell(run)
    case .readJournal(let run): readJournal(of: run)
    case .readRecord(let run, let from, let asker): readRecord(of: run, from: from, for: asker)
    case .receipt, .record, .showLive: break
    case .spooledCommandJudged(let id): driver.localServices?.remove(id)
    case .answer(let answer, let number): driver.localServices?.answer(answer, number)
    case .show(let snapshot): shownClock.update(snapshot, clock)
    case .recovered(let recovery): tell(recovery)
    case .admit(let keys): remoteAccess.admit(keys)
    case .cutConnections: remoteAccess.cutConnections(of: transports)
    case .useNextKey: useNextKey()
    case .listenForPairing(let isOn): listenForPairing(isOn)
    case .forbade(let identity, let reason): remoteAccess.note(identity, reason)
    case .note(let text): driver.log.debug("\(text)")
    case .room(let act): together?.carryOut(act)
    case .ended: driver.lifecycle.end(nil)
    }
  }

  /// Connects with the log of the fleet; a core that was replaced reads its rooms anew.
  private func join() {
    together?.end()
    together = configuration.together.map { member in
      TogetherLink(
        member.log, key: member.key, fleet: member.fleet, tell: onLoop { hub, news in hub.feed(.room(news)) },
        complain: onLoop { hub, sentence in hub.driver.log.warning("\(sentence)") })
    }
  }

  /// Opens all listeners, or none and ends the hub.
  private func open() {
    do {
      for (number, listener) in listeners.enumerated() {
        let transport = try listener.listen(on: loop) { [weak self] event in
          self?.assumeIsolated { $0.receive(event.at(listener: number)) }
        }
        transports.append(transport)
        driver.queue.append(
          .opened(eventsEndpoint: transport.eventsEndpoint, listener: number, limits: listener.limits))
      }
      if let identity = remoteAccess.identity { driver.queue.append(.identified(identity)) }
      if !driver.isFeeding { feed(.deadline) }
      readiness.open()
      logBegin()
    } catch {
      disconnect()
      driver.lifecycle.end(error)
    }
  }

  /// Says once where the hub is, and in which term.
  private func logBegin() {
    guard !hasLoggedBegin else { return }
    hasLoggedBegin = true
    let (place, term) = (controlEndpoints.joined(separator: ", "), core?.term ?? 0)
    driver.log.info(
      "the hub \(deviceID) begins at \(place), term \(term)",
      metadata: [.event: "begin", .device: deviceID, .bus: place, .term: term])
  }

  private func transport(of connection: ConnectionID) -> (any HubTransport)? {
    transports.indices.contains(connection.listener)
      ? transports[connection.listener] : remoteAccess.transport(of: connection)
  }

  /// Makes another key of the hub, on disk first; `nil` when that failed, which the caller was told.
  private func rotateKey(_ isNow: Bool, _ number: UInt64) -> HubCore.Event? {
    do {
      guard let identity = try remoteAccess.rotateKey(isNow: isNow, wallSeconds: loop.wallSeconds) else {
        driver.localServices?.answer(.failed(.pairsNobody), number)
        return nil
      }
      return .rotated(identity, now: isNow, number)
    } catch {
      driver.localServices?.answer(.failed(InquiryFailure(.store, error.message)), number)
      return nil
    }
  }

  private func useNextKey() {
    do {
      guard let identity = try remoteAccess.useNextKey() else { return }
      driver.log.notice("the hub uses its next key: all paired devices know it")
      remoteAccess.cutConnections(of: transports)
      driver.queue.append(.identified(identity))
    } catch {
      driver.log.error("the hub keeps its present key: \(error.message)")
    }
  }

  private func listenForPairing(_ isOn: Bool) {
    guard isOn else { return remoteAccess.closePairing() }
    do {
      try remoteAccess.openPairing { [weak self] event, number in
        self?.assumeIsolated { $0.receive(event.at(listener: number)) }
      }
    } catch {
      driver.log.error("no device can be paired: \(error.message)")
      driver.queue.append(.pairingUnavailable)
    }
  }

  private func readJournal(of run: RunID) {
    driver.store.readJournal(
      of: run,
      completion: onLoop { hub, result in
        // A run whose journal cannot be read gets no record now; the hub tries again after its next start.
        switch result {
        case .success(let entries): hub.feed(.journal(run, entries))
        case .failure(let fault): hub.driver.log.error("the journal of \(run) cannot be read: \(fault)")
        }
      })
  }

  private func tell(_ record: WholeRun) {
    let what = "a run of \(record.deviceID) has arrived whole and is kept as a record of its own (\(record.runID))"
    if record.isConflicted {
      driver.log.warning("\(what), marked conflicted: it overlaps another run")
    } else {
      driver.log.notice("\(what)")
    }
  }

  private func tell(_ recovery: RunRecovery) {
    let away = "this hub was away for \(configuration.speed.real(fromBus: recovery.downtime).seconds.rounded()) s"
    let run = "run \(recovery.runID)"
    switch recovery.outcome {
    case .asked: driver.log.notice("\(run) was on and \(away): it waits for somebody to say what is to become of it")
    case .finished: driver.log.notice("\(run) was on and \(away): it is finished as of then")
    case .overdue: driver.log.warning("\(run) was on and \(away), too long to go on: it is finished as of then")
    case .discarded: driver.log.warning("\(run) was on and \(away): it is finished as of then, and discarded")
    }
  }

  private func log(_ refusal: Refusal, of connection: ConnectionID) {
    // As with what is no frame: what others cause fills no log. The metrics count all of them.
    guard refused.count < 64, refused.insert(connection).inserted else { return }
    driver.log.info(
      "a sender was refused (\(refusal.code.rawValue)): \(refusal.message); more of its refusals are not logged",
      metadata: [.event: "refusal", .code: refusal.code.rawValue])
  }

  private func complain(about connection: ConnectionID, _ error: WireError) {
    // Logged once for each connection and for at most 64 of them, so that a stranger cannot fill the log.
    guard complainedAbout.count < 64, complainedAbout.insert(connection).inserted else { return }
    driver.log.warning("a peer sent what is no frame (\(error)); more of it is counted and not logged")
  }

  func abandon() {
    disconnect()
    together?.end()
    subscribed = []
  }

  var lostHold: RunBusError? {
    guard let lock = locks.first(where: { !$0.isInPlace }) else { return nil }
    return RunBusError(
      .transport,
      "the hub stops: \(lock.path) was removed or replaced, and another hub could take the bus; start it again")
  }

  func closeOwn() { for lock in locks { lock.close() } }
}

extension HubTransportEvent {
  /// The event with the number of its listener in its connection.
  fileprivate func at(listener: Int) -> HubTransportEvent {
    switch self {
    case .frame(let connection, let bytes, let identity):
      .frame(
        ConnectionID(route: connection.route, isRequest: connection.isRequest, listener: listener), bytes, by: identity)
    case .subscribed, .burden: self
    }
  }
}
