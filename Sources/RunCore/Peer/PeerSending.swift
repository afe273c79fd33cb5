// Routes what a peer sends on its streams, and what the hub says about them, to the outboxes.
extension PeerCore {
  // MARK: Commands

  /// Handles a press: the command gets its sequence number, becomes durable, and is sent if the hub can be reached.
  mutating func press(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    // A command with this id waits already, and its verdict answers both presses.
    guard !commands.holds(command.id.message) else { return }
    guard !commands.isFull else {
      return actions.append(
        .receipt(CommandOutbox.rejection(of: command, .busy, shown: view.authoritative.order)))
    }
    var command = command
    if command.kind == .start, command.runID == nil { command.runID = command.runOfStart }
    // The peer names the run that it shows or has started itself, even if it was never in reach.
    if command.base == nil { command.base = view.base }
    if command.runID == nil { command.runID = predictedRun }
    carryOut(commands.add(command, isGoing: session.isUp, at: now), at: now, into: &actions)
    noteNews(at: now, into: &actions)
  }

  /// Sends the commands that may go and were not sent in this session.
  mutating func sendCommands(at now: BusTime, into actions: inout [Action]) {
    guard session.isUp else { return }
    for message in commands.nextMessages(at: now, generator: &generator) { send(message, at: now, into: &actions) }
  }

  /// Sends again from the oldest command on, because no acknowledgement came in time.
  mutating func retryCommands(at now: BusTime, into actions: inout [Action]) {
    carryOut(commands.retry(at: now, generator: &generator), at: now, into: &actions)
    sendCommands(at: now, into: &actions)
  }

  /// Notes that the hub has durably accepted these commands and owes their verdicts.
  mutating func acceptCommands(through sequence: UInt64, at now: BusTime, into actions: inout [Action]) {
    carryOut(commands.accept(through: sequence, at: now, generator: &generator), at: now, into: &actions)
  }

  /// Carries out what the outbox of commands wants.
  mutating func carryOut(_ wanted: [CommandOutbox.Action], at now: BusTime, into actions: inout [Action]) {
    for action in wanted {
      switch action {
      case .receipt(let receipt): actions.append(.receipt(receipt))
      case .write(let operations, let isUrgent, let effects):
        guard !operations.isEmpty || !effects.isEmpty else { continue }
        commits.add(
          operations, then: effects.map(Effect.commands), dueAt: isUrgent ? nil : now + CommitTiming.writeDelayMax)
      }
    }
  }

  /// The run that this peer's commands and readings refer to.
  private var predictedRun: RunID? { commands.predictedRun(shown: view.authoritative.runID) }

  // MARK: Verdicts

  /// Handles verdicts on this peer's commands, in order.
  private mutating func receive(
    _ transmissions: [VerdictTransmission], at now: BusTime, into actions: inout [Action]
  ) {
    let (isNews, receipts) = verdicts.receive(transmissions)
    guard isNews else { return send(.delivery(verdicts.acknowledgement), at: now, into: &actions) }
    var operations: [StoreOperation] = []
    for receipt in receipts { operations += finish(receipt, at: now, into: &actions) }
    keepVerdicts(operations, at: now)
    // A verdict acknowledges commands as well, and may be the hub's only acknowledgement: more commands may go now.
    sendCommands(at: now, into: &actions)
  }

  private mutating func keepVerdicts(_ operations: [StoreOperation], at now: BusTime) {
    guard let write = verdicts.write else { return }
    commits.add(
      operations + [write.operation], then: [.verdicts(write.then)], dueAt: now + CommitTiming.writeDelayMax)
  }

  /// Removes a command that has its verdict, and returns the writes for that.
  private mutating func finish(
    _ receipt: Receipt, at now: BusTime, into actions: inout [Action]
  ) -> [StoreOperation] {
    // Any other verdict was received before, on another stream or in an earlier incarnation.
    guard case .verdict(let verdict) = receipt.stage, let sequence = commands.sequence(of: receipt.commandID) else {
      return []
    }
    // A verdict shows that the command and all before it were accepted.
    acceptCommands(through: sequence, at: now, into: &actions)
    let write = commands.judge(verdict, of: receipt.commandID, shown: view.authoritative.order)
    actions.append(.receipt(receipt))
    // The readings of a run go behind the verdict of its start.
    if receipt.kind == .start { sendSamples(at: now, into: &actions) }
    return [write].compactMap(\.self)
  }

  /// Handles a receipt for a command from the spool, or the answer to a command whose kind the hub does not know.
  mutating func receive(_ receipt: Receipt, at now: BusTime, into actions: inout [Action]) {
    guard case .verdict = receipt.stage else { return }
    if forwarder.holds(receipt.commandID) {
      forwarder.judge(receipt.commandID)
      actions.append(.spooledCommandJudged(receipt.commandID))
    }
    let operations = finish(receipt, at: now, into: &actions)
    if !operations.isEmpty { commits.add(operations, then: [], dueAt: now + CommitTiming.writeDelayMax) }
  }

  // MARK: The spool

  /// Sends the commands from the spool.
  mutating func sendForwards(at now: BusTime, into actions: inout [Action]) {
    guard session.isUp else { return }
    for request in forwarder.nextRequests(at: now, generator: &generator) {
      send(.request(request), at: now, into: &actions)
    }
  }

  // MARK: Samples

  /// Handles readings: they are sent at once, together, and written to the store if the hub does not acknowledge them
  /// soon.
  mutating func receive(_ readings: [Sample], at now: BusTime, into actions: inout [Action]) {
    for reading in readings {
      guard !samples.isFull else {
        actions.append(.note("too many samples wait for the hub: one was dropped"))
        break
      }
      if let reservation = samples.add(reading, run: predictedRun, at: now) {
        commits.add([reservation.write], then: [.samples(reservation.then)])
      }
    }
    sendSamples(at: now, into: &actions)
  }

  /// Writes the samples that the hub has not acknowledged by now.
  mutating func flushSamples() {
    let rows = samples.flush()
    if !rows.isEmpty { commits.add(rows, then: []) }
  }

  /// Removes samples that the hub has acknowledged.
  mutating func acknowledgeSamples(through sequence: UInt64, at now: BusTime) {
    guard let write = samples.acknowledge(through: sequence, at: now, generator: &generator) else { return }
    commits.add([write], then: [], dueAt: now + CommitTiming.writeDelayMax)
  }

  /// Sends the samples that may go and were not sent in this session.
  mutating func sendSamples(at now: BusTime, into actions: inout [Action]) {
    guard session.isUp else { return }
    let messages = samples.nextMessages(waiting: commands.unjudgedRuns, at: now, generator: &generator)
    for message in messages { send(message, at: now, into: &actions) }
  }

  // MARK: All streams

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
      if verdicts.skip(from: from, through: through) { keepVerdicts([], at: now) }
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .latest, .acknowledgeLatest, .refuseLatest, .live:
      withCourier(at: now, into: &actions) { $0.receive(message, at: now, generator: &$1, into: &$2) }
    case .acknowledge(.verdicts, _), .goBack(.verdicts, _, _), .tombstones(.commands, _, _),
      .tombstones(.samples, _, _):
      actions.append(.note("the hub spoke of a stream that it does not have: dropped"))
    }
  }

  /// Schedules an early retry, because the link's queue was full and frames were dropped.
  mutating func postpone(at now: BusTime) {
    let soon = now + generator.jittered(.milliseconds(200))
    commands.postpone(to: soon)
    samples.postpone(to: soon)
    courier.postpone(to: soon)
    forwarder.postpone(to: soon)
  }
}
