import CoreMetrics
import Foundation
import Logging
public import RunCore

/// Any process on the bus that is not its hub: watch, live activity, shell, another program.
///
/// It feeds its ``RunCore/PeerCore`` with what happens and carries out what that decides; it decides nothing itself. It
/// lives on its loop's thread, where its sockets are.
public actor Peer: Node {
  /// The thread that this actor lives on.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private nonisolated let loop: Loop
  private let connector: any PeerConnector
  private let store: NodeStore
  private let log = Logger(label: "runbus.peer")
  private let audience = Audience()
  private let garbage = Counter(label: "runbus.peer.garbage_frames")
  private let configuration: PeerConfiguration
  private var life = NodeLife()
  private var core: PeerCore?
  private var transport: (any PeerTransport)?
  private var timer: LoopTimer?
  private var queue: [PeerCore.Event] = []
  /// What happened before ``run()`` had begun.
  private var early: [PeerCore.Event] = []
  private var isFeeding = false
  private var hasComplained = false
  private var isEnding = false
  /// The store has refused a batch, which is tried again.
  private var isHeldUp = false
  private let place: NodePlace
  private var keeper: PlaceKeeper?
  private var desk: MessageDesk?
  /// What this turn hands to the app.
  private var handing: [Handover] = []
  /// Who waits for the hub's answers, in the order of the questions; nobody any more where a task was cancelled.
  private var inquiries: [(number: UInt64, continuation: CheckedContinuation<InquiryAnswer, Never>?)] = []
  private var lastInquiry: UInt64 = 0

  /// A peer on a loop, with a store and a way to the hub.
  ///
  /// - Parameter place: what else it has on its machine.
  public init(
    configuration: PeerConfiguration, connector: any PeerConnector, store: NodeStore, loop: Loop,
    place: NodePlace = NodePlace()
  ) {
    self.place = place
    self.configuration = configuration
    self.connector = connector
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

  /// Gives a command and waits for its verdict; see ``Node/send(_:)``. It is durable before it is sent; given while the
  /// hub is out of reach it waits and is delivered when it is back, by a later life of this node if need be.
  ///
  /// Throws ``RunBusError/Code/full`` when 1,024 commands wait already.
  public func send(_ command: Command) async throws(RunBusError) -> Verdict {
    if core?.isOutboxFull == true {
      throw RunBusError(.full, "1,024 commands wait for the hub already; try again when it is back")
    }
    return try await audience.verdict(of: command.id, isolation: self) {
      feed(.press(command))
    }.get()
  }

  /// The stages of one of this peer's commands.
  public func receipts(for id: CommandID) -> AsyncStream<Receipt> { audience.receipts(for: id) }
  /// The stages of all of this peer's own commands; see ``Node/ownReceipts()``.
  public func ownReceipts() -> AsyncStream<Receipt> { audience.ownReceipts() }

  /// Takes in one sensor reading; it is kept until the hub has it.
  ///
  /// Throws ``RunBusError/Code/full`` when 36,000 readings wait for the hub already, and
  /// ``RunBusError/Code/badInput`` for numbers that no sensor gives.
  public func record(_ sample: Sample) throws(RunBusError) {
    guard life.isRunning else { throw RunBusError(.closed, "the peer does not run") }
    guard Codec.carries(sample.value) else {
      throw RunBusError(.badInput, "\(sample.value) is no reading of a sensor: it was not taken in")
    }
    if core?.isSpoolFull == true {
      throw RunBusError(.full, "36,000 samples wait for the hub already; this one was not taken in")
    }
    feed(.sample(sample))
  }

  /// Snapshots as they come, the present one first.
  public func snapshots() -> AsyncStream<Snapshot> {
    audience.snapshots(first: core?.authoritative == Snapshot.none ? nil : core?.authoritative)
  }
  /// Which sensors the run asks for; see ``Node/sensorDemands()``.
  public func sensorDemands() -> AsyncStream<SensorDemand> { audience.sensorDemands(first: authoritative.sensors) }
  /// Everything this peer hears.
  public func events() -> AsyncStream<BusEvent> { audience.events() }
  /// What becomes of records here; see ``Node/recordNews()``.
  public func recordNews() -> AsyncStream<RecordNews> { audience.recordNews() }

  /// Asks this node itself what it holds; see ``Node/ask(_:)``.
  public func ask(_ inquiry: Inquiry) async -> InquiryAnswer {
    await withCheckedContinuation { continuation in
      guard let keeper else { return continuation.resume(returning: .failed("the node does not run")) }
      keeper.ask(inquiry) { continuation.resume(returning: $0) }
    }
  }

  /// The last snapshot.
  public var authoritative: Snapshot { core?.authoritative ?? .none }
  /// The phase with this peer's own unsettled commands on top.
  public var predicted: RunPhase { core?.predicted ?? .idle }
  /// Bus time now, as far as this peer knows.
  public var busNow: BusTime? { core?.busNow(at: Loop.now) }
  /// How fast bus time runs.
  public var speed: BusSpeed { core?.clock?.speed ?? .realTime }
  /// How many samples the hub has not acknowledged yet.
  public var unacknowledgedSamples: Int { core?.spooledCount ?? 0 }
  /// The hub has not acknowledged all samples yet.
  public var hasUnsettledSamples: Bool { unacknowledgedSamples > 0 }

  /// How it stands to its hub.
  public var reachability: Reachability {
    Reachability(
      isReachable: core?.isReachable ?? false, lastHeardAge: core?.heardAt.map { Loop.now - $0 },
      roundTrip: core?.roundTrip)
  }
  /// Changes of it, the present one first.
  public func reachabilities() -> AsyncStream<Reachability> { audience.reachabilities(first: reachability) }

  /// How far what this peer shows can be believed, now.
  public var viewState: ViewState {
    core?.viewState(at: Loop.now) ?? ViewState(age: nil, isStale: false, isHubOffDuty: false)
  }
  /// Changes of it, the present one first: the view becomes stale after three missed heartbeats (6 s while a run is on,
  /// 30 s otherwise) or when the hub has gone off duty, and fresh with the hub's next word. A slow reader sees the newest.
  public func views() -> AsyncStream<ViewState> { audience.views(first: viewState) }

  /// The hub has been silent for ``PeerConfiguration/hubLostAfter`` while a run is on: the run may have stopped. Once in a
  /// silence, over all lives of this peer, and once that is durable; the hub's next word arms it again.
  ///
  /// Not after a hub that ended in good order. Only silence counts in which this peer was awake and on the air: what it
  /// slept through or was suspended for says nothing about the hub.
  public func hubLost() -> AsyncStream<HubLost> { audience.hubLosses() }
  /// The last such alarm, of this life or an earlier one; `nil` when there never was one.
  public var lastHubLost: HubLost? { core?.lastHubLost }

  /// Closes the sockets; presses and samples are kept.
  public func suspend() {
    guard let transport else { return }
    transport.close()
    self.transport = nil
    feed(.suspended)
  }

  /// Connects again.
  public func resume() {
    guard life.isRunning, transport == nil else { return }
    feed(.resumed)
    do {
      try connect()
    } catch {
      life.end(error)
    }
  }

  // MARK: Messages

  /// Sends an app's message to the hub by its class; returns once it is durable here (a live one: once it is on its way).
  ///
  /// Throws ``RunBusError/Code/badInput`` for a message that no frame carries, ``RunBusError/Code/unreachable`` for a
  /// live one when the hub is not there, ``RunBusError/Code/full`` when as much waits as may.
  public func post(_ message: AppMessage, by deliveryClass: DeliveryClass) async throws(RunBusError) {
    guard !life.hasEnded else { throw RunBusError(.closed, "the peer has ended") }
    try await audience.posting(of: message.id, isolation: self) { feed(.post(message, deliveryClass)) }.get()
  }

  /// See ``Node/messageReceipts(for:)``.
  public func messageReceipts(for id: MessageID) -> AsyncStream<MessageReceipt> { audience.messageReceipts(for: id) }

  /// The newest value of a key that the hub has sent with the class `latest`.
  public func latest(_ key: String) -> AppMessage? { core?.latest(key) }

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

  /// Asks the hub what it holds. Waits until it is in reach and answers, or the node ends.
  /// Cancelling the task ends the waiting.
  public func inquire(_ inquiry: Inquiry) async -> InquiryAnswer {
    lastInquiry += 1
    let number = lastInquiry
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard !life.hasEnded else { return continuation.resume(returning: .failed("the peer has ended")) }
        inquiries.append((number, continuation))
        feed(.ask(inquiry))
      }
    } onCancel: {
      loop.submit { [self] in assumeIsolated { $0.abandon(number) } }
    }
  }

  /// Its place stays: answers come in the order of the questions.
  private func abandon(_ number: UInt64) {
    guard let index = inquiries.firstIndex(where: { $0.number == number }) else { return }
    inquiries[index].continuation?.resume(returning: .failed("nobody waits for the answer any more"))
    inquiries[index].continuation = nil
  }

  // MARK: Events in

  private func begin() throws(RunBusError) {
    let settings = PeerCore.Settings(
      deviceID: configuration.deviceID, role: configuration.role, nodeID: store.nodeID, storeID: store.storeID,
      topics: configuration.topics, isOneShot: configuration.isOneShot, hubLostAfter: configuration.hubLostAfter,
      seed: .random(in: .min ... .max))
    core = PeerCore(
      settings: settings, history: try store.peerHistory(), now: Loop.now,
      wallSeconds: Date().timeIntervalSince1970, bootID: MachineBoot.id)
    timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in store.notices { log.warning("\(notice)") }
    feed(.started)
    if core?.authoritative.order.term ?? 0 > 0, let core { audience.show(core.authoritative) }
    keeper = PlaceKeeper(
      place, loop: loop, log: log,
      spooled: { [weak self] presses in self?.assumeIsolated { $0.feed(.spooled(presses)) } },
      inquire: { [weak self] inquiry, number in self?.assumeIsolated { $0.feed(.inquire(inquiry, number)) } })
    keeper?.open()
    for event in early { feed(event) }
    early = []
    try connect()
  }

  private func end() {
    isEnding = true
    if core == nil { life.end(nil) } else { feed(.ending) }
  }

  private func connect() throws(RunBusError) {
    transport = try connector.connect(on: loop) { [weak self] event in
      self?.assumeIsolated { $0.take(event) }
    }
  }

  private func feed(_ event: PeerCore.Event) {
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
        guard let actions = core?.receive(event, at: Loop.now) else { break }
        for action in actions { carryOut(action) }
      }
    }
    isFeeding = false
    if !handing.isEmpty {
      desk?.put(handing)
      handing = []
    }
    keeper?.lookIfDue()
    timer?.deadline = core?.deadline
  }

  private func take(_ event: PeerTransportEvent) {
    switch event {
    case .linkUp: feed(.linkUp)
    case .linkDown(let reason):
      log.debug("the link to the hub is down: \(reason)")
      feed(.linkDown)
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
      if let transport, transport.send(Codec.encode(frame)) == .full { queue.append(.sendFailed) }
    case .subscribe(let endpoint, let topics): transport?.subscribe(to: endpoint, topics: topics)
    case .commit(let id, let operations): commit(id, operations)
    case .receipt(let receipt): audience.tell(receipt)
    case .messageReceipt(let receipt): audience.tell(receipt)
    case .refusePost(let id, let refusal): audience.refuse(id, refusal)
    case .hand(let handover): handing.append(handover)
    case .spoolSettled(let id): keeper?.settle(id)
    case .answer(let answer, let number): keeper?.answer(answer, number)
    case .readRecord(let run, let from, let asker): readRecord(of: run, from: from, for: asker)
    case .record(let news): audience.tell(news)
    case .answered(let answer):
      if !inquiries.isEmpty { inquiries.removeFirst().continuation?.resume(returning: answer) }
    case .met: keeper?.meet()
    case .ended: life.end(nil)
    case .show(let snapshot): audience.show(snapshot)
    case .hear(let event): audience.hear(event)
    case .reachability: audience.tell(reachability)
    case .view(let state): audience.tell(state)
    case .hubLost(let lost):
      log.notice("the hub has been silent for \(lost.silence.seconds) s while a run is on: it may have stopped")
      audience.tell(lost)
    case .fail(let refusal): life.end(RunBusError(.wireMismatch, refusal.message))
    case .note(let text): log.debug("\(text)")
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
    case .failure(let fault) where fault.isTemporary:
      // Said once: the tries that follow have nothing to add.
      if !isHeldUp {
        log.error("the store takes nothing now: \(fault); nothing is lost, it is tried again every second")
      }
      isHeldUp = true
      feed(.commitFailed(id))
    case .failure(let fault): life.end(RunBusError(.store, "the node stops: \(fault)", cause: fault))
    }
  }

  private func readRecord(of run: RunID, from: Int, for asker: RecordAsker) {
    store.readRecord(of: run, from: from) { [self] reading in
      loop.submit { [self] in assumeIsolated { $0.feed(.recordRead(reading, for: asker)) } }
    }
  }

  private func complain(_ error: WireError) {
    garbage.increment()
    guard !hasComplained else { return }
    hasComplained = true
    log.warning("the hub sent what is no frame (\(error)); more of it is counted and not logged")
  }

  private func close(_ error: RunBusError?) {
    life.end(error)
    timer = nil
    keeper?.close()
    keeper = nil
    desk?.close()
    for inquiry in inquiries { inquiry.continuation?.resume(returning: .failed("the node has ended")) }
    inquiries = []
    transport?.close()
    transport = nil
    store.close()
    audience.end(error ?? RunBusError(.closed, "the node has ended"))
  }
}
