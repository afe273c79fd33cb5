/// What the hub shows to screens: the published snapshot and its schedule, and what is pushed to lock screens.
struct Display: Sendable {
  private var publisher = Publisher()
  private var live: LivePusher

  init(_ policy: LivePolicy) { live = LivePusher(policy) }

  /// The last snapshot that was published; `nil` before the first.
  var published: Snapshot? { publisher.published }
  /// The tick of the last snapshot that was captured.
  var lastTick: UInt64 { publisher.lastTick }
  /// Whether a snapshot is captured whose commit is not durable yet.
  var isPublishing: Bool { publisher.isPublishing }
  /// When the next snapshot on schedule is due; `nil` while the run does not run.
  var nextTick: BusTime? { publisher.nextTick }
  /// What a lock screen of the hub itself shows; `nil` before the first push.
  var lockScreen: LivePush? { live.last }
  /// When there is something to show.
  var deadline: BusTime? { BusTime.earliest(publisher.deadline, live.deadline) }

  // MARK: Snapshots

  /// Captures the present state as the next snapshot to publish.
  mutating func capture(
    _ control: ControlState, term: UInt64, goal: RunGoal?, metrics: RunMetrics, isRecovering: Bool,
    isClockStopped: Bool, at now: BusTime
  ) -> Snapshot {
    publisher.capture(
      control, term: term, goal: goal, metrics: metrics, isRecovering: isRecovering,
      isClockStopped: isClockStopped, at: now)
  }

  /// Shows a snapshot that is durable.
  mutating func show(_ snapshot: Snapshot, in turn: inout HubCore.Turn) {
    publisher.publish(snapshot)
    live.observe(snapshot)
    turn.act(.show(snapshot))
    publish(snapshot, in: &turn)
  }

  /// Publishes a snapshot, with its age at the moment of sending.
  private func publish(_ snapshot: Snapshot, in turn: inout HubCore.Turn) {
    turn.act(.publish(.snapshot(StateMessage(snapshot: snapshot, at: turn.now))))
  }

  /// Begins the schedule anew, because a transition became durable.
  mutating func setAnchor(isRunning: Bool, at now: BusTime) { publisher.setAnchor(isRunning: isRunning, at: now) }

  /// Suspends the schedule until the next anchor.
  mutating func suspendTicks() { publisher.suspendTicks() }

  /// Advances the schedule past a tick that is due; returns whether a snapshot is to be published.
  mutating func tick(isTicking: Bool, at now: BusTime) -> Bool { publisher.tick(isTicking: isTicking, at: now) }

  // MARK: Subscribers

  /// Shows a new subscriber of a topic what it missed.
  mutating func repeatSnapshot(speed: BusSpeed, in turn: inout HubCore.Turn) {
    if let snapshot = publisher.repeatForSubscriber(at: turn.now, speed: speed) { publish(snapshot, in: &turn) }
  }

  /// Shows a new subscriber what lock screens show.
  mutating func repeatLive(speed: BusSpeed, in turn: inout HubCore.Turn) {
    if let message = live.follow(at: turn.now, speed: speed) { turn.act(.publish(.live(message))) }
  }

  /// Repeats the last snapshot, if that is due.
  mutating func repeatWhenDue(speed: BusSpeed, in turn: inout HubCore.Turn) {
    if let snapshot = publisher.dueRepetition(at: turn.now, speed: speed) { publish(snapshot, in: &turn) }
  }

  // MARK: Lock screens

  /// A command waits for its verdict.
  mutating func accept(_ id: CommandID, _ kind: CommandKind) { live.accept(id, kind) }

  /// A command has its verdict.
  mutating func judge(_ id: CommandID) { live.judge(id) }

  /// The room of the runner was published: lock screens show its countdown and the runner's place.
  ///
  /// - Parameters:
  ///   - room: The room; `nil` when the runner is in none.
  ///   - run: The run that the hub starts in it; `nil` where it starts none.
  mutating func show(room: RoomView?, run: RunID?, speed: BusSpeed, at now: BusTime) {
    live.observe(room, run: run, at: now, speed: speed)
  }

  /// Publishes what lock screens are to show, if the policy wants that now.
  mutating func pushLive(speed: BusSpeed, in turn: inout HubCore.Turn) {
    if let push = live.push(at: turn.now) {
      turn.act(.publish(.live(LiveMessage(push: push))), .showLive(LiveActivity(push)))
    } else if let message = live.dueRepetition(at: turn.now, speed: speed) {
      turn.act(.publish(.live(message)))
    }
  }
}

extension StateMessage {
  /// A snapshot with its age at the moment of sending.
  init(snapshot: Snapshot, at now: BusTime) {
    self.init(snapshot: snapshot, age: max(.zero, now - snapshot.capturedAt))
  }
}
