// The control path: a press comes in, is accepted, judged, and answered.
extension HubCore {
  /// One of the hub's own buttons.
  mutating func pressOwn(_ command: Command, at now: BusTime, into actions: inout [Action]) {
    guard archive[command.id] == nil, unjudged[command.id] == nil else {
      return answerAgain(command, at: now) { .act(.receipt($0)) }
    }
    if let reason = reasonToRefuse(.own, at: now) {
      noteRefusal(of: "this hub's own", reason, at: now, into: &actions)
      return actions.append(.receipt(Receipt(rejection(of: command, .busy), at: now)))
    }
    ownSequence += 1
    var command = command
    if command.base == nil { command.base = base }
    if command.runID == nil { command.runID = command.kind == .start ? command.runOfStart : ownRun }
    let press = AcceptedCommand(
      command: command, deviceID: settings.deviceID,
      stream: ownStream, sequence: ownSequence,
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
    let isKnown = archive[command.id] != nil || unjudged[command.id] != nil
    let again = { (receipt: Receipt) in
      Effect.act(.send(HubFrame(session: session.number, message: .receipt(receipt)), to: connection))
    }
    // A one-shot's stream ends with its command: the command's id is all that needs to be remembered of it.
    if !session.hello.isOneShot {
      switch watermarks[stream, default: Watermark()].place(of: transmission.sequence) {
      case .next: break
      case .known:
        // Its verdict comes by the hub's own stream to the sender; all it needs is to know that it was heard.
        unacknowledged.insert(stream)
        return
      case .gap: return actions.append(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
      }
    }
    guard session.hello.isOneShot || hasRoom(forClaimOf: command.id, by: stream.sender) else {
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
    // The same command by another stream: the watermark moves, the command does not count again.
    if isKnown {
      guard let mark else {
        // It came out of a spool before: its verdict goes here, too.
        if let press = unjudged[command.id], press.stream != stream {
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

  /// A command of a kind that this version does not know. Its place in the stream is used up all the same, or nothing
  /// that its sender presses would ever be heard again.
  mutating func receive(_ command: UnsupportedCommand, on connection: ConnectionID, into actions: inout [Action]) {
    let answer = Effect.act(.forward(command.reply, to: connection))
    guard let sequence = command.sequence else {
      guard connection.isRequest else {
        return refuse(connection, .malformed, "a request needs a REQ socket; say hello instead", into: &actions)
      }
      return actions.append(.forward(command.reply, to: connection))
    }
    guard !connection.isRequest, let session = sessions[connection] else {
      return refuse(connection, .unknownSession, "say hello first", into: &actions)
    }
    guard command.session == session.number else {
      return actions.append(.note("\(session.hello.deviceID) sent a frame of an earlier session: dropped"))
    }
    guard !session.hello.isOneShot else { return actions.append(.forward(command.reply, to: connection)) }
    let stream = StreamID(sender: session.hello.storeID, kind: .commands)
    switch watermarks[stream, default: Watermark()].place(of: sequence) {
    case .next:
      let mark = move(stream, to: StreamMark(sequence: sequence))
      commits.add([mark.operation], then: mark.effects + [answer])
    case .known: commits.add([], then: [answer])
    case .gap: actions.append(.note("\(session.hello.deviceID) skipped commands: it sends them again"))
    }
  }

  /// A plain REQ's command: a stream of its own, named after the command, so that a repeated request is a resend.
  mutating func receive(_ request: Request, on connection: ConnectionID, at now: BusTime, into actions: inout [Action])
  {
    let command = request.command
    if archive[command.id] != nil {
      let session = sessions[connection]?.number ?? 0
      return answerAgain(command, at: now) {
        .act(.send(HubFrame(session: session, message: .receipt($0)), to: connection))
      }
    }
    guard unjudged[command.id] == nil else {
      _ = awaitVerdict(of: command.id, on: connection, into: &actions)
      return
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

  /// Every connection that asks for a command that is not judged yet hears its verdict: its sender's, and that of each
  /// node that forwards it. One too many is refused, and pushes out none that waits.
  private mutating func awaitVerdict(
    of id: CommandID, on connection: ConnectionID, into actions: inout [Action]
  ) -> Bool {
    guard !requests[id, default: []].contains(connection) else { return true }
    guard requests[id, default: []].count < Self.waitersMax else {
      refuse(connection, .busy, "too many wait for the verdict of this command", into: &actions)
      return false
    }
    requests[id, default: []].append(connection)
    return true
  }

  /// More than a bus has devices.
  private static let waitersMax = 16

  /// A command without a stream of its own sender.
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

  /// Tells whoever sent a command how far it is: its own caller, a waiting REQ, or its session wherever that is now.
  mutating func answer(_ receipt: Receipt, to press: AcceptedCommand, at now: BusTime, into actions: inout [Action]) {
    if press.stream == ownStream { actions.append(.receipt(receipt)) }
    if case .verdict = receipt.stage {
      if spooled.remove(receipt.commandID) != nil { actions.append(.spooledCommandJudged(receipt.commandID)) }
      for request in requests.removeValue(forKey: receipt.commandID) ?? [] {
        reply(receipt, on: request, session: sessions[request]?.number ?? 0, into: &actions)
      }
    }
    if !isNumbered(press.stream), let connection = sessions.connection(of: press.stream.sender),
      let session = sessions[connection]
    {
      reply(receipt, on: connection, session: session.number, into: &actions)
    }
    actions.append(.publish(.receipt(receipt, press.deviceID)))
  }

  /// The hub's own buttons, whichever id its store has.
  var ownStream: StreamID { StreamID(sender: settings.storeID, kind: .commands) }

  /// Whether a stream has a watermark, and its sender a stream of verdicts. One-shots and plain requests have neither.
  func isNumbered(_ stream: StreamID) -> Bool { watermarks[stream] != nil }

  var base: ObservedRevision {
    ObservedRevision(revision: arbiter.control.revision, commandID: arbiter.control.changedBy?.commandID)
  }

  /// What the hub's own buttons speak of: the run that its last unjudged start begins, or else the present one.
  private var ownRun: RunID? {
    let starts = unjudged.values.filter { $0.stream == ownStream && $0.command.kind == .start }
    return starts.max(by: AcceptedCommand.precedes)?.runOfStart ?? arbiter.control.runID
  }

  /// Arrival minus age, never in the future, never before the stream's last press; a recorded press is where the
  /// recording says, on the run's own time line. An age that was measured across a reboot cannot lead back before what
  /// the sender had seen.
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
    if let stream {
      time = max(time, lastPress[stream] ?? time)
      lastPress[stream] = min(time, now)
    }
    return min(time, now)
  }

  /// A watermark on its way to the disk.
  struct Mark {
    let stream: StreamID
    let place: StreamMark
    var operation: StoreOperation { .setWatermark(stream, place) }
    var effects: [Effect] { [.durable(stream, place), .acknowledge(stream)] }
  }

  private mutating func move(_ stream: StreamID, to place: StreamMark) -> Mark {
    _ = watermarks[stream, default: Watermark()].receive(place)
    return Mark(stream: stream, place: place)
  }

  mutating func accept(_ press: AcceptedCommand, mark: Mark?, at now: BusTime) {
    receiveAsAnswer(press, at: now)
    let id = press.command.id
    unjudged[id] = press
    let reception = arbiter.receive(press) { queue.devices.contains($0) }
    queue.accept(id, from: sender(of: press), isHeld: reception.pressClass == .held)
    queue.release(reception.fallen + reception.completed)
    let pending = Receipt(
      commandID: id, kind: press.command.kind, source: press.command.source, stage: .pending)
    commits.add(
      (mark.map { [$0.operation] } ?? []) + [.accept(press, reception.pressClass)] + reception.fallen.map(Self.isLate),
      then: (mark?.effects ?? [])
        + [.act(.publish(.command(press.command, press.deviceID))), .answer(pending, press)])
    judgeLate(at: now)
    // Windows are off: every press is judged alone, at once and in the same commit.
    while settings.debounce == .zero, arbiter.deadline != nil { settle(at: now, now: now) }
  }

  /// Answers a resend with the stage that its command has reached, once that stage is durable.
  private mutating func answerAgain(_ command: Command, at now: BusTime, by effect: (Receipt) -> Effect) {
    let receipt =
      archive[command.id].map { Receipt($0, at: now) }
      ?? Receipt(commandID: command.id, kind: command.kind, source: command.source, stage: .pending)
    commits.add([], then: [effect(receipt)])
  }

  /// A verdict that has no effect and is not kept.
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
  /// The receipt that carries a verdict, at a moment on the hub's line.
  init(_ verdict: Verdict, at now: BusTime) {
    self.init(
      commandID: verdict.commandID, kind: verdict.kind, source: verdict.source, stage: .verdict(verdict),
      effectiveAge: verdict.effectiveAt.map { now - $0 })
  }
}
