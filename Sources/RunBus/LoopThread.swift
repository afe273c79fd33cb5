import RunCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A loop's thread and its inbox.
///
/// - `busy` can go to: `asleep` (nothing to do), `ending`.
/// - `asleep` can go to: `busy` (somebody wakes it, a descriptor is ready, a deadline comes), `ending`.
/// - `ending` goes nowhere: the thread runs what it has and is no more.
///
/// `@unchecked Sendable`: the inbox is behind a lock; the poller is touched by the thread alone (`Loop` says which of
/// its methods may only be called there); `identity` is written once, before `init` returns.
final class LoopThread: @unchecked Sendable {
  /// Something to run.
  enum Item {
    case work(@Sendable () -> Void)
    case job(UnownedJob, UnownedSerialExecutor)
  }
  private enum State { case busy, asleep, ending }
  private struct Inbox {
    var state = State.busy
    var items: [Item] = []
  }
  /// Rounds of draining before due timers get their turn all the same: a flood must not stop the clock.
  private static let roundsMax = 64

  let poller: LoopPoller
  private let inbox = Mutex(Inbox())
  private let wakeUpRead: CInt
  private let wakeUpWrite: CInt
  private var identity: pthread_t?
  private let started = DispatchGate()

  init() throws(RunBusError) {
    var ends: [CInt] = [0, 0]
    guard pipe(&ends) == 0 else {
      throw RunBusError(.transport, "no descriptor is left for a loop: raise the limit (ulimit -n)")
    }
    for end in ends {
      _ = fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK)
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
    }
    wakeUpRead = ends[0]
    wakeUpWrite = ends[1]
    poller = LoopPoller(wakeUp: ends[0])
    let context = Unmanaged.passRetained(self)
    #if canImport(Darwin)
      var thread: pthread_t?
      let result = pthread_create(&thread, nil, { LoopThread.enter($0) }, context.toOpaque())
    #else
      var thread = pthread_t()
      let result = pthread_create(&thread, nil, { LoopThread.enter($0) }, context.toOpaque())
    #endif
    guard result == 0 else {
      context.release()
      close(ends[0])
      close(ends[1])
      throw RunBusError(.transport, "no thread is left for a loop: raise the limit (ulimit -u)")
    }
    identity = thread
    started.open()
  }

  var isCurrent: Bool { identity.map { pthread_equal($0, pthread_self()) != 0 } ?? false }

  /// Takes in something to run, and wakes the thread if it sleeps; from any thread.
  func add(_ item: Item) {
    let mustWake = inbox.withLock { inbox in
      inbox.items.append(item)
      guard inbox.state == .asleep else { return false }
      inbox.state = .busy
      return true
    }
    if mustWake { wake() }
  }

  /// Ends the thread after what it has to run, and waits for it unless it is the caller.
  func end() {
    let mustWake = inbox.withLock { inbox in
      defer { inbox.state = .ending }
      return inbox.state == .asleep
    }
    if mustWake { wake() }
    guard let identity else { return }
    if isCurrent { pthread_detach(identity) } else { pthread_join(identity, nil) }
  }

  private func wake() {
    var byte: UInt8 = 1
    _ = write(wakeUpWrite, &byte, 1)
  }

  // MARK: The thread

  #if canImport(Darwin)
    private static func enter(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? { begin(context) }
  #else
    private static func enter(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      context.flatMap { begin($0) }
    }
  #endif

  private static func begin(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    let thread = Unmanaged<LoopThread>.fromOpaque(context).takeRetainedValue()
    thread.started.wait()
    thread.run()
    close(thread.wakeUpRead)
    close(thread.wakeUpWrite)
    return nil
  }

  private func run() {
    while true {
      let isEnding = runInbox()
      poller.drainTouched()
      if isEnding { return }
      if hasWork { continue }
      let deadline = poller.deadline
      if let deadline, deadline <= Loop.now {
        drainBeforeTimers()
        poller.fire(at: Loop.now)
        continue
      }
      sleep(until: deadline)
    }
  }

  /// A turn drains its sockets, and what they led to, before it fires timers.
  private func drainBeforeTimers() {
    for _ in 0..<Self.roundsMax {
      let isReady = poller.wait(until: .zero)
      guard isReady || hasWork else { return }
      emptyPipe()
      poller.drainTouched()
      if runInbox() { return }
    }
  }

  private func sleep(until deadline: BusTime?) {
    let maySleep = inbox.withLock { inbox in
      guard inbox.items.isEmpty, inbox.state == .busy else { return false }
      inbox.state = .asleep
      return true
    }
    guard maySleep else { return }
    _ = poller.wait(until: deadline)
    inbox.withLock { inbox in
      if inbox.state == .asleep { inbox.state = .busy }
    }
    emptyPipe()
  }

  private func emptyPipe() {
    guard poller.isWokenUp else { return }
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 64) { buffer in
      while read(wakeUpRead, buffer.baseAddress, 64) == 64 {}
    }
  }

  private var hasWork: Bool { poller.hasTouched || inbox.withLock { !$0.items.isEmpty } }

  /// Runs what was there when it began, and says whether the thread is to end.
  private func runInbox() -> Bool {
    let (items, isEnding) = inbox.withLock { inbox in
      defer { inbox.items.removeAll() }
      return (inbox.items, inbox.state == .ending)
    }
    for item in items {
      switch item {
      case .work(let work): work()
      case .job(let job, let executor): job.runSynchronously(on: executor)
      }
    }
    return isEnding
  }
}

/// Opens once: the thread begins when its creator has written down who it is.
private final class DispatchGate: Sendable {
  private let isOpen = Mutex(false)
  func open() { isOpen.withLock { $0 = true } }
  // A moment at the thread's birth, between two instructions of its creator.
  func wait() { while !isOpen.withLock({ $0 }) { sched_yield() } }
}
