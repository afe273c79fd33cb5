// Snapshots, the route and lock screens: what of the run goes out, and when.
extension HubRun {
  /// Whether its clock runs and its snapshots are published on schedule.
  func isTicking(_ control: ControlState) -> Bool { control.phase == .running && unfinished == nil }

  /// Captures the present state as the next snapshot to publish.
  mutating func capture(_ control: ControlState, term: UInt64, at now: BusTime) -> Snapshot {
    display.capture(
      control, term: term, goal: ledger.goal, metrics: ledger.metrics(at: now), isRecovering: isAsking,
      isClockStopped: ledger.isClockStopped, at: now)
  }

  /// Commits the given writes together with the gathered readings, and publishes the resulting state after the commit.
  mutating func publish(
    _ operations: [StoreOperation], then: [Durable], _ control: ControlState, term: UInt64, in turn: inout Turn
  ) {
    let batch = intake.take()
    let snapshot = capture(control, term: term, at: turn.now)
    turn.write(
      batch.operations + operations,
      then: routeNews(control, term: term) + [.publishSnapshot(snapshot)] + batch.acknowledgements + then)
  }

  /// Commits the gathered readings outside the schedule of ticks, without a snapshot.
  mutating func commitReadings(_ control: ControlState, term: UInt64, in turn: inout Turn) {
    let batch = intake.take()
    turn.write(batch.operations, then: routeNews(control, term: term) + batch.acknowledgements)
  }

  /// Whether gathered readings amend a run whose snapshots are not on schedule, so that one has to be published.
  func needsSnapshot(_ control: ControlState) -> Bool { intake.isAmendment && !isTicking(control) }

  /// The writes of the gathered readings, before the hub ends.
  mutating func takeReadings() -> [StoreOperation] { intake.take().operations }

  /// What the commit in preparation changes in the route, to be published once it is durable.
  private mutating func routeNews(_ control: ControlState, term: UInt64) -> [Durable] {
    present.takeRouteParts(of: control.runID, term: term).map { .act(.publish(.route($0))) }
  }

  /// A snapshot is durable: it is shown.
  mutating func show(_ snapshot: Snapshot, in turn: inout Turn) { display.show(snapshot, in: &turn) }

  /// A transition is durable: the schedule of snapshots begins anew.
  mutating func setAnchor(at now: BusTime) {
    display.setAnchor(isRunning: published?.phase == .running && unfinished == nil, at: now)
  }

  /// Suspends the schedule until the next anchor.
  mutating func suspendTicks() { display.suspendTicks() }

  /// Advances the schedule past a tick that is due; returns whether a snapshot is to be published.
  mutating func tick(_ control: ControlState, at now: BusTime) -> Bool {
    display.tick(isTicking: isTicking(control), at: now)
  }

  /// Shows a new subscriber of a topic what it missed.
  mutating func welcome(subscriberOf topic: Topic, in turn: inout Turn) {
    switch topic {
    case .snapshots: display.repeatSnapshot(speed: rules.clock.speed, in: &turn)
    case .feed, .rooms: break
    case .route: present.followRoute()
    case .live: display.repeatLive(speed: rules.clock.speed, in: &turn)
    }
  }

  /// Repeats the last snapshot for new subscribers, if that is due.
  mutating func repeatWhenDue(in turn: inout Turn) { display.repeatWhenDue(speed: rules.clock.speed, in: &turn) }

  /// The room of the runner was published; `run` is the one that the hub starts in it.
  mutating func show(room: RoomView?, run: RunID?, at now: BusTime) {
    display.show(room: room, run: run, speed: rules.clock.speed, at: now)
  }

  /// Publishes what lock screens are to show, if the policy wants that now.
  mutating func pushLive(in turn: inout Turn) { display.pushLive(speed: rules.clock.speed, in: &turn) }
}
