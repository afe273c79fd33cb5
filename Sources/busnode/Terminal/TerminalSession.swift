// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal of this process in raw mode, on its alternate screen. It is given back as it was by ``end()``, at the exit of
/// the process, and when a signal of the system ends it.
///
/// Ctrl-C keeps its meaning. Ctrl-Z is a key: ``suspend()`` gives the terminal back and stops the process.
final class TerminalSession: Sendable {
  /// What a terminal can do, by its environment.
  struct Abilities: Hashable, Sendable {
    /// Whether colours may be used: not with `NO_COLOR`.
    var hasColor: Bool
    /// Whether it shows more than ASCII: by the locale.
    var hasUnicode: Bool

    init(_ environment: [String: String]) {
      hasColor = (environment["NO_COLOR"] ?? "").isEmpty
      let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
      let upper = locale.uppercased()
      hasUnicode = upper.contains("UTF-8") || upper.contains("UTF8")
    }
  }

  /// Whether a live screen can be shown: standard input and output are a terminal that moves its cursor.
  static func isPossible(_ environment: [String: String]) -> Bool {
    let kind = environment["TERM"] ?? ""
    return StandardInput.isTerminal && Output.isTerminal && !kind.isEmpty && kind != "dumb"
  }

  /// Alternate screen, no cursor, pastes marked; and back.
  private static let enter = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h"
  private static let leave = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l"

  let abilities: Abilities
  /// Keys, in order. The stream ends with the terminal.
  let keys: AsyncStream<Key>
  private let source: any DispatchSourceRead

  /// Takes the terminal; `nil` when its settings cannot be read.
  init?(_ environment: [String: String]) {
    guard GivenTerminal.take() else { return nil }
    abilities = Abilities(environment)
    let (keys, continuation) = AsyncStream.makeStream(of: Key.self, bufferingPolicy: .bufferingOldest(256))
    self.keys = keys
    source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: DispatchQueue(label: "busnode.keys"))
    let shared = SharedReader()
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else {
        if count == 0 || errno != EINTR && errno != EAGAIN { continuation.finish() }
        return
      }
      let (found, waits) = shared.reader.withLock { ($0.read(bytes.prefix(count)), $0.isWaiting) }
      for key in found { continuation.yield(key) }
      // An Escape without more is the key; a sequence follows at once.
      guard waits else { return }
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(50)) {
        for key in shared.reader.withLock({ $0.timeOut() }) { continuation.yield(key) }
      }
    }
    source.activate()
    show(Self.enter)
  }

  /// Writes to the terminal. A terminal that has gone ends nothing: the keys end.
  func show(_ text: String) { if !text.isEmpty { _ = Output.write(Array(text.utf8), to: STDOUT_FILENO) } }

  /// Gives the terminal back, stops this process, and takes the terminal again when it goes on.
  func suspend() {
    show(Self.leave)
    GivenTerminal.giveBack()
    kill(0, SIGTSTP)
    _ = GivenTerminal.take()
    show(Self.enter)
  }

  /// Gives the terminal back.
  func end() {
    source.cancel()
    show(Self.leave)
    GivenTerminal.giveBack()
  }

  /// The bytes of ``leave``, for signal handlers.
  fileprivate static let leaving: [UInt8] = Array(leave.utf8)
}

/// A reader of keys for handlers on several threads.
private final class SharedReader: Sendable {
  let reader = Mutex(KeyReader())
}

/// The settings of the terminal as they were. A handler of a signal reads them, so they are plain memory.
private enum GivenTerminal {
  nonisolated(unsafe) private static var settings = termios()
  private static let isTaken = Atomic(false)
  private static let once = Mutex(false)

  /// Enters raw mode; `false` when standard input is no terminal.
  static func take() -> Bool {
    var raw = termios()
    guard tcgetattr(STDIN_FILENO, &raw) == 0 else { return false }
    settings = raw
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    // Ctrl-Z and Ctrl-Y are keys; Ctrl-C stays a signal.
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VSUSP)] = 0
      bytes[Int(VMIN)] = 1
      bytes[Int(VTIME)] = 0
    }
    guard tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0 else { return false }
    isTaken.store(true, ordering: .releasing)
    let isFirst = once.withLock { done in
      defer { done = true }
      return !done
    }
    if isFirst { watchOver() }
    return true
  }

  static func giveBack() {
    guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
    tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
  }

  /// Gives the terminal back at the exit, and on signals that end the process at once.
  private static func watchOver() {
    _ = TerminalSession.leaving.count
    atexit { GivenTerminal.leaveNow() }
    for number in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] {
      signal(number) { number in
        GivenTerminal.leaveNow()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  /// Only writes and sets, which a handler of a signal may do.
  private static func leaveNow() {
    guard isTaken.exchange(false, ordering: .acquiringAndReleasing) else { return }
    TerminalSession.leaving.withUnsafeBytes { bytes in
      _ = Output.writeNow(bytes)
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }
}
