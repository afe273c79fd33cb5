import CoreMetrics
import Foundation
import Logging
public import RunCore

/// The node that holds the authoritative run: exactly one per bus.
///
/// It feeds its ``RunCore/HubCore`` with what happens and carries out what that decides; it decides nothing itself. It
/// lives on its loop's thread, where its sockets are.
public actor Hub: Node {
  /// The thread that this actor lives on.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private nonisolated let loop: Loop
  private let configuration: HubConfiguration
  private let listener: any HubListener
  private let store: NodeStore
  private let lock: HubLock?
  private let log = Logger(label: "runbus.hub")
  private let audience = Audience()
  private let garbage = Counter(label: "runbus.hub.garbage_frames")
  private var life = NodeLife()
  private var core: HubCore?
  private var clock = BusClock(realAnchor: .zero, busAnchor: .zero, speed: .realTime)
  private var transport: (any HubTransport)?
  private var timer: LoopTimer?
  private var queue: [HubCore.Event] = []
  private var isFeeding = false
  private var isEnding = false
  /// Commands that were given before ``run()`` had begun.
  private var early: [Command] = []
  /// Nobody has subscribed to a topic yet: what is published on it need not even be encoded.
  private var subscribed: Set<Topic> = []
  private var complainedAbout: Set<ConnectionID> = []

  /// A hub on a loop, with a store and a way to be reached.
  ///
  /// - Parameter lock: what makes it the only hub of its bus, where a lock does; let go when the hub has ended.
  public init(
    configuration: HubConfiguration, listener: any HubListener, store: NodeStore, loop: Loop, lock: HubLock? = nil
  ) {
    self.lock = lock
    self.configuration = configuration
    self.listener = listener
    self.store = store
    self.loop = loop
  }

  /// Runs until the task is cancelled; see ``Node/run()``.
  public func run() async throws(RunBusError) {
    try life.begin()
    do {
      try begin()
    } catch {
      close(error)
      throw error
    }
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { life.wait($0) }
    } onCancel: {
      loop.submit { [self] in assumeIsolated { $0.end() } }
    }
    close(error)
    if let error { throw error }
  }

  /// Gives a command on the hub itself; see ``Node/send(_:)``.
  public func send(_ command: Command) async throws(RunBusError) -> Verdict {
    try await audience.verdict(of: command.id, isolation: self) {
      if core == nil { early.append(command) } else { feed(.press(command)) }
    }.get()
  }

  /// The stages of one of the hub's own commands.
  public func receipts(for id: CommandID) -> AsyncStream<Receipt> { audience.receipts(for: id) }

  /// Takes in a reading of one of the hub's own sensors.
  ///
  /// Throws ``RunBusError/Code/badInput`` for numbers that no sensor gives.
  public func record(_ sample: Sample) throws(RunBusError) {
    guard life.isRunning else { throw RunBusError(.closed, "the hub does not run") }
    guard Codec.carries(sample.value) else {
      throw RunBusError(.badInput, "\(sample.value) is no reading of a sensor: it was not taken in")
    }
    feed(.sample(sample))
  }

  /// Readings, its peers' among them, are not durable yet, or what they change is not published yet.
  public var hasUnsettledSamples: Bool { core?.hasUnsettledSamples ?? false }

  /// Snapshots as they are published, the present one first.
  public func snapshots() -> AsyncStream<Snapshot> {
    audience.snapshots(first: core?.authoritative == Snapshot.none ? nil : core?.authoritative)
  }
  /// Everything that the hub publishes.
  public func events() -> AsyncStream<BusEvent> { audience.events() }
  /// The last published snapshot.
  public var authoritative: Snapshot { core?.authoritative ?? .none }
  /// The phase with the hub's own unjudged presses on top.
  public var predicted: RunPhase { core?.predicted ?? .idle }
  /// Bus time now; `nil` before the hub runs.
  public var busNow: BusTime? { core == nil ? nil : clock.bus(at: Loop.now) }
  /// How fast bus time runs.
  public var speed: BusSpeed { configuration.speed }
  /// Where peers connect, once the sockets are open.
  public var controlEndpoint: String? { transport?.controlEndpoint }

  /// Closes the sockets; presses on the hub itself go on.
  public func suspend() {
    transport?.close()
    transport = nil
  }

  /// Opens the sockets again.
  public func resume() {
    if life.isRunning, transport == nil { open() }
  }

  // MARK: Events in

  private func begin() throws(RunBusError) {
    let history = try store.history()
    let real = Loop.now
    clock = BusClock.continuing(
      history.clock, real: real, wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id,
      speed: configuration.speed)
    let settings = HubCore.Settings(
      deviceID: configuration.deviceID, nodeID: store.nodeID, storeID: store.storeID,
      debounce: configuration.debounce, clock: clock)
    core = HubCore(settings: settings, history: history, now: clock.bus(at: real))
    timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in store.notices { log.warning("\(notice)") }
    feed(.started)
    for command in early { feed(.press(command)) }
    early = []
  }

  private func end() {
    isEnding = true
    feed(.ending)
  }

  private func feed(_ event: HubCore.Event) {
    guard core != nil, life.isRunning else { return }
    queue.append(event)
    // Actions are carried out after the state is settled: what they bring about waits its turn.
    guard !isFeeding else { return }
    isFeeding = true
    while !queue.isEmpty {
      let batch = queue
      queue.removeAll(keepingCapacity: true)
      for event in batch {
        guard let actions = core?.receive(event, at: clock.bus(at: Loop.now)) else { break }
        for action in actions { carryOut(action) }
      }
    }
    isFeeding = false
    timer?.deadline = core?.deadline.map(clock.real(at:))
  }

  private func take(_ event: HubTransportEvent) {
    switch event {
    case .subscribed(let topic):
      subscribed.insert(topic)
      feed(.subscribed(topic))
    case .frame(let connection, let bytes):
      do {
        feed(.frame(connection, try Codec.peerFrame(bytes)))
      } catch {
        if let command = Codec.unsupportedCommand(
          in: bytes, term: authoritative.order.term, revision: authoritative.order.revision)
        {
          feed(.unsupported(connection, command))
        } else {
          garbage.increment()
          complain(about: connection, error)
          switch error {
          case .versionMismatch(let version): feed(.foreign(connection, version: version))
          case .malformed, .unsupportedKind: feed(.malformed(connection, "\(error)"))
          }
        }
      }
    }
  }

  // MARK: Actions out

  private func carryOut(_ action: HubCore.Action) {
    switch action {
    case .open: open()
    case .send(let frame, let connection):
      if transport?.send(Codec.encode(frame), to: connection) == .gone { queue.append(.gone(connection)) }
    case .forward(let bytes, let connection):
      if transport?.send(bytes, to: connection) == .gone { queue.append(.gone(connection)) }
    case .publish(let event):
      if subscribed.contains(event.topic) { transport?.publish(Codec.encode(event), on: event.topic) }
      audience.hear(event)
    case .commit(let id, let operations): commit(id, operations)
    case .receipt(let receipt): audience.tell(receipt)
    case .show(let snapshot): audience.show(snapshot)
    case .note(let text): log.debug("\(text)")
    case .ended: life.end(nil)
    }
  }

  private func open() {
    do {
      let transport = try listener.listen(on: loop) { [weak self] event in
        self?.assumeIsolated { $0.take(event) }
      }
      self.transport = transport
      queue.append(.opened(eventsEndpoint: transport.eventsEndpoint))
      if !isFeeding { feed(.deadline) }
    } catch {
      life.end(error)
    }
  }

  private func commit(_ id: CommitID, _ operations: [StoreOperation]) {
    guard !operations.isEmpty else { return queue.append(.committed(id)) }
    store.commit(operations) { [self] result in
      loop.submit { [self] in assumeIsolated { $0.finish(id, result) } }
    }
  }

  private func finish(_ id: CommitID, _ result: Result<Void, StoreFault>) {
    switch result {
    case .success: feed(.committed(id))
    case .failure(let fault) where fault.isTemporary && !isEnding:
      log.error("the store takes nothing now: \(fault); nothing is lost, it is tried again every second")
      feed(.commitFailed(id))
    case .failure(let fault): life.end(RunBusError(.store, "the hub stops: \(fault)", cause: fault))
    }
  }

  private func complain(about connection: ConnectionID, _ error: WireError) {
    // Once a peer, and bounded: a stranger cannot fill the log.
    guard complainedAbout.count < 256, complainedAbout.insert(connection).inserted else { return }
    log.warning("a peer sent what is no frame (\(error)); more of it is counted and not logged")
  }

  private func close(_ error: RunBusError?) {
    life.end(error)
    timer = nil
    transport?.close()
    transport = nil
    store.close()
    lock?.close()
    audience.end(error ?? RunBusError(.closed, "the hub has ended"))
  }
}
