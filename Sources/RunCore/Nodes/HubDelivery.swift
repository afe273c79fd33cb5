import DequeModule

// What the hub owes its devices: verdicts and an app's messages, each by a numbered stream to the device's store.
// These streams keep real time: backlogs and retries have nothing to do with how fast a bus is.
extension HubCore {
  /// What is owed, as the store kept it.
  static func delivery(
    _ history: HubHistory, shift: BusDuration?
  ) -> ([StoreID: OutStream], [StoreID: Courier]) {
    let delivery = history.delivery
    let rows = Dictionary(grouping: delivery.rows, by: \.stream)
    var verdicts: [StoreID: OutStream] = [:]
    var couriers: [StoreID: Courier] = [:]
    let ids = Set(rows.keys).union(delivery.acknowledged.keys)
    func stream(_ id: OutStreamID, _ bounds: OutStream.Bounds) -> OutStream {
      var stream = OutStream(
        id, bounds: bounds, rows: rows[id] ?? [], acknowledged: delivery.acknowledged[id] ?? 0)
      if let shift { stream.shift(by: shift) }
      return stream
    }
    for id in ids where id.kind == .verdicts { verdicts[id.receiver] = stream(id, .verdicts) }
    for device in history.devices {
      let store = device.storeID
      couriers[store] = Courier(
        device: device.deviceID, rowDevice: device.deviceID,
        stream: stream(OutStreamID(receiver: store, kind: .messages), .messages),
        inbox: Inbox(
          StreamID(sender: store, kind: .messages),
          durable: delivery.watermarks[StreamID(sender: store, kind: .messages)] ?? .start),
        latestSent: delivery.latestSent.filter { $0.device == device.deviceID },
        latestReceived: delivery.latestReceived.filter { $0.device == device.deviceID })
    }
    return (verdicts, couriers)
  }

  /// The monotonic clock, which these streams keep.
  func monotonic(at now: BusTime) -> BusTime { settings.clock.real(at: now) }

  /// When the next of them is to be tried again, on the bus's line.
  var deliveryDeadline: BusTime? {
    let dues = verdictStreams.values.lazy.compactMap(\.retryAt)
    let due = [dues.min(), couriers.values.lazy.compactMap(\.deadline).min()].compactMap { $0 }.min()
    return due.map { settings.clock.bus(at: $0) }
  }

  // MARK: Meeting a device

  /// Whether a peer's history and the hub's are one; otherwise the side that has lost some begins anew (and `false`).
  /// A device with another store than before is owed by that one what is owed to it.
  mutating func join(
    _ hello: Hello, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) -> Bool {
    if hello.hub == storeID {
      guard !isGivenUp(hello) else {
        refuse(connection, .storeRegressed, "the device came with another store since: it begins anew", into: &actions)
        _ = sessions.close(connection)
        return false
      }
      let lost = [StreamID.Kind.commands, .samples, .messages].contains { kind in
        received(hello.storeID, kind).sequence < hello.acknowledged[kind] ?? 0
      }
      let standings = [
        standing(verdictStreams[hello.storeID], hello, .verdicts),
        standing(couriers[hello.storeID]?.stream, hello, .messages),
      ]
      if lost || standings.contains(.senderLost) {
        loseHistory(but: connection, at: now, into: &actions)
      } else if standings.contains(.receiverLost) {
        refuse(connection, .storeRegressed, "the device's store has lost history: it begins anew", into: &actions)
        _ = sessions.close(connection)
        return false
      }
    } else if hello.hub == nil, hasHistory(with: hello) {
      // A store of before it met this hub, which has something of it all the same: what was told it is not known there.
      refuse(connection, .storeRegressed, "the device's store has lost history: it begins anew", into: &actions)
      _ = sessions.close(connection)
      return false
    }
    meet(hello, at: now)
    return true
  }

  /// The device has come with another store since this one was here, and what was owed to it went on to that one: it is
  /// not this hub that has lost its history.
  private func isGivenUp(_ hello: Hello) -> Bool {
    guard let known = devices[hello.deviceID], known.storeID != hello.storeID else { return false }
    return couriers[hello.storeID] == nil && !(hello.received.isEmpty && hello.acknowledged.isEmpty)
  }

  /// Something went between this hub and a store that remembers no hub, either way.
  private func hasHistory(with hello: Hello) -> Bool {
    !received(from: hello.storeID).isEmpty
      || standing(verdictStreams[hello.storeID], hello, .verdicts) != .good
      || standing(couriers[hello.storeID]?.stream, hello, .messages) != .good
  }

  private func standing(_ stream: OutStream?, _ hello: Hello, _ kind: StreamID.Kind) -> OutStream.Standing {
    let mark = hello.received[kind] ?? .start
    guard var stream else { return mark.sequence > 0 ? .senderLost : .good }
    return stream.open(received: mark)
  }

  /// This hub's store has less than it once acknowledged: it takes a new id, and everybody begins anew with it.
  private mutating func loseHistory(but connection: ConnectionID, at now: BusTime, into actions: inout [Action]) {
    storeID = dice.identifier()
    actions.append(.note("this hub's store has lost history: storeRegressed; it takes a new id, and peers begin anew"))
    commits.add([.setStoreID(storeID)], then: [.named(storeID)])
    for other in sessions.sessions.keys.sorted(by: { $0.route.lexicographicallyPrecedes($1.route) })
    where other != connection {
      refuse(other, .unknownSession, "say hello again", into: &actions)
      close(other, at: now, into: &actions)
    }
  }

  private mutating func meet(_ hello: Hello, at now: BusTime) {
    let known = devices[hello.deviceID]
    let device = KnownDevice(
      deviceID: hello.deviceID, role: hello.role, storeID: hello.storeID, heardAt: now)
    devices[hello.deviceID] = device
    if couriers[hello.storeID] == nil { addCourier(for: device, after: known, at: now) }
    guard known?.storeID != device.storeID || known?.role != device.role else { return }
    commits.add([.meet(device)], then: [])
  }

  private mutating func addCourier(for device: KnownDevice, after known: KnownDevice?, at now: BusTime) {
    let store = device.storeID
    let id = OutStreamID(receiver: store, kind: .messages)
    let sender = StreamID(sender: store, kind: .messages)
    let old = known.map(\.storeID)
    // Two nodes of one name at a time: the first keeps what is owed to it.
    if let old, sessions.connection(of: old) == nil, var courier = couriers.removeValue(forKey: old) {
      let verdicts = OutStreamID(receiver: old, kind: .verdicts)
      commits.add([.rebind(courier.stream.id, to: id), .drop(verdicts)], then: [])
      verdictStreams[old] = nil
      letGo(of: old, at: now)
      commits.add(courier.rebind(to: id, from: sender), then: [])
      couriers[store] = courier
    } else {
      couriers[store] = Courier(
        device: device.deviceID, rowDevice: device.deviceID, stream: OutStream(id, bounds: .messages),
        inbox: Inbox(sender, durable: durable[sender] ?? .start), isHandling: isHandling)
    }
  }

  /// A device has another store than before: a chain that waits for its stop by the old one waits in vain.
  private mutating func letGo(of store: StoreID, at now: BusTime) {
    let fallen = arbiter.skip(StreamID(sender: store, kind: .commands))
    guard !fallen.isEmpty else { return }
    commits.add(fallen.map { .reclassify($0, .late) }, then: [])
    write(arbiter.judgeLate(at: now), at: now)
  }

  // MARK: Marks

  private func received(_ store: StoreID, _ kind: StreamID.Kind) -> StreamMark {
    if kind == .messages, let courier = couriers[store] { return courier.inbox.durable }
    return durable[StreamID(sender: store, kind: kind)] ?? .start
  }

  /// What is durably processed of a sender's streams.
  func received(from store: StoreID) -> [StreamID.Kind: StreamMark] {
    var marks: [StreamID.Kind: StreamMark] = [:]
    for kind in [StreamID.Kind.commands, .samples, .messages] {
      let mark = received(store, kind)
      if mark.sequence > 0 { marks[kind] = mark }
    }
    return marks
  }

  /// Whether all that was taken in of a sender is durable; if samples of it wait for the next tick, they wait no more.
  mutating func isDurable(_ store: StoreID, at now: BusTime) -> Bool {
    let isBehind = [StreamID.Kind.commands, .samples].contains { kind in
      let stream = StreamID(sender: store, kind: kind)
      return watermarks[stream]?.sequence ?? 0 > durable[stream]?.sequence ?? 0
    }
    if isBehind, samples.streams[StreamID(sender: store, kind: .samples)] != nil { commitSamples(at: now) }
    return !isBehind
  }

  /// Tells senders how far their streams are durable. Who just got a verdict knows it from that.
  mutating func flushAcknowledgements(into actions: inout [Action]) {
    guard !unacknowledged.isEmpty else { return }
    let streams = unacknowledged.sorted { ($0.sender, $0.kind.rawValue) < ($1.sender, $1.kind.rawValue) }
    unacknowledged = []
    for stream in streams {
      guard let connection = sessions.connection(of: stream.sender), let session = sessions[connection],
        let mark = durable[stream]
      else { continue }
      actions.append(
        .send(
          HubFrame(
            session: session.number, message: .delivery(.acknowledge(stream.kind, through: mark.sequence))),
          to: connection))
    }
  }

  // MARK: Verdicts

  /// A verdict is owed to its sender from the commit on that makes it.
  mutating func owe(
    _ verdict: Verdict, to store: StoreID, _ operations: inout [StoreOperation], _ then: inout [Effect],
    at now: BusTime
  ) {
    let id = OutStreamID(receiver: store, kind: .verdicts)
    var stream = verdictStreams[store] ?? OutStream(id, bounds: .verdicts)
    verdictStreams[store] = nil
    let row = stream.add(.verdict(verdict), since: monotonic(at: now), isGoing: true)
    operations.append(.enqueue(row))
    then.append(.verdictsSendable(store, through: row.sequence, epoch: stream.epoch))
    verdictStreams[store] = stream
  }

  /// Keeps a frame of verdicts far under what a frame may have.
  private static let verdictFrameMax = 128

  /// Sends the verdicts that may go to a sender.
  mutating func sendVerdicts(to store: StoreID, at now: BusTime, into actions: inout [Action]) {
    guard let connection = sessions.connection(of: store), let session = sessions[connection],
      openStores.contains(store)
    else { return }
    let real = monotonic(at: now)
    for cargo in verdictStreams[store]?.takeFlight(at: real, dice: &dice) ?? [] {
      var messages: [DeliveryMessage] = []
      switch cargo {
      case .hole(let range):
        messages.append(.tombstones(.verdicts, from: range.lowerBound, through: range.upperBound))
      case .rows(let rows):
        let transmissions = rows.compactMap { row -> VerdictTransmission? in
          guard case .verdict(let verdict)? = row.item else { return nil }
          return VerdictTransmission(sequence: row.sequence, receipt: Receipt(verdict, at: now))
        }
        var rest = transmissions[...]
        while !rest.isEmpty {
          messages.append(.verdicts(Array(rest.prefix(Self.verdictFrameMax))))
          rest = rest.dropFirst(Self.verdictFrameMax)
        }
        // A verdict says that its command was accepted, and all before it.
        let commands = StreamID(sender: store, kind: .commands)
        if durable[commands]?.id == rows.last?.item?.id { unacknowledged.remove(commands) }
      }
      for message in messages {
        actions.append(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
      }
    }
  }

  // MARK: The session

  /// A peer was welcomed: what is owed to it goes out from where it stands.
  mutating func openDelivery(to hello: Hello, at now: BusTime, into actions: inout [Action]) {
    // One whose streams go to another store says hello again, with a store of its own for this one.
    guard hello.hub == nil || hello.hub == storeID else { return }
    let store = hello.storeID
    let real = monotonic(at: now)
    openStores.insert(store)
    if verdictStreams[store]?.open(received: hello.received[.verdicts] ?? .start) == .good {
      acknowledgeVerdicts(of: store, through: hello.received[.verdicts]?.sequence ?? 0, at: now)
      sendVerdicts(to: store, at: now, into: &actions)
    }
    let mark = hello.received[.messages] ?? .start
    withCourier(of: store, at: now, into: &actions) { courier, dice, wanted, _ in
      _ = courier.open(received: mark, at: real, dice: &dice, into: &wanted)
    }
  }

  /// A peer is gone: nothing is sent, and nothing tried again, until it is back.
  mutating func closeDelivery(to hello: Hello, at now: BusTime) {
    guard !hello.isOneShot else { return }
    openStores.remove(hello.storeID)
    verdictStreams[hello.storeID]?.close()
    couriers[hello.storeID]?.close()
    guard var device = devices[hello.deviceID], device.storeID == hello.storeID else { return }
    device.heardAt = now
    devices[hello.deviceID] = device
    commits.add([.meet(device)], then: [], dueAt: now + unhurried)
  }

  /// The queue to a connection was full: what did not go out goes out again soon, from the oldest on.
  mutating func postpone(_ connection: ConnectionID, at now: BusTime) {
    guard let store = sessions[connection]?.hello.storeID else { return }
    let soon = monotonic(at: now) + dice.jittered(.milliseconds(200))
    verdictStreams[store]?.postpone(to: soon)
    couriers[store]?.postpone(to: soon)
  }

  /// Tries again what was not acknowledged in time.
  mutating func deliver(at now: BusTime, into actions: inout [Action]) {
    let real = monotonic(at: now)
    for store in verdictStreams.keys.sorted() {
      guard let due = verdictStreams[store]?.retryAt, due <= real else { continue }
      if let range = verdictStreams[store]?.retry(at: real, dice: &dice), let stream = verdictStreams[store] {
        _ = verdictStreams[store]?.count(range)
        let count = StoreOperation.countTries(stream.id, from: range.lowerBound, through: range.upperBound)
        commits.add([count], then: [], dueAt: now + unhurried)
      }
      sendVerdicts(to: store, at: now, into: &actions)
    }
    for store in couriers.keys.sorted() {
      guard let due = couriers[store]?.deadline, due <= real else { continue }
      withCourier(of: store, at: now, into: &actions) { $0.meetDeadlines(at: $3, dice: &$1, into: &$2) }
    }
  }

  /// What a peer owes, or says of what is owed to it.
  mutating func take(
    _ message: DeliveryMessage, of session: SessionTable.Session, at now: BusTime, into actions: inout [Action]
  ) {
    let store = session.hello.storeID
    guard !session.hello.isOneShot else {
      return actions.append(.note("\(session.hello.deviceID) has no streams: a delivery was dropped"))
    }
    switch message {
    case .acknowledge(.verdicts, let sequence):
      acknowledgeVerdicts(of: store, through: sequence, at: now)
      sendVerdicts(to: store, at: now, into: &actions)
    case .goBack(.verdicts, let place, _):
      verdictStreams[store]?.goBack(to: place)
      sendVerdicts(to: store, at: now, into: &actions)
    case .tombstones(.commands, let from, let through):
      skip(StreamID(sender: store, kind: .commands), from: from, through: through, at: now)
    case .tombstones(.samples, let from, let through):
      skip(StreamID(sender: store, kind: .samples), from: from, through: through, at: now)
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .latest, .acknowledgeLatest, .live:
      withCourier(of: store, at: now, into: &actions) { $0.receive(message, at: $3, dice: &$1, into: &$2) }
    case .acknowledge(.commands, _), .acknowledge(.samples, _), .goBack(.commands, _, _), .goBack(.samples, _, _),
      .tombstones(.verdicts, _, _), .verdicts:
      actions.append(.note("\(session.hello.deviceID) spoke of a stream that it does not have: dropped"))
    }
  }

  private mutating func acknowledgeVerdicts(of store: StoreID, through sequence: UInt64, at now: BusTime) {
    guard var stream = verdictStreams[store],
      stream.acknowledge(through: sequence, at: monotonic(at: now), dice: &dice)
    else { return }
    verdictStreams[store] = stream
    commits.add(
      [.acknowledge(stream.id, through: stream.acknowledged)], then: [], dueAt: now + unhurried)
  }

  /// Nothing stands at these places: the watermark moves over them.
  private mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64, at now: BusTime) {
    let known = watermarks[stream]?.sequence ?? 0
    guard through > known else { unacknowledged.insert(stream); return }
    guard watermarks[stream, default: Watermark()].reaches(from) else { return }
    let mark = StreamMark(sequence: through)
    watermarks[stream] = Watermark(mark)
    // The mark of samples moves with those that are not durable yet.
    if stream.kind == .samples { return samples.add(nil, stream: (stream, through), at: now) }
    let fallen = arbiter.skip(stream).map { StoreOperation.reclassify($0, .late) }
    commits.add([.setWatermark(stream, mark)] + fallen, then: [.durable(stream, mark), .acknowledge(stream)])
    write(arbiter.judgeLate(at: now), at: now)
  }

  // MARK: An app's messages

  /// The app has a message for a device.
  mutating func post(
    _ message: AppMessage, _ deliveryClass: DeliveryClass, to device: DeviceID, at now: BusTime,
    into actions: inout [Action]
  ) {
    guard let known = devices[device] else { return actions.append(.refusePost(message.id, .unknownDevice)) }
    var refusal: PostRefusal?
    withCourier(of: known.storeID, at: now, into: &actions) {
      refusal = $0.post(message, by: deliveryClass, at: $3, into: &$2)
    }
    if let refusal { actions.append(.refusePost(message.id, refusal)) }
  }

  /// The app takes messages from now on, or does not any more.
  mutating func setHandling(_ value: Bool, at now: BusTime, into actions: inout [Action]) {
    isHandling = value
    for store in couriers.keys.sorted() {
      withCourier(of: store, at: now, into: &actions) { courier, _, wanted, _ in
        courier.setHandling(value, into: &wanted)
      }
    }
  }

  /// Lets a device's courier do something, and carries out what it wants done.
  mutating func withCourier(
    of store: StoreID, at now: BusTime, into actions: inout [Action],
    _ body: (inout Courier, inout Dice, inout [Courier.Action], BusTime) -> Void
  ) {
    var wanted: [Courier.Action] = []
    guard couriers[store] != nil else { return }
    body(&couriers[store]!, &dice, &wanted, monotonic(at: now))
    for action in wanted {
      switch action {
      case .send(let message):
        guard let connection = sessions.connection(of: store), let session = sessions[connection] else { continue }
        actions.append(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
      case .write(let operations, let isUrgent, let effect):
        for case .quarantine(let message) in operations { quarantine.append(message) }
        commits.add(
          operations, then: effect.map { [.courier(store, $0)] } ?? [], dueAt: isUrgent ? nil : now + unhurried)
      case .hand(let handover): actions.append(.hand(handover))
      case .receipt(let receipt): actions.append(.messageReceipt(receipt))
      case .note(let text): actions.append(.note(text))
      }
    }
  }

  /// What nobody waits for is written with the next that somebody waits for, or after this long.
  var unhurried: BusDuration { settings.clock.speed.bus(fromReal: PeerCore.unhurried) }
}
