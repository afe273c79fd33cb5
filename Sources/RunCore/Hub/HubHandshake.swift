// Who is who: a device's greeting, whether both sides have one history, and how far its streams are.
extension HubCore {
  /// Whether a peer's history and the hub's are one. Otherwise the peer is told to begin anew with a new store (and
  /// `false`), whichever side has lost some: that heals this pair, and says nothing of any other. A device with another
  /// store than before is owed by that one what is owed to it.
  mutating func join(
    _ hello: Hello, on connection: ConnectionID, at now: BusTime, into actions: inout [Action]
  ) -> Bool {
    if let reason = reasonToBeginAnew(hello) {
      refuse(connection, .storeRegressed, reason, into: &actions)
      _ = sessions.close(connection)
      return false
    }
    guard makeRoom(for: hello.deviceID) else {
      refuse(connection, .busy, "the hub knows \(Self.devicesMax) devices, and each has something here", into: &actions)
      _ = sessions.close(connection)
      return false
    }
    meet(hello, at: now)
    return true
  }

  private func reasonToBeginAnew(_ hello: Hello) -> String? {
    guard let hub = hello.hub else {
      // A store of before it met this hub, which has something of it all the same: what was told it is not known there.
      return hasHistory(with: hello) ? Self.peerLost : nil
    }
    guard hub == storeID else { return nil }
    if isGivenUp(hello) { return "the device came with another store since: it begins anew" }
    let isLost = [StreamID.Kind.commands, .samples, .messages].contains { kind in
      received(hello.storeID, kind).sequence < hello.acknowledged[kind] ?? 0
    }
    let standings = [
      standing(verdictStreams[hello.storeID], hello, .verdicts),
      standing(couriers[hello.storeID]?.stream, hello, .messages),
    ]
    // What one device says of this hub's store concerns that device alone: it may be wrong.
    if isLost || standings.contains(.senderLost) {
      return "the hub has less of the streams between them than the device says: the device begins anew"
    }
    return standings.contains(.receiverLost) ? Self.peerLost : nil
  }

  private static let peerLost = "the device's store has lost history: it begins anew"

  /// The device has come with another store since this one was here, and what was owed to it went on to that one: it is
  /// not this hub that has lost its history.
  private func isGivenUp(_ hello: Hello) -> Bool {
    guard let known = devices[hello.deviceID], known.storeID != hello.storeID else { return false }
    return couriers[hello.storeID] == nil
      && !(hello.received.isEmpty && hello.acknowledged.isEmpty && !hasHistory(with: hello))
  }

  /// Something went between this hub and a store that remembers no hub, either way.
  private func hasHistory(with hello: Hello) -> Bool {
    !received(from: hello.storeID).isEmpty
      || standing(verdictStreams[hello.storeID], hello, .verdicts) != .good
      || standing(couriers[hello.storeID]?.stream, hello, .messages) != .good
  }

  private func standing(_ stream: OutboundStream?, _ hello: Hello, _ kind: StreamID.Kind) -> OutboundStream.HistoryCheck
  {
    let mark = hello.received[kind] ?? .start
    guard var stream else { return mark.sequence > 0 ? .senderLost : .good }
    return stream.open(received: mark)
  }

  private mutating func meet(_ hello: Hello, at now: BusTime) {
    let known = devices[hello.deviceID]
    let device = KnownDevice(
      deviceID: hello.deviceID, role: hello.role, storeID: hello.storeID, heardAt: now)
    devices[hello.deviceID] = device
    if couriers[hello.storeID] == nil { addCourier(for: device, after: known, at: now) }
    couriers[hello.storeID]?.belong(to: hello.deviceID)
    guard known?.storeID != device.storeID || known?.role != device.role else { return }
    commits.add([.meet(device)], then: [])
    letGoOfLostStores(at: now)
  }

  private mutating func addCourier(for device: KnownDevice, after known: KnownDevice?, at now: BusTime) {
    let store = device.storeID
    let id = OutboundStreamID(receiver: store, kind: .messages)
    let sender = StreamID(sender: store, kind: .messages)
    let old = known.map(\.storeID)
    // Two nodes of one name at a time: the first keeps what is owed to it.
    if let old, sessions.connection(of: old) == nil, var courier = couriers.removeValue(forKey: old) {
      let verdicts = OutboundStreamID(receiver: old, kind: .verdicts)
      commits.add([.renumber(courier.stream.id, to: id), .drop(verdicts)] + forgetMarks(of: old), then: [])
      verdictStreams[old] = nil
      commits.add(courier.renumber(to: id, from: sender), then: [])
      couriers[store] = courier
    } else {
      couriers[store] = Courier(
        device: device.deviceID, rowDevice: device.deviceID,
        stream: OutboundStream(id, bounds: .messages, durabilityGeneration: nextEpoch()),
        inbox: InboundStream(sender, durable: durable[sender] ?? .start), isHandling: isHandling)
    }
  }

  /// A chain that waits for its stop by a store that no device has any more waits in vain: it is judged without. A store
  /// that still has a session can bring it.
  mutating func letGoOfLostStores(at now: BusTime) {
    var orphans: Set<StoreID> = []
    for press in unjudged.values where !hasHeir(press) { orphans.insert(press.stream.sender) }
    guard !orphans.isEmpty else { return }
    let present = Set(devices.values.map(\.storeID)).union([storeID])
    for store in orphans.subtracting(present).sorted()
    where sessions.connection(of: store) == nil {
      let fallen = abandon(StreamID(sender: store, kind: .commands))
      guard !fallen.isEmpty else { continue }
      commits.add(fallen, then: [])
      judgeLate(at: now)
    }
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
}
