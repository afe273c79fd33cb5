// Requests: what a connection may ask for without a session.
extension HubCore {
  /// Handles a request, with or without a session. A REQ gets one reply, a DEALER also the stage before the verdict.
  mutating func receive(
    _ request: Request, on connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard request.version == wireVersion else {
      let message = Self.mismatch("the sender", request.version)
      return refuse(connection, .versionMismatch, message, in: &turn)
    }
    switch request.subject {
    case .command(let request):
      admit(incoming(request, on: connection, by: identity, at: turn.now), in: &turn)
    case .state:
      guard admitsQuestion(nil, by: identity, at: turn.now) else {
        return refuse(connection, .tooFast, PacedKind.questions.refusal, in: &turn)
      }
      reply(.state(StateMessage(snapshot: authoritative, at: turn.now)), on: connection, in: &turn)
    case .inquiry(.room(.ask(let ask))): receive(ask, from: .request(connection), by: identity, in: &turn)
    case .inquiry(let inquiry): answer(inquiry, on: connection, by: identity, in: &turn)
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
    let device = members.list.standIn(for: request.deviceID, by: identity)
    return IncomingCommand(
      command: request.command, origin: .request(connection, device),
      deviceID: members.list.counted(device, identity), identity: identity, pressed: moment,
      isUncertain: request.isUncertain)
  }

  /// Answers an inquiry of a connection without a session. The asker may look and change nothing.
  private mutating func answer(
    _ inquiry: Inquiry, on connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard sessions.hasRoomForAnswer(to: connection) else {
      return refuse(connection, .busy, Self.tooManyAnswers, in: &turn)
    }
    guard admitsQuestion(inquiry, by: identity, at: turn.now) else {
      return refuse(connection, .tooFast, PacedKind.questions.refusal, in: &turn)
    }
    let (answer, speaksOfRun) = answerToVisitor(inquiry, by: identity, in: &turn)
    // An answer about the run waits until what it says is durable. Answers keep the order of the questions, so later
    // ones wait behind it.
    guard sessions.isAnswerOwed(to: connection) || (speaksOfRun && !turn.commits.isUrgentWorkDone) else {
      return reply(.answer(answer), on: connection, in: &turn)
    }
    sessions.oweAnswer(to: connection)
    turn.write([], then: [.reply(.answer(answer), connection)])
  }

  /// Sends the answer to a request. A receipt with a verdict also tells the phase of the run.
  mutating func reply(_ message: HubMessage, on connection: ConnectionID, in turn: inout Turn) {
    var message = message
    if case .receipt(var receipt) = message, case .verdict = receipt.stage {
      receipt.phase = authoritative.phase
      message = .receipt(receipt)
    }
    let session = sessions[connection]?.number ?? 0
    turn.act(.send(HubFrame(session: session, message: message), to: connection))
  }
}
