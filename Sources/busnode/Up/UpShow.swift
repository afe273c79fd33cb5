import Foundation
import RunBus
import RunScripts
import Synchronization

/// Plays an ``UpRun`` and shows it: on a screen if there is a terminal, as lines otherwise.
final class UpShow: UpFace {
  private struct Shown {
    var screen: UpScreen
    /// The nodes that have reached the phone: before that, not to reach it is no news.
    var hasReached: Set<SpawnedNode> = []
    /// Why standard output could not be written.
    var outputFailure: Failure?
  }

  private let location: BusLocation
  private let speed: BusSpeed
  private let asJSON: Bool
  private let devices: UpDevices
  private let units: Units
  /// The terminal that the screen is drawn on; `nil` without a screen.
  private let terminal: TerminalSession?
  private let shown: Mutex<Shown>
  /// Yields when standard output has no reader any more.
  private let readerIsGone = AsyncStream.makeStream(of: Void.self)

  /// - Parameters:
  ///   - location: The bus, for the screen's own view of it.
  ///   - isPlain: Whether there is no screen, also on a terminal.
  ///   - units: The units of texts.
  ///   - environment: The variables by which the terminal is judged.
  init(
    _ location: BusLocation, speed: BusSpeed, devices: UpDevices, isPlain: Bool, asJSON: Bool, units: Units,
    environment: [String: String]
  ) {
    (self.location, self.speed, self.devices, self.asJSON, self.units) = (location, speed, devices, asJSON, units)
    terminal = asJSON || isPlain ? nil : TerminalSession.open(environment)
    shown = Mutex(
      Shown(
        screen: UpScreen(
          bus: location.displayName, units: units, hasUnicode: terminal?.abilities.hasUnicode ?? false,
          devices: devices)))
  }

  /// Plays the run to its end and prints the summary.
  ///
  /// - Throws: ``Failure`` when a node died or found no bus, and ``QuietExit`` when the run was interrupted, when the
  ///   nodes disagreed, or when standard output could not be written.
  func play(_ plan: UpRun.Plan) async throws {
    let run = UpRun(plan, face: self)
    let result = await withTaskGroup(of: Void.self) { group in
      group.addTask {
        // The first signal ends the nodes in good order, the second kills them, a third one ends this process.
        for await _ in Signals.stream(times: 2) { run.take(.end) }
      }
      group.addTask { for await _ in StandardDescriptors.readerIsGone() { run.loseReader() } }
      group.addTask { [readerIsGone] in for await _ in readerIsGone.stream { run.loseReader() } }
      if let terminal {
        group.addTask { for await key in terminal.keys { run.take(self.obey(key)) } }
        group.addTask { await self.watch() }
      }
      let result = await run.run()
      group.cancelAll()
      return result
    }
    // A terminal that nobody reads would keep the summary, and this process, for ever.
    let isRead = terminal?.end() ?? true
    // Nodes that did not come so far have nothing to agree about.
    let lines = asJSON ? [Output.json(result.summary)] : result.hasPlayed ? result.summary.lines : []
    if isRead { for line in lines { say { try Output.line(line) } } }
    if let failure = result.failure { throw Failure(failure) }
    if result.isInterrupted { throw QuietExit(exitStatus: ExitStatus.interrupted) }
    if !result.summary.agreed { throw QuietExit(exitStatus: ExitStatus.failure) }
    if let failure = shown.withLock({ $0.outputFailure }) { throw QuietExit(exitStatus: failure.exitStatus) }
  }

  func show(_ line: EventLineJSON, of node: SpawnedNode) {
    if case .bus(.receipt(let receipt, _)) = line.event {
      shown.withLock { $0.screen.note(receipt, on: node, at: String(line.at.dropFirst(11).prefix(8))) }
    }
    if asJSON { return say { try Output.jsonLine(NodeEventJSON(node: node, line: line)) } }
    guard terminal == nil, isNews(line.event, of: node), isShown(line.event, of: node) else { return }
    let width = max(8, TextWidth.of(node.rawValue) + 2)
    say { try Output.line(TextWidth.fitted(node.rawValue, to: width) + Sentence.event(line.event, in: units)) }
  }

  func draw(_ rows: [(node: SpawnedNode, row: UpRow)]) {
    guard let terminal else { return }
    // The size is read for each drawing, ten times a second, so that a resize shows at once.
    let size = Output.screen
    let drawn = shown.withLock { $0.screen.draw(rows, speed: speed, on: size, now: .now, moment: Loop.now) }
    terminal.show(drawn, on: size)
  }

  func tell(_ sentence: String) {
    if terminal == nil {
      Output.complain("busnode: \(sentence)")
    } else {
      shown.withLock { $0.screen.tell(sentence) }
    }
  }

  private func obey(_ key: Key) -> UpWish {
    let wish = shown.withLock { $0.screen.obey(key, at: .now) }
    if wish == .redraw { terminal?.forget() }
    return wish ?? .redraw
  }

  /// Writes to standard output. A failure is reported once and the run goes on to its end, unless the reader has gone.
  private func say(_ write: () throws -> Void) {
    do {
      try write()
    } catch let error as OutputError where !error.isClosedPipe {
      let isFirst = shown.withLock { shown in
        defer { shown.outputFailure = shown.outputFailure ?? Failure(error) }
        return shown.outputFailure == nil
      }
      if isFirst { Output.complain("busnode: " + Tongue.say(.runGoesOn, ["what": error.message])) }
    } catch {
      readerIsGone.continuation.yield()
    }
  }

  /// With more devices than this the lines of text have the snapshots of the phone alone: they are the same on all.
  private static let snapshotsOfAllMax = 8

  /// Whether an event is none of a node's way to the phone at its start.
  private func isNews(_ event: EventJSON, of node: SpawnedNode) -> Bool {
    guard case .link(let link) = event, link.refusal == nil else { return true }
    return shown.withLock { shown in
      let isKnown = shown.hasReached.contains(node)
      if link.reachable { shown.hasReached.insert(node) }
      return isKnown
    }
  }

  /// Whether `up` writes an event as text when it has no screen. That a recording has ended is no news of a node: `up`
  /// stops the run itself.
  private func isShown(_ event: EventJSON, of node: SpawnedNode) -> Bool {
    switch event {
    case .bus(.receipt(let receipt, _)): if case .verdict = receipt.stage { true } else { false }
    case .bus(.snapshot): devices.all.count <= Self.snapshotsOfAllMax || node == devices.phone
    case .message, .link, .hubLost: true
    case .bus(.command), .bus(.presence), .bus(.message), .bus(.route), .bus(.live), .bus(.room), .bus(.cue),
      .liveActivity, .view, .predicted, .sensors, .record, .sensorsDone, .recordingEnded:
      false
    }
  }

  /// Follows the bus as a peer of it, for the screen: the route, the splits and the devices.
  private func watch() async {
    while !Task.isCancelled {
      // The hub is being started, or was killed.
      if let visit = try? BusClient(location, topics: [.snapshots]) {
        _ = try? await visit.run { [self] peer in
          for await news in await peer.news() { shown.withLock { $0.screen.take(news, at: peer.moment) } }
        }
      }
      guard (try? await Task.sleep(for: .milliseconds(500))) != nil else { return }
    }
  }
}

extension Failure {
  /// Why a run of `up` did not come to its end.
  fileprivate init(_ failure: UpResult.Failure) {
    switch failure {
    case .died(let node, let ending, let errors):
      let status = ending == .exited(ExitStatus.busHeld) ? ExitStatus.busHeld : ExitStatus.failure
      self.init(
        code: "nodeDied", message: Tongue.say(.nodeDied, ["node": node.rawValue, "ending": ending.spoken]),
        exitStatus: status,
        details: errors.map { ErrorJSON(line: $0)?.error.message ?? $0 })
    case .missing(let nodes):
      let some = nodes.prefix(8).map(\.rawValue).joined(separator: ", ")
      let names = nodes.count > 8 ? Tongue.say(.nodesMore, ["names": some, "count": nodes.count]) : some
      self.init(code: "failure", message: Tongue.say(.nodesMissing, ["names": names]), exitStatus: ExitStatus.failure)
    case .script(let why): self.init(code: "script", message: why, exitStatus: ExitStatus.failure)
    }
  }
}

extension NodeEnding {
  /// How a node has ended, in the language of the process; in English it is ``sentence``.
  var spoken: String {
    switch self {
    case .exited(let status): Tongue.say(.endedByStatus, ["status": status])
    case .signaled(let number): Tongue.say(.endedBySignal, ["number": number])
    case .neverStarted(let reason): Tongue.say(.notStarted, ["reason": reason])
    }
  }
}

extension UpResult {
  /// Whether the nodes were all there, and so have something to agree about.
  fileprivate var hasPlayed: Bool {
    switch failure {
    case nil, .script: true
    case .died, .missing: false
    }
  }
}
