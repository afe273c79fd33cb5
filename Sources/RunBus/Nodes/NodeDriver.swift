import Logging
import RunCore

/// What both cores are told alike, by the names that their events have for it.
protocol NodeEvent: Sendable {
  static var started: Self { get }
  static var deadline: Self { get }
  static var ending: Self { get }
  static func press(_ command: Command) -> Self
  static func handling(_ isOn: Bool) -> Self
  static func handled(_ stream: StreamID, through sequence: UInt64, handlerGeneration: UInt64?) -> Self
  static func failed(_ stream: StreamID, _ sequence: UInt64, _ reason: String) -> Self
  static func spooled(_ presses: [ForwardedCommand]) -> Self
  static func inquire(_ inquiry: Inquiry, _ number: UInt64) -> Self
  static func recordRead(_ reading: RecordReading, for asker: RecordAsker) -> Self
  static func committed(_ id: CommitID) -> Self
  static func commitFailed(_ id: CommitID) -> Self
}

extension HubCore.Event: NodeEvent {}
extension PeerCore.Event: NodeEvent {}

/// What a hub and a peer hold alike around their cores. Used on the loop's thread only: its actor owns it.
final class NodeDriver<Event: NodeEvent> {
  /// Another one once the first was found damaged.
  fileprivate(set) var store: NodeStore
  let log: Logger
  let audience = Broadcaster()
  var life = NodeLifecycle()
  var keeper: LocalServicesDriver?
  /// What this turn hands to the app.
  var handing: [HandlerCall] = []
  /// What the actions of this turn have brought about; it waits until they are carried out.
  var queue: [Event] = []
  fileprivate(set) var isFeeding = false

  fileprivate let services: LocalServices
  /// How it speaks of the node.
  fileprivate let word: String
  /// What the store does not take any more at the end is an error, and not a note.
  fileprivate let failsUnwritten: Bool
  fileprivate var timer: LoopTimer?
  fileprivate var desk: MessageHandlerQueue?
  /// Counts the desks that were closed because the core has changed.
  fileprivate var deskNumber: UInt64 = 0
  /// There is a core.
  fileprivate var hasStarted = false
  /// What happened before that.
  fileprivate var early: [Event] = []
  fileprivate var isEnding = false
  /// The store has refused a batch, which is tried again.
  fileprivate var isHeldUp = false
  /// How many stores were found damaged in this life: what an earlier one completes is of no concern to the present core.
  fileprivate var replacements = 0
  /// The commands of this node's own app that have no verdict yet, in the order in which they were given.
  fileprivate var unanswered: [Command] = []
  fileprivate var fileTimer: LoopTimer?

  /// The present store is not the first one of this life.
  var hasBegunAnew: Bool { replacements > 0 }

  init(store: NodeStore, services: LocalServices, log: Logger, word: String, failsUnwritten: Bool) {
    self.store = store
    self.services = services
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
  /// Lets go of what ``begin()`` made: the transport, the core. The node can begin again.
  func abandon()
  /// What is wrong when the node does not hold any more what makes it the only one; `nil` when all is well.
  var lostHold: RunBusError? { get }
  /// Feeds the core and carries out what it decides.
  func receive(_ event: Event)
  /// Lets go of what is its own once its transport and its store are closed.
  func closeOwn()
}

/// What a driver does by itself, and how often.
private enum DriverLimits {
  /// A file that is deleted or replaced under the node is noticed within this time also when nothing is written; two system
  /// calls for each look.
  static let lookForFilesEvery = BusDuration.seconds(2)
  /// Of the first damaged store in a life what can be read is read back. Should that lead to damage again, the next one
  /// begins empty; a third is not the disk's fault, and ends the node.
  static let replacementsMax = 2
}

// MARK: The life

extension DrivenNode {
  func drive() async throws(RunBusError) {
    try driver.life.begin()
    do {
      try beginWhole()
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

  /// Begins, with another store where the present one turns out to be damaged.
  private func beginWhole() throws(RunBusError) {
    while true {
      do {
        return try begin()
      } catch {
        guard let fault = error.cause as? StoreFault, fault.isDamage else { throw error }
        try replaceStore(fault)
      }
    }
  }

  private func replaceStore(_ fault: StoreFault) throws(RunBusError) {
    guard driver.replacements < DriverLimits.replacementsMax else {
      throw RunBusError(.store, "the \(driver.word) stops: \(fault)", cause: fault)
    }
    driver.replacements += 1
    driver.store = try driver.store.replaced(because: fault, readsBack: driver.replacements == 1)
  }

  /// The store turned out to be damaged while the node runs: it goes on with what can be read back, as after a crash.
  private func beginAnew(_ fault: StoreFault) {
    do {
      try replaceStore(fault)
      letGo()
      driver.hasStarted = false
      driver.queue = []
      driver.handing = []
      driver.isHeldUp = false
      // Its reports are about the former core's messages; a new desk is opened for the same handler.
      driver.desk?.close()
      driver.deskNumber += 1
      driver.audience.giveUpPosts(
        RunBusError(.store, "the store was damaged meanwhile: whether the message was kept is not known", cause: fault))
      try beginWhole()
      // Those that are known by now are not taken again.
      for command in driver.unanswered { feed(.press(command)) }
      if driver.isEnding { feed(.ending) }
    } catch {
      driver.life.end(error)
    }
  }

  /// Gives a command and waits for its verdict, over a change of the store, too.
  func answer(to command: Command) async throws(RunBusError) -> Verdict {
    driver.unanswered.append(command)
    let result = await driver.audience.verdict(of: command.id, isolation: self) { feed(.press(command)) }
    if let index = driver.unanswered.firstIndex(where: { $0.id == command.id }) { driver.unanswered.remove(at: index) }
    return try result.get()
  }

  /// The core is there.
  func start() {
    driver.hasStarted = true
    driver.timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in driver.store.notices { driver.log.warning("\(notice)") }
    feed(.started)
    watchFiles()
    driver.keeper = LocalServicesDriver(
      driver.services, loop: loop, log: driver.log,
      spooled: { [weak self] presses in self?.assumeIsolated { $0.feed(.spooled(presses)) } },
      inquire: { [weak self] inquiry, number in self?.assumeIsolated { $0.feed(.inquire(inquiry, number)) } })
  }

  /// Others on this machine may come, and what came early is taken in.
  ///
  /// Throws ``RunBusError/Code/transport`` or ``RunBusError/Code/busHeld`` when no shell could ask this node.
  func openPlace() throws(RunBusError) {
    try driver.keeper?.open()
    for event in driver.early { feed(event) }
    driver.early = []
  }

  private func end() {
    driver.isEnding = true
    feed(.ending)
  }

  private func close(_ error: RunBusError?) {
    driver.life.end(error)
    driver.desk?.close()
    letGo()
    driver.store.close()
    closeOwn()
    driver.audience.end(error ?? RunBusError(.closed, "the \(driver.word) has ended"))
  }
}

extension DrivenNode {
  private func letGo() {
    driver.timer = nil
    driver.fileTimer = nil
    driver.keeper?.close()
    driver.keeper = nil
    abandon()
  }

  /// Looks now and then whether what the node holds is still at its path.
  private func watchFiles() {
    guard driver.store.hasFiles else { return }
    driver.fileTimer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.lookForFiles() } }
    driver.fileTimer?.deadline = Loop.now + DriverLimits.lookForFilesEvery
  }

  private func lookForFiles() {
    if let lost = lostHold { return driver.life.end(lost) }
    // On the store's thread: a disk that hangs does not hold up the loop, and is asked once.
    driver.store.lookForFiles(
      completion: onLoop { node, fault in
        if let fault { return node.stop(fault) }
        node.driver.fileTimer?.deadline = Loop.now + DriverLimits.lookForFilesEvery
      })
  }

  private func stop(_ fault: StoreFault) {
    driver.life.end(RunBusError(.store, "the \(driver.word) stops: \(fault)", cause: fault))
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
    // A desk for each core that the node has meanwhile.
    var number: UInt64
    repeat {
      let desk = MessageHandlerQueue()
      number = driver.deskNumber
      driver.desk = desk
      feed(.handling(true))
      await withTaskCancellationHandler {
        await desk.serve(handler) { [loop, number] report in
          loop.submit { [self] in assumeIsolated { $0.receive(report, from: number) } }
        }
      } onCancel: {
        desk.close()
      }
    } while driver.deskNumber != number && driver.life.isRunning && !Task.isCancelled
    driver.desk = nil
    feed(.handling(false))
  }

  private func receive(_ report: MessageHandlerQueue.Report, from number: UInt64) {
    guard number == driver.deskNumber else { return }
    switch report {
    case .handled(let stream, let sequence, let handlerGeneration):
      feed(.handled(stream, through: sequence, handlerGeneration: handlerGeneration))
    case .failed(let stream, let sequence, let reason): feed(.failed(stream, sequence, reason))
    }
  }
}

// MARK: The store

extension DrivenNode {
  func commit(_ id: CommitID, _ operations: [StoreOperation]) {
    guard !operations.isEmpty else { return driver.queue.append(.committed(id)) }
    driver.store.commit(operations, completion: onLoop { $0.finish(id, $1) })
  }

  func readRecord(of run: RunID, from: Int, for asker: RecordAsker) {
    driver.store.readRecord(of: run, from: from, completion: onLoop { $0.feed(.recordRead($1, for: asker)) })
  }

  /// What takes an answer of the present store on the loop; one of a store that was replaced meanwhile is dropped.
  func onLoop<Answer: Sendable>(_ body: @escaping @Sendable (isolated Self, Answer) -> Void)
    -> @Sendable (Answer) -> Void
  {
    let number = driver.replacements
    return { [self] answer in
      loop.submit { [self] in
        assumeIsolated { if $0.driver.replacements == number { body($0, answer) } }
      }
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
    case .failure(let fault) where fault.isDamage && driver.store.hasFiles && driver.life.isRunning: beginAnew(fault)
    case .failure(let fault): stop(fault)
    }
  }
}
