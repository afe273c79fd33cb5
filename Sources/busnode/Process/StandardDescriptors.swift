import Dispatch
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The three descriptors that a process is born with.
enum StandardDescriptors {
  /// Occupies those that are closed: otherwise a store or a socket would get such a number, and what is written to
  /// standard output would go into it.
  static func occupyClosed() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
    where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
      // Opened for reading, so that writing to it fails as it would have.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Yields once when nobody reads standard output any more: the reader of a pipe has ended, or the terminal is gone.
  static func readerIsGone() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    // A thread of its own: `poll` blocks until the reader is gone, or for the life of the process.
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
