import Foundation

/// A store's thread. It runs jobs one by one, in order, and sleeps between them: without a time-out, unless a job is to be
/// done later.
///
/// It begins with the first job. If a loop of a ``LoopGroup`` gives that job, the stores of that loop share one thread.
///
/// Without a thread, each job runs at once on the thread of its caller. A store in memory can do that, because it does
/// not block and has a lock of its own; jobs of two threads then have no order.
///
/// `@unchecked Sendable`: `worker`, `jobs`, `later`, `waiting`, `isEnding`, `hasEnded` and `isAsleep` are only used while
/// `condition` is locked; `threadNumber` is set once, before any job can run.
final class StoreThread: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  /// Who runs the jobs.
  private enum Worker {
    case caller
    /// Decided with the first job, which can make it `own` or `host`.
    case later(StaticString)
    case own
    case host(SharedStoreThread)
  }

  private let condition = NSCondition()
  private var worker: Worker
  // Unbounded, because a node has one commit in flight and gathers the next one itself.
  private var jobs: [Job] = []
  private var later: [(job: Job, at: Date)] = []
  /// How many jobs have been given and not begun.
  private var waiting = 0
  private var isEnding = false
  private var hasEnded = false
  private var isAsleep = false
  private var threadNumber: UInt = 0

  /// Runs each job on the thread of its caller.
  init() { worker = .caller }

  init(name: StaticString) { worker = .later(name) }

  /// A thread that stores share.
  fileprivate init(sharedNamed name: StaticString) {
    worker = .own
    start(name)
  }

  private func start(_ name: StaticString) {
    let thread = Thread { [self] in
      // The name of a `Thread` does not reach the system's tools on Linux.
      nameThread(name)
      work()
    }
    thread.start()
  }

  private func decide() {
    guard case .later(let name) = worker else { return }
    if let shared = LoopShare.current?.things {
      worker = .host(shared.get { SharedStoreThread() })
    } else {
      worker = .own
      start(name)
    }
  }

  /// Queues a job; `false` when the thread has been told to end.
  func enqueue(_ job: @escaping Job) -> Bool {
    condition.lock()
    guard !isEnding else {
      condition.unlock()
      return false
    }
    decide()
    switch worker {
    case .caller:
      condition.unlock()
      job()
      return true
    case .host(let host):
      waiting += 1
      // Under the lock, so that the jobs of two threads have one order.
      let isTaken = host.thread.enqueue { [self] in
        noteBegun()
        job()
      }
      condition.unlock()
      return isTaken
    case .own, .later:
      waiting += 1
      jobs.append(job)
      let mustWake = isAsleep
      condition.unlock()
      // Signalled without the lock: otherwise the thread would wake up only to wait for the lock.
      if mustWake { condition.signal() }
      return true
    }
  }

  /// Queues a job after a time. A thread that ends leaves it out.
  func enqueueLater(_ seconds: Double, _ job: @escaping Job) {
    condition.lock()
    decide()
    if case .host(let host) = worker {
      condition.unlock()
      return host.thread.enqueueLater(seconds) { [self] in
        if !hasBeenToldToEnd { job() }
      }
    }
    later.append((job, Date(timeIntervalSinceNow: seconds)))
    condition.unlock()
    condition.signal()
  }

  private var hasBeenToldToEnd: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isEnding
  }

  private func noteBegun() {
    condition.lock()
    waiting -= 1
    condition.unlock()
  }

  /// Runs a job and waits for its end; `nil` when the thread has been told to end.
  func run<Result: Sendable>(_ job: @escaping @Sendable () -> Result) -> Result? {
    if isCurrent { return job() }
    let box = ResultBox<Result>()
    guard enqueue({ box.set(job()) }) else { return nil }
    return box.wait()
  }

  /// Runs the queued jobs and a last one, then ends the thread. Waits for that unless called on the thread itself. Only
  /// the first call has an effect; later ones wait, too.
  func end(after last: @escaping Job) {
    condition.lock()
    defer { condition.unlock() }
    switch worker {
    case .caller, .later:
      if !isEnding { last() }
      isEnding = true
      return
    case .host(let host):
      if !isEnding {
        isEnding = true
        _ = host.thread.enqueue { [self] in
          last()
          finish()
        }
      }
    case .own:
      if !isEnding {
        isEnding = true
        waiting += 1
        jobs.append(last)
        condition.broadcast()
      }
    }
    if isCurrentLocked { return }
    while !hasEnded { condition.wait() }
  }

  private func finish() {
    condition.lock()
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }

  /// Whether no job waits, also of the stores that share the thread.
  var isIdle: Bool {
    condition.lock()
    defer { condition.unlock() }
    if case .host(let host) = worker, !host.thread.isIdle { return false }
    return waiting == 0
  }

  private var isCurrent: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isCurrentLocked
  }
  private var isCurrentLocked: Bool {
    if case .host(let host) = worker { return host.thread.isCurrent }
    return threadNumber == currentThreadNumber()
  }

  /// Queues what was to be done later and is due.
  private func takeDue() {
    let now = Date()
    for entry in later where entry.at <= now {
      waiting += 1
      jobs.append(entry.job)
    }
    later.removeAll { $0.at <= now }
  }

  private func work() {
    condition.lock()
    threadNumber = currentThreadNumber()
    while true {
      isAsleep = true
      while jobs.isEmpty && !isEnding {
        takeDue()
        guard jobs.isEmpty else { break }
        if let next = later.map(\.at).min() { _ = condition.wait(until: next) } else { condition.wait() }
      }
      isAsleep = false
      if jobs.isEmpty { break }
      let batch = jobs
      jobs = []
      for job in batch {
        waiting -= 1
        condition.unlock()
        job()
        condition.lock()
      }
    }
    condition.unlock()
    finish()
  }
}

/// The thread that the stores of one loop of a group share. It ends with the last of them, and of the group.
private final class SharedStoreThread: Sendable {
  let thread = StoreThread(sharedNamed: "runbus.stores")
  deinit { thread.end(after: {}) }
}

/// Passes one value from the store's thread to a thread that waits for it.
///
/// `@unchecked Sendable`: `value` is only used while `condition` is locked.
private final class ResultBox<Value: Sendable>: @unchecked Sendable {
  private let condition = NSCondition()
  private var value: Value?

  func set(_ value: Value) {
    condition.lock()
    self.value = value
    condition.signal()
    condition.unlock()
  }
  func wait() -> Value {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if let value { return value }
      condition.wait()
    }
  }
}
