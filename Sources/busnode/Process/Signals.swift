// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Foundation
import Synchronization
import SystemC

/// The signals that ask this process to end.
enum Signals {
  /// Ctrl-C, `kill`, a closed terminal, and Ctrl-\. On each of them a node ends in good order.
  static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Whether one of ``endings`` has come. Nothing may stop this process then, because it could not go on to its end.
  static var isEnding: Bool {
    var pending = sigset_t()
    sigpending(&pending)
    return hasEnding.load(ordering: .relaxed) || endings.contains { sigismember(&pending, $0) == 1 }
  }
  private static let hasEnding = Atomic(false)

  /// The signals as they arrive, in place of their default action.
  ///
  /// A process that was started with SIGHUP ignored (`nohup`) still ignores it.
  ///
  /// - Parameter times: How often each signal is caught. The next one ends the process at once. SIGHUP is always
  ///   caught, because a closing terminal often sends several.
  static func stream(_ numbers: [Int32] = endings, times: Int = 1) -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    let registered = DispatchGroup()
    let numbers = numbers.filter { $0 != SIGHUP || !isIgnored($0) }
    let sources = numbers.map { number in
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      let left = Mutex(times)
      source.setEventHandler {
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast, number != SIGHUP { signal(number, SIG_DFL) }
        if endings.contains(number) { hasEnding.store(true, ordering: .relaxed) }
        continuation.yield(number)
      }
      registered.enter()
      source.setRegistrationHandler { registered.leave() }
      source.activate()
      return source
    }
    // Until a source is registered a signal has its default action. Ignored earlier, it would be lost.
    registered.wait()
    #if canImport(Darwin)
      // A source sees ignored signals there. Elsewhere it has put its own handler in place of the default action.
      for number in numbers { signal(number, SIG_IGN) }
    #endif
    continuation.onTermination = { _ in for source in sources { source.cancel() } }
    return stream
  }

  /// Calls a handler whenever a signal comes, in place of its default action; `nil` when this process was started with
  /// the signal ignored.
  static func source(_ number: Int32, _ handler: @Sendable @escaping () -> Void) -> (any DispatchSourceSignal)? {
    guard !isIgnored(number) else { return nil }
    let registered = DispatchGroup()
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler(handler: handler)
    registered.enter()
    source.setRegistrationHandler { registered.leave() }
    source.activate()
    registered.wait()
    #if canImport(Darwin)
      signal(number, SIG_IGN)
    #endif
    return source
  }

  /// Lets signals that end a process at once do so: SIGABRT, with which watchdogs end what hangs, and SIGXCPU.
  ///
  /// The threads of Dispatch and of libzmq block all signals, and the main thread ends. So one thread does nothing but
  /// not block them. It never ends. Swift's backtracer, which takes SIGABRT, may hang where it should end the process.
  static func letEnd() {
    signal(SIGABRT, SIG_DFL)
    // All others stay blocked there as in the other threads: Dispatch sees only what no thread takes.
    var (blocked, before) = (sigset_t(), sigset_t())
    sigfillset(&blocked)
    for number in [SIGABRT, SIGXCPU] { sigdelset(&blocked, number) }
    pthread_sigmask(SIG_SETMASK, &blocked, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    let thread = Thread { while true { pause() } }
    thread.name = "signals"
    thread.stackSize = 64 << 10
    thread.start()
  }

  /// Stops this process by the default action of a signal, and returns when it goes on.
  ///
  /// Returns at once when no shell could continue the process: the system does not stop it then.
  static func stop(_ number: Int32) {
    #if canImport(Darwin)
      // A source of the signal would see it there, and would stop the process again and again.
      let number = SIGSTOP
    #endif
    let handler = signal(number, SIG_DFL)
    var (numbers, before) = (sigset_t(), sigset_t())
    sigemptyset(&numbers)
    sigaddset(&numbers, number)
    pthread_sigmask(SIG_UNBLOCK, &numbers, &before)
    // To this thread: a signal to the process may reach another one, and this one would run on for a while.
    raise(number)
    pthread_sigmask(SIG_SETMASK, &before, nil)
    signal(number, handler)
  }

  /// Does something while this thread does not get a signal.
  static func withBlocked(_ number: Int32, _ body: () -> Void) {
    var (numbers, before) = (sigset_t(), sigset_t())
    sigemptyset(&numbers)
    sigaddset(&numbers, number)
    pthread_sigmask(SIG_BLOCK, &numbers, &before)
    body()
    pthread_sigmask(SIG_SETMASK, &before, nil)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    let before = signal(number, SIG_IGN)
    signal(number, before)
    return isIgnore(before)
  }

  /// Whether a handler is `SIG_IGN`. Swift cannot compare functions, so their addresses are compared.
  private static func isIgnore(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }
}
