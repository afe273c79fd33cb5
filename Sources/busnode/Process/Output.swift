import Foundation
import RunBus
import Synchronization
import SystemC

/// Standard output could not be written.
struct OutputError: Error {
  /// The system's error number.
  let code: CInt
  /// Whether the reader has closed the pipe (`| head -1`), which is no failure.
  var isClosedPipe: Bool { code == EPIPE }
  /// What happened, for people.
  var message: String { Tongue.say(.outputFailed, ["reason": Output.reason(code)]) }
}

/// Standard output and standard error, whole lines at a time.
///
/// Every line passes ``ForeignText/shown(_:)``, so that no file name, title or text of a peer can control the terminal.
///
/// The result of a query is data (``line(_:)``, ``jsonLine(_:)``, ``raw(_:)``): the command fails when data cannot be
/// written. A report of what the command did (``tell(_:)``) may fail without changing the exit status.
enum Output {
  private struct State {
    var hasData = false
    var hasComplained = false
    var hasJSONLog = false
  }
  private static let state = Mutex(State())
  /// One lock for each descriptor, so that a slow reader of standard output does not block standard error.
  private static let outputLock = Mutex(())
  private static let errorLock = Mutex(())

  /// Whether the command was asked for JSON: its errors are JSON, too.
  static let isJSON = CommandLine.arguments.dropFirst().contains("--json")

  // MARK: Data

  /// Writes a line of data.
  static func line(_ text: String) throws(OutputError) { try raw(shown(text) + "\n") }

  /// Writes a value as one line of JSON.
  static func jsonLine(_ value: some Encodable) throws(OutputError) { try raw(json(value) + "\n") }

  /// Writes data as it is, without a line break of its own: a file for other programs, a screen being redrawn.
  static func raw(_ text: String) throws(OutputError) {
    state.withLock { $0.hasData = true }
    let code = write(text, to: STDOUT_FILENO)
    guard code == 0 else { throw OutputError(code: code) }
  }

  /// Writes the content of a message: its bytes as they are, or on a terminal its lines, so that they do not control it.
  static func content(_ bytes: [UInt8]) throws(OutputError) {
    state.withLock { $0.hasData = true }
    guard isTerminal else {
      if let code = write(bytes, to: STDOUT_FILENO).error { throw OutputError(code: code) }
      return
    }
    var lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    for line in lines { try self.line(String(line)) }
  }

  /// Closes standard output at the end of the process, because some file systems report a failed write only then. Does
  /// nothing when no data was written.
  static func close() throws(OutputError) {
    guard state.withLock({ $0.hasData }) else { return }
    guard closeDescriptor(STDOUT_FILENO) == 0 || errno == EINTR else { throw OutputError(code: errno) }
  }

  // MARK: Words

  /// Prints what a command has done. A failure to print it is reported once on standard error and is not an error of
  /// the command.
  static func tell(_ text: String) { tell(raw: shown(text)) }

  /// Prints a line for the terminal as it is: this program's own text with escape sequences.
  static func tell(terminal text: String) { tell(raw: text) }

  /// Writes a question to standard error, without a line break.
  static func prompt(_ text: String) { _ = write(shown(text, on: STDERR_FILENO), to: STDERR_FILENO) }

  /// Prints as JSON what a command has done; see ``tell(_:)``.
  static func tell(json value: some Encodable) { tell(raw: json(value)) }

  private static func tell(raw text: String) {
    let error = OutputError(code: write(text + "\n", to: STDOUT_FILENO))
    guard error.code != 0, !error.isClosedPipe else { return }
    let isFirst = state.withLock { state in
      defer { state.hasComplained = true }
      return !state.hasComplained
    }
    if isFirst { complain("busnode: \(error.message)") }
  }

  /// Writes a line to standard error: a notice for people, or with a log in JSON a line of that.
  static func complain(_ text: String) {
    let isJSON = state.withLock { $0.hasJSONLog }
    let line =
      isJSON
      ? JSONLogHandler.line(["level": "notice", "logger": "busnode", "message": text])
      : shown(text, on: STDERR_FILENO)
    complain(line: line)
  }

  private static func complain(line: String) { _ = write(line + "\n", to: STDERR_FILENO) }

  /// From now on all lines of standard error are JSON, but for the usage of a command and an error in JSON of its own.
  static func logAsJSON() { state.withLock { $0.hasJSONLog = true } }

  /// The text for an `errno`.
  static func reason(_ error: CInt) -> String { error == EBADF ? Tongue.say(.outputIsClosed) : systemReason(error) }

  /// Writes a failure to standard error: a sentence, or one JSON object if the command was asked for JSON.
  static func complain(_ failure: Failure) {
    if isJSON {
      complain(line: json(ErrorJSON(failure)))
    } else {
      complain("busnode: \(failure.message)")
      for line in failure.details { complain("  \(line)") }
    }
  }

  /// One line of JSON with its keys in alphabetical order, so that it stays the same from build to build.
  static func json(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // All values are structs of strings and finite numbers, which JSON can always encode.
    guard let data = try? encoder.encode(value) else { return "null" }
    let text = String(decoding: data, as: UTF8.self)
    guard text.unicodeScalars.contains(where: { !ForeignText.isHarmless($0) }) else { return text }
    // Control characters can occur only inside strings, where JSON allows `\u` escapes.
    return text.unicodeScalars.reduce(into: "") { escaped, scalar in
      if ForeignText.isHarmless(scalar) {
        escaped.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
  }

  // MARK: Terminal

  /// A line of this program's own words as it is written: harmless, and in plain characters on a terminal whose locale has
  /// no others.
  static func shown(_ text: String, on descriptor: CInt = STDOUT_FILENO) -> String {
    let text = ForeignText.shown(text)
    guard !Locales.ofThisProcess.hasUnicode, isatty(descriptor) == 1 else { return text }
    return Locales.plain(text)
  }

  /// The width of the terminal in columns; 80 when it is not known.
  static var columns: Int { screen.columns }

  /// The largest screen that is drawn. A terminal may claim any size, up to 65,535 columns and rows.
  static let screenMax = Screen(columns: 1000, rows: 400)

  /// The present size of the terminal, at most ``screenMax``; 80 columns and 24 rows when it is not known.
  static var screen: Screen {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return Screen(columns: 80, rows: 24) }
    return Screen(
      columns: size.ws_col > 0 ? min(Int(size.ws_col), screenMax.columns) : 80,
      rows: size.ws_row > 0 ? min(Int(size.ws_row), screenMax.rows) : 24)
  }

  /// Whether somebody can see progress: standard error is a terminal that can write a line over.
  static var showsProgress: Bool {
    guard isatty(STDERR_FILENO) == 1, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return false }
    return !state.withLock { $0.hasJSONLog }
  }

  /// Writes a text over the present line of standard error; an empty one removes what is there.
  static func show(progress text: String) {
    _ = write("\r" + shown(text, on: STDERR_FILENO) + "\u{1B}[K", to: STDERR_FILENO)
  }

  /// Whether standard output is a terminal.
  static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

  /// Writes bytes by a single call and without a lock, as a handler of a signal may.
  static func writeNow(_ bytes: UnsafeRawBufferPointer, to descriptor: CInt) -> Int {
    writeBytes(descriptor, bytes.baseAddress, bytes.count)
  }

  /// Writes all bytes, waiting while the descriptor is full.
  ///
  /// - Returns: How many bytes were written, and the `errno` that ended the writing early.
  static func write(_ bytes: [UInt8], to descriptor: CInt) -> (count: Int, error: CInt?) {
    descriptor == STDERR_FILENO
      ? errorLock.withLock { _ in writeAll(bytes, to: descriptor) }
      : outputLock.withLock { _ in writeAll(bytes, to: descriptor) }
  }

  /// Writes text; returns 0, or the `errno` that ended the writing early.
  private static func write(_ text: String, to descriptor: CInt) -> CInt {
    write(Array(text.utf8), to: descriptor).error ?? 0
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

  /// Waits for room. Another process that shares the terminal may have made the descriptor non-blocking.
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

/// `close(2)` under a name that ``Output`` does not use itself.
private func closeDescriptor(_ descriptor: CInt) -> CInt { close(descriptor) }
