// The control path: a press comes in, is accepted, judged, and answered.
extension HubCore {
  /// More than this many unjudged presses: the hub takes nothing more in until some are judged.
  static let unjudgedMax = 1024

  /// One of the hub's own buttons.
  mutating func pressOwn(_ command: Command, at now: BusTime) {
    ownSequence += 1
    var command = command
    if command.base == nil { command.base = base }
    if command.runID == nil, command.kind != .start { command.runID = arbiter.control.runID }
    let press = Press(
      command: command, deviceID: settings.deviceID,
      stream: StreamID(sender: settings.storeID, kind: .commands), sequence: ownSequence,
      pressedAt: pressTime(of: command, age: .zero, arrival: now), arrivedAt: now)
    accept(press, watermark: nil, at: now)
  }

  /// A command from a peer's stream.
  mutating func take(
    _ transmission: Transmission, of session: SessionTable.Session, on connection: ConnectionID, arrival: BusTime,
    at now: BusTime, into actions: inout [Action]
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .commands)
    let command = transmission.command
    guard canAccept else {
      return refuse(connection, .busy, "too many commands wait to be judged", into: &actions)
    }
    switch watermarks[stream, default: Watermark()].take(transmission.sequence) {
    case .next: break
    case .known: return answerAgain(command, on: connection, at: now, into: &actions)
    case .gap: return actions.append(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
    }
    let age = settings.clock.speed.bus(fromReal: max(.zero, transmission.age))
    let press = Press(
      command: command, deviceID: session.hello.deviceID, stream: stream, sequence: transmission.sequence,
      pressedAt: pressTime(of: command, age: age, arrival: arrival, stream: stream), arrivedAt: now,
      isUncertain: transmission.isUncertain, stopFollows: transmission.stopFollows)
    // The same command by another stream: the watermark moves, the command does not count again.
    if archive[command.id] != nil || unjudged[command.id] != nil {
      commits.add(
        [.setWatermark(stream, sequence: transmission.sequence)], then: [.durable(stream, transmission.sequence)])
      return answerAgain(command, on: connection, at: now, into: &actions)
    }
    accept(press, watermark: (stream, transmission.sequence), at: now)
  }

  /// A plain REQ's command: a stream of its own, named after the command, so that a repeated request is a resend.
  mutating func take(_ request: Request, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]) {
    let command = request.command
    guard canAccept, requests.count < Self.unjudgedMax else {
      return refuse(connection, .busy, "too many commands wait to be judged", into: &actions)
    }
    if let verdict = archive[command.id] {
      return reply(Receipt(verdict, at: now), on: connection, session: 0, into: &actions)
    }
    requests[command.id] = connection
    guard unjudged[command.id] == nil else { return }
    let stream = StreamID(sender: StoreID(high: command.id.high, low: command.id.low), kind: .commands)
    let age = settings.clock.speed.bus(fromReal: max(.zero, request.age))
    let press = Press(
      command: command, deviceID: request.deviceID, stream: stream, sequence: 1,
      pressedAt: pressTime(of: command, age: age, arrival: now), arrivedAt: now)
    accept(press, watermark: nil, at: now)
  }

  /// Writes what a settlement decided: one commit, one snapshot, all verdicts.
  mutating func write(_ settlement: Settlement, at now: BusTime) {
    guard !settlement.isEmpty else { return }
    var operations: [StoreOperation] = []
    var then: [Effect] = []
    var didTransit = false
    var didChange = false
    for line in settlement.lines {
      lastPosition += 1
      let entry = LedgerEntry(time: line.time, position: lastPosition, event: line.event)
      operations.append(.append(line.runID, entry))
      if case .transition(let transition) = line.event, transition.kind == .start, line.runID == arbiter.control.runID {
        ledger = RunLedger()
      }
      if line.runID == arbiter.control.runID {
        ledger.insert(entry)
        didChange = true
        if case .transition = line.event { didTransit = true }
      }
    }
    for (alias, run) in settlement.aliases.sorted(by: { $0.key < $1.key }) {
      operations.append(.setAlias(alias, of: run))
    }
    operations += settlement.windows.map(StoreOperation.settle)
    operations += settlement.admitted.map { .reclassify($0, .window) }
    for answer in settlement.answers {
      unjudged[answer.press.command.id] = nil
      archive.keep(answer.verdict, judgedAt: now)
      operations.append(.judge(answer.verdict, answer.press, judgedAt: now))
      then.append(.answer(Receipt(answer.verdict, at: now), answer.press))
    }
    if didTransit {
      // The schedule begins anew with the commit of this transition.
      nextTick = nil
      then.append(.anchor)
    }
    if didChange {
      publishNow(operations, then: then, at: now)
    } else {
      commits.add(operations, then: then)
    }
  }

  /// Tells whoever sent a command how far it is: its own caller, a waiting REQ, or its session wherever that is now.
  mutating func answer(_ receipt: Receipt, to press: Press, at now: BusTime, into actions: inout [Action]) {
    if press.stream.sender == settings.storeID { actions.append(.receipt(receipt)) }
    if case .verdict = receipt.stage, let request = requests.removeValue(forKey: receipt.commandID) {
      reply(receipt, on: request, session: 0, into: &actions)
    }
    if let connection = sessions.connection(of: press.stream.sender), let session = sessions[connection] {
      reply(receipt, on: connection, session: session.number, into: &actions)
    }
    actions.append(.publish(.receipt(receipt, press.deviceID)))
  }

  private var canAccept: Bool { unjudged.count < Self.unjudgedMax && !commits.isCongested }

  private var base: Base {
    Base(revision: arbiter.control.revision, commandID: arbiter.control.changedBy?.commandID)
  }

  /// Arrival minus age, never in the future, never before the stream's last press; a recorded press is where the
  /// recording says, on the run's own time line.
  private mutating func pressTime(
    of command: Command, age: BusDuration, arrival: BusTime, stream: StreamID? = nil
  ) -> BusTime {
    var time = arrival - age
    if let offset = command.runOffset, let start = arbiter.control.startedAt, command.kind != .start {
      time = min(arrival, start + offset)
    }
    if let stream {
      time = max(time, min(arrival, lastPress[stream] ?? time))
      lastPress[stream] = time
    }
    return time
  }

  private mutating func accept(_ press: Press, watermark: (StreamID, UInt64)?, at now: BusTime) {
    let id = press.command.id
    unjudged[id] = press
    let pressClass = arbiter.receive(press)
    var operations: [StoreOperation] = []
    var then: [Effect] = []
    if let (stream, sequence) = watermark {
      operations.append(.setWatermark(stream, sequence: sequence))
      then.append(.durable(stream, sequence))
    }
    let pending = Receipt(
      commandID: id, kind: press.command.kind, source: press.command.source, stage: .pending)
    then += [.act(.publish(.command(press.command, press.deviceID))), .answer(pending, press)]
    operations.append(.accept(press, pressClass))
    commits.add(operations, then: then)
    write(arbiter.judgeLate(at: now), at: now)
    // Windows are off: every press is judged alone, at once and in the same commit.
    while settings.debounce == .zero, arbiter.deadline != nil { write(arbiter.settle(at: now), at: now) }
  }

  private mutating func answerAgain(
    _ command: Command, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) {
    guard let session = sessions[connection] else { return }
    if let verdict = archive[command.id] {
      // Once it is durable, should it still be on its way to the disk.
      commits.add(
        [],
        then: [
          .act(.send(.init(session: session.number, message: .receipt(Receipt(verdict, at: now))), to: connection))
        ])
    }
  }

  private mutating func reply(
    _ receipt: Receipt, on connection: ConnectionID, session: UInt64, into actions: inout [Action]
  ) {
    actions.append(.send(HubFrame(session: session, message: .receipt(receipt)), to: connection))
  }
}

extension Receipt {
  /// The receipt that carries a verdict, at a moment on the hub's line.
  init(_ verdict: Verdict, at now: BusTime) {
    self.init(
      commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict),
      effectiveAge: verdict.effectiveAt.map { now - $0 })
  }
}
