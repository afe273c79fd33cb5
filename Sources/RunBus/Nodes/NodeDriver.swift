import CoreMetrics
import Logging
import RunCore
import RunWire

/// The events that both cores have in common. Each requirement is a case of both event enums.
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

/// The state that a hub and a peer have in common around their cores. Used on the loop's thread only, by the actor that
/// owns it.
final class NodeDriver<Event: NodeEvent> {
  /// The present store. The driver replaces it when it turns out to be damaged.
  fileprivate(set) var store: NodeStore
  let log: Logger
  fileprivate let commits = CoreMetrics.Timer(.commits)
  fileprivate let failedCommits = Counter(.failedCommits)
  private let retransmissions = Counter(.retransmissions)
  private let duplicates = Counter(.duplicates)
  var deviceQuestions = DeviceQuestions()
  var lifecycle = NodeLifecycle()
  var localServices: LocalServicesDriver?
  /// Shells that take part in the messages of the node's app.
  let shells = ShellDesk()
  /// Handler calls of this turn; they reach the readers when the turn ends.
  var handlerCalls: [HandlerCall] = []
  /// Events for the core. An action of a running turn appends here, and the turn works them off before it ends.
  var queue: [Event] = []
  fileprivate(set) var isFeeding = false

  fileprivate let services: LocalServices
  /// What log lines and errors call this node.
  let word: String
  /// Whether writes that the store still refuses while the node ends make it end with an error. Otherwise they are
  /// logged.
  fileprivate let failsUnwritten: Bool
  fileprivate var timer: LoopTimer?
  /// Whether the core knows that the app handles messages.
  var isHandling = false
  /// Whether there is a core.
  fileprivate var hasStarted = false
  /// Events that arrived before there was a core.
  fileprivate var early: [Event] = []
  fileprivate var isEnding = false
  /// Whether the last write was slow.
  fileprivate var isSlow = false
  /// Whether the store has refused the last batch, which the core tries again.
  fileprivate(set) var isHeldUp = false
  /// How many stores turned out to be damaged since the node began. Completions of an earlier store are ignored.
  fileprivate var replacements = 0
  /// The commands of this node's own app that have no verdict yet, in the order in which they were given.
  fileprivate var unanswered: [Command] = []
  fileprivate var fileTimer: LoopTimer?

  /// Whether the present store has replaced a damaged one.
  var hasBegunAnew: Bool { replacements > 0 }

  init(store: NodeStore, services: LocalServices, log: Logger, word: String, failsUnwritten: Bool) {
    self.store = store
    self.services = services
    self.log = log
    self.word = word
    self.failsUnwritten = failsUnwritten
  }

  /// Counts what the core has repeated, and what was repeated to it.
  func count(_ tally: DeliveryTally) {
    guard !tally.isEmpty else { return }
    retransmissions.increment(by: tally.retransmissions)
    duplicates.increment(by: tally.duplicates)
  }
}

/// A node as its driver sees it: a core that receives events, and a transport.
protocol DrivenNode: Actor, Answerer {
  associatedtype Event: NodeEvent

  nonisolated var loop: Loop { get }
  var driver: NodeDriver<Event> { get }
  /// The messages that the app's readers take.
  nonisolated var readers: MessageReaders { get }
  /// The questions of this node and of others to it.
  nonisolated var openQuestions: OpenQuestions { get }
  /// Who listens to this node.
  nonisolated var broadcaster: Broadcaster { get }
  /// Who waits until the node takes commands.
  nonisolated var readiness: Readiness { get }
  /// When the core's next deadline is due, on the loop's clock.
  var wakeAt: BusTime? { get }

  /// Makes the core, then calls ``start()`` and ``openLocalServices()``.
  func begin() throws(RunBusError)
  /// Closes what ``begin()`` opened, such as the transport. The node can begin again.
  func abandon()
  /// The error that ends a hub whose lock file was removed or replaced; `nil` while all is well.
  var lostHold: RunBusError? { get }
  /// Passes an event to the core and carries out the actions that it returns.
  func receive(_ event: Event)
  /// Releases the node's own resources after its transport and its store are closed.
  func closeOwn()
  /// Asks the hub and waits until it is in reach and answers, the task is cancelled, or the node ends. In the last two
  /// cases the answer is a failure.
  func inquire(_ inquiry: Inquiry) async -> InquiryAnswer
  /// Makes the node hear of the route from now on.
  func followRoute()
  /// Makes the node hear of what lock screens show from now on.
  func followLiveActivity()
  /// What a lock screen shows now; `nil` before anything was pushed.
  var liveActivity: LiveActivity? { get }
  /// What a new reader of news is told beside the snapshot, the lock screen and the phase of the buttons.
  var knownNews: [NodeNews] { get }
  /// The last snapshot; see ``Node/authoritative``.
  var authoritative: Snapshot { get }
  /// The phase with the node's own unanswered commands applied on top.
  var predicted: RunPhase { get }
  /// Whether no further command of the app can be kept.
  var isOutboxFull: Bool { get }
  /// The event that a message of the app is to the core; `nil` on a hub without a receiver. A peer sends to its hub.
  func posted(_ message: AppMessage, by deliveryClass: DeliveryClass, to device: DeviceID?) -> Event?
  /// The newest value of a key that a device has sent; a peer knows those of its hub.
  func latest(_ key: String, from device: DeviceID?) -> AppMessage?
  /// The receiver of a message that a shell gives this node; `nil` on a peer, which sends to its hub.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` when the message cannot go from this node to that device.
  func receiver(_ device: DeviceID?) throws(RunBusError) -> DeviceID?
}

/// The limits of a driver's own work.
private enum DriverLimits {
  /// How often the driver checks that its files are still at their paths, so that a deletion is noticed even when
  /// nothing is written. A check costs two system calls.
  static let lookForFilesEvery = BusDuration.seconds(2)
  /// The first damaged store is salvaged. If the salvaged data lead to damage again, the second replacement begins
  /// empty. A third damage is not the disk's fault and ends the node.
  static let replacementsMax = 2
  /// A write that takes longer is slow.
  static let slowCommit = BusDuration.seconds(1)
}

// MARK: Running

extension DrivenNode {
  func drive() async throws(RunBusError) {
    try driver.lifecycle.begin()
    do {
      try beginWhole()
    } catch {
      close(error)
      throw error
    }
    let error = await withTaskCancellationHandler {
      await withCheckedContinuation { driver.lifecycle.wait($0) }
    } onCancel: {
      loop.submit { [self] in assumeIsolated { $0.end() } }
    }
    close(error)
    if let error { throw error }
  }

  /// Begins, and replaces the store as long as ``begin()`` finds it damaged.
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

  /// Goes on as after a crash when the store turns out to be damaged while the node runs: with a new store that
  /// contains what can be read of the old one.
  private func beginAnew(_ fault: StoreFault) {
    do {
      try replaceStore(fault)
      letGo()
      driver.hasStarted = false
      driver.queue = []
      driver.handlerCalls = []
      driver.isHeldUp = false
      // The new core hands unfinished messages over again.
      readers.restart()
      driver.isHandling = false
      broadcaster.giveUpPosts(
        RunBusError(.store, "the store was damaged meanwhile: whether the message was kept is not known", cause: fault))
      try beginWhole()
      // The core ignores commands that the new store already contains.
      for command in driver.unanswered { feed(.press(command)) }
      lookAtReaders()
      if driver.isEnding { feed(.ending) }
    } catch {
      driver.lifecycle.end(error)
    }
  }

  /// Gives a command and waits for its verdict. The waiting goes on when the store is replaced meanwhile.
  func judged(_ command: Command) async throws -> (verdict: Verdict, receipt: Receipt) {
    if isOutboxFull {
      throw RunBusError(.full, "1,024 commands wait for the hub already; try again when it is back")
    }
    driver.unanswered.append(command)
    let result = await broadcaster.verdict(of: command.id, isolation: self) { feed(.press(command)) }
    if let index = driver.unanswered.firstIndex(where: { $0.id == command.id }) { driver.unanswered.remove(at: index) }
    return try result.get()
  }

  /// Waits until the node has begun, and checks readings before it takes all of them in.
  ///
  /// - Throws: ``RunBusError/Code/badInput`` for a value that no sensor gives; otherwise as ``Node/ready()``.
  func check(_ samples: [Sample]) async throws {
    if let wrong = samples.first(where: { !$0.value.isCarried }) {
      throw RunBusError(.badInput, "\(wrong.value) is no reading of a sensor: none of \(samples.count) was taken in")
    }
    try await readiness.wait(isolation: self)
  }

  /// Starts the timers and the local services of a new core.
  func start() {
    driver.hasStarted = true
    driver.timer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.feed(.deadline) } }
    for notice in driver.store.notices { driver.log.warning("\(notice)") }
    feed(.started)
    watchFiles()
    driver.localServices = LocalServicesDriver(
      driver.services, loop: loop, log: driver.log,
      spooled: { [weak self] presses in self?.assumeIsolated { $0.feed(.spooled(presses)) } },
      inquire: { [weak self] inquiry, number in
        self?.assumeIsolated { node in
          if case .backUp(let path) = inquiry { return node.backUp(to: path, number) }
          if case .messages(let inquiry) = inquiry, node.carryOut(inquiry, number) { return }
          node.feed(.inquire(inquiry, number))
        }
      })
  }

  /// Opens the admin socket and the spool, and feeds the events that arrived before there was a core.
  ///
  /// - Throws: ``RunBusError/Code/transport`` or ``RunBusError/Code/addressInUse`` when the admin socket cannot be opened.
  func openLocalServices() throws(RunBusError) {
    try driver.localServices?.open()
    for event in driver.early { feed(event) }
    driver.early = []
  }

  private func end() {
    driver.isEnding = true
    feed(.ending)
  }

  private func close(_ error: RunBusError?) {
    driver.lifecycle.end(error)
    readers.end()
    letGo()
    driver.store.close()
    closeOwn()
    let reason = error ?? RunBusError(.closed, "the \(driver.word) has ended")
    driver.log.info("\(reason.message)", metadata: [.event: "end"])
    readiness.end(reason)
    broadcaster.end(reason)
    openQuestions.end(reason)
  }
}

extension DrivenNode {
  private func letGo() {
    driver.timer = nil
    driver.fileTimer = nil
    driver.shells.end()
    driver.localServices?.close()
    driver.localServices = nil
    abandon()
  }

  /// Starts the timer that checks whether the node's files are still at their paths.
  private func watchFiles() {
    guard driver.store.hasFiles else { return }
    driver.fileTimer = loop.makeTimer { [weak self] in self?.assumeIsolated { $0.lookForFiles() } }
    driver.fileTimer?.deadline = loop.now + DriverLimits.lookForFilesEvery
  }

  private func lookForFiles() {
    if let lost = lostHold { return driver.lifecycle.end(lost) }
    // The check runs on the store's thread: a disk that hangs must not block the loop. The next one waits for its
    // answer.
    driver.store.lookForFiles(
      completion: onLoop { node, fault in
        if let fault { return node.fail(fault) }
        node.driver.fileTimer?.deadline = node.loop.now + DriverLimits.lookForFilesEvery
      })
  }

  private func stop(_ fault: StoreFault) {
    driver.lifecycle.end(RunBusError(.store, "the \(driver.word) stops: \(fault)", cause: fault))
  }
}

// MARK: Events in

extension DrivenNode {
  func feed(_ event: Event) {
    guard driver.hasStarted else {
      if !driver.lifecycle.hasEnded { driver.early.append(event) }
      return
    }
    guard driver.lifecycle.isRunning else { return }
    driver.queue.append(event)
    // An event that an action causes joins the queue: the core receives nothing while actions are carried out.
    guard !driver.isFeeding else { return }
    driver.isFeeding = true
    while !driver.queue.isEmpty {
      let batch = driver.queue
      driver.queue.removeAll(keepingCapacity: true)
      for event in batch { receive(event) }
    }
    driver.isFeeding = false
    if !driver.handlerCalls.isEmpty {
      readers.put(openQuestions.take(from: driver.handlerCalls))
      driver.handlerCalls = []
    }
    driver.localServices?.lookIfDue()
    driver.timer?.deadline = wakeAt
  }

  /// Answers an inquiry of the node's own app.
  func askCore(_ inquiry: Inquiry) async -> InquiryAnswer {
    await withCheckedContinuation { continuation in
      guard let services = driver.localServices else {
        return continuation.resume(returning: .failed(InquiryFailure(.closed, "the node does not run")))
      }
      services.ask(inquiry) { continuation.resume(returning: $0) }
    }
  }
}

// MARK: The store

extension DrivenNode {
  func commit(_ id: CommitID, _ operations: [StoreOperation]) {
    guard !operations.isEmpty else { return driver.queue.append(.committed(id)) }
    let began = loop.now
    driver.store.commit(
      operations,
      completion: onLoop { node, result in
        node.measure(node.loop.now - began)
        node.finish(id, result)
      })
  }

  /// Measures a write. A disk that is slow is told of once, until it is fast again.
  private func measure(_ span: BusDuration) {
    driver.commits.recordNanoseconds(span.nanoseconds)
    let isSlow = span > DriverLimits.slowCommit
    if isSlow, !driver.isSlow {
      driver.log.warning(
        "a write took \(span.seconds) s: presses wait so long for their verdicts; look at the disk",
        metadata: [.event: "slowCommit", .seconds: span.seconds])
    }
    driver.isSlow = isSlow
  }

  /// Copies the store for a caller on this machine. The core has no part in it.
  private func backUp(to path: String, _ number: UInt64) {
    driver.store.backUp(to: path, completion: onLoop { $0.driver.localServices?.answer($1, number) })
  }

  func readRecord(of run: RunID, from: Int, for asker: RecordAsker) {
    driver.store.readRecord(of: run, from: from, completion: onLoop { $0.feed(.recordRead($1, for: asker)) })
  }

  /// Wraps a completion of the present store so that it runs on the loop. It does nothing if the store is replaced
  /// first.
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
      // Logged once: the retries that follow fail for the same reason.
      if !driver.isHeldUp {
        driver.log.error("the store takes nothing now: \(fault); nothing is lost, it is tried again every second")
      }
      driver.isHeldUp = true
      driver.failedCommits.increment()
      feed(.commitFailed(id))
    case .failure(let fault): fail(fault)
    }
  }

  /// Goes on with a new store when the fault is damage, and ends the node otherwise.
  private func fail(_ fault: StoreFault) {
    if fault.isDamage, driver.store.hasFiles, driver.lifecycle.isRunning { beginAnew(fault) } else { stop(fault) }
  }
}
