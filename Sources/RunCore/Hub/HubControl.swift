// The control path: the hub accepts a press, judges it and answers it.
extension HubCore {
  /// Accepts a press of one of the hub's own buttons.
  mutating func pressOwn(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    guard !book.knows(command.id) else {
      return answerAgain(command, at: now) { .act(.receipt($0)) }
    }
    if let reason = reasonToRefuse(.own, at: now) {
      noteRefusal(of: "this hub's own", reason, at: now, into: &actions)
      return actions.append(.receipt(Receipt(rejection(of: command, .busy), at: now)))
    }
    var command = command
    if command.base == nil { command.base = base }
    if command.runID == nil { command.runID = command.kind == .start ? command.runOfStart : ownRun }
    let press = AcceptedCommand(
      command: command, deviceID: settings.deviceID,
      stream: ownStream, sequence: book.nextOwnSequence(),
      pressedAt: pressTime(of: command, age: .zero, arrival: now, at: now), arrivedAt: now)
    accept(press, mark: nil, at: now)
  }

  /// A command from a peer's stream.
  mutating func receive(
    _ transmission: CommandTransmission, of session: SessionTable.Session, on connection: ConnectionID,
    arrival: BusTime,
    at now: BusTime, into actions: inout [Action]
  ) {
    let stream = StreamID(sender: session.hello.storeID, kind: .commands)
    let command = transmission.command
    let isKnown = book.knows(command.id)
    let again = { (receipt: Receipt) in
      Effect.act(.send(HubFrame(session: session.number, message: .receipt(receipt)), to: connection))
    }
    // The hub keeps no watermark for a one-shot, which sends a single command: its id is enough to detect a resend.
    if !session.hello.isOneShot {
      switch marks.position(of: transmission.sequence, in: stream) {
      case .next: break
      case .known:
        // The sender needs only an acknowledgement: the verdict travels on its verdict stream.
        marks.acknowledge(stream)
        return
      case .gap: return actions.append(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
      }
    }
    guard session.hello.isOneShot || book.hasRoom(forClaimOf: command.id, by: stream.sender) else {
      return refuse(connection, .busy, "too many wait for the verdict of this command", into: &actions)
    }
    let device = session.hello.deviceID
    let reason =
      isKnown
      ? owesEnough(stream.sender) ? "it does not take the verdicts that it is owed" : nil
      : reasonToRefuse(session.hello.isOneShot ? .stated(device) : .device(device), store: stream.sender, at: now)
    if let reason { return refuseBusy(connection, device, reason, at: now, into: &actions) }
    let mark =
      session.hello.isOneShot
      ? nil : move(stream, to: StreamMark(sequence: transmission.sequence, id: command.id.message))
    // A known command on another stream moves the watermark and does not count again.
    if isKnown {
      guard let mark else {
        // The command arrived earlier by another path, such as the spool: its verdict goes to this connection, too.
        if case .unjudged(let press)? = book.stage(of: command.id), press.stream != stream {
          guard awaitVerdict(of: command.id, on: connection, into: &actions) else { return }
        }
        return answerAgain(command, at: now, by: again)
      }
      return claim(command.id, by: mark, at: now)
    }
    let age = settings.clock.speed.bus(fromReal: max(.zero, transmission.age))
    let press = AcceptedCommand(
      command: command, deviceID: session.hello.deviceID, stream: stream, sequence: transmission.sequence,
      pressedAt: pressTime(
        of: command, age: age, arrival: arrival, isUncertain: transmission.isUncertain, stream: mark?.stream, at: now),
      arrivedAt: now, isUncertain: transmission.isUncertain,
      // A one-shot has no stream in which a stop could follow.
      stopFollows: transmission.stopFollows && !session.hello.isOneShot)
    accept(press, mark: mark, at: now)
  }

  /// Answers a command of a kind that this version does not know. The watermark moves over it, because otherwise every
  /// later command of the sender would be a gap.
  mutating func receive(
    _ command: UnsupportedCommand, on connection: ConnectionID, by identity: ConnectionIdentity,
    into actions: inout [Action]
  ) {
    let answer = Effect.act(.forward(command.reply, to: connection))
    guard let sequence = command.sequence else {
      guard connection.isRequest else {
        return refuse(connection, .malformed, "a request needs a REQ socket; say hello instead", into: &actions)
      }
      return actions.append(.forward(command.reply, to: connection))
    }
    guard !connection.isRequest, let session = sessions.session(on: connection, by: identity) else {
      return refuse(connection, .unknownSession, "say hello first", into: &actions)
    }
    guard command.session == session.number else {
      return actions.append(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
    }
    guard !session.hello.isOneShot else { return actions.append(.forward(command.reply, to: connection)) }
    let stream = StreamID(sender: session.hello.storeID, kind: .commands)
    switch marks.position(of: sequence, in: stream) {
    case .next:
      let mark = move(stream, to: StreamMark(sequence: sequence))
      commits.add([mark.operation], then: mark.effects + [answer])
    case .known: commits.add([], then: [answer])
    case .gap: actions.append(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
    }
  }

  /// Accepts a command from a plain REQ socket. A repeated request is a resend: the archive answers it, or it waits for
  /// the same verdict.
  mutating func receive(
    _ request: Request, on connection: ConnectionID, by identity: ConnectionIdentity, at now: BusTime,
    into actions: inout [Action]
  ) {
    let command = request.command
    guard identity.mayPress(as: request.deviceID, of: user(of: request.deviceID)) else {
      return refuse(connection, .notPermitted, Self.belongsToAnother(request.deviceID), into: &actions)
    }
    switch book.stage(of: command.id) {
    case .judged:
      let session = sessions[connection]?.number ?? 0
      return answerAgain(command, at: now) {
        .act(.send(HubFrame(session: session, message: .receipt($0)), to: connection))
      }
    case .unjudged: return _ = awaitVerdict(of: command.id, on: connection, into: &actions)
    case nil: break
    }
    if let reason = reasonToRefuse(.stated(request.deviceID), at: now) {
      return refuseBusy(connection, request.deviceID, reason, at: now, into: &actions)
    }
    guard awaitVerdict(of: command.id, on: connection, into: &actions) else { return }
    accept(request, at: now)
  }

  private mutating func refuseBusy(
    _ connection: ConnectionID, _ device: DeviceID, _ reason: String, at now: BusTime, into actions: inout [Action]
  ) {
    noteRefusal(of: "\(device)", reason, at: now, into: &actions)
    refuse(connection, .busy, reason, into: &actions)
  }

  /// Registers a connection for the verdict of an unjudged command: that of its sender, or of a node that forwards it.
  /// A connection beyond the bound is refused, and those that wait already stay.
  ///
  /// - Returns: whether the connection is registered.
  private mutating func awaitVerdict(
    of id: CommandID, on connection: ConnectionID, into actions: inout [Action]
  ) -> Bool {
    let isRegistered = book.register(connection, for: id)
    if !isRegistered { refuse(connection, .busy, "too many wait for the verdict of this command", into: &actions) }
    return isRegistered
  }

  /// Accepts a command whose sender has no stream. The command gets a stream of its own, named after its id.
  mutating func accept(_ request: Request, at now: BusTime) {
    let command = request.command
    let stream = StreamID(sender: StoreID(high: command.id.high, low: command.id.low), kind: .commands)
    let age = settings.clock.speed.bus(fromReal: max(.zero, request.age))
    let press = AcceptedCommand(
      command: command, deviceID: request.deviceID, stream: stream, sequence: 1,
      pressedAt: pressTime(of: command, age: age, arrival: now, isUncertain: request.isUncertain, at: now),
      arrivedAt: now, isUncertain: request.isUncertain)
    accept(press, mark: nil, at: now)
  }

  /// Tells the sender of a command its new stage: the hub's app, the connections that wait, or the one-shot's present
  /// session. The stage is also published.
  mutating func answer(_ receipt: Receipt, to press: AcceptedCommand, at now: BusTime, into actions: inout [Action]) {
    if press.stream == ownStream { actions.append(.receipt(receipt)) }
    if case .verdict = receipt.stage {
      if book.takeSpooled(receipt.commandID) { actions.append(.spooledCommandJudged(receipt.commandID)) }
      for request in book.takeConnections(awaiting: receipt.commandID) {
        reply(receipt, on: request, session: sessions[request]?.number ?? 0, into: &actions)
      }
    }
    if !isNumbered(press.stream), let (connection, session) = sessions.session(of: press.stream.sender) {
      reply(receipt, on: connection, session: session.number, into: &actions)
    }
    actions.append(.publish(.receipt(receipt, press.deviceID)))
  }

  /// The stream of the hub's own presses.
  var ownStream: StreamID { StreamID(sender: settings.storeID, kind: .commands) }

  /// Whether a stream has a watermark, and its sender a stream of verdicts. One-shots and plain requests have neither.
  func isNumbered(_ stream: StreamID) -> Bool { marks.hasBegun(stream) }

  var base: ObservedRevision {
    ObservedRevision(revision: arbiter.control.revision, commandID: arbiter.control.changedBy?.commandID)
  }

  /// The run that the hub's own presses refer to: the one that its latest unjudged start begins, otherwise the present
  /// run.
  private var ownRun: RunID? {
    book.unjudged(of: ownStream).last { $0.command.kind == .start }?.runOfStart ?? arbiter.control.runID
  }

  /// Computes a press time: arrival minus age, never in the future and never before the stream's last press. A recorded
  /// press has its offset on the run's time line instead. If the age spans a reboot, the press is not earlier than the
  /// transition that its sender had seen.
  private mutating func pressTime(
    of command: Command, age: BusDuration, arrival: BusTime, isUncertain: Bool = false, stream: StreamID? = nil,
    at now: BusTime
  ) -> BusTime {
    let control = arbiter.control
    var time = arrival - age
    if let offset = command.runOffset, let start = control.startedAt, command.kind != .start { time = start + offset }
    if isUncertain, let base = command.base,
      let seen = control.transitions.last(where: {
        $0.revision == base.revision && $0.change.commandID == base.commandID
      })
    {
      time = max(time, seen.effectiveAt)
    }
    time = min(time, arrival)
    if let stream { time = book.order(time, in: stream, at: now) }
    return min(time, now)
  }

  /// A new watermark, with the write and the effects that make it durable.
  struct Mark {
    let stream: StreamID
    let place: StreamMark
    var operation: StoreOperation { .setWatermark(stream, place) }
    var effects: [Effect] { [.durable(stream, place), .acknowledge(stream)] }
  }

  private mutating func move(_ stream: StreamID, to place: StreamMark) -> Mark {
    _ = marks.receive(place, in: stream)
    return Mark(stream: stream, place: place)
  }

  mutating func accept(_ press: AcceptedCommand, mark: Mark?, at now: BusTime) {
    receiveAsAnswer(press, at: now)
    let id = press.command.id
    let reception = arbiter.receive(press) { book.hasReservedSlots($0) }
    book.accept(press, from: sender(of: press), isHeld: reception.admission == .held)
    book.release(reception.fallen + reception.completed)
    let pending = Receipt(
      commandID: id, kind: press.command.kind, source: press.command.source, stage: .pending)
    commits.add(
      (mark.map { [$0.operation] } ?? []) + [.accept(press, reception.admission)] + reception.fallen.map(Self.isLate),
      then: (mark?.effects ?? [])
        + [.act(.publish(.command(press.command, press.deviceID))), .answer(pending, press)])
    judgeLate(at: now)
    // With windows switched off, each press is judged alone in the commit that accepts it.
    while settings.debounce == .zero, arbiter.deadline != nil { settle(at: now, now: now) }
  }

  /// Answers a resend with the stage that its command has reached, once that stage is durable.
  private mutating func answerAgain(_ command: Command, at now: BusTime, by effect: (Receipt) -> Effect) {
    let receipt =
      book.verdict(of: command.id).map { Receipt($0, at: now) }
      ?? Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending)
    commits.add([], then: [effect(receipt)])
  }

  /// A rejection that changes nothing and is not kept.
  private func rejection(of command: Command, _ reason: RejectionReason) -> Verdict {
    Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(reason),
      runID: command.runID, term: term, revision: authoritative.order.revision, effectiveAt: nil)
  }

  private mutating func reply(
    _ receipt: Receipt, on connection: ConnectionID, session: UInt64, into actions: inout [Action]
  ) {
    actions.append(.send(HubFrame(session: session, message: .receipt(receipt)), to: connection))
  }
}

extension Receipt {
  /// The receipt that carries a verdict.
  ///
  /// - Parameter now: the hub's bus time, from which the verdict's effective time gets its age.
  init(_ verdict: Verdict, at now: BusTime) {
    self.init(
      commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict),
      effectiveAge: verdict.effectiveAt.map { now - $0 })
  }
}
