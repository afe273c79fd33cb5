import DequeModule

// What the hub owes its devices: verdicts and an app's messages, each on a numbered stream to the device's store. These
// streams keep real time, because backlogs and retries do not depend on the speed of a bus.
extension HubCore {
  /// Rebuilds these streams and couriers from what the store kept.
  static func delivery(
    _ history: HubHistory, shift: BusDuration?
  ) -> ([StoreID: OutboundStream], [StoreID: Courier]) {
    let delivery = history.delivery
    let rows = Dictionary(grouping: delivery.rows, by: \.stream)
    var verdicts: [StoreID: OutboundStream] = [:]
    var couriers: [StoreID: Courier] = [:]
    let ids = Set(rows.keys).union(delivery.acknowledged.keys)
    func stream(_ id: OutboundStreamID, _ bounds: OutboundStream.Bounds) -> OutboundStream {
      var stream = OutboundStream(
        id, bounds: bounds, rows: rows[id] ?? [], acknowledged: delivery.acknowledged[id] ?? 0)
      if let shift { stream.shift(by: shift) }
      return stream
    }
    for id in ids where id.kind == .verdicts { verdicts[id.receiver] = stream(id, .verdicts) }
    for device in history.devices {
      let store = device.storeID
      couriers[store] = Courier(
        device: device.deviceID, rowDevice: device.deviceID,
        stream: stream(OutboundStreamID(receiver: store, kind: .messages), .messages),
        inbox: InboundStream(
          StreamID(sender: store, kind: .messages),
          durable: delivery.watermarks[StreamID(sender: store, kind: .messages)] ?? .start),
        latestSent: delivery.latestSent.filter { $0.device == device.deviceID },
        latestReceived: delivery.latestReceived.filter { $0.device == device.deviceID })
    }
    // Stores whose devices moved to other stores while both were connected. They may come back; ``trimStores()`` bounds
    // those that do not.
    let left = Set(delivery.watermarks.keys.map(\.sender)).union(rows.keys.map(\.receiver))
    for store in left where couriers[store] == nil {
      couriers[store] = Courier(
        device: nil, stream: stream(OutboundStreamID(receiver: store, kind: .messages), .messages),
        inbox: InboundStream(
          StreamID(sender: store, kind: .messages),
          durable: delivery.watermarks[StreamID(sender: store, kind: .messages)] ?? .start))
    }
    return (verdicts, couriers)
  }

  /// Returns the durability generation of a new stream. It differs from that of every earlier stream, because a store
  /// that was given up can come back while a write of its old stream is in flight.
  mutating func nextDurabilityGeneration() -> UInt64 {
    streamsBegun += 1
    return streamsBegun << 32
  }

  /// The monotonic clock, by which these streams keep time.
  func monotonic(at now: BusTime) -> BusTime { settings.clock.real(at: now) }

  /// When the next retry of these streams is due, in bus time.
  var deliveryDeadline: BusTime? {
    var earliest: BusTime?
    // Only open stores have retries. By index: reading a courier would copy it, and it is large.
    for store in openStores {
      if let place = verdictStreams.index(forKey: store) {
        earliest = BusTime.earliest(earliest, verdictStreams.values[place].retryAt)
      }
      if let place = couriers.index(forKey: store) {
        earliest = BusTime.earliest(earliest, couriers.values[place].deadline)
      }
    }
    return earliest.map { settings.clock.bus(at: $0) }
  }

  // MARK: Verdicts

  /// Owes a verdict to a store: the commit that makes the verdict also stores its row.
  mutating func owe(
    _ verdict: Verdict, to store: StoreID, _ operations: inout [StoreOperation], _ then: inout [Effect],
    at now: BusTime
  ) {
    let id = OutboundStreamID(receiver: store, kind: .verdicts)
    var stream =
      verdictStreams[store] ?? OutboundStream(id, bounds: .verdicts, durabilityGeneration: nextDurabilityGeneration())
    verdictStreams[store] = nil
    let row = stream.add(.verdict(verdict), since: monotonic(at: now), isGoing: true)
    operations.append(.enqueue(row))
    then.append(.verdictsSendable(store, through: row.sequence, durabilityGeneration: stream.durabilityGeneration))
    verdictStreams[store] = stream
  }

  /// Keeps a frame of verdicts far below the largest frame allowed.
  private static let verdictFrameMax = 128

  /// Sends a store the verdicts that may go now.
  mutating func sendVerdicts(to store: StoreID, at now: BusTime, into actions: inout [Action]) {
    guard let connection = sessions.connection(of: store), let session = sessions[connection],
      openStores.contains(store)
    else { return }
    let real = monotonic(at: now)
    for batch in verdictStreams[store]?.nextBatches(at: real, generator: &generator) ?? [] {
      var messages: [DeliveryMessage] = []
      switch batch {
      case .tombstoneRange(let range):
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
        // A verdict acknowledges its command and all before it, but no tombstones after it. When the watermark stands
        // at that command, no further acknowledgement is needed.
        let commands = StreamID(sender: store, kind: .commands)
        if let last = rows.last?.item?.id, let mark = watermarks[commands], mark.stands(at: last),
          durable[commands] == mark.mark
        {
          unacknowledged.remove(commands)
        }
      }
      for message in messages {
        actions.append(.send(HubFrame(session: session.number, message: .delivery(message)), to: connection))
      }
    }
  }

  // MARK: The session

  /// Opens delivery to a peer that was welcomed, from the marks that its hello stated.
  mutating func openDelivery(to hello: Hello, at now: BusTime, into actions: inout [Action]) {
    // A peer whose streams belong to another hub's store says hello again, with a new store for this hub.
    guard hello.hub == nil || hello.hub == storeID else { return }
    let store = hello.storeID
    let real = monotonic(at: now)
    openStores.insert(store)
    if verdictStreams[store]?.open(received: hello.received[.verdicts] ?? .start) == .good {
      acknowledgeVerdicts(of: store, through: hello.received[.verdicts]?.sequence ?? 0, at: now)
      sendVerdicts(to: store, at: now, into: &actions)
    }
    let mark = hello.received[.messages] ?? .start
    withCourier(of: store, at: now, into: &actions) { courier, generator, wanted, _ in
      _ = courier.open(received: mark, at: real, generator: &generator, into: &wanted)
    }
  }

  /// Stops sending to a peer that is gone, and stops its retries until it is back.
  mutating func closeDelivery(to hello: Hello, at now: BusTime) {
    guard !hello.isOneShot else { return }
    openStores.remove(hello.storeID)
    verdictStreams[hello.storeID]?.close()
    couriers[hello.storeID]?.close()
    guard var device = devices[hello.deviceID], device.storeID == hello.storeID else {
      // The device has connected with another store meanwhile.
      return letGoOfLostStores(at: now)
    }
    guard !forgetVisitor(device) else { return }
    device.heardAt = now
    devices[hello.deviceID] = device
    commits.add([.meet(device)], then: [], dueAt: now + writeDelayMax)
  }

  /// Schedules an early retry, because the queue to a connection was full and frames were dropped.
  mutating func postpone(_ connection: ConnectionID, at now: BusTime) {
    guard let store = sessions[connection]?.hello.storeID else { return }
    let soon = monotonic(at: now) + generator.jittered(.milliseconds(200))
    verdictStreams[store]?.postpone(to: soon)
    couriers[store]?.postpone(to: soon)
  }

  /// Sends again what was not acknowledged in time.
  mutating func deliver(at now: BusTime, into actions: inout [Action]) {
    let real = monotonic(at: now)
    for store in openStores.sorted() {
      guard let due = verdictStreams[store]?.retryAt, due <= real else { continue }
      if let range = verdictStreams[store]?.retry(at: real, generator: &generator), let stream = verdictStreams[store] {
        _ = verdictStreams[store]?.count(range)
        let count = StoreOperation.countTries(stream.id, from: range.lowerBound, through: range.upperBound)
        commits.add([count], then: [], dueAt: now + writeDelayMax)
      }
      sendVerdicts(to: store, at: now, into: &actions)
    }
    for store in openStores.sorted() {
      guard let due = couriers[store]?.deadline, due <= real else { continue }
      withCourier(of: store, at: now, into: &actions) { $0.meetDeadlines(at: $3, generator: &$1, into: &$2) }
    }
  }

  /// Handles what a peer sends on its streams, or says about the hub's streams.
  mutating func receive(
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
    case .latest:
      let room = valueRoom(of: store)
      withCourier(of: store, at: now, into: &actions) {
        $0.receive(message, room: room, at: $3, generator: &$1, into: &$2)
      }
    case .acknowledge(.messages, _), .goBack(.messages, _, _), .tombstones(.messages, _, _), .messages, .delivered,
      .acknowledgeLatest, .refuseLatest, .live:
      withCourier(of: store, at: now, into: &actions) { $0.receive(message, at: $3, generator: &$1, into: &$2) }
    case .acknowledge(.commands, _), .acknowledge(.samples, _), .goBack(.commands, _, _), .goBack(.samples, _, _),
      .tombstones(.verdicts, _, _), .verdicts:
      actions.append(.note("\(session.hello.deviceID) spoke of a stream that it does not have: dropped"))
    }
  }

  private mutating func acknowledgeVerdicts(of store: StoreID, through sequence: UInt64, at now: BusTime) {
    guard var stream = verdictStreams[store],
      stream.acknowledge(through: sequence, at: monotonic(at: now), generator: &generator)
    else { return }
    verdictStreams[store] = stream
    commits.add(
      [.acknowledge(stream.id, through: stream.acknowledged)], then: [], dueAt: now + writeDelayMax)
  }

  /// Moves the watermark of a stream over tombstones.
  private mutating func skip(_ stream: StreamID, from: UInt64, through: UInt64, at now: BusTime) {
    var watermark = watermarks[stream, default: Watermark()]
    guard through > watermark.sequence else { unacknowledged.insert(stream); return }
    guard watermark.reaches(from) else { return }
    watermark.skip(through: through)
    watermarks[stream] = watermark
    // The mark of a sample stream becomes durable with the samples that have gathered.
    if stream.kind == .samples { return samples.add(nil, stream: (stream, through), at: now) }
    let fallen = abandon(stream)
    let mark = watermark.mark
    commits.add([.setWatermark(stream, mark)] + fallen, then: [.durable(stream, mark), .acknowledge(stream)])
    judgeLate(at: now)
  }
}
