public import RunCore
import Synchronization

/// Something with a descriptor that a loop watches: a socket, a pipe. Used on the loop's thread only.
public protocol LoopSource: AnyObject {
  /// Becomes readable when ``drain()`` has something to do.
  var descriptor: CInt { get }
  /// Takes in what is there, a bounded amount at a time; returns whether more is left.
  func drain() -> Bool
}

/// One thread that owns sockets and timers and runs the actors pinned to it: a serial executor with a poller.
///
/// An actor is pinned by `nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }` and
/// by keeping the loop. What a source or a timer calls runs on the same thread, so there the actor may use
/// `assumeIsolated`. Several nodes may share a loop. An idle loop sleeps until something happens.
///
/// Deadlines are on a clock that counts sleep, but a sleeping machine fires no timer: what fell due meanwhile fires
/// within the rest of the wait that the sleep interrupted.
public final class Loop: SerialExecutor, Sendable {
  let core: LoopCore
  private let thread: Mutex<SystemThread?>

  /// Starts the loop's thread.
  ///
  /// Throws ``RunBusError/Code/transport`` when the system has no thread or no pipe for it.
  public init() throws(RunBusError) {
    let core = LoopCore(pipe: try WakePipe())
    self.core = core
    thread = Mutex(try SystemThread(name: "runbus-loop") { core.run() })
  }

  deinit { stop() }

  /// The time on the loop's line: monotonic, counts sleep, in nanoseconds. Any thread.
  public static var now: BusTime { readContinuousClock() }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { core.isCurrent }

  /// Ends the thread after the work that was given to it, and waits for that; called on the loop's own thread it does
  /// not wait. Close what lives on the loop before. Idempotent.
  ///
  /// A job that an actor is given afterwards still runs, on a short-lived thread: nobody waits for ever.
  public func stop() {
    core.requestStop()
    guard let thread = thread.withLock({ $0.take() }) else { return }
    if core.isCurrent { thread.detach() } else { thread.join() }
  }

  /// Runs something on the loop's thread, after what was given to it before. Any thread.
  public func submit(_ work: @escaping @Sendable () -> Void) { core.enqueue(.call(work)) }

  // MARK: On the loop's thread

  /// Watches a source until it is removed, and drains it once before sleeping: its first edge may be gone already.
  public func add(_ source: any LoopSource) {
    checkIsolated()
    core.add(source)
  }

  /// Watches a source no more. Call it before its descriptor closes.
  public func remove(_ source: any LoopSource) {
    checkIsolated()
    core.remove(source)
  }

  /// Drains a source before the loop sleeps again: whoever used it may have consumed the edge that would have woken it.
  public func touch(_ source: any LoopSource) {
    checkIsolated()
    core.touch(source)
  }

  /// A timer without a deadline; keep it. It fires after the sources of its turn have been drained.
  public func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    checkIsolated()
    let timer = LoopTimer(handler)
    core.add(timer)
    return timer
  }

  // MARK: SerialExecutor

  /// Takes in a job of an actor that is pinned to the loop. Any thread.
  public func enqueue(_ job: consuming ExecutorJob) { core.enqueue(.job(UnownedJob(job), asUnownedSerialExecutor())) }

  /// The loop as its actors name it.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Stops the program when the caller is not on the loop's thread.
  public func checkIsolated() { precondition(core.isCurrent, "this belongs on the thread of its loop") }

  /// Whether the caller is on the loop's thread, for the runtime.
  public func isIsolatingCurrentContext() -> Bool? { core.isCurrent }
}
