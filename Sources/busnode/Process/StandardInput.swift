import Dispatch

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The lines on standard input.
enum StandardInput {
  /// Whether a person sits at it. A process in the background has no terminal: reading from it would stop the process.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }
  /// Whether it can be read without being stopped for it.
  static var isReadable: Bool { isatty(STDIN_FILENO) != 1 || isTerminal }

  /// More lines than anybody writes before a node has read one; what does not fit is named and dropped.
  static let waitingMax = 4096

  /// The lines until the end of input. Reading goes on for the life of the process: it can be asked for once.
  static func lines() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingOldest(waitingMax))
    // A thread of its own: `read` blocks, and nothing but the end of input (or of the process) ends it.
    DispatchQueue(label: "busnode.stdin").async {
      while let line = readLine() {
        if case .dropped = continuation.yield(line) { Output.complain("busnode: too many lines at once: \(line)") }
      }
      continuation.finish()
    }
    return stream
  }
}
