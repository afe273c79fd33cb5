import Foundation
import RunBus
import RunRecordings

/// Spawns phone, watch and widget, plays a run with them, and checks whether they agree.
actor UpRun {
  /// What is played, and how.
  struct Plan: Sendable {
    var executable: String
    var environment: [String: String?]
    /// The arguments of each node.
    var arguments: [SpawnedNode: [String]]
    var speed: BusSpeed
    /// The window in which presses settle.
    var debounce: BusDuration
    var script: Script?
    /// The presses of the recording, which the phone makes unless there is a script.
    var presses: [RecordedPress]
    /// The length of the recording; `nil` without one.
    var duration: BusDuration?
    /// The nodes that play samples.
    var feeds: Set<SpawnedNode>
    /// The bus, for the screen's own view of it.
    var location: BusLocation
    /// The option that names the bus to another `busnode`.
    var flag: String
    /// Whether there is no screen, also on a terminal.
    var isPlain: Bool
    var asJSON: Bool
  }

  /// - `gathering` can go to: `playing` (all nodes have a snapshot), `ending`.
  /// - `playing` can go to: `draining` (all presses are made and no run is on), `ending`.
  /// - `draining` can go to: `ending` (all nodes show the same last publication, or the patience is over), `playing` (a
  ///   late press of the script took effect, and a run is on again).
  /// - `ending` can go to: `over` (all processes have ended).
  private enum Stage: Equatable { case gathering, playing, draining, ending, over }

  /// How long the nodes may take to find each other and to show the same publication, in real time.
  private static let patience = Duration.seconds(30)
  /// How long the processes may take to end.
  private static let endPatience = Duration.seconds(5)
  /// How long a press may take to the hub and its verdict back, besides the window, which settles within four times its
  /// length.
  private static let wayPatience = Duration.seconds(1)

  private let plan: Plan
  private let events = AsyncStream.makeStream(of: UpEvent.self)
  private var stage = Stage.gathering
  private var deadline = ContinuousClock.now + patience
  private var lastNewsAt = ContinuousClock.now
  private var children: [SpawnedNode: Child] = [:]
  private var lives: [SpawnedNode: Int] = [:]
  private var waitsForRestart: Set<SpawnedNode> = []
  private var offlineUntil: [SpawnedNode: ContinuousClock.Instant] = [:]
  private var sensorsDone: Set<SpawnedNode> = []
  /// The presses of each node that have no verdict yet.
  private var unjudged: [SpawnedNode: Set<CommandID>] = [:]
  private var isScriptOver = false
  private var isRecordingOver = false
  private var lastPressAt = ContinuousClock.now
  /// When the phone was told to stop a run that the script leaves on.
  private var stoppedAt: ContinuousClock.Instant?
  private var failure: Failure?
  /// Why standard output could not be written.
  private var outputFailure: Failure?
  private var isInterrupted = false
  private var agreement = Agreement()
  private var verdicts = UpSummary.Verdicts()
  private var rows: [SpawnedNode: UpScreen.Row] = [:]
  /// The terminal and what is drawn on it; `nil` without a screen.
  private var terminal: TerminalSession?
  private var screen: UpScreen
  /// A signal has come.
  private var hasBeenTold = false

  init(_ plan: Plan) {
    self.plan = plan
    if !plan.asJSON, !plan.isPlain { terminal = TerminalSession.open(ProcessInfo.processInfo.environment) }
    screen = UpScreen(
      bus: plan.location.displayName, units: .metric, hasUnicode: terminal?.abilities.hasUnicode ?? false)
  }

  /// Plays the run to its end and prints the summary.
  ///
  /// - Throws: ``Failure`` when a node died or found no bus, and ``QuietExit`` when the run was interrupted, when the
  ///   nodes disagreed, or when standard output could not be written.
  func run() async throws {
    let report = events.continuation
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        // The first signal ends the nodes in good order, the second kills them, a third one ends this process.
        for await _ in Signals.stream(times: 2) { report.yield(.interrupted) }
      }
      group.addTask { for await _ in StandardDescriptors.readerIsGone() { report.yield(.readerIsGone) } }
      group.addTask {
        while (try? await Task.sleep(for: .milliseconds(100))) != nil { report.yield(.tick) }
      }
      if let terminal {
        group.addTask { for await key in terminal.keys { report.yield(.key(key)) } }
        group.addTask { [location = plan.location] in await Self.watch(location, report) }
      }
      for node in SpawnedNode.allCases { spawn(node, in: &group) }
      for await event in events.stream {
        receive(event, in: &group)
        if stage == .over { break }
      }
      // Cancelling kills the processes that have not ended yet.
      group.cancelAll()
      while await group.nextResult() != nil {}
    }
    // A terminal that nobody reads would keep the summary, and this process, for ever.
    let isRead = terminal?.end() ?? true
    let summary = UpSummary(agreement, verdicts: verdicts)
    // Nodes that did not come so far have nothing to agree about.
    let lines = plan.asJSON ? [Output.json(summary)] : failure == nil ? summary.lines : []
    if isRead { for line in lines { say { try Output.line(line) } } }
    if let failure { throw failure }
    if isInterrupted { throw QuietExit(exitStatus: ExitStatus.interrupted) }
    if !summary.agreed { throw QuietExit(exitStatus: ExitStatus.failure) }
    if let outputFailure { throw QuietExit(exitStatus: outputFailure.exitStatus) }
  }

  /// Writes to standard output. A failure is reported once and the run goes on to its end, unless the reader has gone.
  private func say(_ write: () throws -> Void) {
    do {
      try write()
    } catch let error as OutputError where !error.isClosedPipe {
      if outputFailure == nil { Output.complain("busnode: \(error.message): the run goes on") }
      outputFailure = outputFailure ?? Failure(error)
    } catch {
      events.continuation.yield(.readerIsGone)
    }
  }

  private func receive(_ event: UpEvent, in group: inout ThrowingTaskGroup<Void, any Error>) {
    switch event {
    case .heard(let node, let line): heard(line, on: node)
    case .ended(let node, let life, let ending, let errors):
      guard lives[node] == life else { return }
      children[node] = nil
      rows[node]?.link = "dead"
      if waitsForRestart.remove(node) != nil, stage == .playing {
        spawn(node, in: &group)
      } else if stage != .ending, !killed.contains(node) {
        fail(node, ending, errors)
      }
    case .step(let step): perform(step, in: &group)
    case .scriptIsOver: isScriptOver = true
    case .recordingIsOver: isRecordingOver = true
    case .interrupted:
      if hasBeenTold { stage = .over } else { interrupt() }
      hasBeenTold = true
    case .readerIsGone: interrupt()
    case .tick: draw()
    case .key(let key):
      obey(key, in: &group)
      draw()
    case .news(let news, let moment): screen.take(news, at: moment)
    }
    advance(in: &group)
  }

  private func interrupt() {
    guard stage != .ending, stage != .over else { return }
    // Exit status 130 says that a planned run was cut short. Without a plan, Ctrl-C is the normal end.
    if plan.script != nil || plan.duration != nil { isInterrupted = true }
    end()
  }

  // MARK: Stages

  private func advance(in group: inout ThrowingTaskGroup<Void, any Error>) {
    let now = ContinuousClock.now
    switch stage {
    case .gathering:
      if SpawnedNode.allCases.allSatisfy({ rows[$0]?.snapshot != nil }) {
        stage = .playing
        begin(in: &group)
      } else if now > deadline {
        let missing = SpawnedNode.allCases.filter { rows[$0]?.snapshot == nil }.map(\.rawValue)
        failure = Failure(
          code: "failure", message: "\(missing.joined(separator: ", ")) did not reach the bus",
          exitStatus: ExitStatus.failure)
        end()
      }
    case .playing:
      guard isScriptOver else { return }
      if isRunOn {
        if plan.script != nil, isRecordingOver { stopRun(now) }
      } else if plan.script != nil || agreement.seen[.phone]?.last?.phase == .completed {
        stage = .draining
        deadline = now + Self.patience
      }
    case .draining:
      if plan.script != nil, isRunOn {
        stage = .playing
        return
      }
      if isDrained(now) { return end() }
      if now > deadline {
        agreement.disagree("the nodes did not reach the same last publication")
        end()
      }
    case .ending:
      if children.isEmpty || now > deadline { stage = .over }
    case .over: break
    }
  }

  /// Stops a run that is still on after the script, once the script's presses have been judged.
  private func stopRun(_ now: ContinuousClock.Instant) {
    let settling = Duration.nanoseconds(plan.speed.real(fromBus: plan.debounce).nanoseconds * 4) + Self.wayPatience
    guard now - lastPressAt > settling else { return }
    if let stoppedAt {
      guard now - stoppedAt > Self.patience else { return }
      agreement.disagree("the run did not stop when the phone stopped it")
      return end()
    }
    stoppedAt = now
    tell("the script leaves a run on: the phone stops it")
    children[.phone]?.tell(.press(.stop, at: nil))
  }

  /// Shows a notice of `up` on the screen, or on standard error.
  private func tell(_ sentence: String) {
    if terminal == nil { Output.complain("busnode: \(sentence)") } else { screen.tell(sentence) }
  }

  /// Follows the bus as a peer of it, for the screen: the route, the splits and the devices.
  private static func watch(_ location: BusLocation, _ report: AsyncStream<UpEvent>.Continuation) async {
    while !Task.isCancelled {
      // The hub is being started, or was killed.
      if let visit = try? BusClient(location, topics: [.snapshots]) {
        _ = try? await visit.run { peer in
          for await news in await peer.news() { report.yield(.news(news, at: peer.moment)) }
        }
      }
      guard (try? await Task.sleep(for: .milliseconds(500))) != nil else { return }
    }
  }

  private func obey(_ key: Key, in group: inout ThrowingTaskGroup<Void, any Error>) {
    guard let wish = screen.obey(key, at: .now) else { return }
    func act(_ node: SpawnedNode, _ action: ScriptStep.Action) {
      switch (stage, action) {
      case (.playing, _), (.gathering, .order(.press)): break
      case (.gathering, _): return screen.tell("the nodes are not ready yet")
      default: return screen.tell("the run is over, and the nodes end")
      }
      perform(ScriptStep(line: 0, time: .zero, node: node, action: action), in: &group)
    }
    switch wish {
    case .press(let kind, let nodes): for node in nodes { act(node, .order(.press(kind, at: nil))) }
    case .toggleOffline(let node):
      act(node, .order(isOffline(node, .now) ? .online : .offline(nil)))
    case .kill(let node): act(node, .kill)
    case .restart(let node): act(node, .restart)
    case .redraw: terminal?.forget()
    case .end: receive(.interrupted, in: &group)
    }
  }

  /// Starts the script or the recorded presses. All nodes have a snapshot: this is time zero of the script.
  private func begin(in group: inout ThrowingTaskGroup<Void, any Error>) {
    let report = events.continuation
    let (zero, speed) = (ContinuousClock.now, plan.speed)
    @Sendable func sleep(until time: BusDuration) async throws {
      try await Task.sleep(until: zero + .nanoseconds(speed.real(fromBus: time).nanoseconds))
    }
    if let script = plan.script {
      group.addTask {
        for step in script.steps {
          try await sleep(until: step.time)
          report.yield(.step(step))
        }
        report.yield(.scriptIsOver)
      }
      if let duration = plan.duration {
        group.addTask {
          try await sleep(until: duration)
          report.yield(.recordingIsOver)
        }
      } else {
        isRecordingOver = true
      }
    } else if plan.duration != nil {
      // Send all presses now: the phone makes each one when the run reaches its offset.
      for press in plan.presses {
        children[.phone]?.tell(.press(press.kind, at: press.kind == .start ? nil : press.offset))
      }
      isScriptOver = true
    } else {
      tell("all nodes are ready; press buttons with: busnode send start\(plan.flag)")
    }
  }

  /// Whether there is a phone and a run is on, according to the phone's last snapshot. Until a restarted phone shows
  /// one, the snapshots of the other nodes decide.
  private var isRunOn: Bool {
    guard children[.phone] != nil || waitsForRestart.contains(.phone) else { return false }
    if let last = agreement.seen[.phone]?.last { return last.phase.isOn }
    return agreement.seen.values.contains { $0.last?.phase.isOn == true }
  }

  /// Whether the hub has all samples and presses, and every node that is online shows the same publication.
  private func isDrained(_ now: ContinuousClock.Instant) -> Bool {
    let present = SpawnedNode.allCases.filter { children[$0] != nil && !isOffline($0, now) }
    guard offlineUntil.values.allSatisfy({ $0 <= now || $0 == Self.never }) else { return false }
    // A node that was offline may take a while to find the hub again and to deliver what it was told meanwhile.
    guard present.allSatisfy({ unjudged[$0, default: []].isEmpty }) else { return false }
    let everRan = agreement.seen.values.contains { $0.last?.phase == .completed }
    guard !everRan || plan.feeds.intersection(present).isSubset(of: sensorsDone) else { return false }
    // The hub commits samples every three seconds of bus time and then publishes; half a second more for the transport.
    let quiet = Duration.nanoseconds(plan.speed.real(fromBus: .seconds(3)).nanoseconds) + .milliseconds(500)
    return now - lastNewsAt > quiet && agreement.isSettled(present)
  }

  private func end() {
    stage = .ending
    deadline = ContinuousClock.now + Self.endPatience
    for child in children.values { child.end() }
  }

  private func fail(_ node: SpawnedNode, _ ending: UpEvent.Ending, _ errors: [String]) {
    let status = ending == .exited(ExitStatus.busHeld) ? ExitStatus.busHeld : ExitStatus.failure
    failure = Failure(
      code: "nodeDied", message: "the \(node.rawValue) died: \(ending.sentence)", exitStatus: status,
      details: errors.map { ErrorJSON(line: $0)?.error.message ?? $0 })
    end()
  }

  // MARK: Nodes

  private static let never = ContinuousClock.now + .seconds(1_000_000_000)
  private var killed: Set<SpawnedNode> = []

  private func spawn(_ node: SpawnedNode, in group: inout ThrowingTaskGroup<Void, any Error>) {
    let child = Child(node, life: lives[node, default: 0] + 1)
    lives[node] = child.life
    children[node] = child
    killed.remove(node)
    sensorsDone.remove(node)
    agreement.forgetLast(of: node)
    offlineUntil[node] = nil
    rows[node] = UpScreen.Row()
    let (plan, report) = (plan, events.continuation)
    group.addTask {
      await child.run(
        executable: plan.executable, arguments: plan.arguments[node] ?? [], environment: plan.environment
      ) { report.yield($0) }
    }
  }

  private func perform(_ step: ScriptStep, in group: inout ThrowingTaskGroup<Void, any Error>) {
    // A press may come while the nodes still look for each other: it waits in its node.
    guard stage == .playing || stage == .gathering else { return }
    let node = step.node
    switch step.action {
    case .order(let order):
      children[node]?.tell(order)
      switch order {
      case .offline(let span):
        let real = span.map { plan.speed.real(fromBus: $0) }
        offlineUntil[node] = real.map { ContinuousClock.now + .nanoseconds($0.nanoseconds) } ?? Self.never
      case .online: offlineUntil[node] = nil
      case .recover: break
      case .press(let kind, _):
        lastPressAt = .now
        if kind == .start { stoppedAt = nil }
      }
    case .kill:
      killed.insert(node)
      children[node]?.kill()
    case .restart:
      if children[node] == nil {
        spawn(node, in: &group)
      } else {
        waitsForRestart.insert(node)
        children[node]?.end()
      }
    }
  }

  private func isOffline(_ node: SpawnedNode, _ now: ContinuousClock.Instant) -> Bool {
    offlineUntil[node].map { $0 > now } ?? false
  }

  private func heard(_ line: EventLineJSON, on node: SpawnedNode) {
    switch line.event {
    case .bus(.snapshot(let state)):
      lastNewsAt = .now
      agreement.saw(state.snapshot, on: node)
      rows[node]?.snapshot = state.snapshot
      rows[node]?.seenAt = .now
      rows[node]?.link = "up"
    case .bus(.receipt(let receipt, _)):
      screen.note(receipt, on: node, at: String(line.at.dropFirst(11).prefix(8)))
      guard case .verdict(let verdict) = receipt.stage else {
        unjudged[node, default: []].insert(receipt.commandID)
        break
      }
      unjudged[node]?.remove(receipt.commandID)
      verdicts.count(verdict.outcome)
    case .predicted(let predicted): rows[node]?.button = predicted.phase
    case .link(let link): rows[node]?.link = link.refusal == nil ? link.reachable ? "up" : "no hub" : "refused"
    case .sensorsDone(let sensors):
      if sensors.runId == agreement.seen[node]?.last?.runID { sensorsDone.insert(node) }
    case .bus(.command), .bus(.presence), .bus(.message), .bus(.route), .bus(.live), .liveActivity, .message, .view,
      .hubLost, .sensors, .record, .recordingEnded:
      break
    }
    if plan.asJSON { return say { try Output.jsonLine(NodeEventJSON(node: node, line: line)) } }
    guard terminal == nil, isShown(line.event) else { return }
    say { try Output.line(TextWidth.fitted(node.rawValue, to: 8) + Sentence.event(line.event)) }
  }

  /// Whether `up` writes an event as text when it has no screen.
  private func isShown(_ event: EventJSON) -> Bool {
    switch event {
    case .bus(.receipt(let receipt, _)): if case .verdict = receipt.stage { true } else { false }
    case .bus(.snapshot), .message, .link, .hubLost, .recordingEnded: true
    case .bus(.command), .bus(.presence), .bus(.message), .bus(.route), .bus(.live), .liveActivity, .view, .predicted,
      .sensors, .record, .sensorsDone:
      false
    }
  }

  private func draw() {
    guard let terminal, stage != .over else { return }
    let now = ContinuousClock.now
    let rows = SpawnedNode.allCases.compactMap { node in
      self.rows[node].map { row -> (SpawnedNode, UpScreen.Row) in
        var row = row
        if isOffline(node, now) { row.link = "offline" }
        return (node, row)
      }
    }
    // The size is read for each drawing, ten times a second, so that a resize shows at once.
    let size = Output.screen
    terminal.show(screen.draw(rows, speed: plan.speed, on: size, now: now, moment: Loop.now), on: size)
  }
}
