import Dispatch
import Synchronization
import SystemC

/// Draws on the terminal, on a queue of its own. Nobody waits for a terminal that is not read: of the frames only the
/// newest is kept. The terminal is taken, given back and stopped on the same queue, between two frames.
final class TerminalWriter: Sendable {
  private struct State {
    var painter: ScreenPainter
    /// The newest frame, also when it was drawn: it is drawn again when the process goes on.
    var frame: (rows: [StyledRow], screen: Screen)?
    /// Whether the queue is about to draw.
    var isAsked = false
    /// Whether the terminal shows this screen, and not that of the shell.
    var isShown = false
    /// How many wait for the queue to give the terminal back. A frame that the terminal does not take is given up then.
    var hurries = 0
    var hasEnded = false
    /// Whether the terminal did not take what was written at the end.
    var isStuck = false
  }

  /// Alternate screen, no cursor, pastes marked.
  private static let entering = Array("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?2004h".utf8)
  /// How long a write may take once the terminal is to be given back.
  private static let patience = Duration.milliseconds(200)
  /// How long the end waits for the queue. Only a terminal that could not be opened a second time takes so long.
  private static let endPatience = DispatchTimeInterval.seconds(1)

  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "busnode.terminal")
  private let descriptor = GivenTerminal.open()

  /// Shows the screen on a terminal that has been taken.
  init(hasColor: Bool) {
    state = Mutex(State(painter: ScreenPainter(hasColor: hasColor)))
    queue.async { self.enter() }
  }

  /// Shows a frame, in place of one that was not drawn yet.
  func show(_ rows: [StyledRow], on screen: Screen) {
    let isFirst = state.withLock { state in
      state.frame = (rows, screen)
      defer { state.isAsked = true }
      return !state.isAsked
    }
    if isFirst { queue.async { self.draw() } }
  }

  /// Makes the next frame draw everything, because somebody else has drawn on the terminal.
  func forget() { state.withLock { $0.painter.forget() } }

  /// Gives the terminal back and stops this process as SIGTSTP does. Takes the terminal again when it goes on.
  func stop() {
    state.withLock { $0.hurries += 1 }
    queue.async {
      self.leave()
      self.state.withLock { $0.hurries -= 1 }
      Signals.stop(SIGTSTP)
      // SIGCONT asks for it, too. It does not come to a process that has no shell: the system has not stopped that.
      self.takeAgain()
    }
  }

  /// Takes the terminal again after the process was stopped, by whatever signal.
  func goOn() { queue.async { self.takeAgain() } }

  /// Gives the terminal back for good, also one that is not read.
  ///
  /// - Returns: Whether the terminal took what was written.
  @discardableResult
  func end() -> Bool {
    state.withLock { ($0.hurries, $0.hasEnded) = ($0.hurries + 1, true) }
    let done = DispatchGroup()
    queue.async(group: done) { self.leave() }
    let isDone = done.wait(timeout: .now() + Self.endPatience) == .success
    GivenTerminal.giveBack()
    return isDone && !state.withLock { $0.isStuck }
  }

  // MARK: On the queue

  private func enter() {
    state.withLock { state in
      state.isShown = true
      state.painter.forget()
    }
    _ = write(Self.entering)
    draw()
  }

  private func draw() {
    let bytes = state.withLock { state -> [UInt8] in
      state.isAsked = false
      guard state.isShown, !state.hasEnded, let (rows, screen) = state.frame else { return [] }
      return Array(state.painter.paint(rows, on: screen).utf8)
    }
    if !write(bytes) { forget() }
  }

  private func leave() {
    let wasShown = state.withLock { state in
      defer { state.isShown = false }
      return state.isShown
    }
    guard wasShown else { return }
    // A process in the background may be stopped for what it writes here.
    Signals.withBlocked(SIGTTOU) {
      if !write(GivenTerminal.leaving) {
        state.withLock { $0.isStuck = true }
        // What an unread terminal holds is dropped to make room.
        if GivenTerminal.isInForeground { tcflush(descriptor, TCOFLUSH) }
        _ = write(GivenTerminal.leaving)
      }
      GivenTerminal.giveBack()
    }
  }

  private func takeAgain() {
    guard !state.withLock({ $0.hasEnded }) else { return }
    guard GivenTerminal.isInForeground else { return stopInBackground() }
    if GivenTerminal.take() { enter() }
  }

  /// Stops a process that was continued in the background (`bg`), as the system stops one that sets the terminal there.
  /// Not at once, and not at all while it ends: `kill %1` of a shell continues a stopped process only to end it.
  private func stopInBackground() {
    leave()
    queue.asyncAfter(deadline: .now() + .seconds(1)) {
      guard !Signals.isEnding, !self.state.withLock({ $0.hasEnded || $0.isShown }) else { return }
      if !GivenTerminal.isInForeground { Signals.stop(SIGTTOU) }
      self.takeAgain()
    }
  }

  /// Writes bytes as the terminal takes them; `false` when it has gone, or when it takes nothing and somebody is in a
  /// hurry.
  private func write(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    var deadline: ContinuousClock.Instant?
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Output.writeNow($0, to: descriptor) }
      let error = errno
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if error == EAGAIN {
        if state.withLock({ $0.hurries > 0 }) {
          let end = deadline ?? .now + Self.patience
          guard .now < end else { return false }
          deadline = end
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, 50)
      } else if error != EINTR {
        return false
      }
    }
    return true
  }
}
