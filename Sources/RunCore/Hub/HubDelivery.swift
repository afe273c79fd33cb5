// What the hub owes its devices: verdicts and an app's messages, each on a numbered stream to the device's store. These
// streams keep real time, because backlogs and retries do not depend on the speed of a bus.
extension HubCore {
  /// When the next retry of these streams is due, in bus time.
  var deliveryDeadline: BusTime? {
    // Only open stores have retries.
    var earliest = BusTime.distantFuture
    for moment in commands.retries.values { earliest = min(earliest, moment) }
    for moment in mail.deadlines.values { earliest = min(earliest, moment) }
    return earliest == .distantFuture ? nil : settings.clock.bus(at: earliest)
  }

  /// Sends a store the verdicts that may go now.
  mutating func sendVerdicts(to store: StoreID, in turn: inout Turn) {
    guard let link = sessions.link(to: store), sessions.openStores.contains(store) else { return }
    commands.sendVerdicts(to: store, over: link, in: &turn)
  }

  // MARK: The session

  /// Opens delivery to a peer that was welcomed, from the marks that its hello stated.
  mutating func openDelivery(to hello: Hello, within limits: ConnectionLimits, in turn: inout Turn) {
    // A peer whose streams belong to another hub's store says hello again, with a new store for this hub.
    guard hello.hub == nil || hello.hub == storeID else { return }
    let store = hello.storeID
    sessions.beginDelivery(to: store)
    if commands.openVerdicts(to: store, received: hello.received[.verdicts] ?? .start) {
      commands.acknowledgeVerdicts(of: store, through: hello.received[.verdicts]?.sequence ?? 0, in: &turn)
      sendVerdicts(to: store, in: &turn)
    }
    let mark = hello.received[.messages] ?? .start
    withCourier(of: store, in: &turn) { $0.open(received: mark, within: limits, over: $1, in: &$2) }
  }

  /// Stops sending to a peer that is gone, and stops its retries until it is back.
  ///
  /// - Parameter isOver: Whether the peer has said goodbye. One that was only silent may say hello again, and then counts on
  ///   what was noted of its streams.
  mutating func closeDelivery(to session: SessionTable.Session, isOver: Bool = false, in turn: inout Turn) {
    let hello = session.hello
    commands.closeVerdicts(to: hello.storeID)
    mail.close(hello.storeID)
    guard var device = mail.devices[hello.deviceID], device.storeID == hello.storeID else {
      // The device has connected with another store meanwhile.
      return letGoOfLostStores(in: &turn)
    }
    guard !forgetVisitor(device, isGone: isOver && hello.isEphemeral, in: &turn) else { return }
    device.heardAt = max(device.heardAt, session.heardAt)
    mail.meet(device)
    if device.role == .shell { mail.checkVisitors(by: goneAt(device)) }
    turn.write([.meet(device)], isUrgent: false)
  }

  /// Schedules an early retry, because the queue to a connection was full and frames were dropped.
  mutating func postpone(_ connection: ConnectionID, in turn: inout Turn) {
    guard let store = sessions[connection]?.hello.storeID else { return }
    let soon = turn.monotonic + turn.generator.jittered(.milliseconds(200))
    commands.postpone(store, to: soon)
    mail.postpone(store, to: soon)
  }

  /// Sends again what was not acknowledged in time.
  mutating func deliver(in turn: inout Turn) {
    for store in commands.retry(in: &turn) { sendVerdicts(to: store, in: &turn) }
    for store in mail.due(at: turn.monotonic) {
      withCourier(of: store, in: &turn) { $0.meetDeadlines(over: $1, in: &$2) }
    }
  }

  /// Handles what a peer sends on its streams, or says about the hub's streams.
  mutating func receive(
    _ message: DeliveryMessage, of session: SessionTable.Session, in turn: inout Turn
  ) {
    let store = session.hello.storeID
    switch message {
    case .acknowledge(.verdicts, let sequence):
      commands.acknowledgeVerdicts(of: store, through: sequence, in: &turn)
      sendVerdicts(to: store, in: &turn)
    case .goBack(.verdicts, let place, _):
      commands.goBack(store, to: place)
      sendVerdicts(to: store, in: &turn)
    case .tombstones(.commands, let from, let through):
      let stream = StreamID(sender: store, kind: .commands)
      if commands.skip(stream, from: from, through: through, in: &turn) { judgeLate(in: &turn) }
    case .tombstones(.samples, let from, let through):
      run.skip(StreamID(sender: store, kind: .samples), from: from, through: through, at: turn.now)
    case .latest: receiveMail(message, from: store, room: mail.valueRoom(of: store), in: &turn)
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .acknowledgeLatest, .refuseLatest, .live:
      receiveMail(message, from: store, in: &turn)
    case .acknowledge(.commands, _), .acknowledge(.samples, _), .goBack(.commands, _, _), .goBack(.samples, _, _),
      .tombstones(.verdicts, _, _), .verdicts:
      turn.act(.note("\(session.hello.deviceID) spoke of a stream that it does not have: dropped"))
    }
  }

  // MARK: Marks

  /// How far the hub has durably processed a sender's streams.
  func received(from store: StoreID) -> [StreamID.Kind: StreamMark] {
    let marks: [StreamID.Kind: StreamMark] = [
      .commands: commands.mark(of: store), .samples: run.mark(of: store), .messages: mail.mark(of: store),
    ]
    return marks.filter { $0.value.sequence > 0 }
  }

  /// Whether everything received from a sender is durable. Readings of it that wait for the next tick are committed now.
  mutating func isDurable(_ store: StoreID, in turn: inout Turn) -> Bool {
    let isBehind = commands.isBehind(store) || run.isBehind(store)
    if isBehind, run.hasReadings(of: store) { commitSamples(in: &turn) }
    return !isBehind
  }

  /// Forgets how far the streams of a store were processed, and returns the writes for that.
  mutating func forgetMarks(of store: StoreID) -> [StoreOperation] {
    [commands.forgetMark(of: store), run.forgetMark(of: store), mail.forgetMark(of: store)].compactMap { $0 }
  }

  /// A mark of a stream is durable.
  mutating func makeDurable(_ mark: StreamMark, of stream: StreamID) {
    switch stream.kind {
    case .commands: commands.makeDurable(mark, of: stream)
    case .samples: run.makeDurable(mark, of: stream)
    case .messages, .verdicts: break
    }
  }

  /// The sender of a stream is due an acknowledgement.
  mutating func acknowledge(_ stream: StreamID) {
    if stream.kind == .samples { run.acknowledge(stream) } else { commands.acknowledge(stream) }
  }

  /// Sends the acknowledgements that are due, in a fixed order. ``sendVerdicts(to:in:)`` has removed those that a verdict
  /// implies.
  mutating func flushAcknowledgements(in turn: inout Turn) {
    let due = commands.takeAcknowledgements() + run.takeAcknowledgements()
    for (stream, sequence) in due.sorted(by: { $0.stream.precedes($1.stream) }) {
      guard let link = sessions.link(to: stream.sender) else { continue }
      turn.act(.deliver(.acknowledge(stream.kind, through: sequence), over: link, at: turn.now))
    }
  }
}
