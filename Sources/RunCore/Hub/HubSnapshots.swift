// Snapshots and their schedule.
extension HubCore {
  /// Captures the present state as the next snapshot to publish.
  mutating func capture(at now: BusTime) -> Snapshot {
    publisher.capture(
      arbiter.control, term: term, metrics: ledger.metrics(at: now), isRecovering: isRecovering,
      isClockStopped: ledger.isClockStopped, at: now)
  }

  /// A snapshot with its age at the moment of sending.
  func stateMessage(at now: BusTime, _ snapshot: Snapshot) -> StateMessage {
    StateMessage(snapshot: snapshot, age: max(.zero, now - snapshot.capturedAt))
  }

  func clockMark(at now: BusTime) -> StoreOperation { .setClock(real: settings.clock.real(at: now), bus: now) }

  mutating func tick(at now: BusTime) {
    if publisher.tick(isTicking: isTicking, at: now) { publishNow([], at: now) }
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
    book.prune(at: now).map { [.forgetVerdicts(judgedBefore: $0)] } ?? []
  }

  mutating func republish(_ topic: Topic, at now: BusTime, into actions: inout [Action]) {
    switch topic {
    case .snapshots:
      if let snapshot = publisher.repeatForSubscriber(at: now, speed: settings.clock.speed) {
        actions.append(.publish(.snapshot(stateMessage(at: now, snapshot))))
      }
    case .feed: break
    case .route: presentRun.followRoute()
    case .live:
      if let message = live.follow(at: now, speed: settings.clock.speed) {
        actions.append(.publish(.live(message)))
      }
    }
  }

  /// Publishes what lock screens are to show, if the policy wants that now.
  mutating func pushLive(at now: BusTime, into actions: inout [Action]) {
    if let push = live.push(at: now) {
      actions += [.publish(.live(LiveMessage(push: push))), .showLive(LiveActivity(push))]
    } else if let message = live.dueRepetition(at: now, speed: settings.clock.speed) {
      actions.append(.publish(.live(message)))
    }
  }
}
