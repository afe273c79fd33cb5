package import RunBus
package import RunRecordings

/// What the nodes of an ``UpRun`` show and what becomes of them is told to a face: a screen, or lines.
package protocol UpFace: Sendable {
  /// A node wrote a line.
  func show(_ line: EventLineJSON, of node: SpawnedNode)
  /// Ten times a second, and after each wish: what the nodes show now.
  func draw(_ rows: [(node: SpawnedNode, row: UpRow)])
  /// Something that the person should know.
  func tell(_ sentence: String)
}

/// What one node shows.
package struct UpRow: Sendable {
  package var link = "starting"
  package var snapshot: Snapshot?
  package var button: RunPhase?
  /// When the snapshot came.
  package var seenAt: ContinuousClock.Instant?

  package init() {}
}

/// What a person asks ``UpRun`` to do.
package enum UpWish: Hashable, Sendable {
  case press(CommandKind, on: [SpawnedNode])
  case toggleOffline(SpawnedNode)
  case kill(SpawnedNode)
  case restart(SpawnedNode)
  /// Only the face has changed.
  case redraw
  /// The nodes end in good order; at the second time they are killed.
  case end
}

/// How an ``UpRun`` has ended.
package struct UpResult: Sendable {
  /// Why it did not come to its end.
  package enum Failure: Hashable, Sendable {
    /// A node died, which no script had asked for.
    case died(SpawnedNode, NodeEnding, lastErrors: [String])
    /// Some nodes did not reach the bus.
    case missing([SpawnedNode])
  }
  package var summary: UpSummary
  package var failure: Failure?
  /// A planned run was cut short.
  package var isInterrupted: Bool
}

/// What happens while ``UpRun`` plays, in the order in which it becomes known.
enum UpEvent: Sendable {
  /// A node wrote a line.
  case heard(SpawnedNode, EventLineJSON)
  /// A node's process has ended: how, and its last lines on standard error. `life` counts the incarnations of the node.
  case ended(SpawnedNode, life: Int, NodeEnding, lastErrors: [String])
  /// A line of the script is due.
  case step(ScriptStep)
  /// All lines of the script have been due.
  case scriptIsOver
  /// The bus time of the recording has passed.
  case recordingIsOver
  /// A tenth of a second has passed.
  case tick
  /// A key was pressed, or a signal has come.
  case wish(UpWish)
  /// The reader of standard output has gone.
  case readerIsGone
}

/// Spawns phone, watch and widget, plays a run with them, and checks whether they agree.
package actor UpRun {
  /// What is played, and how.
  package struct Plan: Sendable {
    package var executable: String
    package var environment: [String: String?]
    /// The arguments of each node.
    package var arguments: [SpawnedNode: [String]]
    package var speed: BusSpeed
    /// The window in which presses settle.
    package var debounce: BusDuration
    package var script: Script?
    /// The presses of the recording, which the phone makes unless there is a script.
    package var presses: [RecordedPress]
    /// The length of the recording; `nil` without one.
    package var duration: BusDuration?
    /// The nodes that play samples.
    package var feeds: Set<SpawnedNode>
    /// The option that names the bus to another `busnode`.
    package var flag: String

    package init(
      executable: String, environment: [String: String?], arguments: [SpawnedNode: [String]], speed: BusSpeed,
      debounce: BusDuration, script: Script?, presses: [RecordedPress], duration: BusDuration?,
      feeds: Set<SpawnedNode>, flag: String
    ) {
      (self.executable, self.environment, self.arguments) = (executable, environment, arguments)
      (self.speed, self.debounce, self.script) = (speed, debounce, script)
      (self.presses, self.duration, self.feeds, self.flag) = (presses, duration, feeds, flag)
    }
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
  private let face: any UpFace
  private let events = AsyncStream.makeStream(of: UpEvent.self)
  private var stage = Stage.gathering
  private var deadline = ContinuousClock.now + patience
  private var lastNewsAt = ContinuousClock.now
  private var children: [SpawnedNode: NodeChild] = [:]
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
  private var failure: UpResult.Failure?
  private var isInterrupted = false
  private var agreement = Agreement()
  private var verdicts = UpSummary.Verdicts()
  private var rows: [SpawnedNode: UpRow] = [:]
  /// A signal has come.
  private var hasBeenTold = false

  package init(_ plan: Plan, face: any UpFace) { (self.plan, self.face) = (plan, face) }

  /// Plays the run to its end.
  package func run() async -> UpResult {
    let report = events.continuation
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await Task.sleep(for: .milliseconds(100))) != nil { report.yield(.tick) }
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
    return UpResult(
      summary: UpSummary(agreement, verdicts: verdicts), failure: failure, isInterrupted: isInterrupted)
  }

  /// Takes what a person asks for.
  package nonisolated func take(_ wish: UpWish) { events.continuation.yield(.wish(wish)) }

  /// Ends the nodes in good order, because nobody reads what they show.
  package nonisolated func loseReader() { events.continuation.yield(.readerIsGone) }

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
    case .readerIsGone: interrupt()
    case .tick: draw()
    case .wish(let wish):
      obey(wish, in: &group)
      draw()
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
        let missing = SpawnedNode.allCases.filter { rows[$0]?.snapshot == nil }
        failure = .missing(missing)
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
    face.tell("the script leaves a run on: the phone stops it")
    children[.phone]?.tell(.press(.stop, at: nil))
  }

  private func obey(_ wish: UpWish, in group: inout ThrowingTaskGroup<Void, any Error>) {
    func act(_ node: SpawnedNode, _ action: ScriptStep.Action) {
      switch (stage, action) {
      case (.playing, _), (.gathering, .order(.press)): break
      case (.gathering, _): return face.tell("the nodes are not ready yet")
      default: return face.tell("the run is over, and the nodes end")
      }
      perform(ScriptStep(line: 0, time: .zero, node: node, action: action), in: &group)
    }
    switch wish {
    case .press(let kind, let nodes): for node in nodes { act(node, .order(.press(kind, at: nil))) }
    case .toggleOffline(let node):
      act(node, .order(isOffline(node, .now) ? .online : .offline(nil)))
    case .kill(let node): act(node, .kill)
    case .restart(let node): act(node, .restart)
    case .redraw: break
    case .end:
      if hasBeenTold { stage = .over } else { interrupt() }
      hasBeenTold = true
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
      face.tell("all nodes are ready; press buttons with: busnode send start\(plan.flag)")
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
    return now - lastNewsAt > quiet && agreement.isReached(by: present)
  }

  private func end() {
    stage = .ending
    deadline = ContinuousClock.now + Self.endPatience
    for child in children.values { child.end() }
  }

  private func fail(_ node: SpawnedNode, _ ending: NodeEnding, _ errors: [String]) {
    failure = .died(node, ending, lastErrors: errors)
    end()
  }

  // MARK: Nodes

  private static let never = ContinuousClock.now + .seconds(1_000_000_000)
  private var killed: Set<SpawnedNode> = []

  private func spawn(_ node: SpawnedNode, in group: inout ThrowingTaskGroup<Void, any Error>) {
    let child = NodeChild(node, life: lives[node, default: 0] + 1)
    lives[node] = child.life
    children[node] = child
    killed.remove(node)
    sensorsDone.remove(node)
    agreement.forgetLast(of: node)
    offlineUntil[node] = nil
    rows[node] = UpRow()
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
      case .recover, .place: break
      case .start: (lastPressAt, stoppedAt) = (.now, nil)
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
      guard case .verdict(let verdict) = receipt.stage else {
        unjudged[node, default: []].insert(receipt.commandID)
        break
      }
      unjudged[node]?.remove(receipt.commandID)
      verdicts.count(verdict.outcome)
    case .predicted(let predicted): rows[node]?.button = predicted.phase
    case .link(let link): rows[node]?.link = link.refusal == nil ? link.reachable ? "up" : "no hub" : "refused"
    case .sensorsDone(let sensors):
      // The snapshot that shows the last samples may be written after this line.
      lastNewsAt = .now
      if sensors.runId == agreement.seen[node]?.last?.runID { sensorsDone.insert(node) }
    case .bus(.command), .bus(.presence), .bus(.message), .bus(.route), .bus(.live), .bus(.room), .bus(.cue),
      .liveActivity, .message, .view, .hubLost, .sensors, .record, .recordingEnded:
      break
    }
    face.show(line, of: node)
  }

  private func draw() {
    guard stage != .over else { return }
    let now = ContinuousClock.now
    face.draw(
      SpawnedNode.allCases.compactMap { node in
        guard var row = rows[node] else { return nil }
        if isOffline(node, now) { row.link = "offline" }
        return (node, row)
      })
  }
}
