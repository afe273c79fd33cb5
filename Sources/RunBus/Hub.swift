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
  /// The store has refused a batch, which is tried again.
  private var isHeldUp = false
  /// What happened before ``run()`` had begun.
  private var early: [HubCore.Event] = []
  /// Nobody has subscribed to a topic yet: what is published on it need not even be encoded.
  private var subscribed: Set<Topic> = []
  private var complainedAbout: Set<ConnectionID> = []
  private let place: NodePlace
  private var keeper: PlaceKeeper?
  private var desk: MessageDesk?
  /// What this turn hands to the app.
  private var handing: [Handover] = []

  /// A hub on a loop, with a store and a way to be reached.
  ///
  /// - Parameters:
  ///   - lock: what makes it the only hub of its bus, where a lock does; let go when the hub has ended.
  ///   - place: what else it has on its machine.
  public init(
    configuration: HubConfiguration, listener: any HubListener, store: NodeStore, loop: Loop, lock: HubLock? = nil,
    place: NodePlace = NodePlace()
  ) {
    self.place = place
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
      feed(.press(command))
    }.get()
  }

  /// The stages of one of the hub's own commands.
  public func receipts(for id: CommandID) -> AsyncStream<Receipt> { audience.receipts(for: id) }

  /// The stages of all of the hub's own commands; see ``Node/ownReceipts()``.
  public func ownReceipts() -> AsyncStream<Receipt> { audience.ownReceipts() }

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
  /// Which sensors the run asks for; see ``Node/sensorDemands()``.
  public func sensorDemands() -> AsyncStream<SensorDemand> { audience.sensorDemands(first: authoritative.sensors) }
  /// Everything that the hub publishes.
  public func events() -> AsyncStream<BusEvent> { audience.events() }
  /// Says what is to become of a run that was on when the hub died, if the hub asks (``RunCore/Snapshot/isRecovering``).
  ///
  /// Throws ``RunBusError/Code/badInput`` when no run waits for an answer.
  public func recover(_ answer: RecoveryAnswer) throws(RunBusError) {
    guard core?.isRecovering ?? false else { throw RunBusError(.badInput, HubCore.nothingToRecover) }
    feed(.recover(answer))
  }
  /// What becomes of records here; see ``Node/recordNews()``.
  public func recordNews() -> AsyncStream<RecordNews> { audience.recordNews() }

  /// Asks this node itself what it holds; see ``Node/ask(_:)``.
  public func ask(_ inquiry: Inquiry) async -> InquiryAnswer {
    await withCheckedContinuation { continuation in
      guard let keeper else { return continuation.resume(returning: .failed("the node does not run")) }
      keeper.ask(inquiry) { continuation.resume(returning: $0) }
    }
  }

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

  // MARK: Messages

  /// Sends an app's message to a device by its class; returns once it is durable here (a live one: once it is on its way).
  ///
  /// Throws ``RunBusError/Code/badInput`` for a device that this hub has never met and for a message that no frame
  /// carries, ``RunBusError/Code/unreachable`` for a live one when the device is not there, ``RunBusError/Code/full``.
  public func post(
    _ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID
  ) async throws(RunBusError) {
    guard !life.hasEnded else { throw RunBusError(.closed, "the hub has ended") }
    try await audience.posting(of: message.id, isolation: self) {
      feed(.post(message, deliveryClass, to: device))
    }.get()
  }

  /// See ``Node/messageReceipts(for:)``.
  public func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> { audience.messageReceipts(for: id) }

  /// The newest value of a key that a device has sent with the class `latest`.
  public func latest(_ key: String, from device: DeviceID) -> AppMessage? { core?.latest(key, from: device) }

  /// See ``Node/handleMessages(_:)``.
  public func handleMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError) {
    guard desk == nil else { throw RunBusError(.badInput, "this node has a handler for messages already") }
    let desk = MessageDesk()
    self.desk = desk
    feed(.handling(true))
    await withTaskCancellationHandler {
      await desk.serve(handler) { [loop] report in
        loop.submit { [self] in assumeIsolated { $0.take(report) } }
      }
    } onCancel: {
      desk.close()
    }
    self.desk = nil
    feed(.handling(false))
  }

  private func take(_ report: MessageDesk.Report) {
    switch report {
    case .handled(let stream, let sequence, let turn): feed(.handled(stream, through: sequence, turn: turn))
    case .failed(let stream, let sequence, let reason): feed(.failed(stream, sequence, reason))
    }
  }

  // MARK: Events in

  private func begin() throws(RunBusError) {
    let history = try store.history()
    let real = Loop.now
    clock = BusClock.continuing(
      history.clock, lastSign: history.lastSign, real: real, wallSeconds: Date().timeIntervalSince1970,
      bootID: MachineBoot.id, speed: configuration.speed)
    let settings = HubCore.Settings(
      deviceID: configuration.deviceID, nodeID: store.nodeID, storeID: store.storeID,
      debounce: configuration.debounce, clock: clock, metrics: configuration.metrics,
      recovery: configuration.recovery, downtime: configuration.downtime, appVersion: configuration.appVersion,
      seed: .random(in: .min ... .max))
    core = HubCore(
      settings: settings, history: history, now: clock.bus(at: real), wallSeconds: Date().timeIntervalSince1970,
      bootID: MachineBoot.id)
    timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in store.notices { log.warning("\(notice)") }
    feed(.started)
    keeper = PlaceKeeper(
      place, loop: loop, log: log,
      spooled: { [weak self] presses in self?.assumeIsolated { $0.feed(.spooled(presses)) } },
      inquire: { [weak self] inquiry, number in self?.assumeIsolated { $0.feed(.inquire(inquiry, number)) } })
    keeper?.meet()
    keeper?.open()
    for event in early { feed(event) }
    early = []
  }

  private func end() {
    isEnding = true
    feed(.ending)
  }

  private func feed(_ event: HubCore.Event) {
    guard core != nil else {
      if !life.hasEnded { early.append(event) }
      return
    }
    guard life.isRunning else { return }
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
    if !handing.isEmpty {
      desk?.put(handing)
      handing = []
    }
    keeper?.lookIfDue()
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
      switch transport?.send(Codec.encode(frame), to: connection) {
      case .gone: queue.append(.gone(connection))
      case .full: queue.append(.sendFailed(connection))
      case .sent, nil: break
      }
    case .forward(let bytes, let connection):
      if transport?.send(bytes, to: connection) == .gone { queue.append(.gone(connection)) }
    case .publish(let event):
      if subscribed.contains(event.topic) { transport?.publish(Codec.encode(event), on: event.topic) }
      audience.hear(event)
    case .commit(let id, let operations): commit(id, operations)
    case .receipt(let receipt): audience.tell(receipt)
    case .messageReceipt(let receipt): audience.tell(receipt)
    case .refusePost(let id, let refusal): audience.refuse(id, refusal)
    case .hand(let handover): handing.append(handover)
    case .keep(let run): tell(run)
    case .readJournal(let run): readJournal(of: run)
    case .readRecord(let run, let from, let asker): readRecord(of: run, from: from, for: asker)
    case .record(let news): audience.tell(news)
    case .spoolSettled(let id): keeper?.settle(id)
    case .answer(let answer, let number): keeper?.answer(answer, number)
    case .show(let snapshot): audience.show(snapshot)
    case .recovered(let recovery): tell(recovery)
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
    case .success:
      if isHeldUp { log.warning("the store takes what waited") }
      isHeldUp = false
      feed(.committed(id))
    case .failure(let fault) where fault.isTemporary && !isEnding:
      // Said once: the tries that follow have nothing to add.
      if !isHeldUp {
        log.error("the store takes nothing now: \(fault); nothing is lost, it is tried again every second")
      }
      isHeldUp = true
      feed(.commitFailed(id))
    case .failure(let fault): life.end(RunBusError(.store, "the hub stops: \(fault)", cause: fault))
    }
  }

  private func readJournal(of run: RunID) {
    store.readJournal(of: run) { [self] result in
      loop.submit { [self] in
        assumeIsolated { hub in
          // What cannot be read is a run without a record; the log says why, and the next life tries again.
          switch result {
          case .success(let entries): hub.feed(.journal(run, entries))
          case .failure(let fault): hub.log.error("the journal of \(run) cannot be read: \(fault)")
          }
        }
      }
    }
  }

  private func readRecord(of run: RunID, from: Int, for asker: RecordAsker) {
    store.readRecord(of: run, from: from) { [self] reading in
      loop.submit { [self] in assumeIsolated { $0.feed(.recordRead(reading, for: asker)) } }
    }
  }

  private func tell(_ record: WholeRun) {
    let what = "a run of \(record.deviceID) has arrived whole and is kept as a record of its own (\(record.runID))"
    if record.isConflicted {
      log.warning("\(what), marked conflicted: it overlaps another run")
    } else {
      log.notice("\(what)")
    }
  }

  private func tell(_ recovery: RunRecovery) {
    let away = "this hub was away for \(configuration.speed.real(fromBus: recovery.downtime).seconds.rounded()) s"
    let run = "run \(recovery.runID)"
    switch recovery.outcome {
    case .asked: log.notice("\(run) was on and \(away): it waits for somebody to say what is to become of it")
    case .finished: log.notice("\(run) was on and \(away): it is finished as of then")
    case .overdue: log.warning("\(run) was on and \(away), too long to go on: it is finished as of then")
    case .discarded: log.warning("\(run) was on and \(away): it is finished as of then, and discarded")
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
    keeper?.close()
    keeper = nil
    desk?.close()
    transport?.close()
    transport = nil
    store.close()
    lock?.close()
    audience.end(error ?? RunBusError(.closed, "the hub has ended"))
  }
}
