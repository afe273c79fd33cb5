// Snapshots and their schedule.
extension HubCore {
  /// How often a running run is published, in bus time.
  static let tickInterval = BusDuration.seconds(3)

  /// At most so often is a snapshot shown again to those who subscribed meanwhile, in real time.
  private static let republishPause = BusDuration.milliseconds(100)

  /// The state now, as the next publication.
  mutating func capture(at now: BusTime) -> Snapshot {
    lastTick += 1
    let control = arbiter.control
    return Snapshot(
      order: SnapshotOrder(term: term, revision: control.revision, tick: lastTick), phase: control.phase,
      runID: control.runID, changedBy: control.changedBy, startedAt: control.startedAt, capturedAt: now,
      metrics: ledger.metrics(at: now), isRecovering: isRecovering)
  }

  /// A snapshot with its age at the moment of sending.
  func stateMessage(at now: BusTime, _ snapshot: Snapshot) -> StateMessage {
    StateMessage(snapshot: snapshot, age: max(.zero, now - snapshot.capturedAt))
  }

  func clockMark(at now: BusTime) -> StoreOperation { .setClock(real: settings.clock.real(at: now), bus: now) }

  mutating func tick(at now: BusTime) {
    guard let anchor = tickAnchor, isTicking else {
      nextTick = nil
      return
    }
    // Whole multiples after the anchor, so that a late timer shifts one tick and not all that follow.
    let passed = (now - anchor).nanoseconds / Self.tickInterval.nanoseconds
    nextTick = anchor + BusDuration(nanoseconds: (passed + 1) * Self.tickInterval.nanoseconds)
    publishNow([], at: now)
  }

  /// Commits what is given together with the samples that gathered, and publishes the state that then holds.
  mutating func publishNow(_ operations: [StoreOperation], then: [Effect] = [], at now: BusTime) {
    let operations = operations + [clockMark(at: now)] + forgetOldVerdicts(at: now)
    let batch = samples.take()
    let acks = batch.streams.flatMap { [Effect.durable($0.key, StreamMark(sequence: $0.value)), .acknowledge($0.key)] }
    let snapshot = capture(at: now)
    commits.add(batch.operations + operations, then: publishRoute() + [.publishSnapshot(snapshot)] + acks + then)
  }

  /// Forgets the verdicts that nobody can ask for any more.
  mutating func forgetOldVerdicts(at now: BusTime) -> [StoreOperation] {
    archive.prune(at: now).map { [.forgetVerdicts(judgedBefore: $0)] } ?? []
  }

  mutating func republish(_ topic: Topic, at now: BusTime, into actions: inout [Action]) {
    switch topic {
    case .snapshots:
      // What was published before the subscription took hold has passed the subscriber by; others drop it as known.
      guard let published else { return }
      // Everybody gets what is published: a thousand who subscribe at once are shown it together.
      let pause = settings.clock.speed.bus(fromReal: Self.republishPause)
      if let last = republishedAt, now < last + pause {
        republishAt = last + pause
      } else {
        (republishedAt, republishAt) = (now, nil)
        actions.append(.publish(.snapshot(stateMessage(at: now, published))))
      }
    case .feed: break
    case .route: followRoute()
    }
  }
}
