import Dispatch
import Foundation
import SystemC

/// Standard input, standard output and standard error.
enum StandardDescriptors {
  /// Opens /dev/null for those that are closed. Otherwise a store or a socket would get the descriptor number, and text
  /// for standard output would be written into it.
  static func occupyClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // Open for reading only, so that writing fails as it does to a closed descriptor.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Drops what is written to standard error from now on.
  static func silenceErrors() {
    let nowhere = open("/dev/null", O_WRONLY)
    guard nowhere >= 0 else { return }
    _ = dup2(nowhere, STDERR_FILENO)
    close(nowhere)
  }

  /// Yields once when the reader of standard output has gone: a closed pipe, or a closed terminal.
  static func readerIsGone() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    // This needs a thread of its own: `poll` blocks until the reader is gone or the process ends.
    DispatchQueue(label: "busnode.reader").async {
      var entry = pollfd(fd: STDOUT_FILENO, events: 0, revents: 0)
      while true {
        let count = poll(&entry, 1, -1)
        if count < 0, errno == EINTR { continue }
        if count > 0, entry.revents & Int16(POLLERR | POLLHUP) != 0 { continuation.yield() }
        return continuation.finish()
      }
    }
    return stream
  }
}
