// The handshake: a peer's hello, the check that both sides share one history, and the marks of its streams.
extension HubCore {
  /// Checks that a peer and the hub share one history, and registers the peer's device. If they do not, whichever side
  /// lost history, the peer is told to begin anew with a new store; no other peer is affected. Messages that are owed
  /// to a device's old store go to its new one.
  ///
  /// - Returns: whether the peer has joined.
  mutating func join(
    _ hello: Hello, on connection: ConnectionID, by identity: ConnectionIdentity, in turn: inout Turn
  ) -> Bool {
    if let reason = reasonToBeginAnew(hello) {
      _ = sessions.close(connection)
      refuse(connection, .storeRegressed, reason, in: &turn)
      return false
    }
    guard makeRoom(for: hello.deviceID, in: &turn) else {
      _ = sessions.close(connection)
      refuse(connection, .busy, "the hub knows \(Self.devicesMax) devices, and each has something here", in: &turn)
      return false
    }
    meet(hello, by: identity, in: &turn)
    return true
  }

  private func reasonToBeginAnew(_ hello: Hello) -> String? {
    guard let hub = hello.hub else {
      // The peer's store names no hub, yet this hub has exchanged data with it: the store lost what it was told.
      return hasHistory(with: hello) ? Self.peerLost : nil
    }
    guard hub == storeID else { return nil }
    if isGivenUp(hello) { return "the device came with another store since: it begins anew" }
    let received = received(from: hello.storeID)
    let isLost = [StreamID.Kind.commands, .samples, .messages].contains { kind in
      (received[kind]?.sequence ?? 0) < hello.acknowledged[kind] ?? 0
    }
    let standings = [
      commands.check(hello.received[.verdicts] ?? .start, of: hello.storeID),
      mail.check(hello.received[.messages] ?? .start, of: hello.storeID),
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
    guard let known = mail.devices[hello.deviceID], known.storeID != hello.storeID else { return false }
    return !mail.hasStore(hello.storeID)
      && !(hello.received.isEmpty && hello.acknowledged.isEmpty && !hasHistory(with: hello))
  }

  /// Whether anything was exchanged, in either direction, between this hub and a store that names no hub.
  private func hasHistory(with hello: Hello) -> Bool {
    !received(from: hello.storeID).isEmpty
      || commands.check(hello.received[.verdicts] ?? .start, of: hello.storeID) != .good
      || mail.check(hello.received[.messages] ?? .start, of: hello.storeID) != .good
  }

  private mutating func meet(_ hello: Hello, by identity: ConnectionIdentity, in turn: inout Turn) {
    let renamed = mail.gather(identity, under: hello.deviceID)
    if !renamed.isEmpty { turn.write(renamed, then: []) }
    let known = mail.devices[hello.deviceID]
    let device = KnownDevice(
      deviceID: hello.deviceID, role: hello.role, storeID: hello.storeID, heardAt: turn.now, identity: identity)
    mail.meet(device)
    if let write = mail.own(hello.storeID, by: identity) { turn.write([write], then: []) }
    let left = known.map(\.storeID).flatMap { sessions.connection(of: $0) == nil ? $0 : nil }
    if case .inherited(let rows, let values) = mail.arrive(hello.storeID, of: hello.deviceID, earlier: left), let left {
      // What its newest values wait for concerns the new store; a value that it sent comes again.
      turn.moveValues(from: left, to: hello.storeID)
      turn.write(
        rows + [commands.dropVerdicts(of: left)] + forgetMarks(of: left) + values + mail.disown(left), then: [])
    }
    guard known?.storeID != device.storeID || known?.role != device.role || known?.identity != identity else { return }
    turn.write([.meet(device)], then: [])
    letGoOfLostStores(in: &turn)
  }

  /// Judges held runs without their stop if no device uses their store any more. A store that still has a session can
  /// bring the stop.
  mutating func letGoOfLostStores(in turn: inout Turn) {
    var orphans: Set<StoreID> = []
    for press in commands.unjudged.values where !hasHeir(press) { if let store = press.store { orphans.insert(store) } }
    guard !orphans.isEmpty else { return }
    for store in orphans.subtracting(mail.presentStores).sorted()
    where sessions.connection(of: store) == nil {
      let fallen = commands.abandon(StreamID(sender: store, kind: .commands))
      guard !fallen.isEmpty else { continue }
      turn.write(fallen, then: [])
      judgeLate(in: &turn)
    }
  }

  /// Whether the device that pressed has a new store that sent this command again. The rest of the run can arrive from
  /// that store.
  private func hasHeir(_ press: AcceptedCommand) -> Bool {
    mail.devices[press.deviceID].map { commands.isClaimed(press.command.id, by: $0.storeID) } ?? false
  }
}
