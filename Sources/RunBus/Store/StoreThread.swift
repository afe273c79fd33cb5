import Foundation

/// A store's own thread. It runs jobs one by one, in order, and sleeps between them: without a time-out, unless a job is
/// to be done later.
///
/// Without a thread, each job runs at once on the thread of its caller. A store in memory can do that, because it does
/// not block and has a lock of its own; jobs of two threads then have no order.
///
/// `@unchecked Sendable`: `jobs`, `later`, `isEnding`, `hasEnded` and `isAsleep` are only used while `condition` is locked;
/// `threadNumber` is set once, before any job can run; `hasThread` never changes.
final class StoreThread: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  private let condition = NSCondition()
  // Unbounded, because a node has one commit in flight and gathers the next one itself.
  private var jobs: [Job] = []
  private var later: (job: Job, at: Date)?
  private var isEnding = false
  private var hasEnded = false
  private var isAsleep = false
  private var threadNumber: UInt = 0
  private let hasThread: Bool

  /// Runs each job on the thread of its caller.
  init() { hasThread = false }

  init(name: StaticString) {
    hasThread = true
    let thread = Thread { [self] in
      // The name of a `Thread` does not reach the system's tools on Linux.
      nameThread(name)
      work()
    }
    thread.start()
  }

  /// Queues a job; `false` when the thread has been told to end.
  func enqueue(_ job: @escaping Job) -> Bool {
    condition.lock()
    guard !isEnding else {
      condition.unlock()
      return false
    }
    guard hasThread else {
      condition.unlock()
      job()
      return true
    }
    jobs.append(job)
    let mustWake = isAsleep
    condition.unlock()
    // Signalled without the lock: otherwise the thread would wake up only to wait for the lock.
    if mustWake { condition.signal() }
    return true
  }

  /// Queues a job after a time; one that was to be done later already is done at its own time instead. A thread that ends
  /// leaves it out.
  func enqueueLater(_ seconds: Double, _ job: @escaping Job) {
    condition.lock()
    if later == nil { later = (job, Date(timeIntervalSinceNow: seconds)) }
    condition.unlock()
    condition.signal()
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
    guard hasThread else {
      if !isEnding { last() }
      isEnding = true
      return
    }
    if !isEnding {
      isEnding = true
      jobs.append(last)
      condition.broadcast()
    }
    if isCurrentLocked { return }
    while !hasEnded { condition.wait() }
  }

  /// Whether no job is queued.
  var isIdle: Bool {
    condition.lock()
    defer { condition.unlock() }
    return jobs.isEmpty
  }

  private var isCurrent: Bool {
    condition.lock()
    defer { condition.unlock() }
    return isCurrentLocked
  }
  private var isCurrentLocked: Bool { threadNumber == currentThreadNumber() }

  private func work() {
    condition.lock()
    threadNumber = currentThreadNumber()
    while true {
      isAsleep = true
      while jobs.isEmpty && !isEnding {
        guard let next = later else {
          condition.wait()
          continue
        }
        guard next.at <= Date() || !condition.wait(until: next.at) else { continue }
        // The time has come, or the clock was set.
        if let due = later, due.at == next.at {
          later = nil
          jobs.append(due.job)
        }
      }
      isAsleep = false
      if jobs.isEmpty { break }
      let batch = jobs
      jobs = []
      condition.unlock()
      for job in batch { job() }
      condition.lock()
    }
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }
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
