/// What a peer sends of its runs: its commands and readings, each on a stream to the hub, and the commands in the spool.
/// The hub's verdicts come back here, because they end the commands.
///
/// Its parts know one stream each. This one decides what one of them means for another: a verdict accepts commands, and
/// lets the readings of its run go. `link` is the number of the open session; without one everything waits.
struct PeerOutbox: Sendable {
  private var commands: CommandOutbox
  private var samples: SampleOutbox
  private var verdicts: VerdictInbox
  private var forwarder: SpoolForwarder

  /// The streams to a hub.
  ///
  /// - Parameter stream: A stream from its stored rows.
  init(
    stream: (StreamID.Kind, OutboundStream.Bounds) -> OutboundStream, verdicts: VerdictInbox, bootID: String
  ) {
    commands = CommandOutbox(stream(.commands, .commands))
    samples = SampleOutbox(stream(.samples, .samples))
    self.verdicts = verdicts
    forwarder = SpoolForwarder(bootID: bootID)
  }

  // MARK: What waits

  /// How many commands wait for their verdict.
  var unjudgedCount: Int { commands.unjudgedCount }
  /// The kinds of the commands that wait for their verdict.
  var unjudgedKinds: Set<CommandKind> { commands.unjudgedKinds }
  /// Whether no more commands are accepted until some are judged.
  var isFull: Bool { commands.isFull }
  /// How many readings the hub has not acknowledged.
  var readingCount: Int { samples.waitingCount }
  /// Whether no more readings are accepted until the hub acknowledges some.
  var isFullOfReadings: Bool { samples.isFull }
  /// How many more readings are accepted now.
  var roomForReadings: Int { samples.room }
  /// When readings have to be written.
  var flushAt: BusTime? { samples.flushAt }
  /// When something is sent again in the session.
  var retryAt: BusTime? { BusTime.earliest(commands.retryAt, samples.retryAt, forwarder.retryAt) }

  /// The phase that the run has once the commands that it does not show yet have taken effect.
  func predicted(from phase: RunPhase) -> RunPhase { commands.predicted(from: phase) }

  /// The reports of the commands, and that of the readings.
  func reports(for hub: DeviceID?, at now: BusTime) -> (commands: [OutboxReport], readings: [OutboxReport]) {
    (commands.reports(for: hub, at: now), samples.reports(for: hub, at: now))
  }

  // MARK: What the app and the shell do

  /// Handles a press: the command gets its sequence number, becomes durable, and is sent if the hub can be reached.
  ///
  /// - Parameter view: What the peer shows. A command refers to it.
  /// - Returns: whether it was accepted. A command that waits already is not: each press of it is told that it is kept,
  ///   and its verdict answers all of them.
  mutating func press(
    _ command: Command, shown view: HubView, over link: UInt64?, in turn: inout PeerCore.Turn
  ) -> Bool {
    guard !commands.holds(command.id.message) else {
      // A new core gets the presses of its app again. The former core may have ended before it could tell this.
      turn.write([], then: [.act(.receipt(CommandOutbox.queued(command)))])
      return false
    }
    guard !commands.isFull else {
      turn.act(.receipt(CommandOutbox.rejection(of: command, .busy, shown: view.authoritative.order)))
      return false
    }
    var command = command
    if command.kind == .start, command.runID == nil { command.runID = command.runOfStart }
    // The peer names the run that it shows or has started itself, even if it was never in reach.
    if command.base == nil { command.base = view.base }
    if command.runID == nil { command.runID = commands.predictedRun(shown: view.authoritative.runID) }
    commands.add(command, isGoing: link != nil, in: &turn)
    return true
  }

  /// Handles readings: they are sent at once, together, and written to the store if the hub does not acknowledge them
  /// soon.
  mutating func add(_ readings: [Sample], shown view: HubView, over link: UInt64?, in turn: inout PeerCore.Turn) {
    for reading in readings {
      guard !samples.isFull else {
        turn.act(.note("too many samples wait for the hub: one was dropped"))
        break
      }
      samples.add(reading, run: commands.predictedRun(shown: view.authoritative.runID), in: &turn)
    }
    sendSamples(over: link, in: &turn)
  }

  /// Handles the commands that are in the spool now; known ones may be among them.
  mutating func add(_ spooled: [ForwardedCommand], over link: UInt64?, in turn: inout PeerCore.Turn) {
    guard forwarder.add(spooled), link != nil else { return }
    for request in forwarder.newRequests(at: turn.now, generator: &turn.generator) {
      turn.send(.request(request), over: link)
    }
  }

  /// Cancels a command, the peer's own or one in the spool; `nil` when none with this id waits here.
  mutating func cancel(_ id: MessageID, shown: SnapshotOrder, in turn: inout PeerCore.Turn) -> InquiryReply? {
    if commands.holds(id) { return .cancelled(commands.cancel(id, shown: shown, in: &turn)) }
    let spooled = CommandID(high: id.high, low: id.low)
    guard forwarder.holds(spooled) else { return nil }
    return forwarder.cancel(spooled) ? .atOnce(.done(nil)) : .cancelled(false)
  }

  /// Writes the readings that the hub has not acknowledged by now.
  mutating func flush(in turn: inout PeerCore.Turn) { samples.flush(in: &turn) }

  // MARK: The session

  /// Up to where the hub has acknowledged each stream.
  var acknowledged: [StreamID.Kind: UInt64] { [.commands: commands.acknowledged, .samples: samples.acknowledged] }
  /// Up to where the hub's verdicts are durable here.
  var verdictMark: StreamMark { verdicts.durable }

  /// Compares the marks in a welcome with the streams.
  func check(_ received: [StreamID.Kind: StreamMark]) -> [OutboundStream.HistoryCheck] {
    [commands.check(received[.commands] ?? .start), samples.check(received[.samples] ?? .start)]
  }

  /// Begins a session at the marks of a welcome, and sends what waits. The readings follow with ``sendSamples(over:in:)``.
  ///
  /// - Parameter shown: The state that the peer shows, for receipts.
  mutating func open(
    received: [StreamID.Kind: StreamMark], shown: SnapshotOrder, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    let (commandMark, sampleMark) = (received[.commands] ?? .start, received[.samples] ?? .start)
    commands.open(received: commandMark)
    samples.open(received: sampleMark)
    samples.acknowledge(through: sampleMark.sequence, in: &turn)
    commands.accept(through: commandMark.sequence, in: &turn)
    commands.expire(after: MessageStream.lifetime, shown: shown, in: &turn)
    commands.countFirstTries(in: &turn)
    sendCommands(over: link, in: &turn)
    sendForwards(over: link, in: &turn)
  }

  /// Ends the session.
  mutating func close() {
    commands.close()
    samples.close()
    forwarder.close()
  }

  /// Sends again what was not acknowledged in time.
  mutating func retry(over link: UInt64?, in turn: inout PeerCore.Turn) {
    if let due = commands.retryAt, due <= turn.now {
      commands.retry(in: &turn)
      sendCommands(over: link, in: &turn)
    }
    if let due = samples.retryAt, due <= turn.now {
      samples.retry(at: turn.now, generator: &turn.generator)
      sendSamples(over: link, in: &turn)
    }
    if let due = forwarder.retryAt, due <= turn.now { sendForwards(over: link, in: &turn) }
  }

  /// The link's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) {
    commands.postpone(to: time)
    samples.postpone(to: time)
    forwarder.postpone(to: time)
  }

  /// Moves the commands to another hub, or to the same hub from this peer's new store.
  mutating func renumberCommands(to hub: StoreID) -> StoreOperation { commands.renumber(to: hub) }

  /// Moves the readings in the same way, and expects a new stream of verdicts.
  mutating func renumberSamples(to hub: StoreID) -> (writes: [StoreOperation], then: PeerCore.Durable) {
    verdicts.renumber(from: hub)
    return samples.renumber(to: hub)
  }

  // MARK: Sending

  private mutating func sendCommands(over link: UInt64?, in turn: inout PeerCore.Turn) {
    guard link != nil else { return }
    for message in commands.nextMessages(at: turn.now, generator: &turn.generator) { turn.send(message, over: link) }
  }

  private mutating func sendForwards(over link: UInt64?, in turn: inout PeerCore.Turn) {
    guard link != nil else { return }
    for request in forwarder.nextRequests(at: turn.now, generator: &turn.generator) {
      turn.send(.request(request), over: link)
    }
  }

  /// Sends the readings that may go and were not sent in this session.
  mutating func sendSamples(over link: UInt64?, in turn: inout PeerCore.Turn) {
    guard link != nil else { return }
    let messages = samples.nextMessages(waiting: commands.unjudgedRuns, at: turn.now, generator: &turn.generator)
    for message in messages { turn.send(message, over: link) }
  }

  /// Carries out what follows a write of a command, a reading or a verdict that is durable now.
  mutating func carryOut(_ durable: PeerCore.Durable, over link: UInt64?, in turn: inout PeerCore.Turn) {
    switch durable {
    case .sendable(let stream, let sequence, let durabilityGeneration):
      if stream.kind == .commands {
        commands.makeSendable(through: sequence, durabilityGeneration: durabilityGeneration)
        sendCommands(over: link, in: &turn)
      } else {
        samples.makeSendable(through: sequence, durabilityGeneration: durabilityGeneration)
        sendSamples(over: link, in: &turn)
      }
    case .processed(_, let mark, _, let bindingGeneration):
      guard verdicts.makeProcessed(mark, bindingGeneration: bindingGeneration) else { break }
      turn.send(.delivery(verdicts.acknowledgement), over: link)
    default: assertionFailure("this follows no write of the outbox")
    }
  }

  // MARK: The hub's answers

  /// Handles what the hub says about commands and readings, and its verdicts.
  ///
  /// - Parameter shown: The state that the peer shows, with the verdict's effect or without it.
  mutating func receive(
    _ message: DeliveryMessage, shown: SnapshotOrder, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    switch message {
    case .acknowledge(.commands, let sequence):
      commands.accept(through: sequence, in: &turn)
      sendCommands(over: link, in: &turn)
    case .acknowledge(.samples, let sequence):
      samples.acknowledge(through: sequence, in: &turn)
      sendSamples(over: link, in: &turn)
    case .goBack(.commands, let place, _):
      commands.goBack(to: place)
      sendCommands(over: link, in: &turn)
    case .goBack(.samples, let place, _):
      samples.goBack(to: place)
      sendSamples(over: link, in: &turn)
    case .verdicts(let transmissions): receive(transmissions, shown: shown, over: link, in: &turn)
    case .tombstones(.verdicts, let from, let through):
      if verdicts.skip(from: from, through: through) { verdicts.keep(with: [], in: &turn) }
    default: turn.act(.note("the hub spoke of a stream that it does not have: dropped"))
    }
  }

  /// Handles verdicts on this peer's commands, in order.
  private mutating func receive(
    _ transmissions: [VerdictTransmission], shown: SnapshotOrder, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    let (isNews, receipts) = verdicts.receive(transmissions)
    guard isNews else { return turn.send(.delivery(verdicts.acknowledgement), over: link) }
    var operations: [StoreOperation] = []
    for receipt in receipts { operations += finish(receipt, shown: shown, over: link, in: &turn) }
    verdicts.keep(with: operations, in: &turn)
    // A verdict acknowledges commands as well, and may be the hub's only acknowledgement: more commands may go now.
    sendCommands(over: link, in: &turn)
  }

  /// Handles a receipt for a command from the spool, or the answer to a command whose kind the hub does not know.
  mutating func receive(
    _ receipt: Receipt, shown: SnapshotOrder, over link: UInt64?, in turn: inout PeerCore.Turn
  ) {
    guard case .verdict = receipt.stage else { return }
    if forwarder.holds(receipt.commandID) {
      forwarder.judge(receipt.commandID)
      turn.act(.spooledCommandJudged(receipt.commandID))
    }
    let operations = finish(receipt, shown: shown, over: link, in: &turn)
    if !operations.isEmpty { turn.write(operations, isUrgent: false) }
  }

  /// Removes a command that has its verdict, and returns the writes for that.
  private mutating func finish(
    _ receipt: Receipt, shown: SnapshotOrder, over link: UInt64?, in turn: inout PeerCore.Turn
  ) -> [StoreOperation] {
    // Any other verdict was received before, on another stream or in an earlier incarnation.
    guard case .verdict(let verdict) = receipt.stage, let sequence = commands.sequence(of: receipt.commandID) else {
      return []
    }
    // A verdict shows that the command and all before it were accepted.
    commands.accept(through: sequence, in: &turn)
    let write = commands.judge(verdict, of: receipt.commandID, shown: shown)
    turn.act(.receipt(receipt))
    // The readings of a run go behind the verdict of its start.
    if receipt.kind == .start { sendSamples(over: link, in: &turn) }
    return [write].compactMap(\.self)
  }

  /// Drops the judged commands whose effect this snapshot shows.
  mutating func dropShown(by order: SnapshotOrder) { commands.dropShown(by: order) }

  /// Drops all judged commands, because their verdicts came from a wrong hub.
  mutating func dropJudged() { commands.dropJudged() }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { commands.check() + samples.check() }
}
