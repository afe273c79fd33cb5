import Dispatch
import SystemC

/// The lines on standard input.
enum StandardInput {
  /// Whether standard input is a terminal and this process is in its foreground. The terminal stops (SIGTTIN) a process
  /// that reads from it in the background.
  static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 && tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// How many lines may wait to be obeyed, more than any script writes at once. Further lines are reported and dropped.
  static let waitingMax = 4096

  /// The lines until the end of input. Call this once only, because the thread that reads never stops before that.
  static func lines() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: String.self, bufferingPolicy: .bufferingOldest(waitingMax))
    // This needs a thread of its own: `read` blocks until the input or the process ends.
    DispatchQueue(label: "busnode.stdin").async {
      while let line = readLine() {
        if case .dropped = continuation.yield(line) {
          Output.complain("busnode: " + Tongue.say(.linesIgnored, ["line": line]))
        }
      }
      continuation.finish()
    }
    return stream
  }
}
