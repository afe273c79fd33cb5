// The control path: the hub accepts a press, judges it and answers it.
extension HubCore {
  /// A press of one of the hub's own buttons.
  mutating func pressOwn(_ command: Command, in turn: inout Turn) {
    admit(commands.ownPress(command, on: settings.deviceID, at: turn.now), in: &turn)
  }

  /// A command from a peer's stream.
  mutating func receive(
    _ transmission: CommandTransmission, of session: SessionTable.Session, on connection: ConnectionID,
    arrival: BusTime, in turn: inout Turn
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
  mutating func receive(_ spool: [ForwardedCommand], in turn: inout Turn) {
    for spooled in spool {
      let device = members.list.standIn(for: spooled.deviceID, by: .localOwner)
      let incoming = IncomingCommand(
        command: spooled.command, origin: .spool(device), deviceID: device,
        identity: .localOwner, pressed: .monotonic(spooled.since), isUncertain: spooled.isUncertain)
      admit(incoming, in: &turn)
    }
  }

  /// Answers a command of a kind that this version does not know.
  mutating func receive(
    _ command: UnsupportedCommand, on connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard let sequence = command.sequence else { return turn.act(.forward(command.reply, to: connection)) }
    guard !connection.isRequest, let session = sessions.session(on: connection, by: identity) else {
      return refuse(connection, .unknownSession, "say hello first", in: &turn)
    }
    guard command.session == session.number else {
      return turn.act(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
    }
    commands.pass(over: sequence, of: session.hello, then: .act(.forward(command.reply, to: connection)), in: &turn)
  }

  /// Gives an accepted command to the arbiter, and judges what can be judged now.
  mutating func accept(_ acceptance: HubCommands.Acceptance, in turn: inout Turn) {
    var acceptance = acceptance
    acceptance.press = receiveAsAnswer(acceptance.press, in: &turn)
    let isAlone = commands.windowDeadline == nil
    commands.take(acceptance, in: &turn)
    judgeLate(in: &turn)
    // With windows switched off, each press is judged alone in the commit that accepts it.
    while settings.debounce == .zero, commands.windowDeadline != nil { settle(at: turn.now, in: &turn) }
    guard run.isStopping else { return }
    // A window that the stop of a recovery has opened settles at once: a press after the stop is illegal whether it falls
    // into that window or comes behind it.
    if isAlone, let deadline = commands.windowDeadline, deadline > turn.now { settle(at: deadline, in: &turn) }
    settleDueWindows(in: &turn)
  }

  /// Tells the sender of a command its new stage: the hub's app, or the connections whose requests wait. The stage is
  /// also published. Senders with a stream are told by acknowledgements and by the verdict stream.
  mutating func answer(_ receipt: Receipt, to press: AcceptedCommand, in turn: inout Turn) {
    if press.origin == .ownButton { turn.act(.receipt(receipt)) }
    switch receipt.stage {
    case .queued: break
    case .pending:
      // A held command waits for the stop of its run and not for the screen's run.
      if !commands.isHeld(receipt.commandID) { run.show(waiting: receipt.commandID, receipt.kind) }
      // The one reply of a REQ is the verdict.
      for connection in commands.connections(awaiting: receipt.commandID) where !connection.isRequest {
        reply(.receipt(receipt), on: connection, in: &turn)
      }
    case .verdict:
      run.show(judged: receipt.commandID)
      if commands.takeSpooled(receipt.commandID) { turn.act(.spooledCommandJudged(receipt.commandID)) }
      for connection in commands.takeConnections(awaiting: receipt.commandID) {
        reply(.receipt(receipt), on: connection, in: &turn)
      }
    }
    turn.act(.publish(.receipt(receipt, press.deviceID)))
  }

  /// A rejection that changes nothing and is not kept.
  func rejection(of command: Command, _ reason: RejectionReason) -> Verdict {
    Verdict(
      commandID: command.id, kind: command.kind, source: command.source, outcome: .rejected(reason),
      runID: command.runID, term: term, revision: authoritative.order.revision, effectiveAt: nil)
  }
}

// Judging: the commands decide about accepted presses, and the hub writes down what follows.
extension HubCore {
  /// Judges the presses that wait for no window.
  mutating func judgeLate(in turn: inout Turn) {
    write(commands.judgeLate(at: turn.now, isPast: isPast), in: &turn)
  }

  /// Settles the open window as of a moment, if its deadline has come by then.
  mutating func settle(at moment: BusTime, in turn: inout Turn) {
    write(commands.settle(at: moment, isPast: isPast), in: &turn)
  }

  /// Settles the windows that are due, one that opens behind a settled window included.
  mutating func settleDueWindows(in turn: inout Turn) {
    while let deadline = commands.windowDeadline, deadline <= turn.now { settle(at: turn.now, in: &turn) }
  }

  private var isPast: (RunID) -> Bool { { [records] in records.knows($0) } }

  /// Writes what a settlement decided: one commit, one snapshot, all verdicts.
  mutating func write(_ settlement: Settlement, in turn: inout Turn) {
    guard !settlement.isEmpty else { return }
    let wasUnfinished = run.unfinished != nil
    // The run that is shown may be another one now.
    if !settlement.lines.isEmpty { records.hold(run.ledger) }
    let change = run.enter(settlement, shown: commands.control.runID)
    var operations = change.operations
    var then: [Durable] = []
    if let writes = run.leaveRecovery(commands.control) {
      commands.decided()
      operations += writes
    }
    for (alias, run) in settlement.aliases.sorted(by: { $0.key < $1.key }) {
      operations.append(.setAlias(alias, of: run))
    }
    for run in settlement.wholeRuns { then.append(.act(.keep(run))) }
    operations += settlement.windows.map(StoreOperation.settle)
    operations += settlement.admitted.map { .reclassify($0, .window) }
    commands.answer(settlement, &operations, &then, at: turn.now) { mail.isGivenUp($0, by: $1) }
    operations += records.date(settlement) { incarnation.wallSeconds(at: $0) }
    let expected = records.expect(after: settlement, commands.control, at: turn.now)
    operations += expected.operations
    if expected.isDue { then.append(.makeRecords) }
    if change.hasTransition {
      // The schedule begins anew with the commit of this transition.
      run.suspendTicks()
      then.append(.anchor)
    }
    if change.isVisible {
      publishNow(operations, then: then, in: &turn)
    } else {
      turn.write(operations + commands.forgetOldVerdicts(at: turn.now), then: then)
    }
    // Presses that waited for the decision about the run can be judged now.
    if wasUnfinished, run.unfinished == nil { judgeLate(in: &turn) }
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
