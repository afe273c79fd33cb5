// Dispatch sources may be used from any thread; their protocols do not say so yet.
@preconcurrency import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Requests from outside to end.
enum Signals {
  /// What ends a process in good order: Ctrl-C, `kill`, a terminal that is closed, and Ctrl-\.
  static let endings = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// The signals as they come, instead of what they usually do. Each is taken `times` times: one more ends the process at
  /// once, whatever it is doing. SIGHUP is taken always, because a terminal that goes away often sends several.
  ///
  /// A process that was started with SIGHUP ignored (`nohup`) goes on ignoring it.
  static func stream(_ numbers: [Int32] = endings, times: Int = 1) -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    let sources = numbers.compactMap { number -> (any DispatchSourceSignal)? in
      let before = signal(number, SIG_IGN)
      if number == SIGHUP, isIgnore(before) { return nil }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      let left = Mutex(times)
      source.setEventHandler {
        let isLast = left.withLock { left in
          left -= 1
          return left == 0
        }
        if isLast, number != SIGHUP { signal(number, SIG_DFL) }
        continuation.yield(number)
      }
      source.activate()
      return source
    }
    continuation.onTermination = { _ in for source in sources { source.cancel() } }
    return stream
  }

  /// Whether a handler is `SIG_IGN`. Functions do not compare: their addresses do.
  private static func isIgnore(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafeBitCast(handler, to: UInt.self) == unsafeBitCast(SIG_IGN, to: UInt.self)
  }
}
