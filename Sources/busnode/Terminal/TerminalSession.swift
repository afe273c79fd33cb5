// Dispatch sources are safe to use from any thread, but their protocols are not declared `Sendable` yet.
@preconcurrency import Dispatch
import Synchronization
import SystemC

/// The terminal of this process in raw mode, on its alternate screen. It is given back as it was by ``end()``, at the
/// exit of the process, when a signal of the system ends it, and while the process is stopped.
///
/// Ctrl-C and Ctrl-Z keep their meaning. SIGTSTP gives the terminal back before it stops the process. SIGCONT takes the
/// terminal again, whatever has stopped the process.
final class TerminalSession: Sendable {
  /// What a terminal can do, by its environment.
  struct Abilities: Hashable, Sendable {
    /// Whether colours may be used: not with `NO_COLOR`.
    var hasColor: Bool
    /// Whether it shows more than ASCII: by the locale.
    var hasUnicode: Bool

    init(_ environment: [String: String]) {
      hasColor = (environment["NO_COLOR"] ?? "").isEmpty
      hasUnicode = Locales(environment).hasUnicode
    }
  }

  /// Takes the terminal for a live screen, if standard input and output are one; `nil` when there are lines instead.
  /// Says so when the terminal is one that cannot move its cursor.
  static func open(_ environment: [String: String]) -> TerminalSession? {
    guard StandardInput.isTerminal, Output.isTerminal else { return nil }
    let kind = environment["TERM"] ?? ""
    guard !kind.isEmpty, kind != "dumb" else {
      Output.complain(
        "busnode: " + Tongue.say(.linesInstead, ["kind": kind])
      )
      return nil
    }
    return TerminalSession(environment)
  }

  let abilities: Abilities
  /// Keys, in order. The stream ends with the terminal.
  let keys: AsyncStream<Key>
  private let keySource: any DispatchSourceRead
  private let signalSources: [any DispatchSourceSignal]
  private let writer: TerminalWriter

  /// Takes the terminal; `nil` when its settings cannot be read.
  init?(_ environment: [String: String]) {
    guard GivenTerminal.take() else { return nil }
    abilities = Abilities(environment)
    let (keys, continuation) = AsyncStream.makeStream(of: Key.self, bufferingPolicy: .bufferingOldest(256))
    self.keys = keys
    let writer = TerminalWriter(hasColor: abilities.hasColor)
    self.writer = writer
    signalSources = [Signals.source(SIGTSTP) { writer.stop() }, Signals.source(SIGCONT) { writer.goOn() }]
      .compactMap { $0 }
    keySource = Self.source(of: continuation)
  }

  /// Shows rows. Does not wait for the terminal: when it is slow, frames are left out. A terminal that has gone ends
  /// nothing: the keys end.
  func show(_ rows: [StyledRow], on screen: Screen) { writer.show(rows, on: screen) }

  /// Makes the next frame draw everything, because somebody else has drawn on the terminal.
  func forget() { writer.forget() }

  /// Gives the terminal back, within a second also when it is not read.
  ///
  /// - Returns: Whether the terminal took what was written.
  @discardableResult
  func end() -> Bool {
    keySource.cancel()
    for source in signalSources { source.cancel() }
    return writer.end()
  }

  private static func source(of keys: AsyncStream<Key>.Continuation) -> any DispatchSourceRead {
    let queue = DispatchQueue(label: "busnode.keys")
    let source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: queue)
    let shared = SharedReader()
    source.setEventHandler {
      var bytes = [UInt8](repeating: 0, count: 256)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      guard count > 0 else {
        if count == 0 || errno != EINTR && errno != EAGAIN { keys.finish() }
        return
      }
      let (found, patience, number) = shared.read(bytes.prefix(count))
      for key in found { keys.yield(key) }
      guard let patience else { return }
      queue.asyncAfter(deadline: .now() + .milliseconds(patience)) {
        for key in shared.timeOut(after: number) { keys.yield(key) }
      }
    }
    source.activate()
    return source
  }
}

/// A reader of keys for handlers on several threads.
private final class SharedReader: Sendable {
  private let state = Mutex((reader: KeyReader(), reads: 0))

  /// The keys in `bytes`, how long to wait for more, and the number of this reading.
  func read(_ bytes: some Sequence<UInt8>) -> (keys: [Key], patience: Int?, number: Int) {
    state.withLock { state in
      state.reads += 1
      return (state.reader.read(bytes), state.reader.patience, state.reads)
    }
  }

  /// The keys when no byte came after a reading.
  func timeOut(after number: Int) -> [Key] {
    state.withLock { $0.reads == number ? $0.reader.timeOut() : [] }
  }
}
