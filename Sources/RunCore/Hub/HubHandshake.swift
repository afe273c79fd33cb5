// The handshake: a peer's hello, the check that both sides share one history, and the marks of its streams.
extension HubCore {
  /// Checks that a peer and the hub share one history, and registers the peer's device. If they do not, whichever side
  /// lost history, the peer is told to begin anew with a new store; no other peer is affected. Messages that are owed
  /// to a device's old store go to its new one.
  ///
  /// - Returns: whether the peer has joined.
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
      // The peer's store names no hub, yet this hub has exchanged data with it: the store lost what it was told.
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
    // A device that says more than the hub has may be wrong, so only this device begins anew.
    if isLost || standings.contains(.senderLost) {
      return "the hub has less of the streams between them than the device says: the device begins anew"
    }
    return standings.contains(.receiverLost) ? Self.peerLost : nil
  }

  private static let peerLost = "the device's store has lost history: it begins anew"

  /// Whether the device has used another store since this one, and the messages owed to this one went there. Then it is
  /// not the hub that lost history.
  private func isGivenUp(_ hello: Hello) -> Bool {
    guard let known = devices[hello.deviceID], known.storeID != hello.storeID else { return false }
    return couriers[hello.storeID] == nil
      && !(hello.received.isEmpty && hello.acknowledged.isEmpty && !hasHistory(with: hello))
  }

  /// Whether anything was exchanged, in either direction, between this hub and a store that names no hub.
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
    // If the old store still has a session, two nodes use one name, and the first keeps what is owed to it.
    if let old, sessions.connection(of: old) == nil, var courier = couriers.removeValue(forKey: old) {
      let verdicts = OutboundStreamID(receiver: old, kind: .verdicts)
      commits.add([.renumber(courier.stream.id, to: id), .drop(verdicts)] + forgetMarks(of: old), then: [])
      verdictStreams[old] = nil
      commits.add(courier.renumber(to: id, from: sender), then: [])
      couriers[store] = courier
    } else {
      couriers[store] = Courier(
        device: device.deviceID, rowDevice: device.deviceID,
        stream: OutboundStream(id, bounds: .messages, durabilityGeneration: nextDurabilityGeneration()),
        inbox: InboundStream(sender, durable: durable[sender] ?? .start), isHandling: isHandling)
    }
  }

  /// Judges held runs without their stop if no device uses their store any more. A store that still has a session can
  /// bring the stop.
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

  /// How far the hub has durably processed a sender's streams.
  func received(from store: StoreID) -> [StreamID.Kind: StreamMark] {
    var marks: [StreamID.Kind: StreamMark] = [:]
    for kind in [StreamID.Kind.commands, .samples, .messages] {
      let mark = received(store, kind)
      if mark.sequence > 0 { marks[kind] = mark }
    }
    return marks
  }

  /// Whether everything received from a sender is durable. Samples of it that wait for the next tick are committed now.
  mutating func isDurable(_ store: StoreID, at now: BusTime) -> Bool {
    let isBehind = [StreamID.Kind.commands, .samples].contains { kind in
      let stream = StreamID(sender: store, kind: kind)
      return watermarks[stream]?.sequence ?? 0 > durable[stream]?.sequence ?? 0
    }
    if isBehind, samples.streams[StreamID(sender: store, kind: .samples)] != nil { commitSamples(at: now) }
    return !isBehind
  }

  /// Sends the acknowledgements that are due. ``sendVerdicts(to:at:into:)`` has removed those that a verdict implies.
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
