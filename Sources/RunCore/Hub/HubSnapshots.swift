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

  mutating func tick(in turn: inout Turn) {
    if publisher.tick(isTicking: isTicking, at: turn.now) { publishNow([], in: &turn) }
  }

  /// Commits the given writes together with the gathered samples, and publishes the resulting state after the commit.
  mutating func publishNow(_ operations: [StoreOperation], then: [Durable] = [], in turn: inout Turn) {
    let operations = operations + [clockMark(at: turn.now)] + forgetOldVerdicts(at: turn.now)
    let batch = samples.take()
    let acks = batch.streams.flatMap { Mark(stream: $0.key, place: StreamMark(sequence: $0.value)).then }
    let snapshot = capture(at: turn.now)
    turn.write(batch.operations + operations, then: publishRoute() + [.publishSnapshot(snapshot)] + acks + then)
  }

  /// Forgets verdicts that are too old or too many, and returns the write for that.
  mutating func forgetOldVerdicts(at now: BusTime) -> [StoreOperation] {
    book.prune(at: now).map { [.forgetVerdicts(judgedBefore: $0)] } ?? []
  }

  mutating func republish(_ topic: Topic, in turn: inout Turn) {
    switch topic {
    case .snapshots:
      if let snapshot = publisher.repeatForSubscriber(at: turn.now, speed: settings.clock.speed) {
        turn.act(.publish(.snapshot(stateMessage(at: turn.now, snapshot))))
      }
    case .feed: break
    case .route: presentRun.followRoute()
    case .live:
      if let message = live.follow(at: turn.now, speed: settings.clock.speed) {
        turn.act(.publish(.live(message)))
      }
    }
  }

  /// Publishes what lock screens are to show, if the policy wants that now.
  mutating func pushLive(in turn: inout Turn) {
    if let push = live.push(at: turn.now) {
      turn.act(.publish(.live(LiveMessage(push: push))), .showLive(LiveActivity(push)))
    } else if let message = live.dueRepetition(at: turn.now, speed: settings.clock.speed) {
      turn.act(.publish(.live(message)))
    }
  }
}
