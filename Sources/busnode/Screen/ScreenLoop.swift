import Foundation
import RunBus
import SystemC

/// Keeps the screen of a peer: follows the node, draws what changes, reads keys, presses buttons.
actor ScreenLoop {
  /// The least time between two drawings, except after a key.
  private static let pause = Duration.milliseconds(100)
  /// A second in nanoseconds.
  private static let second: Int64 = 1_000_000_000
  private static let sources: [ControlSource] = [.shell, .phone, .watch, .liveActivity]

  private let peer: Peer
  private let terminal: TerminalSession
  private var state: ScreenState
  private var board: RunBoard
  /// Asks for a drawing; many requests make one.
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ peer: Peer, _ terminal: TerminalSession, _ state: ScreenState) {
    (self.peer, self.terminal, self.state) = (peer, terminal, state)
    board = RunBoard(own: peer.deviceID)
    self.state.hasUnicode = terminal.abilities.hasUnicode
  }

  /// Shows the screen until a key, a signal, or the end of the terminal or the node asks it to end.
  func run(_ signals: AsyncStream<Int32>) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.readKeys() }
      group.addTask { for await _ in signals { break } }
      group.addTask { await self.follow(await self.peer.news(asking: [.devices, .route, .splits])) }
      let others: [@Sendable () async -> Void] = [
        { await self.drawChanges() },
        { await self.tick() },
        { for await _ in Signals.stream([SIGWINCH], times: .max) { await self.changed() } },
      ]
      // These end with the node; the screen ends with one of the first three.
      for other in others {
        group.addTask {
          await other(); try? await Task.sleep(for: .seconds(1 << 30))
        }
      }
      await group.next()
      // The terminal is given back at once. The goodbye of the peer may take a while.
      terminal.end()
      group.cancelAll()
    }
  }

  private func follow(_ news: NewsStream) async {
    for await news in news {
      board.receive(news, at: peer.moment)
      if case .snapshot = news { state.add(board.snapshot) }
      changed()
    }
  }

  /// The time of day, to the second.
  private static func time(_ date: Date) -> String {
    let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: date)
    return [parts.hour, parts.minute, parts.second].map { String("0\($0 ?? 0)".suffix(2)) }.joined(separator: ":")
  }

  // MARK: Drawing

  private func changed() { changes.continuation.yield() }

  private func drawChanges() async {
    await draw()
    for await _ in changes.stream {
      await draw()
      guard (try? await Task.sleep(for: Self.pause)) != nil else { return }
    }
  }

  /// Asks for a drawing whenever a clock shows another second.
  private func tick() async {
    let speed = await peer.speed
    repeat { changed() } while (try? await Task.sleep(for: untilNextSecond(at: speed))) != nil
  }

  /// Real time until the clock of the run, or the countdown of the room, shows another second; at most a second, for the
  /// ages on the screen.
  private func untilNextSecond(at speed: BusSpeed) -> Duration {
    let clock = peer.runClock
    let shown = clock.snapshot.phase
    let ticking = [shown.isOn ? clock.elapsed() : nil, shown == .running ? clock.active() : nil].compactMap { $0 }
    var left = ticking.map { speed.real(fromBus: BusDuration(nanoseconds: Self.second - $0.nanoseconds % Self.second)) }
    if let startsIn = board.roomStartsIn(at: peer.moment), startsIn > .zero {
      left.append(BusDuration(nanoseconds: startsIn.nanoseconds % Self.second))
    }
    guard let next = left.min() else { return .seconds(1) }
    // A little later than the change, which a sleep that is a little short would miss.
    return min(.seconds(1), max(Self.pause, Duration.nanoseconds(next.nanoseconds) + .milliseconds(5)))
  }

  private func draw() async {
    let (date, moment) = (Date(), peer.moment)
    state.show(board, at: moment, clock: peer.clock?.busTime) {
      Self.time(date.addingTimeInterval(($0 - moment).seconds))
    }
    state.expire(at: .now)
    let screen = Output.screen
    terminal.show(RunScreen.rows(state, on: screen), on: screen)
  }

  // MARK: Keys

  private func readKeys() async {
    for await key in terminal.keys {
      guard await obey(key) else { return }
      await draw()
    }
  }

  /// Does what a key asks for; `false` for the end.
  private func obey(_ key: Key) async -> Bool {
    if state.closesHelp(key) { return true }
    state.told = ""
    if key != .character("x") { state.forgetStop() }
    switch key {
    case .character("q"), .control("c"): return false
    case .control("l"): terminal.forget()
    case .character("?"), .character("h"): state.isHelpShown = true
    case .tab:
      let index = Self.sources.firstIndex(of: state.source) ?? 0
      state.source = Self.sources[(index + 1) % Self.sources.count]
    case .character("s"): press(.start)
    case .character("p"): press(.pause)
    case .character("r"): press(.resume)
    case .character("x"): if state.pressStop(at: .now) { press(.stop) }
    case .character("l"): press(.lap)
    case .character(let character): state.told = Tongue.say(.keyDoesNothing, ["key": character])
    case .enter, .escape, .backspace, .up, .down, .left, .right, .control: break
    }
    return true
  }

  /// Gives a command. Its stages are among the commands; an error is told.
  private func press(_ kind: CommandKind) {
    let command = Command(kind, source: state.source)
    state.told = ""
    Task { [peer] in
      do { _ = try await peer.send(command) } catch is CancellationError {} catch {
        self.tell(Tongue.say(.pressNotTaken, ["command": kind.spoken, "reason": error]))
      }
    }
  }

  private func tell(_ text: String) {
    state.told = text
    changed()
  }
}
