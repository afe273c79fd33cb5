import Foundation
import RunBus

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Keeps the screen of a peer: follows the node, draws what changes, reads keys, presses buttons.
actor ScreenLoop {
  /// The least time between two drawings, except after a key.
  private static let pause = Duration.milliseconds(100)
  private static let askEvery = Duration.seconds(2)
  private static let sources: [ControlSource] = [.shell, .phone, .watch, .liveActivity]

  private let peer: Peer
  private let terminal: TerminalSession
  private var state: ScreenState
  /// What the hub said last about its devices, and when.
  private var reports: [PeerReport]?
  private var reportedAt = ContinuousClock.now
  /// Asks for a drawing; many requests make one.
  private let changes = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  /// Asks for a question to the hub about its devices; many requests make one.
  private let questions = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  init(_ peer: Peer, _ terminal: TerminalSession, _ state: ScreenState) {
    (self.peer, self.terminal, self.state) = (peer, terminal, state)
    self.state.hasUnicode = terminal.abilities.hasUnicode
  }

  /// Shows the screen until a key, a signal, or the end of the terminal or the node asks it to end.
  func run(_ signals: AsyncStream<Int32>) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.readKeys() }
      group.addTask { for await _ in signals { break } }
      group.addTask { await self.followSnapshots() }
      let others: [@Sendable () async -> Void] = [
        { await self.follow(await self.peer.events()) { $0.hear($1) } },
        { await self.follow(await self.peer.ownReceipts()) { $0.hear($1) } },
        {
          await self.follow(await self.peer.reachabilities()) {
            ($0.state.isReachable, $0.state.refusal) = ($1.isReachable, $1.refusal)
            if $1.isReachable { $0.questions.continuation.yield() }
          }
        },
        {
          await self.follow(await self.peer.views()) {
            ($0.state.isStale, $0.state.isHubOffDuty) = ($1.isStale, $1.isHubOffDuty)
          }
        },
        { await self.follow(await self.peer.hubLost()) { screen, _ in screen.state.isHubLost = true } },
        { await self.follow(await self.peer.route()) { $1.apply(to: &$0.state.route) } },
        { await self.askForDevices() },
        { repeat { self.questions.continuation.yield() } while (try? await Task.sleep(for: Self.askEvery)) != nil },
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

  private func follow<Value: Sendable>(
    _ stream: AsyncStream<Value>, _ take: @Sendable (isolated ScreenLoop, Value) -> Void
  ) async {
    for await value in stream {
      take(self, value)
      changed()
    }
  }

  private func followSnapshots() async {
    for await snapshot in await peer.snapshots() {
      state.add(snapshot)
      state.isHubLost = false
      changed()
    }
  }

  private func hear(_ event: BusEvent) {
    switch event {
    case .command(let command, let device):
      note(
        Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending), of: device.rawValue
      )
    case .receipt(let receipt, let device): note(receipt, of: device.rawValue)
    case .presence(let presence):
      if let index = reports?.firstIndex(where: { $0.deviceID == presence.deviceID }) {
        reports?[index].isReachable = presence.isReachable
      } else {
        questions.continuation.yield()
      }
    case .snapshot, .message, .route, .live: break
    }
  }

  private func hear(_ receipt: Receipt) { note(receipt, of: ScreenState.ownDevice) }

  private func note(_ receipt: Receipt, of device: String) {
    let parts = Calendar.current.dateComponents([.hour, .minute, .second], from: Date())
    let time = [parts.hour, parts.minute, parts.second].map { String("0\($0 ?? 0)".suffix(2)) }.joined(separator: ":")
    state.note(receipt, of: device, at: time)
  }

  private func askForDevices() async {
    for await _ in questions.stream {
      guard state.isReachable, let reports = try? await peer.peers() else { continue }
      // Shells, this screen among them, come and go: they stand last.
      self.reports = reports.sorted {
        ($0.role == .shell ? 1 : 0, NaturalName($0.deviceID)) < ($1.role == .shell ? 1 : 0, NaturalName($1.deviceID))
      }
      reportedAt = .now
      changed()
    }
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

  /// Real time until the clock of the run shows another second; at most a second, for the ages on the screen.
  private func untilNextSecond(at speed: BusSpeed) -> Duration {
    let clock = peer.runClock
    guard clock.snapshot.phase.isOn else { return .seconds(1) }
    let running = clock.snapshot.phase == .running ? clock.active() : nil
    let left = [clock.elapsed(), running].compactMap { $0 }.map { 1_000_000_000 - $0.nanoseconds % 1_000_000_000 }
    let next = speed.real(fromBus: BusDuration(nanoseconds: left.min() ?? 1_000_000_000))
    // A little later than the change, which a sleep that is a little short would miss.
    return min(.seconds(1), max(Self.pause, Duration.nanoseconds(next.nanoseconds) + .milliseconds(5)))
  }

  private func draw() async {
    let clock = peer.runClock
    state.active = clock.active()
    state.elapsed = clock.elapsed()
    state.predicted = await peer.predicted
    if state.isStale { state.staleSeconds = await peer.viewState.age?.seconds }
    let now = ContinuousClock.now
    state.expire(at: now)
    let since = BusDuration(now - reportedAt).seconds
    state.devices = reports?.map {
      ScreenState.Device(
        name: $0.deviceID.rawValue, isHere: $0.isReachable, roundTrip: $0.roundTrip, waiting: Int(clamping: $0.waiting),
        ageSeconds: $0.heardAge.map { $0.seconds + since })
    }
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
    case .character(let character): state.told = "\(character) does nothing: ? shows the keys"
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
        self.tell("\(kind.rawValue) was not taken: \(error)")
      }
    }
  }

  private func tell(_ text: String) {
    state.told = text
    changed()
  }
}
