// What the holder of a key may do, and how the list of paired devices changes.
extension HubCore {
  /// The most sessions of one key, and the most stores and names of visitors that the hub keeps of it.
  static let (sessionsOfKeyMax, storesOfKeyMax) = (16, 64)

  // MARK: Permission

  /// Whether the hub handles a frame of this identity at all. The first use of an announced key replaces the old one.
  mutating func mayEnter(
    _ identity: ConnectionIdentity, with message: PeerMessage, on connection: ConnectionID, in turn: inout Turn
  ) -> Bool {
    let isPairing = if case .pair = message { true } else { false }
    switch members.entry(of: identity, isPairing: isPairing) {
    case .allowed: return true
    case .withNextKey(let device):
      switchKey(of: device, in: &turn)
      return true
    case .forbidden(let reason):
      forbid(identity, connection, reason, in: &turn)
      return false
    }
  }

  /// Refuses what an identity may not do.
  func forbid(
    _ identity: ConnectionIdentity, _ connection: ConnectionID, _ reason: String, in turn: inout Turn
  ) {
    turn.act(.forbade(identity, reason))
    refuse(connection, .forbidden, reason, in: &turn)
  }

  /// Why an identity may not join with a hello; `nil` if it may.
  func reasonToForbid(_ hello: Hello, by identity: ConnectionIdentity) -> String? {
    if let reason = members.reasonToForbid(hello, by: identity) { return reason }
    if case .key(let key) = identity, members.list.device(of: key)?.hasName(hello.deviceID) == true { return nil }
    return identity.mayJoin(as: hello.deviceID, of: user(of: hello.deviceID))
      ? nil : Self.belongsToAnother(hello.deviceID)
  }

  /// Notes what a paired device states of the list of devices and of the hub's next key. A version without a valid
  /// proof changes nothing: a wrong device could state any.
  mutating func hear(
    _ hello: Hello, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    if members.noteNextKey(hello, by: identity, wallSeconds: incarnation.wallSeconds(at: turn.now)) {
      turn.act(.useNextKey)
    }
    switch members.hear(hello, by: identity) {
    case .nothingNew: break
    case .unproven(let what): turn.act(.forbade(identity, what))
    case .proven(let what, let write):
      turn.write([write], then: [])
      turn.act(.forbade(identity, "\(what): \(Self.confirmList)"))
    }
  }

  /// Tells all paired devices with a session of a change of the list, once that is durable. A device that hears nothing
  /// is told in its next welcome.
  func tellMembers(in turn: inout Turn) {
    for (connection, session) in sessions.inOrder {
      guard case .key(let key) = session.identity, sessions.openStores.contains(session.hello.storeID) else { continue }
      tellPaired(key, on: connection, in: &turn)
    }
  }

  package static let confirmList =
    "the hub was restored from an older copy; look at busnode devices ls, revoke what is wrong, then: busnode devices confirm"

  /// Whether a key may have one more session, and a store or name that is new.
  func hasRoom(for hello: Hello, by identity: ConnectionIdentity) -> Bool {
    guard case .key = identity else { return true }
    let others = sessions.sessions.values.count { $0.identity == identity && $0.hello.storeID != hello.storeID }
    guard others < Self.sessionsOfKeyMax else { return false }
    return mail.owner(of: hello.storeID) != nil || mail.storeCount(of: identity) < Self.storesOfKeyMax
  }

  // MARK: Changes

  /// The paired devices.
  package var deviceList: DeviceList { members.report }

  /// Changes a paired device.
  mutating func carryOut(
    _ order: DeviceOrder, of key: KeyFingerprint, in turn: inout Turn
  ) -> InquiryReply {
    switch order {
    case .forget:
      guard members.list.device(of: key) == nil else { return .refused(.invalid, "its key is valid: revoke it first") }
      let writes = members.forget(key)
      return writes.isEmpty ? .refused(.noDevice) : .durably(.done(nil), after: writes)
    case .revoke:
      guard members.list.device(of: key) != nil else { return .refused(.noDevice) }
      return .durably(.done(nil), after: revoke(key, in: &turn))
    case .sources(let sources):
      guard members.list.device(of: key) != nil else { return .refused(.noDevice) }
      let (writes, refusal) = members.setSources(sources, of: key)
      return refusal.map { .refused(.invalid, $0) } ?? .durably(.done(nil), after: writes)
    case .rename(let name):
      guard let device = members.list.device(of: key) else { return .refused(.noDevice) }
      if let reason = name.reasonNotToPair { return .refused(.invalid, reason) }
      guard !commands.control.phase.isOn, !commands.unjudged.values.contains(where: { $0.deviceID == device.deviceID })
      else {
        return .refused(
          .invalid, "\(device.deviceID) is not renamed during a run, nor while commands of it wait: try again later")
      }
      guard name != settings.deviceID else { return .refused(.invalid, "\(name) is the name of the hub itself") }
      guard members.list.holder(of: name).map({ $0.key == device.key }) ?? true,
        mail.devices[name].map({ $0.identity == .key(device.key) }) ?? true
      else { return .refused(.invalid, "\(name) is the name of another device") }
      closeSessions(of: [device.key], in: &turn)
      return .durably(.done(nil), after: members.rename(device, to: name) + mail.rename(device.deviceID, to: name))
    }
  }

  /// Takes back a key. Its connections end at once, before that is durable: nothing is sent to it any more.
  ///
  /// - Returns: the writes.
  mutating func revoke(_ key: KeyFingerprint, in turn: inout Turn) -> [StoreOperation] {
    guard let device = members.list.device(of: key) else { return [] }
    let writes = members.revoke(device.key)
    return writes + dropMember(device, in: &turn)
  }

  /// Ends everything that the hub has under way with a device whose key is not valid any more.
  mutating func dropMember(
    _ device: PairedDevice, in turn: inout Turn
  ) -> [StoreOperation] {
    turn.act(.admit(members.admittedKeys))
    turn.act(.cutConnections)
    let keys = [device.key] + (device.nextKey.map { [$0] } ?? [])
    closeSessions(of: keys, in: &turn)
    // What has its verdict stands. The store ids and marks stay, so that an old command never counts again.
    let settlement = commands.rejectAll(of: device.deviceID)
    write(settlement, in: &turn)
    judgeLate(in: &turn)
    return keys.flatMap { mail.stores(ownedBy: .key($0)) }.flatMap { [commands.dropVerdicts(of: $0), mail.drop($0)] }
  }

  /// Closes the sessions of keys.
  mutating func closeSessions(of keys: [KeyFingerprint], in turn: inout Turn) {
    for (connection, session) in sessions.inOrder {
      guard case .key(let key) = session.identity, keys.contains(key) else { continue }
      close(connection, in: &turn)
    }
  }

  /// Closes the sessions of a name whose identity is not that of the key that it is paired with now.
  mutating func closeSessions(
    named name: DeviceID, but key: KeyFingerprint, in turn: inout Turn
  ) {
    for (connection, session) in sessions.inOrder where session.hello.deviceID == name && session.identity != .key(key)
    {
      close(connection, in: &turn)
    }
  }

  // MARK: Keys that are shut out for a while

  /// Notes what a key burdens the transport with. Too much shuts the key out: its connections end, and with them what
  /// they hold.
  mutating func note(_ burden: ConnectionBurden, by identity: ConnectionIdentity, in turn: inout Turn) {
    guard let reason = members.note(burden, by: identity, at: turn.now), case .key(let key) = identity else { return }
    turn.act(.forbade(identity, reason))
    turn.act(.admit(members.admittedKeys))
    turn.act(.cutConnections)
    closeSessions(of: [key], in: &turn)
  }

  // MARK: Another key of a device

  /// A device announces its next key. It holds the valid one, as its connection shows.
  mutating func announce(
    _ next: KeyFingerprint, by identity: ConnectionIdentity, on connection: ConnectionID, in turn: inout Turn
  ) {
    guard case .key(let key) = identity, let device = members.list.device(of: key) else {
      return forbid(identity, connection, "only a paired device announces a key", in: &turn)
    }
    let writes: [StoreOperation]
    switch members.announce(next, of: device, at: turn.now) {
    case .known: return turn.write([], then: [.tellPaired(key, connection)])
    case .refused(let code, let reason): return refuse(connection, code, reason, in: &turn)
    case .noted(let operations): writes = operations
    }
    turn.act(.admit(members.admittedKeys))
    // A session is told of each change of the list.
    let isTold = sessions.session(on: connection, by: identity).map { sessions.openStores.contains($0.hello.storeID) }
    turn.write(writes, then: isTold == true ? [] : [.tellPaired(key, connection)])
  }

  /// The first use of a device's announced key: the old key and its connections end.
  private mutating func switchKey(of device: PairedDevice, in turn: inout Turn) {
    guard let next = device.nextKey else { return }
    closeSessions(of: [device.key], in: &turn)
    let writes = members.switchKey(to: next) + mail.reown(.key(device.key), to: .key(next))
    turn.write(writes, then: [])
    turn.act(.admit(members.admittedKeys))
    turn.act(.cutConnections)
  }

  // MARK: Another key of the hub

  /// The hub announces another key, or has replaced its own at once, so that no device can connect any more.
  mutating func rotate(
    to identity: BusIdentity, isNow: Bool, _ number: UInt64, in turn: inout Turn
  ) {
    members.rotate(to: identity)
    guard isNow else {
      // The devices are told in the welcomes of their next sessions.
      turn.act(.cutConnections)
      return give(.atOnce(.done(nil)), to: number, in: &turn)
    }
    var writes: [StoreOperation] = []
    for device in members.list.devices where !device.isRevoked { writes += revoke(device.key, in: &turn) }
    turn.act(.cutConnections)
    give(.durably(.done(nil), after: writes), to: number, in: &turn)
  }
}
