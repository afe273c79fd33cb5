#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif
import RunCore
import Synchronization

/// What a loop's thread owns. The thread keeps it alive, not the ``Loop``, so that dropping the loop ends the thread.
///
/// Unchecked: `inbox` and `threadNumber` are safe from any thread; everything else is touched by the loop's thread only,
/// which ``Loop`` checks on every way in.
final class LoopCore: @unchecked Sendable {
  /// Something to run on the thread.
  enum Work {
    case job(UnownedJob, UnownedSerialExecutor)
    case call(@Sendable () -> Void)
  }

  private struct InboundStream: ~Copyable {
    enum Phase {
      /// Can go to: stopping.
      case running
      /// The thread runs what is left. Can go to: ended.
      case stopping
      /// The thread is gone. Can go to: late.
      case ended
      /// A short-lived thread runs what came after the end. Can go to: ended.
      case late
    }
    var work: [Work] = []
    var phase = Phase.running
    /// The thread is, or is about to be, in `poll` without a time limit of zero.
    var isAsleep = false
    var pipe: WakePipe?
    init(pipe: consuming WakePipe) { self.pipe = consume pipe }

    mutating func wake() {
      guard isAsleep else { return }
      isAsleep = false
      // Under the lock, so that the pipe cannot close in between; it takes a microsecond.
      pipe?.wake()
    }
  }

  private struct Entry {
    let source: any LoopSource
    /// To be drained before sleeping.
    var isPending: Bool
  }

  /// Rounds of sockets that a due timer waits for. A flood that never ends must not stop the clock; 64 rounds are some
  /// thousand messages, more than any burst that fits between two deadlines of a node.
  private static let roundsBeforeTimersMax = 64

  private let inbox: Mutex<InboundStream>
  private let threadNumber = Atomic<UInt>(0)
  private let wakeDescriptor: CInt

  private var entries: [Entry] = []
  private struct WeakTimer { weak var timer: LoopTimer? }
  private var timers: [WeakTimer] = []
  /// The wake pipe and the entries, in this order; empty when entries came or went.
  private var descriptors: [pollfd] = []
  private var batch: [Work] = []

  init(pipe: consuming WakePipe) {
    wakeDescriptor = pipe.readEnd
    inbox = Mutex(InboundStream(pipe: pipe))
  }

  var isCurrent: Bool { threadNumber.load(ordering: .relaxed) == currentThreadNumber() }

  // MARK: From any thread

  func enqueue(_ item: Work) {
    let isLate = inbox.withLock { inbox in
      inbox.work.append(item)
      inbox.wake()
      guard inbox.phase == .ended else { return false }
      inbox.phase = .late
      return true
    }
    guard isLate else { return }
    do {
      try SystemThread(name: "runbus-late") { self.runLate() }.detach()
    } catch {
      // No thread is to be had: the caller's does it, rather than nobody.
      runLate()
    }
  }

  func requestStop() {
    inbox.withLock { inbox in
      guard inbox.phase == .running else { return }
      inbox.phase = .stopping
      inbox.wake()
    }
  }

  // MARK: The thread

  func run() {
    threadNumber.store(currentThreadNumber(), ordering: .relaxed)
    var rounds = 0
    while true {
      drainPending()
      if runBatch() != .running { break }
      // What was sent meanwhile may have eaten an edge: looking again is cheaper than a poll that returns at once.
      drainPending()
      let isPending = entries.contains { $0.isPending }
      let isReady = waitForDescriptors(isPending: isPending)
      if isReady || isPending {
        rounds += 1
        guard rounds >= Self.roundsBeforeTimersMax else { continue }
      }
      rounds = 0
      fireDueTimers()
    }
    entries.removeAll()
    timers.removeAll()
    finish()
  }

  private func runLate() {
    threadNumber.store(currentThreadNumber(), ordering: .relaxed)
    finish()
  }

  /// Runs what is left and leaves the stage in the moment in which nothing is.
  private func finish() {
    while true {
      _ = runBatch()
      let isOver = inbox.withLock { inbox in
        guard inbox.work.isEmpty else { return false }
        inbox.phase = .ended
        inbox.pipe = nil
        threadNumber.store(0, ordering: .relaxed)
        return true
      }
      if isOver { return }
    }
  }

  /// Runs what was given until now; what comes meanwhile waits for the next turn, behind the sockets.
  private func runBatch() -> InboundStream.Phase {
    let phase = inbox.withLock { inbox in
      swap(&inbox.work, &batch)
      return inbox.phase
    }
    for item in batch {
      switch item {
      case .job(let job, let executor): job.runSynchronously(on: executor)
      case .call(let call): call()
      }
    }
    batch.removeAll(keepingCapacity: true)
    return phase
  }

  private func drainPending() {
    var index = 0
    // Drains may add and remove sources; one that moves in front of the index is found in the next round.
    while index < entries.count {
      if entries[index].isPending {
        entries[index].isPending = false
        let source = entries[index].source
        if source.drain() { touch(source) }
      }
      index += 1
    }
  }

  /// Sleeps until a source is ready, work comes, or a timer is due; returns whether any source or work is there.
  private func waitForDescriptors(isPending: Bool) -> Bool {
    if descriptors.isEmpty {
      descriptors.append(pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0))
      for entry in entries {
        descriptors.append(pollfd(fd: entry.source.descriptor, events: Int16(POLLIN), revents: 0))
      }
    }
    var timeout: BusDuration? = isPending ? .zero : nil
    if !isPending, let deadline = timers.lazy.compactMap({ $0.timer?.deadline }).min() {
      timeout = max(.zero, deadline - Loop.now)
    }
    let mustLook = inbox.withLock { inbox in
      guard inbox.work.isEmpty, inbox.phase == .running else { return true }
      inbox.isAsleep = timeout != .zero
      return false
    }
    if mustLook { timeout = .zero }
    let count = pollDescriptors(&descriptors, timeout: timeout)
    if timeout != .zero { inbox.withLock { $0.isAsleep = false } }
    guard count > 0 else { return mustLook }
    var isReady = mustLook
    if descriptors[0].revents != 0 {
      inbox.withLock { $0.pipe?.clear() }
      isReady = true
    }
    for index in entries.indices where descriptors[index + 1].revents != 0 {
      precondition(
        descriptors[index + 1].revents & Int16(POLLNVAL) == 0, "a source closed its descriptor before it was removed")
      entries[index].isPending = true
      isReady = true
    }
    return isReady
  }

  private func fireDueTimers() {
    guard !timers.isEmpty else { return }
    let now = Loop.now
    // In order of their deadlines; a handler may turn off one that comes later.
    let due = timers.compactMap(\.timer).filter { $0.deadline.map { $0 <= now } ?? false }
      .sorted { ($0.deadline ?? now) < ($1.deadline ?? now) }
    for timer in due where timer.deadline.map({ $0 <= now }) ?? false { timer.fire() }
  }

  // MARK: On the thread, from outside

  func add(_ source: any LoopSource) {
    entries.append(Entry(source: source, isPending: true))
    descriptors.removeAll(keepingCapacity: true)
  }

  func remove(_ source: any LoopSource) {
    entries.removeAll { $0.source === source }
    descriptors.removeAll(keepingCapacity: true)
  }

  func touch(_ source: any LoopSource) {
    if let index = entries.firstIndex(where: { $0.source === source }) { entries[index].isPending = true }
  }

  func add(_ timer: LoopTimer) {
    timers.removeAll { $0.timer == nil }
    timers.append(WeakTimer(timer: timer))
  }
}
