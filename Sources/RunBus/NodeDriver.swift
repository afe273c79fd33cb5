import Logging
import RunCore

/// What both cores are told alike, by the names that their events have for it.
protocol NodeEvent: Sendable {
  static var started: Self { get }
  static var deadline: Self { get }
  static var ending: Self { get }
  static func handling(_ isOn: Bool) -> Self
  static func handled(_ stream: StreamID, through sequence: UInt64, turn: UInt64?) -> Self
  static func failed(_ stream: StreamID, _ sequence: UInt64, _ reason: String) -> Self
  static func spooled(_ presses: [SpooledPress]) -> Self
  static func inquire(_ inquiry: Inquiry, _ number: UInt64) -> Self
  static func recordRead(_ reading: RecordReading, for asker: RecordAsker) -> Self
  static func committed(_ id: CommitID) -> Self
  static func commitFailed(_ id: CommitID) -> Self
}

extension HubCore.Event: NodeEvent {}
extension PeerCore.Event: NodeEvent {}

/// What a hub and a peer hold alike around their cores. Used on the loop's thread only: its actor owns it.
final class NodeDriver<Event: NodeEvent> {
  let store: NodeStore
  let log: Logger
  let audience = Audience()
  var life = NodeLife()
  var keeper: PlaceKeeper?
  /// What this turn hands to the app.
  var handing: [Handover] = []
  /// What the actions of this turn have brought about; it waits until they are carried out.
  var queue: [Event] = []
  fileprivate(set) var isFeeding = false

  fileprivate let place: NodePlace
  /// How it speaks of the node.
  fileprivate let word: String
  /// What the store does not take any more at the end is an error, and not a note.
  fileprivate let failsUnwritten: Bool
  fileprivate var timer: LoopTimer?
  fileprivate var desk: MessageDesk?
  /// There is a core.
  fileprivate var hasStarted = false
  /// What happened before that.
  fileprivate var early: [Event] = []
  fileprivate var isEnding = false
  /// The store has refused a batch, which is tried again.
  fileprivate var isHeldUp = false

  init(store: NodeStore, place: NodePlace, log: Logger, word: String, failsUnwritten: Bool) {
    self.store = store
    self.place = place
    self.log = log
    self.word = word
    self.failsUnwritten = failsUnwritten
  }
}

/// A node as what drives it sees it: a core that is fed, and a transport.
protocol DrivenNode: Actor {
  associatedtype Event: NodeEvent

  nonisolated var loop: Loop { get }
  var driver: NodeDriver<Event> { get }
  /// When the core wants to be woken, on the loop's line.
  var wakeAt: BusTime? { get }

  /// Makes the core, then ``start()`` and ``openPlace()``.
  func begin() throws(RunBusError)
  /// Feeds the core and carries out what it decides.
  func receive(_ event: Event)
  /// Lets go of what is its own, the transport before all.
  func closeOwn()
}

// MARK: The life

extension DrivenNode {
  func drive() async throws(RunBusError) {
    try driver.life.begin()
    do {
      try begin()
    } catch {
      close(error)
      throw error
    }
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { driver.life.wait($0) }
    } onCancel: {
      loop.submit { [self] in assumeIsolated { $0.end() } }
    }
    close(error)
    if let error { throw error }
  }

  /// The core is there.
  func start() {
    driver.hasStarted = true
    driver.timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in driver.store.notices { driver.log.warning("\(notice)") }
    feed(.started)
    driver.keeper = PlaceKeeper(
      driver.place, loop: loop, log: driver.log,
      spooled: { [weak self] presses in self?.assumeIsolated { $0.feed(.spooled(presses)) } },
      inquire: { [weak self] inquiry, number in self?.assumeIsolated { $0.feed(.inquire(inquiry, number)) } })
  }

  /// Others on this machine may come, and what came early is taken in.
  func openPlace() {
    driver.keeper?.open()
    for event in driver.early { feed(event) }
    driver.early = []
  }

  private func end() {
    driver.isEnding = true
    feed(.ending)
  }

  private func close(_ error: RunBusError?) {
    driver.life.end(error)
    driver.timer = nil
    driver.keeper?.close()
    driver.keeper = nil
    driver.desk?.close()
    closeOwn()
    driver.audience.end(error ?? RunBusError(.closed, "the \(driver.word) has ended"))
  }
}

// MARK: Events in

extension DrivenNode {
  func feed(_ event: Event) {
    guard driver.hasStarted else {
      if !driver.life.hasEnded { driver.early.append(event) }
      return
    }
    guard driver.life.isRunning else { return }
    driver.queue.append(event)
    // Actions are carried out after the state is settled: what they bring about waits its turn.
    guard !driver.isFeeding else { return }
    driver.isFeeding = true
    while !driver.queue.isEmpty {
      let batch = driver.queue
      driver.queue.removeAll(keepingCapacity: true)
      for event in batch { receive(event) }
    }
    driver.isFeeding = false
    if !driver.handing.isEmpty {
      driver.desk?.put(driver.handing)
      driver.handing = []
    }
    driver.keeper?.lookIfDue()
    driver.timer?.deadline = wakeAt
  }

  /// The node's own app asks it.
  func askKeeper(_ inquiry: Inquiry) async -> InquiryAnswer {
    await withCheckedContinuation { continuation in
      guard let keeper = driver.keeper else { return continuation.resume(returning: .failed("the node does not run")) }
      keeper.ask(inquiry) { continuation.resume(returning: $0) }
    }
  }

  func serveMessages(
    _ handler: @escaping @Sendable (ReceivedMessage) async throws -> Void
  ) async throws(RunBusError) {
    guard driver.desk == nil else { throw RunBusError(.badInput, "this node has a handler for messages already") }
    let desk = MessageDesk()
    driver.desk = desk
    feed(.handling(true))
    await withTaskCancellationHandler {
      await desk.serve(handler) { [loop] report in
        loop.submit { [self] in assumeIsolated { $0.take(report) } }
      }
    } onCancel: {
      desk.close()
    }
    driver.desk = nil
    feed(.handling(false))
  }

  private func take(_ report: MessageDesk.Report) {
    switch report {
    case .handled(let stream, let sequence, let turn): feed(.handled(stream, through: sequence, turn: turn))
    case .failed(let stream, let sequence, let reason): feed(.failed(stream, sequence, reason))
    }
  }
}

// MARK: The store

extension DrivenNode {
  func commit(_ id: CommitID, _ operations: [StoreOperation]) {
    guard !operations.isEmpty else { return driver.queue.append(.committed(id)) }
    driver.store.commit(operations) { [self] result in
      loop.submit { [self] in assumeIsolated { $0.finish(id, result) } }
    }
  }

  private func finish(_ id: CommitID, _ result: Result<Void, StoreFault>) {
    switch result {
    case .success:
      if driver.isHeldUp { driver.log.warning("the store takes what waited") }
      driver.isHeldUp = false
      feed(.committed(id))
    case .failure(let fault) where fault.isTemporary && !(driver.isEnding && driver.failsUnwritten):
      // Said once: the tries that follow have nothing to add.
      if !driver.isHeldUp {
        driver.log.error("the store takes nothing now: \(fault); nothing is lost, it is tried again every second")
      }
      driver.isHeldUp = true
      feed(.commitFailed(id))
    case .failure(let fault):
      driver.life.end(RunBusError(.store, "the \(driver.word) stops: \(fault)", cause: fault))
    }
  }

  func readRecord(of run: RunID, from: Int, for asker: RecordAsker) {
    driver.store.readRecord(of: run, from: from) { [self] reading in
      loop.submit { [self] in assumeIsolated { $0.feed(.recordRead(reading, for: asker)) } }
    }
  }
}
