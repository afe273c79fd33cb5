public import RunCore
import Synchronization

/// Something with a descriptor that a loop polls, such as a socket or a pipe. Used on the loop's thread only.
public protocol LoopSource: AnyObject {
  /// Becomes readable when ``drain()`` has something to do.
  var descriptor: CInt { get }
  /// Processes what has arrived, up to a bound. Returns whether there may be more.
  func drain() -> Bool
}

/// One thread that polls sockets, runs timers and executes the actors pinned to it: a serial executor with a poller.
///
/// An actor is pinned to a loop when it keeps the loop and returns ``asUnownedSerialExecutor()`` as its
/// `unownedExecutor`. Sources and timers are called on the same thread, so there the actor may use `assumeIsolated`.
/// Several nodes may share a loop. An idle loop sleeps until something happens.
///
/// Deadlines use a clock that counts sleep. A sleeping machine fires no timers; after it wakes up, a timer that fell
/// due fires when `poll` returns, at the latest when the rest of its time-out has passed.
///
/// ```swift
/// let loop = try Loop()
/// let hub = try Hub(at: location, configuration: configuration, loop: loop)
/// try await hub.run()
/// loop.stop()
/// ```
public final class Loop: SerialExecutor, Sendable {
  let core: LoopCore
  private let thread: Mutex<SystemThread?>
  let share: LoopShare?

  /// Starts the loop's thread.
  ///
  /// - Throws: ``RunBusError/Code/transport`` when the system provides no thread or no pipe.
  public convenience init() throws(RunBusError) { try self.init(steeredBy: nil) }

  /// Starts the thread of a loop whose time is that of a clock which a test steers; `nil` for the system's clock.
  /// Timers of a steered loop fire when the clock is moved on.
  package convenience init(steeredBy clock: SteeredClock?) throws(RunBusError) {
    try self.init(steeredBy: clock, sharing: nil)
  }

  /// - Parameter share: What the loop shares with others of its group; `nil` for a loop of its own.
  init(steeredBy clock: SteeredClock?, sharing share: LoopShare?) throws(RunBusError) {
    self.share = share
    let core = LoopCore(pipe: try WakePipe(), poller: try SystemPoller(), steeredBy: clock)
    self.core = core
    thread = Mutex(
      try SystemThread(name: "runbus-loop") { if let share { share.run(core.run) } else { core.run() } })
  }

  deinit { stop() }

  /// The present time of a monotonic clock that counts sleep, in nanoseconds. Any thread may read it.
  public static var now: BusTime { readContinuousClock() }

  /// The present time of this loop, by which its timers fire and its nodes work. It is that of the monotonic clock,
  /// except in a test that steers the time. Any thread may read it.
  public var now: BusTime { core.now }

  /// The present wall-clock time in seconds since 1970.
  var wallSeconds: Double { core.wallSeconds }
  /// Whether a test moves the time of this loop.
  var isSteered: Bool { core.isSteered }

  /// A seed for the jitter of a node: random, except in a test that steers the time.
  func seed() -> UInt64 { core.seed() }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { core.isCurrent }

  /// Ends the thread when it has done the work that it was given, and waits for that; a call on the loop's own thread
  /// does not wait. Close the nodes on the loop before. Idempotent.
  ///
  /// An actor's job that arrives later still runs, on a short-lived thread, so that no caller waits for ever.
  public func stop() {
    core.requestStop()
    guard let thread = thread.withLock({ $0.take() }) else { return }
    if core.isCurrent { thread.detach() } else { thread.join() }
  }

  /// Runs a closure on the loop's thread, after the work that was submitted before. Any thread may call it.
  public func submit(_ work: @escaping @Sendable () -> Void) { core.enqueue(.call(work)) }

  // MARK: On the loop's thread

  /// Polls a source until it is removed. The loop drains it once before it sleeps: the first edge of an edge-triggered
  /// descriptor may have passed already.
  public func add(_ source: any LoopSource) {
    checkIsolated()
    core.add(source)
  }

  /// Stops polling a source. Call it before the source's descriptor is closed.
  public func remove(_ source: any LoopSource) {
    checkIsolated()
    core.remove(source)
  }

  /// Makes the loop drain a source before it sleeps again. Needed after using an edge-triggered source directly, which
  /// may have consumed the edge that would have woken the loop.
  public func touch(_ source: any LoopSource) {
    checkIsolated()
    core.touch(source)
  }

  /// Makes a timer without a deadline. Keep it: the loop does not. It fires after the sources of its turn have been
  /// drained.
  public func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    checkIsolated()
    return core.timers.makeTimer(handler)
  }

  // MARK: SerialExecutor

  /// Queues a job of an actor that is pinned to the loop. Any thread may call it.
  public func enqueue(_ job: consuming ExecutorJob) { core.enqueue(.job(UnownedJob(job), asUnownedSerialExecutor())) }

  /// The reference by which an actor names the loop as its executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps when the caller is not on the loop's thread.
  public func checkIsolated() { precondition(core.isCurrent, "this belongs on the thread of its loop") }

  /// Whether the caller is on the loop's thread, as the Swift runtime asks it.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }
}
