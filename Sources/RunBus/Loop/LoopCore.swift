import Foundation
import RunCore
import Synchronization
import SystemC

/// The state of a loop's thread. The thread keeps it alive instead of the ``Loop``, so that dropping the loop ends
/// the thread.
///
/// Unchecked: `submitted` and `threadNumber` are safe on any thread; the loop's thread alone uses everything else, which
/// ``Loop`` checks at each entry.
final class LoopCore: @unchecked Sendable {
  /// Something to run on the thread.
  enum Work {
    case job(UnownedJob, UnownedSerialExecutor)
    case task(UnownedJob, LoopTaskExecutor)
    case call(@Sendable () -> Void)
    /// Called when nothing is left to do at the present time.
    case whenIdle(@Sendable () -> Void)
  }

  private struct SubmittedWork: ~Copyable {
    enum Phase {
      /// Can go to: stopping.
      case running
      /// The thread runs the remaining work. Can go to: ended.
      case stopping
      /// The thread has ended. Can go to: late.
      case ended
      /// A short-lived thread runs work that arrived after the end. Can go to: ended.
      case late
    }
    var work: [Work] = []
    var phase = Phase.running
    /// Whether the thread is in `poll`, or about to call it, with a time-out other than zero.
    var isAsleep = false
    var pipe: WakePipe?
    init(pipe: consuming WakePipe) { self.pipe = consume pipe }

    mutating func wake() {
      guard isAsleep else { return }
      isAsleep = false
      // Called under the lock, so that the pipe is not closed meanwhile; it costs a microsecond.
      pipe?.wake()
    }
  }

  private final class Entry {
    let source: any LoopSource
    /// Whether the source is in `pending`: it must be drained before the loop sleeps.
    var isPending = false
    init(_ source: any LoopSource) { self.source = source }
  }

  /// How many rounds of sockets and jobs a due timer waits for, so that an endless flood of messages does not stop the
  /// timers. 64 rounds are some thousand messages, more than arrives between two deadlines of a node in normal use.
  private static let roundsBeforeTimersMax = 64

  private let submitted: Mutex<SubmittedWork>
  private let threadNumber = Atomic<UInt>(0)
  private let wakeDescriptor: CInt

  /// The sources by their descriptors, which are small numbers.
  private var entries: [Entry?] = []
  private var pending: [Entry] = []
  private var draining: [Entry] = []
  let timers = TimerQueue()
  private var poller: SystemPoller
  private var batch: [Work] = []
  /// `nil` for the system's clock.
  private let steered: SteeredClock?
  /// One for each wait of those who steer, which wait one after the other.
  private var idleCalls: [@Sendable () -> Void] = []
  /// How many jobs of actors, calls and timers have been run.
  private(set) var workCount: UInt64 = 0

  init(pipe: consuming WakePipe, poller: SystemPoller, steeredBy steered: SteeredClock?) {
    self.steered = steered
    self.poller = poller
    wakeDescriptor = pipe.readEnd
    self.poller.add(wakeDescriptor)
    submitted = Mutex(SubmittedWork(pipe: pipe))
  }

  /// Whether a test moves the time.
  var isSteered: Bool { steered != nil }
  var now: BusTime { steered?.now ?? readContinuousClock() }
  var wallSeconds: Double { steered?.wallSeconds ?? Date().timeIntervalSince1970 }
  func seed() -> UInt64 { steered?.seed() ?? .random(in: .min ... .max) }

  var isCurrent: Bool { threadNumber.load(ordering: .relaxed) == currentThreadNumber() }

  deinit { poller.close() }

  // MARK: From any thread

  func enqueue(_ item: Work) {
    let isLate = submitted.withLock { submitted in
      submitted.work.append(item)
      submitted.wake()
      guard submitted.phase == .ended else { return false }
      submitted.phase = .late
      return true
    }
    guard isLate else { return }
    do {
      try SystemThread(name: "runbus-late") { self.runLate() }.detach()
    } catch {
      // Without a thread the caller runs the work, so that tasks that wait for it still resume.
      runLate()
    }
  }

  func requestStop() {
    submitted.withLock { submitted in
      guard submitted.phase == .running else { return }
      submitted.phase = .stopping
      submitted.wake()
    }
  }

  // MARK: The thread

  func run() {
    threadNumber.store(currentThreadNumber(), ordering: .relaxed)
    var rounds = 0
    while true {
      drainPending()
      if runBatch() != .running { break }
      // A send during the batch may have consumed an edge. Draining again is cheaper than a poll that returns at once.
      drainPending()
      let isPending = !pending.isEmpty
      if !isPending, callIdle() { continue }
      let isReady = waitForDescriptors(isPending: isPending)
      if isReady || isPending {
        rounds += 1
        guard rounds >= Self.roundsBeforeTimersMax else { continue }
      }
      rounds = 0
      fireDueTimers()
    }
    // The loop never polls again.
    (entries, pending) = ([], [])
    timers.removeAll()
    finish()
  }

  private func runLate() {
    threadNumber.store(currentThreadNumber(), ordering: .relaxed)
    finish()
  }

  /// Runs the remaining work, and marks the end under the lock when there is none left.
  private func finish() {
    while true {
      _ = runBatch()
      let calls = idleCalls
      idleCalls = []
      for call in calls { call() }
      let isOver = submitted.withLock { submitted in
        guard submitted.work.isEmpty else { return false }
        submitted.phase = .ended
        submitted.pipe = nil
        threadNumber.store(0, ordering: .relaxed)
        return true
      }
      if isOver { return }
    }
  }

  /// Runs the work that has been submitted so far. Work that arrives meanwhile waits for the next turn, after the
  /// sockets.
  private func runBatch() -> SubmittedWork.Phase {
    let phase = submitted.withLock { submitted in
      swap(&submitted.work, &batch)
      return submitted.phase
    }
    for item in batch {
      switch item {
      case .job(let job, let executor):
        workCount += 1
        job.runSynchronously(on: executor)
      case .task(let job, let executor): job.runSynchronously(on: executor.asUnownedTaskExecutor())
      case .call(let call):
        workCount += 1
        call()
      case .whenIdle(let call): idleCalls.append(call)
      }
    }
    batch.removeAll(keepingCapacity: true)
    return phase
  }

  /// Drains the sources that are pending now. What becomes pending meanwhile waits for the next round.
  private func drainPending() {
    swap(&pending, &draining)
    // A source that was removed meanwhile is not pending any more.
    for entry in draining where entry.isPending {
      entry.isPending = false
      if entry.source.drain() { touch(entry.source) }
    }
    draining.removeAll(keepingCapacity: true)
  }

  /// Sleeps until a source is ready, work arrives, or a timer is due. Returns whether a source is ready or work has
  /// arrived.
  private func waitForDescriptors(isPending: Bool) -> Bool {
    var timeout: BusDuration? = isPending ? .zero : nil
    if !isPending, let deadline = timers.next {
      let left = max(.zero, deadline - now)
      // A steered clock moves only when the loop is told, which wakes it.
      timeout = left > .zero && steered != nil ? nil : left
    }
    let mustLook = submitted.withLock { submitted in
      guard submitted.work.isEmpty, submitted.phase == .running else { return true }
      submitted.isAsleep = timeout != .zero
      return false
    }
    if mustLook { timeout = .zero }
    var isReady = mustLook
    poller.wait(timeout) { descriptor in
      isReady = true
      if descriptor == wakeDescriptor { submitted.withLock { $0.pipe?.clear() } } else { touch(descriptor) }
    }
    if timeout != .zero { submitted.withLock { $0.isAsleep = false } }
    return isReady
  }

  private func fireDueTimers() {
    let now = now
    // Timers fire in the order of their deadlines; a handler may turn off a later one.
    for timer in timers.takeDue(at: now) where timer.deadline.map({ $0 <= now }) ?? false {
      workCount += 1
      timer.fire()
    }
  }

  // MARK: Steering

  /// Calls those who wait until nothing is left to do. Returns whether anybody was called.
  private func callIdle() -> Bool {
    guard !idleCalls.isEmpty, timers.next.map({ $0 > now }) ?? true,
      submitted.withLock({ $0.work.isEmpty && $0.phase == .running })
    else { return false }
    let calls = idleCalls
    idleCalls = []
    for call in calls { call() }
    return true
  }

  /// Moves the clock to the next deadline, at most to a limit. Returns whether a timer is due.
  func step(to limit: BusTime) -> Bool {
    let deadline = timers.next
    let isDue = deadline.map { $0 <= limit } ?? false
    steered?.advance(to: isDue ? deadline ?? limit : limit)
    return isDue
  }

  // MARK: On the thread, from outside

  func add(_ source: any LoopSource) {
    let place = Int(source.descriptor)
    if place >= entries.count { entries += Array(repeating: nil, count: place + 1 - entries.count) }
    entries[place] = Entry(source)
    poller.add(source.descriptor)
    touch(source.descriptor)
  }

  func remove(_ source: any LoopSource) {
    guard let entry = entry(of: source) else { return }
    poller.remove(source.descriptor)
    entry.isPending = false
    entries[Int(source.descriptor)] = nil
  }

  func touch(_ source: any LoopSource) { if entry(of: source) != nil { touch(source.descriptor) } }

  private func entry(of source: any LoopSource) -> Entry? {
    let place = Int(source.descriptor)
    return place < entries.count ? entries[place].flatMap { $0.source === source ? $0 : nil } : nil
  }

  private func touch(_ descriptor: CInt) {
    guard let entry = entries[Int(descriptor)], !entry.isPending else { return }
    entry.isPending = true
    pending.append(entry)
  }
}
