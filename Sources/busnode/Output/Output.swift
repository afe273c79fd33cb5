import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard output and standard error, whole lines at a time.
enum Output {
  private static let lock = Mutex(())

  /// Writes a line to standard output; throws ``QuietExit/pipeClosed`` when nobody reads it any more.
  static func line(_ text: String) throws(QuietExit) {
    guard write(text + "\n", to: STDOUT_FILENO) else { throw QuietExit.pipeClosed }
  }

  /// Writes a value as one line of JSON to standard output.
  static func jsonLine(_ value: some Encodable) throws(QuietExit) { try line(json(value)) }

  /// Writes text without a line break of its own: a screen being redrawn.
  static func raw(_ text: String) throws(QuietExit) {
    guard write(text, to: STDOUT_FILENO) else { throw QuietExit.pipeClosed }
  }

  /// Writes a last line to standard output, read or not.
  static func tryPrint(_ text: String) { _ = write(text + "\n", to: STDOUT_FILENO) }

  /// Writes a line to standard error.
  static func complain(_ text: String) { _ = write(text + "\n", to: STDERR_FILENO) }

  /// One line of JSON with its keys in alphabetical order, so that it stays the same from build to build.
  static func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Our own structs of strings and finite numbers: there is nothing in them that JSON cannot say.
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }

  /// How many columns the terminal has; 80 when there is none, or it does not say.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Whether people look at standard output rather than a program.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  private static func write(_ text: String, to descriptor: CInt) -> Bool {
    lock.withLock { _ in
      var rest = Array(text.utf8)[...]
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
        if written < 0 {
          if errno == EINTR { continue }
          guard errno == EAGAIN, waitUntilWritable(descriptor) else { return false }
        } else {
          rest = rest.dropFirst(written)
        }
      }
      return true
    }
  }

  /// Somebody made our output non-blocking (a shell's terminal, shared with others): wait for room.
  private static func waitUntilWritable(_ descriptor: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, -1) >= 0 || errno == EINTR
  }
}

/// `write(2)` under a name that ``Output`` does not use itself.
private func writeBytes(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
