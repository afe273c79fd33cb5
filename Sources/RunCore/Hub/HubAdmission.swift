/// A command on its way into the hub, by whichever way it came.
struct IncomingCommand: Sendable {
  /// By which way a command came. It decides who is charged for the command and who gets which answer, and nothing
  /// else.
  enum Origin: Sendable {
    /// One of the hub's own buttons.
    case ownButton
    /// A peer's numbered stream of commands. With `stopFollows` the stop of the command's run follows in the stream.
    case stream(SessionTable.Session, ConnectionID, sequence: UInt64, stopFollows: Bool)
    /// A request of a connection, with or without a session, on behalf of a device.
    case request(ConnectionID, DeviceID)
    /// The spool of this machine, on behalf of a device.
    case spool(DeviceID)
  }

  /// When the person pressed.
  enum Moment: Sendable {
    /// This long before the arrival, in real time.
    case age(BusDuration, arrival: BusTime)
    /// By this reading of the hub's own monotonic clock.
    case monotonic(BusTime)
  }

  let command: Command
  let origin: Origin
  /// The device that it counts as. Whatever a paired machine sends counts as its device.
  let deviceID: DeviceID
  /// Who is at the other end of the connection; the local owner for the hub's buttons and its spool.
  let identity: ConnectionIdentity
  let pressed: Moment
  /// Whether the moment is an estimate by wall time, because the sender rebooted after the press.
  let isUncertain: Bool

  /// Whom the command is charged to.
  var sender: CommandQueue.Sender {
    switch origin {
    case .ownButton: .own
    case .stream: .device(deviceID)
    case .request, .spool: .stated(deviceID)
    }
  }

  /// The store of the sender, if the command came on its stream.
  var store: StoreID? {
    if case .stream(let session, _, _, _) = origin { session.hello.storeID } else { nil }
  }
}

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
    let stage = book.stage(of: incoming.command.id)
    // 3. Position in the stream.
    guard isNext(incoming, in: &turn) else { return }
    // 4. Room to wait for the verdict.
    guard canWait(incoming, for: stage) else {
      let refusal = Refusal(code: .busy, message: "too many wait for the verdict of this command")
      return refuse(incoming, refusal, in: &turn)
    }
    // 5. Room for the command.
    if let refusal = reasonToRefuse(incoming, isKnown: stage != nil, in: &turn) {
      noteRefusal(of: incoming.sender, refusal.message, in: &turn)
      return refuse(incoming, refusal, in: &turn)
    }
    // 6. Known command: it is answered with the stage that it has reached.
    if let stage { return answerAgain(incoming, stage, in: &turn) }
    // 7. Source: whether the sender may give its commands.
    if let reason = reasonToReject(incoming) { return reject(incoming, reason, in: &turn) }
    // 8. Press time, and 9. acceptance: the commit.
    accept(incoming, in: &turn)
  }

  /// Whether a command is the next one of its stream. One at or below the mark needs only an acknowledgement, because
  /// its verdict travels on the verdict stream; one behind a gap is sent again by its sender.
  private mutating func isNext(_ incoming: IncomingCommand, in turn: inout Turn) -> Bool {
    switch incoming.origin {
    case .ownButton, .request, .spool: return true
    case .stream(let session, _, let sequence, _):
      let stream = StreamID(sender: session.hello.storeID, kind: .commands)
      switch marks.position(of: sequence, in: stream) {
      case .next: return true
      case .known: marks.acknowledge(stream)
      case .gap: turn.act(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
      }
      return false
    }
  }

  /// Whether one more can wait for the verdict of a command: a store on its stream, a connection with a request.
  private func canWait(_ incoming: IncomingCommand, for stage: CommandBook.Stage?) -> Bool {
    let id = incoming.command.id
    switch (incoming.origin, stage) {
    case (.stream(let session, _, _, _), _): return book.hasRoom(forClaimOf: id, by: session.hello.storeID)
    case (.request(let connection, _), .unjudged): return book.hasRoom(for: connection, awaiting: id)
    case (.request, _), (.ownButton, _), (.spool, _): return true
    }
  }

  /// Why the hub cannot take a command now; `nil` if it can. A known command needs no slot, only room for its answer.
  private mutating func reasonToRefuse(_ incoming: IncomingCommand, isKnown: Bool, in turn: inout Turn) -> Refusal? {
    if case .key = incoming.identity, members.list.isBehind {
      return Refusal(code: .listBehind, message: Self.confirmList)
    }
    if isKnown {
      if let store = incoming.store, owesEnough(store) { return Self.tooManyOwed }
      if case .request(let connection, _) = incoming.origin, !isAnswerOwed(on: connection, about: incoming.command.id),
        !sessions.owedAnswers.hasRoom(for: connection)
      {
        return Refusal(code: .busy, message: Self.tooManyAnswers)
      }
      return nil
    }
    if let reason = reasonToRefuse(incoming.sender, store: incoming.store, in: &turn) { return reason }
    if members.admits(.commands, incoming.identity, at: turn.now) { return nil }
    return Refusal(code: .tooFast, message: PacedKind.commands.refusal)
  }

  /// Whether an answer that waits for a commit also answers one more copy of a request. A sender repeats its request
  /// until it is answered, and a link that stood still delivers the copies together. A REQ gets a reply to each.
  private func isAnswerOwed(on connection: ConnectionID, about id: CommandID) -> Bool {
    !connection.isRequest && sessions.owedAnswers.isOwed(connection, about: id)
  }

  /// Tells the sender that its command is not accepted now. Whoever brings commands from the spool brings them again
  /// without being told.
  private mutating func refuse(
    _ incoming: IncomingCommand, _ refusal: Refusal, in turn: inout Turn
  ) {
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
      let stream = StreamID(sender: session.hello.storeID, kind: .commands)
      claim(command.id, by: move(stream, to: StreamMark(sequence: sequence, id: command.id.message)), in: &turn)
    case (.request(let connection, _), _):
      if case .unjudged = stage {
        book.register(connection, for: command.id)
        // The one reply of a REQ is the verdict.
        if connection.isRequest { return }
      }
      if isAnswerOwed(on: connection, about: command.id) { return }
      sessions.owedAnswers.owe(to: connection, about: command.id)
      turn.write([], then: [.reply(.receipt(receipt), connection)])
    case (.spool, .unjudged): book.noteSpooled(command.id)
    case (.spool, .judged):
      // The verdict is durable, or will be with the commit in flight: the file is removed after that.
      turn.write([], then: [.act(.spooledCommandJudged(command.id))])
    }
  }

  private mutating func accept(_ incoming: IncomingCommand, in turn: inout Turn) {
    let command = incoming.command
    var (stopFollows, mark) = (false, Mark?.none)
    let (origin, sequence): (AcceptedCommand.Origin, UInt64)
    switch incoming.origin {
    case .ownButton: (origin, sequence) = (.ownButton, book.nextOwnSequence())
    case .stream(let session, _, let number, let follows):
      let store = session.hello.storeID
      (origin, sequence, stopFollows) = (.store(store), number, follows)
      mark = move(StreamID(sender: store, kind: .commands), to: StreamMark(sequence: number, id: command.id.message))
    case .request(let connection, _):
      (origin, sequence) = (.request, 1)
      book.register(connection, for: command.id)
    case .spool:
      (origin, sequence) = (.request, 1)
      book.noteSpooled(command.id)
    }
    let press = AcceptedCommand(
      command: command, deviceID: incoming.deviceID, origin: origin, sequence: sequence,
      pressedAt: pressTime(of: incoming, in: mark?.stream, at: turn.now), arrivedAt: turn.now,
      isUncertain: incoming.isUncertain, stopFollows: stopFollows)
    accept(press, mark: mark, in: &turn)
  }

  /// Computes a press time: the moment that the sender states, never after the arrival, never in the future and never
  /// before the stream's last press. A recorded press has its offset on the run's time line instead. If the moment is
  /// uncertain, the press is not earlier than the transition that its sender had seen.
  private mutating func pressTime(of incoming: IncomingCommand, in stream: StreamID?, at now: BusTime) -> BusTime {
    let (command, control) = (incoming.command, arbiter.control)
    var (time, arrival) = (now, now)
    switch incoming.pressed {
    case .age(let age, let arrived):
      (time, arrival) = (arrived - settings.clock.speed.bus(fromReal: max(.zero, age)), arrived)
    case .monotonic(let reading): time = settings.clock.bus(at: reading)
    }
    if let offset = command.runOffset, let start = control.startedAt, command.kind != .start { time = start + offset }
    if incoming.isUncertain, let base = command.base,
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
}

// Whether the hub accepts one more command of a sender.
extension HubCore {
  /// Returns why the hub cannot accept a command now; `nil` if it can.
  ///
  /// - Parameter store: the sender's store, if it sends on a stream.
  mutating func reasonToRefuse(
    _ sender: CommandQueue.Sender, store: StoreID? = nil, in turn: inout Turn
  ) -> Refusal? {
    if let store, owesEnough(store) { return Self.tooManyOwed }
    if turn.isCongested { return Refusal(code: .storeBehind, message: "the store is far behind") }
    guard !book.hasSlot(for: sender, isHere: { sessions.isReachable($0) }) else { return nil }
    return Refusal(code: .busy, message: "too many commands wait to be judged")
  }

  static let tooManyOwed = Refusal(code: .busy, message: "it does not take the verdicts that it is owed")

  /// Logs the first of a series of refusals (``BusyNotes``).
  mutating func noteRefusal(
    of sender: CommandQueue.Sender, _ reason: String, in turn: inout Turn
  ) {
    guard book.noteRefusal(at: monotonic(at: turn.now)) else { return }
    let who =
      switch sender {
      case .own: "this hub's own"
      case .device(let device), .stated(let device): "\(device)"
      }
    turn.act(.note("a command of \(who) is refused for now, and perhaps others after it: \(reason)"))
  }

  /// Whether a store may be owed no more verdicts. Those of its unjudged commands count as owed. While all stores
  /// together are owed too many, each may be owed ``VerdictStreams/owedShare`` only.
  func owesEnough(_ store: StoreID) -> Bool {
    let owed = verdicts.rowCount(of: store)
    let (owedMax, owedShare) = (VerdictStreams.owedMax, VerdictStreams.owedShare)
    let most = owed >= owedShare && verdicts.rowCount >= settings.owedVerdictsMax ? owedShare : owedMax
    return owed + book.unjudged.count >= most && owed + book.count(owedTo: store) >= most
  }

  /// Whom a press is charged to.
  func sender(of press: AcceptedCommand) -> CommandQueue.Sender {
    switch press.origin {
    case .ownButton: .own
    case .store: .device(press.deviceID)
    case .request: .stated(press.deviceID)
    }
  }
}
