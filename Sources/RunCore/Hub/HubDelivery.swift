// What the hub owes its devices: verdicts and an app's messages, each on a numbered stream to the device's store. These
// streams keep real time, because backlogs and retries do not depend on the speed of a bus.
extension HubCore {
  /// The monotonic clock, by which these streams keep time.
  func monotonic(at now: BusTime) -> BusTime { settings.clock.real(at: now) }

  /// When the next retry of these streams is due, in bus time.
  var deliveryDeadline: BusTime? {
    var earliest: BusTime?
    // Only open stores have retries.
    for store in sessions.openStores {
      earliest = BusTime.earliest(earliest, verdicts.retryAt(of: store), mail.deadline(of: store))
    }
    return earliest.map { settings.clock.bus(at: $0) }
  }

  // MARK: Verdicts

  /// Owes a verdict to a store: the commit that makes the verdict also stores its row.
  mutating func owe(
    _ verdict: Verdict, to store: StoreID, _ operations: inout [StoreOperation], _ then: inout [Durable],
    at now: BusTime
  ) {
    let debt = verdicts.owe(verdict, to: store, at: monotonic(at: now))
    operations.append(.enqueue(debt.row))
    then.append(
      .sendable(debt.row.stream, through: debt.row.sequence, durabilityGeneration: debt.durabilityGeneration))
  }

  /// Sends a store the verdicts that may go now.
  mutating func sendVerdicts(to store: StoreID, in turn: inout Turn) {
    guard let (connection, session) = sessions.session(of: store), sessions.openStores.contains(store) else { return }
    let (frames, last) = verdicts.take(for: store, at: monotonic(at: turn.now), generator: &turn.generator)
    for id in last { marks.noteVerdict(of: id, in: StreamID(sender: store, kind: .commands)) }
    for frame in frames {
      let message: DeliveryMessage
      switch frame {
      case .tombstones(let range):
        message = .tombstones(.verdicts, from: range.lowerBound, through: range.upperBound)
      case .verdicts(let verdicts):
        message = .verdicts(
          verdicts.map { VerdictTransmission(sequence: $0.sequence, receipt: Receipt($0.verdict, at: turn.now)) })
      }
      turn.act(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
    }
  }

  // MARK: The session

  /// Opens delivery to a peer that was welcomed, from the marks that its hello stated.
  mutating func openDelivery(
    to hello: Hello, within limits: ConnectionLimits, in turn: inout Turn
  ) {
    // A peer whose streams belong to another hub's store says hello again, with a new store for this hub.
    guard hello.hub == nil || hello.hub == storeID else { return }
    let store = hello.storeID
    sessions.beginDelivery(to: store)
    if verdicts.open(store, received: hello.received[.verdicts] ?? .start) {
      acknowledgeVerdicts(of: store, through: hello.received[.verdicts]?.sequence ?? 0, in: &turn)
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
    verdicts.close(hello.storeID)
    mail.close(hello.storeID)
    guard var device = mail.devices[hello.deviceID], device.storeID == hello.storeID else {
      // The device has connected with another store meanwhile.
      return letGoOfLostStores(in: &turn)
    }
    guard !forgetVisitor(device, isGone: isOver && hello.isEphemeral, in: &turn) else { return }
    device.heardAt = max(device.heardAt, session.heardAt)
    mail.meet(device)
    if device.role == .shell { checkVisitors(by: goneAt(device)) }
    turn.write([.meet(device)], isUrgent: false)
  }

  /// Schedules an early retry, because the queue to a connection was full and frames were dropped.
  mutating func postpone(_ connection: ConnectionID, in turn: inout Turn) {
    guard let store = sessions[connection]?.hello.storeID else { return }
    let soon = monotonic(at: turn.now) + turn.generator.jittered(.milliseconds(200))
    verdicts.postpone(store, to: soon)
    mail.postpone(store, to: soon)
  }

  /// Sends again what was not acknowledged in time.
  mutating func deliver(in turn: inout Turn) {
    let real = monotonic(at: turn.now)
    let stores = sessions.openStores.sorted()
    for store in stores {
      guard let due = verdicts.retryAt(of: store), due <= real else { continue }
      if let count = verdicts.retry(store, at: real, generator: &turn.generator) {
        turn.write([count], isUrgent: false)
      }
      sendVerdicts(to: store, in: &turn)
    }
    for store in stores {
      guard let due = mail.deadline(of: store), due <= real else { continue }
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
      acknowledgeVerdicts(of: store, through: sequence, in: &turn)
      sendVerdicts(to: store, in: &turn)
    case .goBack(.verdicts, let place, _):
      verdicts.goBack(store, to: place)
      sendVerdicts(to: store, in: &turn)
    case .tombstones(.commands, let from, let through):
      skip(StreamID(sender: store, kind: .commands), from: from, through: through, in: &turn)
    case .tombstones(.samples, let from, let through):
      skip(StreamID(sender: store, kind: .samples), from: from, through: through, in: &turn)
    case .latest: receiveMail(message, from: store, room: mail.valueRoom(of: store), in: &turn)
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .acknowledgeLatest, .refuseLatest, .live:
      receiveMail(message, from: store, in: &turn)
    case .acknowledge(.commands, _), .acknowledge(.samples, _), .goBack(.commands, _, _), .goBack(.samples, _, _),
      .tombstones(.verdicts, _, _), .verdicts:
      turn.act(.note("\(session.hello.deviceID) spoke of a stream that it does not have: dropped"))
    }
  }

  private mutating func acknowledgeVerdicts(of store: StoreID, through sequence: UInt64, in turn: inout Turn) {
    let real = monotonic(at: turn.now)
    guard let write = verdicts.acknowledge(store, through: sequence, at: real, generator: &turn.generator) else {
      return
    }
    turn.write([write], isUrgent: false)
  }

  /// Moves the watermark of a stream over tombstones.
  private mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64, in turn: inout Turn) {
    let mark: StreamMark
    switch marks.skip(stream, from: from, through: through) {
    case .moved(let moved): mark = moved
    case .known: return marks.acknowledge(stream)
    case .gap: return
    }
    // The mark of a sample stream becomes durable with the samples that have gathered.
    if stream.kind == .samples { return samples.add(nil, stream: (stream, through), at: turn.now) }
    let fallen = abandon(stream)
    turn.write([.setWatermark(stream, mark)] + fallen, then: [.processed(stream, mark), .acknowledge(stream)])
    judgeLate(in: &turn)
  }

  /// Sends the acknowledgements that are due. ``sendVerdicts(to:in:)`` has removed those that a verdict implies.
  mutating func flushAcknowledgements(in turn: inout Turn) {
    for (stream, sequence) in marks.takeAcknowledgements() {
      guard let (connection, session) = sessions.session(of: stream.sender) else { continue }
      let message = DeliveryMessage.acknowledge(stream.kind, through: sequence)
      turn.act(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
    }
  }
}
