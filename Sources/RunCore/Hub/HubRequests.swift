// Requests: what a connection may ask for without a session.
extension HubCore {
  /// Handles a request, with or without a session. A REQ gets one reply, a DEALER also the stage before the verdict.
  mutating func receive(
    _ request: Request, on connection: ConnectionID, by identity: ConnectionIdentity, at now: BusTime,
    into actions: inout [Action]
  ) {
    guard request.version == wireVersion else {
      let message = Self.mismatch("the sender", request.version)
      return refuse(connection, .versionMismatch, message, into: &actions)
    }
    switch request.subject {
    case .command(let request):
      admit(incoming(request, on: connection, by: identity, at: now), at: now, into: &actions)
    case .state:
      guard admitsQuestion(nil, by: identity, at: now) else {
        return refuse(connection, .tooFast, Self.tooFast(.questions), into: &actions)
      }
      reply(.state(stateMessage(at: now, authoritative)), on: connection, into: &actions)
    case .inquiry(let inquiry): answer(inquiry, on: connection, by: identity, at: now, into: &actions)
    }
  }

  private func incoming(
    _ request: CommandRequest, on connection: ConnectionID, by identity: ConnectionIdentity, at now: BusTime
  ) -> IncomingCommand {
    var moment = IncomingCommand.Moment.age(request.age, arrival: now)
    // The clock of this boot of this machine is the hub's own: no time in a queue is lost.
    if let pressed = request.pressed, pressed.bootID == incarnation.bootID, !incarnation.bootID.isEmpty {
      moment = .monotonic(pressed.reading)
    }
    let device = members.standIn(for: request.deviceID, by: identity)
    return IncomingCommand(
      command: request.command, origin: .request(connection, device),
      deviceID: members.counted(device, identity), identity: identity, pressed: moment,
      isUncertain: request.isUncertain)
  }

  /// Answers an inquiry of a connection without a session. The asker may look and change nothing.
  private mutating func answer(
    _ inquiry: Inquiry, on connection: ConnectionID, by identity: ConnectionIdentity, at now: BusTime,
    into actions: inout [Action]
  ) {
    guard sessions.owedAnswers.hasRoom(for: connection) else {
      return refuse(connection, .busy, Self.tooManyAnswers, into: &actions)
    }
    guard admitsQuestion(inquiry, by: identity, at: now) else {
      return refuse(connection, .tooFast, Self.tooFast(.questions), into: &actions)
    }
    let (answer, speaksOfRun) = answerToVisitor(inquiry, by: identity, at: now)
    // An answer about the run waits until what it says is durable. Answers keep the order of the questions, so later
    // ones wait behind it.
    guard sessions.owedAnswers.isOwed(connection) || (speaksOfRun && !commits.isUrgentWorkDone) else {
      return reply(.answer(answer), on: connection, into: &actions)
    }
    sessions.owedAnswers.owe(to: connection)
    commits.add([], then: [.reply(.answer(answer), connection)])
  }

  /// Sends the answer to a request. A receipt with a verdict also tells the phase of the run.
  mutating func reply(_ message: HubMessage, on connection: ConnectionID, into actions: inout [Action]) {
    var message = message
    if case .receipt(var receipt) = message, case .verdict = receipt.stage {
      receipt.phase = authoritative.phase
      message = .receipt(receipt)
    }
    let session = sessions[connection]?.number ?? 0
    actions.append(.send(HubFrame(session: session, message: message), to: connection))
  }
}
