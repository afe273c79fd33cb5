public import RunCore

/// Something with a descriptor that a loop watches: a socket, a pipe. Used on the loop's thread only.
public protocol LoopSource: AnyObject {
  /// Becomes readable when ``drain()`` has something to do.
  var descriptor: CInt { get }
  /// Takes in what is there, a bounded amount at a time; returns whether more is left.
  func drain() -> Bool
}

/// One thread with one poller: the home of nodes and of every socket that is given to them.
///
/// A loop is a serial executor: actors pinned to it run on its thread, where the descriptors of their sources are
/// watched, so a frame reaches its node without changing threads. Several nodes may share one loop. An idle loop does
/// not wake up. It ends, and joins its thread, when the last reference to it goes; every node holds one.
public final class Loop: SerialExecutor {
  private let thread: LoopThread

  /// Starts the loop's thread.
  ///
  /// Throws ``RunBusError/Code/transport`` when the system has no thread or no descriptor left.
  public init() throws(RunBusError) {
    thread = try LoopThread()
  }

  deinit { thread.end() }

  /// The monotonic clock that counts sleep, as a moment on this machine's own line.
  public static var now: BusTime {
    let parts = ContinuousClock.now.sinceEpoch.components
    return BusTime(nanoseconds: parts.seconds &* 1_000_000_000 &+ parts.attoseconds / 1_000_000_000)
  }

  /// Runs work on the loop's thread, after what was submitted before it; from any thread.
  public func submit(_ work: @escaping @Sendable () -> Void) { thread.add(.work(work)) }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { thread.isCurrent }

  // MARK: On the loop's thread

  /// Watches a source from now on.
  public func add(_ source: any LoopSource) { thread.poller.add(source) }

  /// Watches a source no more.
  public func remove(_ source: any LoopSource) { thread.poller.remove(source) }

  /// Drains a source once more before the loop sleeps: for descriptors whose edge a send can consume.
  public func touch(_ source: any LoopSource) { thread.poller.touch(source) }

  /// A timer whose handler runs on the loop's thread, until it is released.
  public func makeTimer(_ handler: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(handler)
    thread.poller.add(timer)
    return timer
  }

  // MARK: SerialExecutor

  /// Takes in a job of an actor that is pinned to this loop.
  public func enqueue(_ job: consuming ExecutorJob) { thread.add(.job(UnownedJob(job), asUnownedSerialExecutor())) }

  /// This loop as an executor.
  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  /// Traps when the caller is not on the loop's thread.
  public func checkIsolated() {
    precondition(isCurrent, "this must run on its node's loop")
  }

  /// Whether the caller is on the loop's thread.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }
}

extension ContinuousClock.Instant {
  /// The reading of the clock itself: the machine's uptime, sleep included.
  fileprivate var sinceEpoch: Duration { ContinuousClock.Instant.epoch.duration(to: self) }
  private static let epoch = ContinuousClock().systemEpoch
}

/// A deadline on a loop. Used on the loop's thread only.
public final class LoopTimer {
  /// When the handler runs next, by ``Loop/now``; `nil` for never. Reaching it clears it.
  public var deadline: BusTime?
  private let handler: () -> Void

  init(_ handler: @escaping () -> Void) { self.handler = handler }

  func fire() {
    deadline = nil
    handler()
  }
}
