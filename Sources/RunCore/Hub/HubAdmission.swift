// Admission: the one way by which commands enter the hub. docs/protocol.md lists the checks in the same order, and a test
// compares the lists.
extension HubCore {
  /// Admits a command, refuses it, or answers it once more. A refused command leaves no trace: no mark moves, and there
  /// is no verdict.
  mutating func admit(_ incoming: IncomingCommand, in turn: inout Turn) {
    // 1. Device name: whether the identity may press as this device.
    if let reason = reasonToForbid(incoming), case .request(let connection, _) = incoming.origin {
      return forbid(incoming.identity, connection, reason, in: &turn)
    }
    // 2. Known id. A known command has its one effect already.
    let stage = commands.stage(of: incoming.command.id)
    // 3. Position in the stream.
    guard commands.isNext(incoming, in: &turn) else { return }
    // 4. Room to wait for the verdict.
    guard commands.canWait(incoming, for: stage) else {
      let refusal = Refusal(code: .busy, message: "too many wait for the verdict of this command")
      return refuse(incoming, refusal, in: &turn)
    }
    // 5. Room for the command.
    if let refusal = reasonToRefuse(incoming, isKnown: stage != nil, in: &turn) {
      commands.noteRefusal(of: incoming.sender, refusal.message, in: &turn)
      return refuse(incoming, refusal, in: &turn)
    }
    // 6. Known command: it is answered with the stage that it has reached.
    if let stage { return answerAgain(incoming, stage, in: &turn) }
    // 7. Source: whether the sender may give its commands.
    if let reason = reasonToReject(incoming) { return reject(incoming, reason, in: &turn) }
    // 8. Press time, and 9. acceptance: the commit.
    accept(commands.acceptance(of: incoming, at: turn.now), in: &turn)
  }

  /// Why an identity may not press as the device of a request; `nil` if it may. The name on a stream was checked with
  /// its hello.
  private func reasonToForbid(_ incoming: IncomingCommand) -> String? {
    guard case .request(_, let device) = incoming.origin else { return nil }
    if let reason = members.list.reasonToForbid(incoming.identity, name: device) { return reason }
    if case .key(let key) = incoming.identity, members.list.device(of: key)?.hasName(device) == true { return nil }
    return incoming.identity.mayPress(as: device, of: user(of: device)) ? nil : Self.belongsToAnother(device)
  }

  /// Why the hub cannot take a command now; `nil` if it can. A known command needs no slot, only room for its answer.
  private mutating func reasonToRefuse(_ incoming: IncomingCommand, isKnown: Bool, in turn: inout Turn) -> Refusal? {
    if case .key = incoming.identity, members.list.isBehind {
      return Refusal(code: .listBehind, message: Self.confirmList)
    }
    if isKnown {
      if let store = incoming.store, commands.owesEnough(store) { return HubCommands.tooManyOwed }
      if case .request(let connection, _) = incoming.origin,
        !sessions.isAnswerOwed(to: connection, about: incoming.command.id), !sessions.hasRoomForAnswer(to: connection)
      {
        return Refusal(code: .busy, message: Self.tooManyAnswers)
      }
      return nil
    }
    let reason = commands.reasonToRefuse(incoming.sender, store: incoming.store, isCongested: turn.isCongested) {
      sessions.isReachable($0)
    }
    if let reason { return reason }
    if members.admits(.commands, incoming.identity, at: turn.now) { return nil }
    return Refusal(code: .tooFast, message: PacedKind.commands.refusal)
  }

  /// Tells the sender that its command is not accepted now. Whoever brings commands from the spool brings them again
  /// without being told.
  private mutating func refuse(_ incoming: IncomingCommand, _ refusal: Refusal, in turn: inout Turn) {
    switch incoming.origin {
    case .ownButton: turn.act(.receipt(Receipt(rejection(of: incoming.command, .busy), at: turn.now)))
    case .stream(_, let connection, _, _), .request(let connection, _):
      refuse(connection, refusal.code, refusal.message, in: &turn)
    case .spool: break
    }
  }

  /// Answers a command that is known with the stage that it has reached, once that stage is durable.
  private mutating func answerAgain(_ incoming: IncomingCommand, _ stage: CommandBook.Stage, in turn: inout Turn) {
    let command = incoming.command
    turn.tally.duplicates += 1
    let receipt =
      switch stage {
      case .judged(let verdict): Receipt(verdict, at: turn.now)
      case .unjudged:
        Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending)
      }
    switch (incoming.origin, stage) {
    case (.ownButton, _): turn.write([], then: [.act(.receipt(receipt))])
    case (.stream(let session, _, let sequence, _), _):
      // The mark moves, and the verdict is owed to this store as well.
      commands.claim(command.id, by: session.hello.storeID, sequence: sequence, in: &turn)
    case (.request(let connection, _), _):
      if case .unjudged = stage {
        commands.register(connection, for: command.id)
        // The one reply of a REQ is the verdict.
        if connection.isRequest { return }
      }
      if sessions.isAnswerOwed(to: connection, about: command.id) { return }
      sessions.oweAnswer(to: connection, about: command.id)
      turn.write([], then: [.reply(.receipt(receipt), connection)])
    case (.spool, .unjudged): commands.noteSpooled(command.id)
    case (.spool, .judged):
      // The verdict is durable, or will be with the commit in flight: the file is removed after that.
      turn.write([], then: [.act(.spooledCommandJudged(command.id))])
    }
  }

  /// Why a command gets no verdict but a rejection; `nil` if it is judged.
  private func reasonToReject(_ incoming: IncomingCommand) -> String? {
    if !members.list.mayUse(incoming.command.source, incoming.identity) {
      return "\(incoming.deviceID) may not press as \(incoming.command.source)"
    }
    guard case .spool(let device) = incoming.origin else { return nil }
    return members.list.reasonToForbid(.localOwner, name: device)
  }

  /// Rejects a command that its sender may not give. A stream goes on behind it, and a spooled one is removed.
  private mutating func reject(_ incoming: IncomingCommand, _ reason: String, in turn: inout Turn) {
    turn.act(.forbade(incoming.identity, reason))
    let verdict = rejection(of: incoming.command, .forbidden)
    if case .request(let connection, _) = incoming.origin {
      return reply(.receipt(Receipt(verdict, at: turn.now)), on: connection, in: &turn)
    }
    if let settlement = commands.rejection(of: incoming, verdict, in: &turn) { write(settlement, in: &turn) }
  }
}
