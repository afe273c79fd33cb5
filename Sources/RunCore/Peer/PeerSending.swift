import DequeModule

// What a peer sends: its commands and samples, in order, until the hub has them.
extension PeerCore {
  /// Keeps a frame of samples far below the limit of 64 KiB.
  static let sampleFrameMax = 256
  /// Readings younger than this are not written, and may be lost with the process. While the link is up they were sent,
  /// and the hub commits as often.
  static let flushInterval = BusDuration.seconds(3)

  /// Handles a press: the command gets its sequence number, becomes durable, and is sent if the hub can be reached.
  mutating func press(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    // A command with this id waits already, and its verdict answers both presses.
    guard !commands.rows.contains(where: { $0.item?.id == command.id.message }) else { return }
    guard !commands.isFull else { return actions.append(.receipt(rejection(of: command, .busy))) }
    var command = command
    if command.kind == .start, command.runID == nil { command.runID = command.runOfStart }
    // A one-shot has seen nothing: it names no run, and means the one that is on. Any other peer names the run that it
    // shows or has started itself, even if it was never in reach.
    if !settings.isOneShot {
      if command.base == nil, authoritative.order.term > 0 {
        command.base = ObservedRevision(
          revision: authoritative.order.revision, commandID: authoritative.changedBy?.commandID)
      }
      if command.runID == nil { command.runID = predictedRun }
    }
    var isGoing = false
    if case .up = link { isGoing = true }
    let row = commands.add(.command(command), since: now, isGoing: isGoing)
    let queued = Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .queued)
    // A one-shot's command is durable already, as a file in its spool.
    commits.add(
      settings.isOneShot ? [] : [.enqueue(row)],
      then: [
        .act(.receipt(queued)),
        .commandsSendable(through: row.sequence, durabilityGeneration: commands.durabilityGeneration),
      ])
  }

  /// Sends the commands that may go and were not sent in this session.
  mutating func sendCommands(at now: BusTime, into actions: inout [Action]) {
    guard case .up = link else { return }
    for batch in commands.nextBatches(at: now, generator: &generator) {
      switch batch {
      case .tombstoneRange(let range):
        send(
          .delivery(.tombstones(.commands, from: range.lowerBound, through: range.upperBound)), at: now, into: &actions)
      case .rows(let rows):
        for row in rows {
          guard case .command(let command)? = row.item else { continue }
          let transmission = CommandTransmission(
            command: command, sequence: row.sequence, age: max(.zero, now - row.since), isUncertain: row.isUncertain,
            stopFollows: stopFollows(row, command))
          send(.command(transmission), at: now, into: &actions)
        }
      }
    }
  }

  /// Sends again from the oldest command on, because no acknowledgement came in time.
  mutating func retryCommands(at now: BusTime, into actions: inout [Action]) {
    if let range = commands.retry(at: now, generator: &generator) {
      let range = commands.count(range)
      let count = StoreOperation.countTries(commands.id, from: range.lowerBound, through: range.upperBound)
      if !settings.isOneShot { commits.add([count], then: [], dueAt: now + CommitTiming.writeDelayMax) }
    }
    sendCommands(at: now, into: &actions)
  }

  /// Whether the stop of a command's run is behind it in the queue. A stop that is not durable does not count, because
  /// it may never be sent.
  private func stopFollows(_ row: OutboxRow, _ command: Command) -> Bool {
    guard let run = command.runID, command.kind != .stop else { return false }
    return commands.rows.contains {
      guard $0.sequence > row.sequence, $0.sequence <= commands.durable, case .command(let other)? = $0.item else {
        return false
      }
      return other.kind == .stop && other.runID == run
    }
  }

  /// Schedules an early retry, because the link's queue was full and frames were dropped.
  mutating func postpone(at now: BusTime) {
    let soon = now + generator.jittered(.milliseconds(200))
    commands.postpone(to: soon)
    samples.postpone(to: soon)
    courier.postpone(to: soon)
    if !forwards.isEmpty { forwardAt = soon }
  }

  /// Handles what the hub sends on its streams, or says about this peer's streams.
  mutating func receive(_ message: DeliveryMessage, at now: BusTime, into actions: inout [Action]) {
    switch message {
    case .acknowledge(.commands, let sequence):
      acceptCommands(through: sequence, at: now, into: &actions)
      sendCommands(at: now, into: &actions)
    case .acknowledge(.samples, let sequence):
      acknowledgeSamples(through: sequence, at: now)
      sendSamples(at: now, into: &actions)
    case .goBack(.commands, let place, _):
      commands.goBack(to: place)
      sendCommands(at: now, into: &actions)
    case .goBack(.samples, let place, _):
      samples.goBack(to: place)
      sendSamples(at: now, into: &actions)
    case .verdicts(let transmissions): receive(transmissions, at: now, into: &actions)
    case .tombstones(.verdicts, let from, let through):
      guard verdicts.reaches(from), through > verdicts.sequence else { return }
      verdicts.skip(through: through)
      keepVerdicts([], at: now)
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .latest, .acknowledgeLatest, .refuseLatest, .live:
      withCourier(at: now, into: &actions) { $0.receive(message, at: now, generator: &$1, into: &$2) }
    case .acknowledge(.verdicts, _), .goBack(.verdicts, _, _), .tombstones(.commands, _, _),
      .tombstones(.samples, _, _):
      actions.append(.note("the hub spoke of a stream that it does not have: dropped"))
    }
  }

  /// Notes that the hub has durably accepted these commands and owes their verdicts.
  mutating func acceptCommands(through sequence: UInt64, at now: BusTime, into actions: inout [Action]) {
    let fresh = commands.rows.filter { $0.sequence > commands.acknowledged && $0.sequence <= sequence }
    guard commands.acknowledge(through: sequence, keepingRows: true, at: now, generator: &generator) else { return }
    var operations: [StoreOperation] = [.acknowledge(commands.id, through: commands.acknowledged)]
    for row in fresh {
      if case .command(let command)? = row.item {
        actions.append(
          .receipt(Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending)))
      } else {
        // The hub has passed the tombstone, so its row can go.
        commands.remove(row.sequence)
        operations.append(.remove(commands.id, sequence: row.sequence))
      }
    }
    if !settings.isOneShot { commits.add(operations, then: [], dueAt: now + CommitTiming.writeDelayMax) }
    if fresh.contains(where: { $0.startedRun != nil }) { sendSamples(at: now, into: &actions) }
  }

  /// Handles verdicts on this peer's commands, in order.
  private mutating func receive(
    _ transmissions: [VerdictTransmission], at now: BusTime, into actions: inout [Action]
  ) {
    var operations: [StoreOperation] = []
    var isNews = false
    for transmission in transmissions {
      let mark = StreamMark(sequence: transmission.sequence, id: transmission.receipt.commandID.message)
      switch verdicts.receive(mark) {
      case .next:
        isNews = true
        operations += finish(transmission.receipt, at: now, into: &actions)
      case .known: continue
      case .gap: break
      }
    }
    if isNews {
      keepVerdicts(operations, at: now)
      // A verdict acknowledges commands as well, and may be the hub's only acknowledgement: more commands may go now.
      return sendCommands(at: now, into: &actions)
    }
    send(.delivery(.acknowledge(.verdicts, through: verdictsDurable.sequence)), at: now, into: &actions)
  }

  private mutating func keepVerdicts(_ operations: [StoreOperation], at now: BusTime) {
    guard let hub else { return }
    let stream = StreamID(sender: hub.storeID, kind: .verdicts)
    commits.add(
      operations + [.setWatermark(stream, verdicts.mark)], then: [.verdictsProcessed(verdicts.mark, by: storeID)],
      dueAt: now + CommitTiming.writeDelayMax)
  }

  /// Removes a command that has its verdict, and returns the writes for that.
  private mutating func finish(
    _ receipt: Receipt, at now: BusTime, into actions: inout [Action]
  ) -> [StoreOperation] {
    // Any other verdict was received before, on another stream or in an earlier incarnation.
    guard let row = commands.rows.first(where: { $0.item?.id == receipt.commandID.message }),
      case .command(let command)? = row.item, case .verdict(let verdict) = receipt.stage
    else { return [] }
    // A verdict shows that the command and all before it were accepted. A one-shot repeats its command until it is
    // answered.
    if !settings.isOneShot { acceptCommands(through: row.sequence, at: now, into: &actions) }
    commands.remove(row.sequence)
    if verdict.term >= authoritative.order.term, verdict.revision > authoritative.order.revision {
      settling.append(Settling(kind: command.kind, verdict: verdict))
    }
    actions.append(.receipt(receipt))
    return settings.isOneShot ? [] : [.remove(commands.id, sequence: row.sequence)]
  }

  /// Handles a receipt for a command that came by no stream: a one-shot's own, or one from the spool.
  mutating func receive(_ receipt: Receipt, at now: BusTime, into actions: inout [Action]) {
    if forwards[receipt.commandID] != nil {
      if case .verdict = receipt.stage {
        forwards[receipt.commandID] = nil
        forwarded.remove(receipt.commandID)
        actions.append(.spooledCommandJudged(receipt.commandID))
        if forwards.isEmpty { forwardAt = nil }
      }
      // A one-shot that empties the spool tells its caller what becomes of the commands. Other nodes only forward them.
      if settings.isOneShot { actions.append(.receipt(receipt)) }
    }
    guard let row = commands.rows.first(where: { $0.item?.id == receipt.commandID.message }) else { return }
    switch receipt.stage {
    case .queued: break
    case .pending:
      guard !settings.isOneShot else { return actions.append(.receipt(receipt)) }
      acceptCommands(through: row.sequence, at: now, into: &actions)
    case .verdict:
      let operations = finish(receipt, at: now, into: &actions)
      if !operations.isEmpty { commits.add(operations, then: [], dueAt: now + CommitTiming.writeDelayMax) }
    }
  }

  /// Expires the commands that were not sent within 30 days.
  mutating func expireCommands(at now: BusTime, into actions: inout [Action]) {
    for row in commands.rows where row.tries == 0 && now - row.since > Courier.lifetime {
      guard case .command(let command)? = row.item else { continue }
      tombstone(row, command, .expired)
    }
  }

  /// Turns a command's row into a tombstone. The app gets the receipt once that is durable.
  mutating func tombstone(_ row: OutboxRow, _ command: Command, _ reason: RejectionReason, then: [Effect] = []) {
    commands.tombstone(row.sequence)
    commits.add(
      [.tombstone(commands.id, sequence: row.sequence)], then: [.act(.receipt(rejection(of: command, reason)))] + then)
  }

  private func rejection(of command: Command, _ reason: RejectionReason) -> Receipt {
    let verdict = Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(reason),
      runID: command.runID, term: authoritative.order.term, revision: authoritative.order.revision, effectiveAt: nil)
    return Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .verdict(verdict))
  }

  // MARK: Samples

  /// Handles a reading: it is sent at once, and written to the store if the hub does not acknowledge it soon.
  mutating func receive(_ sample: Sample, at now: BusTime, into actions: inout [Action]) {
    guard !isSpoolFull else { return actions.append(.note("too many samples wait for the hub: one was dropped")) }
    if let end = samples.reserve() {
      commits.add(
        [.enqueue(end)],
        then: [.samplesSendable(through: end.sequence, durabilityGeneration: samples.durabilityGeneration)])
    }
    let since: BusTime
    var runOffset: BusDuration?
    switch sample.moment {
    case .at(let time): since = time
    case .runOffset(let offset): (since, runOffset) = (now, offset)
    }
    _ = samples.add(
      .sample(sample.value, runOffset: runOffset, runID: predictedRun), since: since, isGoing: true)
    if flushAt == nil { flushAt = now + Self.flushInterval }
    sendSamples(at: now, into: &actions)
  }

  /// Writes the samples that the hub has not acknowledged by now.
  mutating func flushSamples(at now: BusTime) {
    flushAt = nil
    let flushed = max(samplesFlushed, samples.acknowledged)
    let rows = samples.rows(after: flushed)
    guard let last = rows.last else { return }
    samplesFlushed = last.sequence
    commits.add(rows.map(StoreOperation.enqueue), then: [])
  }

  /// Removes samples that the hub has acknowledged.
  mutating func acknowledgeSamples(through sequence: UInt64, at now: BusTime) {
    let before = samples.acknowledged
    guard samples.acknowledge(through: sequence, at: now, generator: &generator) else { return }
    // Most samples are never written. Then there is nothing to delete, and the hub states its mark in every welcome.
    if samplesFlushed > before {
      commits.add(
        [.acknowledge(samples.id, through: samples.acknowledged)], then: [], dueAt: now + CommitTiming.writeDelayMax)
    }
  }

  /// Sends the samples that may go and were not sent in this session.
  mutating func sendSamples(at now: BusTime, into actions: inout [Action]) {
    guard case .up = link else { return }
    // The hub drops readings of a run that it does not know, so they wait until the run's start is acknowledged.
    let unheard = Set(commands.rows(after: commands.acknowledged).compactMap(\.startedRun))
    let flight = samples.nextBatches(at: now, generator: &generator) { item in
      guard case .sample(_, _, let run?) = item else { return true }
      return !unheard.contains(run)
    }
    for batch in flight {
      switch batch {
      case .tombstoneRange(let range):
        send(
          .delivery(.tombstones(.samples, from: range.lowerBound, through: range.upperBound)), at: now, into: &actions)
      case .rows(let rows):
        var rest = rows[...]
        while !rest.isEmpty {
          let frame = rest.prefix(Self.sampleFrameMax).compactMap { transmission(of: $0, at: now) }
          rest = rest.dropFirst(Self.sampleFrameMax)
          send(.samples(frame), at: now, into: &actions)
        }
      }
    }
  }

  private func transmission(of row: OutboxRow, at now: BusTime) -> SampleTransmission? {
    guard case .sample(let value, let runOffset, let runID)? = row.item else { return nil }
    return SampleTransmission(
      sequence: row.sequence, moment: runOffset.map { .runOffset($0) } ?? .age(now - row.since), value: value,
      runID: runID)
  }

  /// The run that this peer's commands and readings refer to: the one that its own last start begins, under the id that
  /// the verdict gives it, or else the one that is shown.
  private var predictedRun: RunID? {
    for row in commands.rows.reversed() {
      if case .command(let command)? = row.item, command.kind == .start { return command.runID }
    }
    return settling.last { $0.kind == .start && $0.verdict.runID != nil }?.verdict.runID ?? authoritative.runID
  }
}

extension OutboxRow {
  /// The run that begins with this row; `nil` unless it holds a start.
  fileprivate var startedRun: RunID? {
    if case .command(let command)? = item, command.kind == .start { command.runOfStart } else { nil }
  }
}
