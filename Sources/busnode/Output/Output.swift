import Foundation
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Standard output and standard error, whole lines at a time.
enum Output {
  /// One for each descriptor: a reader of standard output that stands still does not hold up standard error.
  private static let outputLock = Mutex(())
  private static let errorLock = Mutex(())

  /// Writes a line to standard output; throws ``QuietExit/pipeClosed`` when nobody reads it any more, and a ``Failure``
  /// with 74 when it cannot be written for another reason.
  static func line(_ text: String) throws { try raw(text + "\n") }

  /// Writes a value as one line of JSON to standard output; throws like ``line(_:)``.
  static func jsonLine(_ value: some Encodable) throws { try line(json(value)) }

  /// Writes text without a line break of its own: a screen being redrawn. Throws like ``line(_:)``.
  static func raw(_ text: String) throws {
    switch write(Array(text.utf8), to: STDOUT_FILENO).error {
    case nil: return
    case EPIPE?: throw QuietExit.pipeClosed
    case let error?:
      throw Failure(
        code: "notWritten", message: "standard output cannot be written: \(reason(error))",
        exitStatus: ExitStatus.diskError)
    }
  }

  /// Writes a last line to standard output, read or not.
  static func tryPrint(_ text: String) { _ = write(Array((text + "\n").utf8), to: STDOUT_FILENO) }

  /// Writes a line to standard error.
  static func complain(_ text: String) { _ = write(Array((text + "\n").utf8), to: STDERR_FILENO) }

  /// What an `errno` means.
  static func reason(_ error: CInt) -> String { String(cString: strerror(error)) }

  /// One line of JSON with its keys in alphabetical order, so that it stays the same from build to build.
  static func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Our own structs of strings and finite numbers: there is nothing in them that JSON cannot say.
    guard let data = try? encoder.encode(value) else { return "null" }
    return String(decoding: data, as: UTF8.self)
  }

  /// How many columns the terminal has; 80 when there is none, or it does not say.
  static var columns: Int { screen.columns }

  /// How large the terminal is now; 80 columns and 24 rows when there is none, or it does not say.
  static var screen: Screen {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return Screen(columns: 80, rows: 24) }
    return Screen(columns: size.ws_col > 0 ? Int(size.ws_col) : 80, rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  /// Whether people look at standard output rather than a program.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Writes bytes, waiting for room where there is none; returns how many were written, and the `errno` that ended it.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> (count: Int, error: CInt?) {
    descriptor == STDERR_FILENO
      ? errorLock.withLock { _ in writeAll(bytes, to: descriptor) }
      : outputLock.withLock { _ in writeAll(bytes, to: descriptor) }
  }

  private static func writeAll(_ bytes: [UInt8], to descriptor: CInt) -> (count: Int, error: CInt?) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { writeBytes(descriptor, $0.baseAddress, $0.count) }
      let error = errno
      if written < 0 {
        if error == EINTR { continue }
        guard error == EAGAIN, waitUntilWritable(descriptor) else { return (bytes.count - rest.count, error) }
      } else {
        rest = rest.dropFirst(written)
      }
    }
    return (bytes.count, nil)
  }

  /// Somebody made our output non-blocking (a shell's terminal, shared with others): wait for room.
  private static func waitUntilWritable(_ descriptor: CInt) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, -1) >= 0 || errno == EINTR
  }
}

/// The size of a terminal, in characters.
struct Screen: Hashable, Sendable {
  var columns: Int
  var rows: Int
}

/// `write(2)` under a name that ``Output`` does not use itself.
private func writeBytes(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
  write(descriptor, bytes, count)
}
