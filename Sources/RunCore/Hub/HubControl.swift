// The control path: the hub accepts a press, judges it and answers it.
extension HubCore {
  /// A press of one of the hub's own buttons. It refers to the newest state and to the hub's own latest start.
  mutating func pressOwn(_ command: Command, in turn: inout Turn) {
    var command = command
    if command.base == nil { command.base = base }
    if command.runID == nil { command.runID = command.kind == .start ? command.runOfStart : ownRun }
    let incoming = IncomingCommand(
      command: command, origin: .ownButton, deviceID: settings.deviceID, identity: .localOwner,
      pressed: .age(.zero, arrival: turn.now),
      isUncertain: false)
    admit(incoming, in: &turn)
  }

  /// A command from a peer's stream.
  mutating func receive(
    _ transmission: CommandTransmission, of session: SessionTable.Session, on connection: ConnectionID,
    arrival: BusTime,
    in turn: inout Turn
  ) {
    let incoming = IncomingCommand(
      command: transmission.command,
      origin: .stream(
        session, connection, sequence: transmission.sequence, stopFollows: transmission.stopFollows),
      deviceID: members.list.counted(session.hello.deviceID, session.identity), identity: session.identity,
      pressed: .age(transmission.age, arrival: arrival),
      isUncertain: transmission.isUncertain)
    admit(incoming, in: &turn)
  }

  /// Commands from the spool of this machine.
  mutating func receive(_ commands: [ForwardedCommand], in turn: inout Turn) {
    for spooled in commands {
      let device = members.list.standIn(for: spooled.deviceID, by: .localOwner)
      let incoming = IncomingCommand(
        command: spooled.command, origin: .spool(device), deviceID: device,
        identity: .localOwner, pressed: .monotonic(spooled.since), isUncertain: spooled.isUncertain)
      admit(incoming, in: &turn)
    }
  }

  /// Answers a command of a kind that this version does not know. The watermark moves over it, because otherwise every
  /// later command of the sender would be a gap.
  mutating func receive(
    _ command: UnsupportedCommand, on connection: ConnectionID, by identity: ConnectionIdentity,
    in turn: inout Turn
  ) {
    let answer = Durable.act(.forward(command.reply, to: connection))
    guard let sequence = command.sequence else { return turn.act(.forward(command.reply, to: connection)) }
    guard !connection.isRequest, let session = sessions.session(on: connection, by: identity) else {
      return refuse(connection, .unknownSession, "say hello first", in: &turn)
    }
    guard command.session == session.number else {
      return turn.act(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
    }
    let stream = StreamID(sender: session.hello.storeID, kind: .commands)
    switch marks.position(of: sequence, in: stream) {
    case .next:
      let mark = move(stream, to: StreamMark(sequence: sequence))
      turn.write([mark.operation], then: mark.then + [answer])
    case .known: turn.write([], then: [answer])
    case .gap: turn.act(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
    }
  }

  /// Tells the sender of a command its new stage: the hub's app, or the connections whose requests wait. The stage is
  /// also published. Senders with a stream are told by acknowledgements and by the verdict stream.
  mutating func answer(_ receipt: Receipt, to press: AcceptedCommand, in turn: inout Turn) {
    if press.origin == .ownButton { turn.act(.receipt(receipt)) }
    switch receipt.stage {
    case .queued: break
    case .pending:
      // A held command waits for the stop of its run and not for the screen's run.
      if !arbiter.isUnfinished(receipt.commandID) { live.accept(receipt.commandID, receipt.kind) }
      // The one reply of a REQ is the verdict.
      for connection in book.connections(awaiting: receipt.commandID) where !connection.isRequest {
        reply(.receipt(receipt), on: connection, in: &turn)
      }
    case .verdict:
      live.judge(receipt.commandID)
      if book.takeSpooled(receipt.commandID) { turn.act(.spooledCommandJudged(receipt.commandID)) }
      for connection in book.takeConnections(awaiting: receipt.commandID) {
        reply(.receipt(receipt), on: connection, in: &turn)
      }
    }
    turn.act(.publish(.receipt(receipt, press.deviceID)))
  }

  var base: ObservedRevision {
    ObservedRevision(revision: arbiter.control.revision, commandID: arbiter.control.changedBy?.commandID)
  }

  /// The run that the hub's own presses refer to: the one that its latest unjudged start begins, otherwise the present
  /// run.
  private var ownRun: RunID? {
    book.ownUnjudged.last { $0.command.kind == .start }?.runOfStart ?? arbiter.control.runID
  }

  /// A new watermark, with its write and what follows that.
  struct Mark {
    let stream: StreamID
    let place: StreamMark
    var operation: StoreOperation { .setWatermark(stream, place) }
    var then: [Durable] { [.processed(stream, place), .acknowledge(stream)] }
  }

  /// Moves the mark of a stream.
  mutating func move(_ stream: StreamID, to place: StreamMark) -> Mark {
    _ = marks.receive(place, in: stream)
    return Mark(stream: stream, place: place)
  }

  /// Gives an admitted command to the arbiter, in the commit that also moves its mark.
  mutating func accept(_ press: AcceptedCommand, mark: Mark?, in turn: inout Turn) {
    let press = receiveAsAnswer(press, in: &turn)
    let id = press.command.id
    let isAlone = arbiter.deadline == nil
    let reception = arbiter.receive(press) { book.hasReservedSlots($0) }
    book.accept(press, from: sender(of: press), isHeld: reception.admission == .held)
    book.release(reception.fallen + reception.completed)
    let pending = Receipt(
      commandID: id, kind: press.command.kind, source: press.command.source, stage: .pending)
    turn.write(
      (mark.map { [$0.operation] } ?? []) + [.accept(press, reception.admission)] + reception.fallen.map(Self.isLate),
      then: (mark?.then ?? [])
        + [.act(.publish(.command(press.command, press.deviceID))), .answer(pending, press)])
    judgeLate(in: &turn)
    // With windows switched off, each press is judged alone in the commit that accepts it.
    while settings.debounce == .zero, arbiter.deadline != nil { settle(at: turn.now, in: &turn) }
    guard case .stopping = unfinished?.stage else { return }
    // A window that the stop of a recovery has opened settles at once: a press after the stop is illegal whether it falls
    // into that window or comes behind it.
    if isAlone, let deadline = arbiter.deadline, deadline > turn.now { settle(at: deadline, in: &turn) }
    settleDueWindows(in: &turn)
  }

  /// A rejection that changes nothing and is not kept.
  func rejection(of command: Command, _ reason: RejectionReason) -> Verdict {
    Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(reason),
      runID: command.runID, term: term, revision: authoritative.order.revision, effectiveAt: nil)
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
