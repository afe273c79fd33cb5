// Snapshots and their schedule.
extension HubCore {
  /// The time between two snapshots of a running run, in bus time.
  static let tickInterval = BusDuration.seconds(3)

  /// The shortest time between two repetitions of a snapshot for new subscribers, in real time.
  private static let republishPause = BusDuration.milliseconds(100)

  /// Captures the present state as the next snapshot to publish.
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
    // Ticks are whole multiples after the anchor, so that a late timer delays one tick and not all that follow.
    let passed = (now - anchor).nanoseconds / Self.tickInterval.nanoseconds
    nextTick = anchor + BusDuration(nanoseconds: (passed + 1) * Self.tickInterval.nanoseconds)
    publishNow([], at: now)
  }

  /// Commits the given writes together with the gathered samples, and publishes the resulting state after the commit.
  mutating func publishNow(_ operations: [StoreOperation], then: [Effect] = [], at now: BusTime) {
    let operations = operations + [clockMark(at: now)] + forgetOldVerdicts(at: now)
    let batch = samples.take()
    let acks = batch.streams.flatMap { [Effect.durable($0.key, StreamMark(sequence: $0.value)), .acknowledge($0.key)] }
    let snapshot = capture(at: now)
    commits.add(batch.operations + operations, then: publishRoute() + [.publishSnapshot(snapshot)] + acks + then)
  }

  /// Forgets verdicts that are too old or too many, and returns the write for that.
  mutating func forgetOldVerdicts(at now: BusTime) -> [StoreOperation] {
    archive.prune(at: now).map { [.forgetVerdicts(judgedBefore: $0)] } ?? []
  }

  mutating func republish(_ topic: Topic, at now: BusTime, into actions: inout [Action]) {
    switch topic {
    case .snapshots:
      // The new subscriber missed what was published before its subscription. Other peers drop the repetition as known.
      guard let published else { return }
      // A publication reaches all subscribers, so one repetition serves a thousand that subscribe at once.
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
