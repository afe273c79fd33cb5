// Dispatch sources may be used from any thread; their protocols do not say so yet.
@preconcurrency import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Requests from outside to end.
enum Signals {
  /// The signals as they come, instead of what they usually do. Each is taken once: a second Ctrl-C ends the process
  /// at once, whatever it is doing.
  static func stream(_ numbers: [Int32]) -> AsyncStream<Int32> {
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    let sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        signal(number, SIG_DFL)
        continuation.yield(number)
      }
      source.activate()
      return source
    }
    continuation.onTermination = { _ in for source in sources { source.cancel() } }
    return stream
  }
}
