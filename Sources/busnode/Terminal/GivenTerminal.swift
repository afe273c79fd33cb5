import Synchronization
import SystemC

/// The settings of the terminal as they were. A handler of a signal reads them, so they are plain memory.
enum GivenTerminal {
  nonisolated(unsafe) private static var settings = termios()
  nonisolated(unsafe) private static var descriptor = STDOUT_FILENO
  private static let isTaken = Atomic(false)
  private static let hasBeenTaken = Mutex(false)
  /// Attributes, pastes, cursor and screen as they were.
  static let leaving = Array("\u{1B}[0m\u{1B}[?2004l\u{1B}[?25h\u{1B}[?1049l".utf8)

  /// Whether this process is in the foreground of its terminal. Another one has the terminal else.
  static var isInForeground: Bool { tcgetpgrp(STDIN_FILENO) == getpgrp() }

  /// Enters raw mode; `false` when standard input is no terminal.
  static func take() -> Bool {
    var raw = termios()
    guard tcgetattr(STDIN_FILENO, &raw) == 0 else { return false }
    let isFirst = hasBeenTaken.withLock { done in
      defer { done = true }
      return !done
    }
    // After a stop by another process these may still be the settings of the screen.
    if isFirst || raw.c_lflag & tcflag_t(ICANON) != 0 { settings = raw }
    raw.c_lflag &= ~tcflag_t(ECHO | ICANON | IEXTEN)
    raw.c_iflag &= ~tcflag_t(IXON | ICRNL)
    // Ctrl-C and Ctrl-Z stay signals.
    withUnsafeMutableBytes(of: &raw.c_cc) { bytes in
      bytes[Int(VMIN)] = 1
      bytes[Int(VTIME)] = 0
    }
    // Nothing waits until the terminal has taken what was written: it may not be read.
    guard tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0 else { return false }
    isTaken.store(true, ordering: .releasing)
    if isFirst { watchOver() }
    return true
  }

  /// Sets the settings that were before, unless another process has the terminal and sets its own.
  static func giveBack() {
    guard isTaken.load(ordering: .acquiring) else { return }
    // First the settings: a second call may be the last thing before the exit.
    if isInForeground { tcsetattr(STDIN_FILENO, TCSANOW, &settings) }
    isTaken.store(false, ordering: .releasing)
  }

  /// The terminal of standard output, opened once more, so that writing never waits: the mode of standard output is
  /// shared with other processes. Standard output when it cannot be opened.
  static func open() -> CInt {
    var name = [CChar](repeating: 0, count: 256)
    guard ttyname_r(STDOUT_FILENO, &name, name.count) == 0 else { return STDOUT_FILENO }
    let own = openDescriptor(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    if own >= 0 { descriptor = own }
    return descriptor
  }

  /// Gives the terminal back at the exit, and on signals that end the process at once.
  private static func watchOver() {
    _ = leaving.count
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
    leaving.withUnsafeBytes { bytes in
      _ = Output.writeNow(bytes, to: descriptor)
    }
    tcsetattr(STDIN_FILENO, TCSANOW, &settings)
  }
}

/// `open(2)` under a name that ``GivenTerminal`` does not use itself.
private func openDescriptor(_ path: [CChar], _ flags: CInt) -> CInt { open(path, flags) }
