import DequeModule

/// The commands of a peer, from the press to the verdict: a numbered stream to the hub. It decides which commands may be
/// sent, when their rows can go, and which of them the phase that the buttons show already includes.
///
/// A command is in the stream until its verdict, and then among the judged ones until a snapshot shows its effect.
struct CommandOutbox: Sendable {
  /// A judged command that the hub's state does not show yet.
  private struct JudgedCommand {
    let kind: CommandKind
    let verdict: Verdict
  }

  private var stream: OutboundStream
  private var judged: [JudgedCommand] = []

  init(_ stream: OutboundStream) { self.stream = stream }

  // MARK: What waits

  /// How many commands wait for their verdict.
  var unjudgedCount: Int { stream.rows.count { $0.item != nil } }
  /// The kinds of the commands that wait for their verdict.
  var unjudgedKinds: Set<CommandKind> {
    stream.rows.reduce(into: []) { if case .command(let command)? = $1.item { $0.insert(command.kind) } }
  }
  /// Whether no more commands are accepted until some are judged.
  var isFull: Bool { stream.isFull }
  /// Up to where the hub has acknowledged the stream.
  var acknowledged: UInt64 { stream.acknowledged }
  /// When commands are sent again; `nil` while none is unacknowledged.
  var retryAt: BusTime? { stream.retryAt }

  /// Whether a command waits for its verdict.
  func holds(_ id: MessageID) -> Bool { row(of: id) != nil }

  /// The sequence of a command that waits for its verdict.
  func sequence(of id: CommandID) -> UInt64? { row(of: id.message)?.sequence }

  /// The phase that the run has once the commands that it does not show yet have taken effect.
  func predicted(from phase: RunPhase) -> RunPhase {
    var machine = RunMachine(phase: phase)
    for entry in judged where entry.verdict.outcome == .applied { _ = machine.apply(entry.kind) }
    for row in stream.rows { if case .command(let command)? = row.item { _ = machine.apply(command.kind) } }
    return machine.phase
  }

  /// The run that the next command or reading refers to: the one that the last start here begins, under the id that the
  /// verdict gives it, or else the shown one.
  func predictedRun(shown: RunID?) -> RunID? {
    for row in stream.rows.reversed() {
      if case .command(let command)? = row.item, command.kind == .start { return command.runID }
    }
    return judged.last { $0.kind == .start && $0.verdict.runID != nil }?.verdict.runID ?? shown
  }

  /// The runs of starts without a verdict. The hub drops their readings until it has judged the start.
  var unjudgedRuns: Set<RunID> { Set(stream.rows.compactMap(\.startedRun)) }

  /// A report of each command.
  func reports(for hub: DeviceID?, at now: BusTime) -> [OutboxReport] { stream.reports(for: hub, at: now) }

  // MARK: Pressing

  /// Gives a command its sequence and makes it durable.
  ///
  /// - Parameter isGoing: whether a session is open, so that the command goes as soon as it is durable.
  mutating func add(_ command: Command, isGoing: Bool, in turn: inout PeerCore.Turn) {
    let row = stream.add(.command(command), since: turn.now, isGoing: isGoing)
    turn.write([.enqueue(row)], then: [.act(.receipt(Self.queued(command))), sendable(through: row.sequence)])
  }

  /// Cancels a command; `false` when it may have been sent or does not wait here.
  ///
  /// - Parameter shown: the state that the peer shows, for the receipt.
  mutating func cancel(_ id: MessageID, shown: SnapshotOrder, in turn: inout PeerCore.Turn) -> Bool {
    guard let row = row(of: id), row.tries == 0, case .command(let command)? = row.item else { return false }
    tombstone(row, command, .cancelled, shown, in: &turn)
    return true
  }

  /// The receipt that says that a command is kept.
  static func queued(_ command: Command) -> Receipt {
    Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .queued)
  }

  /// The receipt that says why a command is not sent.
  static func rejection(of command: Command, _ reason: RejectionReason, shown: SnapshotOrder) -> Receipt {
    let verdict = Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(reason),
      runID: command.runID, term: shown.term, revision: shown.revision, effectiveAt: nil)
    return Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .verdict(verdict))
  }

  // MARK: The session

  /// Compares the hub's mark with the stream.
  func check(_ mark: StreamMark) -> OutboundStream.HistoryCheck { stream.check(mark) }

  /// Begins a session at the hub's mark, which ``check(_:)`` has found to be good.
  mutating func open(received mark: StreamMark) { stream.open(received: mark) }

  /// Ends the session.
  mutating func close() { stream.close() }

  /// Expires the commands that were not sent within a lifetime.
  mutating func expire(after lifetime: BusDuration, shown: SnapshotOrder, in turn: inout PeerCore.Turn) {
    for row in stream.rows where row.tries == 0 && turn.now - row.since > lifetime {
      guard case .command(let command)? = row.item else { continue }
      tombstone(row, command, .expired, shown, in: &turn)
    }
  }

  /// Counts the first try of the commands that the new session sends, before it sends them: a later incarnation may
  /// cancel what was never sent, and knows only what is durable.
  mutating func countFirstTries(in turn: inout PeerCore.Turn) {
    if let range = stream.countFirstTries() {
      stream.blockUntilDurable()
      turn.write([write(of: range)], then: [sendable(through: stream.assigned)])
    } else if stream.isHeld {
      // All rows were tried before their stream was renumbered. They go once the renumbering is durable.
      turn.write([], then: [sendable(through: stream.assigned)])
    }
  }

  /// Commands up to this sequence are durable and may be sent.
  mutating func makeSendable(through sequence: UInt64, durabilityGeneration: UInt64) {
    stream.makeDurable(through: sequence, durabilityGeneration: durabilityGeneration)
  }

  /// The commands that may be sent now, in order. They count as sent in this session.
  mutating func nextMessages(at now: BusTime, generator: inout SeededGenerator) -> [PeerMessage] {
    var messages: [PeerMessage] = []
    for batch in stream.nextBatches(at: now, generator: &generator) {
      switch batch {
      case .tombstoneRange(let range):
        messages.append(.delivery(.tombstones(.commands, from: range.lowerBound, through: range.upperBound)))
      case .rows(let rows):
        for row in rows {
          guard case .command(let command)? = row.item else { continue }
          messages.append(
            .command(
              CommandTransmission(
                command: command, sequence: row.sequence, age: max(.zero, now - row.since),
                isUncertain: row.isUncertain, stopFollows: stopFollows(row, command))))
        }
      }
    }
    return messages
  }

  /// Begins again at the oldest command, because no acknowledgement came in time.
  mutating func retry(in turn: inout PeerCore.Turn) {
    guard let range = stream.retry(at: turn.now, generator: &turn.generator) else { return }
    turn.write([write(of: stream.count(range))], isUrgent: false)
  }

  /// The hub asks for the stream from a sequence on.
  mutating func goBack(to sequence: UInt64) { stream.goBack(to: sequence) }

  /// The transport's queue was full: sends again at `time`.
  mutating func postpone(to time: BusTime) { stream.postpone(to: time) }

  /// Moves the commands to another hub, or to the same hub from this peer's new store.
  mutating func renumber(to hub: StoreID) -> StoreOperation {
    let old = stream.id
    stream.renumber(to: OutboundStreamID(receiver: hub, kind: .commands))
    return .renumber(old, to: stream.id)
  }

  // MARK: The hub's answers

  /// The hub has durably accepted the commands up to here and owes their verdicts.
  mutating func accept(through sequence: UInt64, in turn: inout PeerCore.Turn) {
    let fresh = stream.rows.filter { $0.sequence > stream.acknowledged && $0.sequence <= sequence }
    guard stream.acknowledge(through: sequence, keepingRows: true, at: turn.now, generator: &turn.generator) else {
      return
    }
    var operations: [StoreOperation] = [.acknowledge(stream.id, through: stream.acknowledged)]
    for row in fresh {
      if case .command(let command)? = row.item {
        turn.act(.receipt(Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending)))
      } else {
        // The hub has passed the tombstone, so its row can go.
        stream.remove(row.sequence)
        operations.append(.remove(stream.id, sequence: row.sequence))
      }
    }
    turn.write(operations, isUrgent: false)
  }

  /// Removes a command that has its verdict. Its effect stays predicted until a snapshot shows it.
  ///
  /// - Returns: the write; `nil` when the command does not wait here, because its verdict was received before.
  mutating func judge(_ verdict: Verdict, of id: CommandID, shown: SnapshotOrder) -> StoreOperation? {
    guard let row = row(of: id.message), case .command(let command)? = row.item else { return nil }
    stream.remove(row.sequence)
    if verdict.term >= shown.term, verdict.revision > shown.revision {
      judged.append(JudgedCommand(kind: command.kind, verdict: verdict))
    }
    return .remove(stream.id, sequence: row.sequence)
  }

  /// Drops the judged commands whose effect this snapshot shows.
  mutating func dropShown(by order: SnapshotOrder) {
    judged.removeAll { $0.verdict.term < order.term || $0.verdict.revision <= order.revision }
  }

  /// Drops all judged commands, because their verdicts came from a wrong hub.
  mutating func dropJudged() { judged = [] }

  // MARK: Inside

  private func row(of id: MessageID) -> OutboxRow? { stream.rows.first { $0.item?.id == id } }

  private func sendable(through sequence: UInt64) -> PeerCore.Durable {
    .sendable(stream.id, through: sequence, durabilityGeneration: stream.durabilityGeneration)
  }

  /// The write of the tries that were counted for a range.
  private func write(of range: ClosedRange<UInt64>) -> StoreOperation {
    .countTries(stream.id, from: range.lowerBound, through: range.upperBound)
  }

  /// Turns a command's row into a tombstone. The app gets the receipt once that is durable.
  private mutating func tombstone(
    _ row: OutboxRow, _ command: Command, _ reason: RejectionReason, _ shown: SnapshotOrder,
    in turn: inout PeerCore.Turn
  ) {
    stream.tombstone(row.sequence)
    turn.write(
      [.tombstone(stream.id, sequence: row.sequence)],
      then: [.act(.receipt(Self.rejection(of: command, reason, shown: shown)))])
  }

  /// Whether the stop of a command's run is behind it in the queue. A stop that is not durable does not count, because
  /// it may never be sent.
  private func stopFollows(_ row: OutboxRow, _ command: Command) -> Bool {
    guard let run = command.runID, command.kind != .stop else { return false }
    return stream.rows.contains {
      guard $0.sequence > row.sequence, $0.sequence <= stream.durable, case .command(let other)? = $0.item else {
        return false
      }
      return other.kind == .stop && other.runID == run
    }
  }

  /// What is wrong by its own rules; empty when it is good.
  func check() -> [String] { stream.check() }
}

extension OutboxRow {
  /// The run that begins with this row; `nil` unless it holds a start.
  fileprivate var startedRun: RunID? {
    if case .command(let command)? = item, command.kind == .start { command.runOfStart } else { nil }
  }
}
