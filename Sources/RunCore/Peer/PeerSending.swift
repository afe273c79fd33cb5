// Routes what a peer sends on its streams, and what the hub says about them, to the outboxes.
extension PeerCore {
  // MARK: Commands

  /// Handles a press: the command gets its sequence number, becomes durable, and is sent if the hub can be reached.
  mutating func press(_ command: Command, in turn: inout Turn) {
    // A command with this id waits already, and its verdict answers both presses.
    guard !commands.holds(command.id.message) else { return }
    guard !commands.isFull else {
      return turn.act(
        .receipt(CommandOutbox.rejection(of: command, .busy, shown: view.authoritative.order)))
    }
    var command = command
    if command.kind == .start, command.runID == nil { command.runID = command.runOfStart }
    // The peer names the run that it shows or has started itself, even if it was never in reach.
    if command.base == nil { command.base = view.base }
    if command.runID == nil { command.runID = predictedRun }
    commands.add(command, isGoing: session.isUp, in: &turn)
    noteNews(in: &turn)
  }

  /// Sends the commands that may go and were not sent in this session.
  mutating func sendCommands(in turn: inout Turn) {
    guard session.isUp else { return }
    for message in commands.nextMessages(at: turn.now, generator: &turn.generator) { send(message, in: &turn) }
  }

  /// Sends again from the oldest command on, because no acknowledgement came in time.
  mutating func retryCommands(in turn: inout Turn) {
    commands.retry(in: &turn)
    sendCommands(in: &turn)
  }

  /// The run that this peer's commands and readings refer to.
  private var predictedRun: RunID? { commands.predictedRun(shown: view.authoritative.runID) }

  // MARK: Verdicts

  /// Handles verdicts on this peer's commands, in order.
  private mutating func receive(
    _ transmissions: [VerdictTransmission], in turn: inout Turn
  ) {
    let (isNews, receipts) = verdicts.receive(transmissions)
    guard isNews else { return send(.delivery(verdicts.acknowledgement), in: &turn) }
    var operations: [StoreOperation] = []
    for receipt in receipts { operations += finish(receipt, in: &turn) }
    verdicts.keep(with: operations, in: &turn)
    // A verdict acknowledges commands as well, and may be the hub's only acknowledgement: more commands may go now.
    sendCommands(in: &turn)
  }

  /// Removes a command that has its verdict, and returns the writes for that.
  private mutating func finish(
    _ receipt: Receipt, in turn: inout Turn
  ) -> [StoreOperation] {
    // Any other verdict was received before, on another stream or in an earlier incarnation.
    guard case .verdict(let verdict) = receipt.stage, let sequence = commands.sequence(of: receipt.commandID) else {
      return []
    }
    // A verdict shows that the command and all before it were accepted.
    commands.accept(through: sequence, in: &turn)
    let write = commands.judge(verdict, of: receipt.commandID, shown: view.authoritative.order)
    turn.act(.receipt(receipt))
    // The readings of a run go behind the verdict of its start.
    if receipt.kind == .start { sendSamples(in: &turn) }
    return [write].compactMap(\.self)
  }

  /// Handles a receipt for a command from the spool, or the answer to a command whose kind the hub does not know.
  mutating func receive(_ receipt: Receipt, in turn: inout Turn) {
    guard case .verdict = receipt.stage else { return }
    if forwarder.holds(receipt.commandID) {
      forwarder.judge(receipt.commandID)
      turn.act(.spooledCommandJudged(receipt.commandID))
    }
    let operations = finish(receipt, in: &turn)
    if !operations.isEmpty { turn.write(operations, isUrgent: false) }
  }

  // MARK: The spool

  /// Sends the commands from the spool.
  mutating func sendForwards(in turn: inout Turn) {
    guard session.isUp else { return }
    for request in forwarder.nextRequests(at: turn.now, generator: &turn.generator) {
      send(.request(request), in: &turn)
    }
  }

  // MARK: Samples

  /// Handles readings: they are sent at once, together, and written to the store if the hub does not acknowledge them
  /// soon.
  mutating func receive(_ readings: [Sample], in turn: inout Turn) {
    for reading in readings {
      guard !samples.isFull else {
        turn.act(.note("too many samples wait for the hub: one was dropped"))
        break
      }
      samples.add(reading, run: predictedRun, in: &turn)
    }
    sendSamples(in: &turn)
  }

  /// Sends the samples that may go and were not sent in this session.
  mutating func sendSamples(in turn: inout Turn) {
    guard session.isUp else { return }
    let messages = samples.nextMessages(waiting: commands.unjudgedRuns, at: turn.now, generator: &turn.generator)
    for message in messages { send(message, in: &turn) }
  }

  // MARK: All streams

  /// Handles what the hub sends on its streams, or says about this peer's streams.
  mutating func receive(_ message: DeliveryMessage, in turn: inout Turn) {
    switch message {
    case .acknowledge(.commands, let sequence):
      commands.accept(through: sequence, in: &turn)
      sendCommands(in: &turn)
    case .acknowledge(.samples, let sequence):
      samples.acknowledge(through: sequence, in: &turn)
      sendSamples(in: &turn)
    case .goBack(.commands, let place, _):
      commands.goBack(to: place)
      sendCommands(in: &turn)
    case .goBack(.samples, let place, _):
      samples.goBack(to: place)
      sendSamples(in: &turn)
    case .verdicts(let transmissions): receive(transmissions, in: &turn)
    case .tombstones(.verdicts, let from, let through):
      if verdicts.skip(from: from, through: through) { verdicts.keep(with: [], in: &turn) }
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .latest, .acknowledgeLatest, .refuseLatest, .live:
      if let quarantined = courier.receive(message, over: session.number, in: &turn) { quarantine.add(quarantined) }
    case .acknowledge(.verdicts, _), .goBack(.verdicts, _, _), .tombstones(.commands, _, _),
      .tombstones(.samples, _, _):
      turn.act(.note("the hub spoke of a stream that it does not have: dropped"))
    }
  }

  /// Schedules an early retry, because the link's queue was full and frames were dropped.
  mutating func postpone(in turn: inout Turn) {
    let soon = turn.now + turn.generator.jittered(.milliseconds(200))
    commands.postpone(to: soon)
    samples.postpone(to: soon)
    courier.postpone(to: soon)
    forwarder.postpone(to: soon)
  }
}
