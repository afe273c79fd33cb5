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
    /// A line of the script did not come true: which, and why.
    case script(String)
  }
  package var summary: UpSummary
  package var failure: Failure?
  /// A planned run was cut short.
  package var isInterrupted: Bool
}

/// Spawns a set of devices, plays a run with them, and checks whether they agree.
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
    package var devices = UpDevices.usual
    package var faults: FaultPlan?
    /// What names the bus to a command of the script, beside ``environment``.
    package var shellEnvironment: [String: String] = [:]
    /// Makes a node in this process; without it each node is a process of ``executable``.
    package var makeNode: (@Sendable (UpDevice, _ life: Int) -> any UpNode)?

    package init(
      executable: String, environment: [String: String?], arguments: [SpawnedNode: [String]], speed: BusSpeed,
      debounce: BusDuration, script: Script?, presses: [RecordedPress], duration: BusDuration?,
      feeds: Set<SpawnedNode>, flag: String
    ) {
      (self.executable, self.environment, self.arguments) = (executable, environment, arguments)
      (self.speed, self.debounce, self.script) = (speed, debounce, script)
      (self.presses, self.duration, self.feeds, self.flag) = (presses, duration, feeds, flag)
    }

    /// How long the nodes may take to find each other and to show the same publication, in real time: more where there
    /// are more of them.
    fileprivate var patience: Duration { .seconds(30) + .milliseconds(600) * min(devices.all.count, 100) }
  }

  /// - `gathering` can go to: `playing` (all nodes have a snapshot), `ending`.
  /// - `playing` can go to: `draining` (all presses are made, all faults are taken back and no run is on; or a person
  ///   ends a run with faults), `ending`.
  /// - `draining` can go to: `ending` (all nodes show the same last publication, or the patience is over), `playing` (a
  ///   late press of the script took effect, and a run is on again).
  /// - `ending` can go to: `over` (all processes have ended).
  enum Stage: Equatable { case gathering, playing, draining, ending, over }

  /// How long the phone may take to stop a run, in real time.
  private static let stopPatience = Duration.seconds(30)
  /// How long the processes may take to end.
  private static let endPatience = Duration.seconds(5)
  /// How long a press may take to the hub and its verdict back, besides the window, which settles within four times its
  /// length.
  private static let wayPatience = Duration.seconds(1)

  let plan: Plan
  let face: any UpFace
  let events = AsyncStream.makeStream(of: UpEvent.self)
  /// The hub.
  let phone: SpawnedNode
  private(set) var stage = Stage.gathering
  private var deadline: ContinuousClock.Instant
  private var lastNewsAt = ContinuousClock.now
  var children: [SpawnedNode: any UpNode] = [:]
  private var lives: [SpawnedNode: Int] = [:]
  var waitsForRestart: Set<SpawnedNode> = []
  private var offlineUntil: [SpawnedNode: ContinuousClock.Instant] = [:]
  /// The nodes that stand still.
  private var asleep: Set<SpawnedNode> = []
  /// What nodes are to press that a fault has killed.
  private var owed: [SpawnedNode: [NodeOrder]] = [:]
  private var sensorsDone: Set<SpawnedNode> = []
  /// The presses of each node that have no verdict yet.
  private var unjudged: [SpawnedNode: Set<CommandID>] = [:]
  var isScriptOver = false
  var isRecordingOver = false
  private var areFaultsOver = false
  /// A person has ended a run with faults: all is taken back, and the nodes have to agree.
  private var isHealing = false
  private var lastPressAt = ContinuousClock.now
  /// When the phone was told to stop a run that the script leaves on.
  private var stoppedAt: ContinuousClock.Instant?
  private var failure: UpResult.Failure?
  private var isInterrupted = false
  private(set) var agreement = Agreement()
  /// The presses, and what became of those that were judged.
  private var presses: Set<CommandID> = []
  private var outcomes: [CommandID: Outcome] = [:]
  /// The nodes that have found the hub before, and how often each found it again.
  private var linked: Set<SpawnedNode> = []
  private var reconnects: [SpawnedNode: Int] = [:]
  private(set) var rows: [SpawnedNode: UpRow] = [:]
  /// Yields when the phone shows a snapshot, while a line of the script waits for one.
  var snapshotNews: AsyncStream<Void>.Continuation?
  /// A signal has come.
  private var hasBeenTold = false

  package init(_ plan: Plan, face: any UpFace) {
    (self.plan, self.face, phone) = (plan, face, plan.devices.phone)
    deadline = .now + plan.patience
    areFaultsOver = plan.faults == nil
  }

  /// Plays the run to its end.
  package func run() async -> UpResult {
    let report = events.continuation
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        while (try? await Task.sleep(for: .milliseconds(100))) != nil { report.yield(.tick) }
      }
      for node in plan.devices.nodes { spawn(node, in: &group) }
      for await event in events.stream {
        receive(event, in: &group)
        if stage == .over { break }
      }
      // Cancelling kills the processes that have not ended yet.
      group.cancelAll()
      while await group.nextResult() != nil {}
    }
    return UpResult(summary: summary, failure: failure, isInterrupted: isInterrupted)
  }

  private var summary: UpSummary {
    var verdicts = UpSummary.Verdicts()
    for outcome in outcomes.values { verdicts.count(outcome) }
    return UpSummary(
      agreement, devices: plan.devices, presses: presses.count, verdicts: verdicts, reconnects: reconnects,
      faults: plan.faults.map {
        UpSummary.Faults(seed: $0.seed, links: $0.count(.link), kills: $0.count(.kill), sleeps: $0.count(.sleep))
      })
  }

  /// Takes what a person asks for.
  package nonisolated func take(_ wish: UpWish) { events.continuation.yield(.wish(wish)) }

  /// Ends the nodes in good order, because nobody reads what they show.
  package nonisolated func loseReader() { events.continuation.yield(.readerIsGone) }

  private func receive(_ event: UpEvent, in group: inout ThrowingTaskGroup<Void, any Error>) {
    switch event {
    case .heard(let node, let line):
      // What follows from it is looked at ten times a second: each line of a thousand nodes would be a look at all.
      return heard(line, on: node)
    case .ended(let node, let life, let ending, let errors):
      guard lives[node] == life else { return }
      children[node] = nil
      rows[node]?.link = "dead"
      asleep.remove(node)
      if waitsForRestart.remove(node) != nil, stage == .playing || isHealing && stage == .draining {
        spawn(node, in: &group)
      } else if stage != .ending, !killed.contains(node) {
        fail(node, ending, errors)
      }
    case .step(let step): perform(step, in: &group)
    case .fault(let fault): face.tell(fault.text)
    case .scriptIsOver: isScriptOver = true
    case .scriptFailed(let why):
      guard stage != .ending, stage != .over else { break }
      failure = .script(why)
      end()
    case .faultsAreOver: areFaultsOver = true
    case .recordingIsOver: isRecordingOver = true
    case .readerIsGone: interrupt(in: &group)
    case .tick: draw()
    case .wish(let wish):
      obey(wish, in: &group)
      draw()
    }
    advance(in: &group)
  }

  private func interrupt(in group: inout ThrowingTaskGroup<Void, any Error>) {
    guard stage != .ending, stage != .over else { return }
    // Exit status 130 says that a planned run was cut short. Without a plan, Ctrl-C is the normal end.
    if plan.script != nil || plan.duration != nil { isInterrupted = true }
    guard !isInterrupted, plan.faults != nil, stage == .playing else { return end() }
    face.tell("all faults are taken back, and the nodes have to agree: once more ends them now")
    (isHealing, stage) = (true, .draining)
    deadline = .now + plan.patience
    heal(in: &group)
  }

  /// Takes back what faults have done.
  private func heal(in group: inout ThrowingTaskGroup<Void, any Error>) {
    for node in plan.devices.nodes {
      if asleep.remove(node) != nil { children[node]?.wake() }
      if offlineUntil.removeValue(forKey: node) != nil { children[node]?.tell(.online) }
      if children[node] == nil {
        spawn(node, in: &group)
      } else if killed.contains(node) {
        waitsForRestart.insert(node)
      }
    }
  }

  // MARK: Stages

  private func advance(in group: inout ThrowingTaskGroup<Void, any Error>) {
    let now = ContinuousClock.now
    switch stage {
    case .gathering:
      if plan.devices.nodes.allSatisfy({ rows[$0]?.snapshot != nil }) {
        stage = .playing
        begin(in: &group)
      } else if now > deadline {
        let missing = plan.devices.nodes.filter { rows[$0]?.snapshot == nil }
        failure = .missing(missing)
        end()
      }
    case .playing:
      guard isScriptOver, areFaultsOver, waitsForRestart.isEmpty else { return }
      if isRunOn {
        if plan.script != nil, isRecordingOver { stopRun(now) }
      } else if plan.script != nil || agreement.seen[phone]?.last?.phase == .completed {
        stage = .draining
        deadline = now + plan.patience
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
      guard now - stoppedAt > Self.stopPatience else { return }
      agreement.disagree("the run did not stop when the phone stopped it")
      return end()
    }
    stoppedAt = now
    face.tell("the script leaves a run on: the phone stops it")
    children[phone]?.tell(.press(.stop, at: nil))
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
      if hasBeenTold { stage = .over } else { interrupt(in: &group) }
      hasBeenTold = true
    }
  }

  /// Whether there is a phone and a run is on, according to the phone's last snapshot. Until a restarted phone shows
  /// one, the snapshots of the other nodes decide.
  private var isRunOn: Bool {
    guard children[phone] != nil || waitsForRestart.contains(phone) else { return false }
    if let last = agreement.seen[phone]?.last { return last.phase.isOn }
    return agreement.seen.values.contains { $0.last?.phase.isOn == true }
  }

  /// Whether the hub has all samples and presses, and every node that is online shows the same publication.
  private func isDrained(_ now: ContinuousClock.Instant) -> Bool {
    let present = plan.devices.nodes.filter { children[$0] != nil && !isOffline($0, now) }
    guard offlineUntil.values.allSatisfy({ $0 <= now || $0 == Self.never }) else { return false }
    // A node that was offline may take a while to find the hub again and to deliver what it was told meanwhile.
    guard present.allSatisfy({ unjudged[$0, default: []].isEmpty }) else { return false }
    if isHealing {
      // Everybody is back. A run that is still on is published again and again: there is no last publication.
      return present.count == plan.devices.all.count && agreement.isReached(by: present)
    }
    let everRan = agreement.seen.values.contains { $0.last?.phase == .completed }
    // A node that a fault has killed may have nothing more to play.
    let feeds = plan.feeds.intersection(present).filter { plan.faults == nil || lives[$0] == 1 }
    guard !everRan || feeds.isSubset(of: sensorsDone) else { return false }
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
    let life = lives[node, default: 0] + 1
    let device = plan.devices.all.first { $0.node == node }
    let child: any UpNode =
      if let makeNode = plan.makeNode, let device { makeNode(device, life) } else {
        ProcessNode(node, life: life, plan: plan)
      }
    lives[node] = life
    children[node] = child
    killed.remove(node)
    sensorsDone.remove(node)
    agreement.forgetLast(of: node)
    offlineUntil[node] = nil
    rows[node] = UpRow()
    let report = events.continuation
    group.addTask { await child.run { report.yield($0) } }
    for order in owed.removeValue(forKey: node) ?? [] { child.tell(order) }
    if node == phone, life > 1, plan.script == nil, plan.duration != nil { tellPresses(to: child, isAgain: true) }
  }

  private func perform(_ step: ScriptStep, in group: inout ThrowingTaskGroup<Void, any Error>) {
    // A press may come while the nodes still look for each other: it waits in its node.
    guard stage == .playing || stage == .gathering, let node = step.node else { return }
    switch step.action {
    case .order(let order):
      if plan.faults != nil, children[node] == nil || killed.contains(node) {
        owed[node, default: []].append(order)
      } else {
        children[node]?.tell(order)
      }
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
    case .sleep:
      guard let child = children[node] else { break }
      asleep.insert(node)
      child.sleep()
    case .wake:
      asleep.remove(node)
      children[node]?.wake()
    // The task that plays the script does these itself.
    case .until, .expect, .shell: break
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
      if node == phone { snapshotNews?.yield() }
    case .bus(.receipt(let receipt, _)):
      presses.insert(receipt.commandID)
      guard case .verdict(let verdict) = receipt.stage else {
        unjudged[node, default: []].insert(receipt.commandID)
        break
      }
      unjudged[node]?.remove(receipt.commandID)
      outcomes[receipt.commandID] = verdict.outcome
    case .predicted(let predicted): rows[node]?.button = predicted.phase
    case .link(let link):
      rows[node]?.link = link.refusal == nil ? link.reachable ? "up" : "no hub" : "refused"
      if link.reachable, !linked.insert(node).inserted { reconnects[node, default: 0] += 1 }
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
      plan.devices.nodes.compactMap { node in
        guard var row = rows[node] else { return nil }
        if isOffline(node, now) { row.link = "offline" }
        if asleep.contains(node) { row.link = "asleep" }
        return (node, row)
      })
  }
}
