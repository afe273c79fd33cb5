// What the admission of a command asks of the commands, in the order of docs/protocol.md; `HubAdmission` has the order.
extension HubCommands {
  /// A press of one of the hub's own buttons, as it comes in. It refers to the newest state and to the hub's own latest
  /// start.
  ///
  /// - Parameter pressed: When it was pressed; `nil` for now.
  func ownPress(
    _ command: Command, on device: DeviceID, pressed: IncomingCommand.Moment? = nil, at now: BusTime
  ) -> IncomingCommand {
    var command = command
    if command.base == nil { command.base = base }
    if command.runID == nil { command.runID = command.kind == .start ? command.runOfStart : ownRun }
    return IncomingCommand(
      command: command, origin: .ownButton, deviceID: device, identity: .localOwner,
      pressed: pressed ?? .age(.zero, arrival: now), isUncertain: false)
  }

  /// The run that the hub's own presses refer to: the one that its latest unjudged start begins, otherwise the present
  /// run.
  var ownRun: RunID? {
    book.ownUnjudged.last { $0.command.kind == .start }?.runOfStart ?? control.runID
  }

  // MARK: Checks

  /// Whether a command is the next one of its stream. One at or below the mark needs only an acknowledgement, because
  /// its verdict travels on the verdict stream; one behind a gap is sent again by its sender.
  mutating func isNext(_ incoming: IncomingCommand, in turn: inout Turn) -> Bool {
    switch incoming.origin {
    case .ownButton, .request, .spool: return true
    case .stream(let session, _, let sequence, _):
      let stream = StreamID(sender: session.hello.storeID, kind: .commands)
      switch marks.position(of: sequence, in: stream) {
      case .next: return true
      case .known:
        turn.tally.duplicates += 1
        marks.acknowledge(stream)
      case .gap: turn.act(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
      }
      return false
    }
  }

  /// Whether one more can wait for the verdict of a command: a store on its stream, a connection with a request.
  func canWait(_ incoming: IncomingCommand, for stage: CommandBook.Stage?) -> Bool {
    let id = incoming.command.id
    switch (incoming.origin, stage) {
    case (.stream(let session, _, _, _), _): return book.hasRoom(forClaimOf: id, by: session.hello.storeID)
    case (.request(let connection, _), .unjudged): return book.hasRoom(for: connection, awaiting: id)
    case (.request, _), (.ownButton, _), (.spool, _): return true
    }
  }

  /// Returns why the hub cannot accept a command now; `nil` if it can.
  ///
  /// - Parameters:
  ///   - store: the sender's store, if it sends on a stream.
  ///   - isHere: whether a device is reachable.
  mutating func reasonToRefuse(
    _ sender: CommandQueue.Sender, store: StoreID?, isCongested: Bool, isHere: (DeviceID) -> Bool
  ) -> Refusal? {
    if let store, owesEnough(store) { return Self.tooManyOwed }
    if isCongested { return Refusal(code: .storeBehind, message: "the store is far behind") }
    guard !book.hasSlot(for: sender, isHere: isHere) else { return nil }
    return Refusal(code: .busy, message: "too many commands wait to be judged")
  }

  static let tooManyOwed = Refusal(code: .busy, message: "it does not take the verdicts that it is owed")

  /// Whether a store may be owed no more verdicts. Those of its unjudged commands count as owed. While all stores
  /// together are owed too many, each may be owed ``VerdictStreams/owedShare`` only.
  func owesEnough(_ store: StoreID) -> Bool {
    let owed = verdicts.rowCount(of: store)
    let (owedMax, owedShare) = (VerdictStreams.owedMax, VerdictStreams.owedShare)
    let most = owed >= owedShare && verdicts.rowCount >= rules.owedVerdictsMax ? owedShare : owedMax
    return owed + book.unjudged.count >= most && owed + book.count(owedTo: store) >= most
  }

  /// Logs the first of a series of refusals (``BusyNotes``).
  mutating func noteRefusal(of sender: CommandQueue.Sender, _ reason: String, in turn: inout Turn) {
    guard book.noteRefusal(at: turn.monotonic) else { return }
    let who =
      switch sender {
      case .own: "this hub's own"
      case .device(let device), .stated(let device): "\(device)"
      }
    turn.act(.note("a command of \(who) is refused for now, and perhaps others after it: \(reason)"))
  }

  // MARK: Acceptance

  /// An accepted command, and the mark of its stream that moves with it.
  struct Acceptance {
    var press: AcceptedCommand
    let mark: Mark?
  }

  /// Accepts a command: computes its press time, moves the mark of its stream, and notes who waits for its verdict.
  mutating func acceptance(of incoming: IncomingCommand, at now: BusTime) -> Acceptance {
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
      pressedAt: pressTime(of: incoming, in: mark?.stream, at: now), arrivedAt: now,
      isUncertain: incoming.isUncertain, stopFollows: stopFollows)
    return Acceptance(press: press, mark: mark)
  }

  /// The stop of a recovery: a press of the hub itself, at its last sign of life.
  mutating func recoveryStop(
    of run: RunID, at moment: BusTime, on device: DeviceID, generator: inout SeededGenerator
  ) -> Acceptance {
    let command = Command(id: generator.identifier(), kind: .stop, source: .recovery, runID: run, base: base)
    let press = AcceptedCommand(
      command: command, deviceID: device, origin: .ownButton, sequence: book.nextOwnSequence(), pressedAt: moment,
      arrivedAt: moment)
    return Acceptance(press: press, mark: nil)
  }

  /// Gives an accepted command to the arbiter, in the commit that also moves its mark.
  mutating func take(_ acceptance: Acceptance, in turn: inout Turn) {
    let (press, mark) = (acceptance.press, acceptance.mark)
    let id = press.command.id
    let reception = arbiter.receive(press) { book.hasReservedSlots($0) }
    book.accept(press, from: press.sender, isHeld: reception.admission == .held)
    book.release(reception.fallen + reception.completed)
    let pending = Receipt(
      commandID: id, kind: press.command.kind, source: press.command.source, stage: .pending)
    turn.write(
      (mark.map { [$0.operation] } ?? []) + [.accept(press, reception.admission)] + reception.fallen.map(Self.isLate),
      then: (mark?.then ?? [])
        + [.act(.publish(.command(press.command, press.deviceID))), .answer(pending, press)])
  }

  /// A command that its sender may not give: how it counts, with the mark that moves over it.
  mutating func rejection(of incoming: IncomingCommand, _ verdict: Verdict, in turn: inout Turn) -> Settlement? {
    let (origin, sequence): (AcceptedCommand.Origin, UInt64)
    switch incoming.origin {
    case .request, .ownButton: return nil
    case .spool:
      book.noteSpooled(incoming.command.id)
      (origin, sequence) = (.request, 1)
    case .stream(let session, _, let number, _):
      let store = session.hello.storeID
      let mark = move(
        StreamID(sender: store, kind: .commands), to: StreamMark(sequence: number, id: incoming.command.id.message))
      turn.write([mark.operation], then: mark.then)
      (origin, sequence) = (.store(store), number)
    }
    let press = AcceptedCommand(
      command: incoming.command, deviceID: incoming.deviceID, origin: origin, sequence: sequence, pressedAt: turn.now,
      arrivedAt: turn.now)
    var settlement = Settlement()
    settlement.answers = [.init(verdict: verdict, press: press)]
    return settlement
  }

  /// Computes a press time: the moment that the sender states, never after the arrival, never in the future and never
  /// before the stream's last press. A recorded press has its offset on the run's time line instead. If the moment is
  /// uncertain, the press is not earlier than the transition that its sender had seen.
  private mutating func pressTime(of incoming: IncomingCommand, in stream: StreamID?, at now: BusTime) -> BusTime {
    let command = incoming.command
    var (time, arrival) = (now, now)
    switch incoming.pressed {
    case .age(let age, let arrived):
      (time, arrival) = (arrived - rules.clock.speed.bus(fromReal: max(.zero, age)), arrived)
    case .monotonic(let reading): time = rules.clock.bus(at: reading)
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

extension AcceptedCommand {
  /// Whom the press is charged to.
  var sender: CommandQueue.Sender {
    switch origin {
    case .ownButton: .own
    case .store: .device(deviceID)
    case .request: .stated(deviceID)
    }
  }
}
