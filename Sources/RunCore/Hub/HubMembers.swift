// What the holder of a key may do, and how the list of paired devices changes.
extension HubCore {
  /// The most sessions of one key, and the most stores and names of visitors that the hub keeps of it.
  static let (sessionsOfKeyMax, storesOfKeyMax) = (16, 64)

  package static let pairsNobody =
    "this hub has no listener for paired devices: start it with --listen tcp://ADDRESS:PORT"

  // MARK: Permission

  /// Whether the hub handles a frame of this identity at all. The first use of an announced key replaces the old one.
  mutating func mayEnter(
    _ identity: ConnectionIdentity, with message: PeerMessage, on connection: ConnectionID, in turn: inout Turn
  ) -> Bool {
    switch identity {
    case .localOwner, .link, .anyone: return true
    case .candidate:
      if case .pair = message { return true }
      forbid(identity, connection, "this key is not paired: ask to be paired", in: &turn)
    case .key(let key):
      if let device = members.device(of: key) {
        if suspensions.keys.contains(key) {
          forbid(identity, connection, Self.shutOut, in: &turn)
          return false
        }
        if device.nextKey == key { switchKey(of: device, in: &turn) }
        return true
      }
      forbid(identity, connection, "this key was taken back: pair the device again", in: &turn)
    }
    return false
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
    if let reason = members.reasonToForbid(identity, name: hello.deviceID) { return reason }
    if case .key(let key) = identity, let own = members.device(of: key) {
      if own.hasName(hello.deviceID) {
        return own.role == hello.role ? nil : "\(own.deviceID) is paired as a \(own.role), not as a \(hello.role)"
      }
      // A shell of the paired machine, which looks on under a name of its own.
      guard hello.role == .shell else { return "this key is paired as \(own.deviceID), not as \(hello.deviceID)" }
    }
    return identity.mayJoin(as: hello.deviceID, of: user(of: hello.deviceID))
      ? nil : Self.belongsToAnother(hello.deviceID)
  }

  /// Why an identity may not press as the device of a request; `nil` if it may. The name on a stream was checked with
  /// its hello.
  func reasonToForbid(_ incoming: IncomingCommand) -> String? {
    guard case .request(_, let device) = incoming.origin else { return nil }
    if let reason = members.reasonToForbid(incoming.identity, name: device) { return reason }
    if case .key(let key) = incoming.identity, members.device(of: key)?.hasName(device) == true { return nil }
    return incoming.identity.mayPress(as: device, of: user(of: device)) ? nil : Self.belongsToAnother(device)
  }

  /// Why a command gets no verdict but a rejection; `nil` if it is judged.
  func reasonToReject(_ incoming: IncomingCommand) -> String? {
    if !members.mayUse(incoming.command.source, incoming.identity) {
      return "\(incoming.deviceID) may not press as \(incoming.command.source)"
    }
    guard case .spool(let device) = incoming.origin else { return nil }
    return members.reasonToForbid(.localOwner, name: device)
  }

  /// Rejects a command that its sender may not give. A stream goes on behind it, and a spooled one is removed.
  mutating func reject(
    _ incoming: IncomingCommand, _ reason: String, in turn: inout Turn
  ) {
    turn.act(.forbade(incoming.identity, reason))
    let command = incoming.command
    switch incoming.origin {
    case .request(let connection, _):
      reply(.receipt(Receipt(rejection(of: command, .forbidden), at: turn.now)), on: connection, in: &turn)
    case .ownButton: break
    case .spool:
      book.noteSpooled(command.id)
      write(forbidden(incoming, .request, sequence: 1, at: turn.now), in: &turn)
    case .stream(let session, _, let sequence, _):
      let store = session.hello.storeID
      let mark = move(
        StreamID(sender: store, kind: .commands), to: StreamMark(sequence: sequence, id: command.id.message))
      turn.write([mark.operation], then: mark.then)
      write(forbidden(incoming, .store(store), sequence: sequence, at: turn.now), in: &turn)
    }
  }

  private func forbidden(
    _ incoming: IncomingCommand, _ origin: AcceptedCommand.Origin, sequence: UInt64, at now: BusTime
  ) -> Settlement {
    let press = AcceptedCommand(
      command: incoming.command, deviceID: incoming.deviceID, origin: origin, sequence: sequence, pressedAt: now,
      arrivedAt: now)
    var settlement = Settlement()
    settlement.answers = [.init(verdict: rejection(of: incoming.command, .forbidden), press: press)]
    return settlement
  }

  /// The hello with the device that the sender counts as: a machine that was renamed may still use its former name.
  func counted(_ hello: Hello, by identity: ConnectionIdentity) -> Hello {
    guard case .key(let key) = identity, let own = members.device(of: key), own.hasName(hello.deviceID) else {
      return hello
    }
    var hello = hello
    hello.deviceID = own.deviceID
    return hello
  }

  /// Notes what a paired device states of the list of devices and of the hub's next key. A version without a valid
  /// proof changes nothing: a wrong device could state any.
  mutating func hear(
    _ hello: Hello, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard case .key = identity else { return }
    noteNextKey(hello, by: identity, in: &turn)
    guard members.isNews(hello.listVersion) else { return }
    let version = "version \(hello.listVersion) of the list of devices, and this hub has \(members.version)"
    guard isProven(hello) else {
      return turn.act(.forbade(identity, "\(hello.deviceID) states without a proof \(version): ignored"))
    }
    turn.write([members.hear(hello.listVersion)], then: [])
    turn.act(.forbade(identity, "\(hello.deviceID) was told \(version): \(Self.confirmList)"))
  }

  /// Whether this hub has handed out the version that a hello states. A device that was away while the hub changed its
  /// key has a proof for the former one.
  private func isProven(_ hello: Hello) -> Bool {
    guard let bus, let proof = hello.listProof else { return false }
    return [bus.key, bus.formerKey].contains {
      $0.flatMap { settings.listProof(hello.listVersion, $0) } == proof
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

  /// What the holder of a key is told about its bus; `nil` for other identities.
  func enrolment(of identity: ConnectionIdentity) -> Enrolment? {
    guard let bus, case .key(let key) = identity, let device = members.device(of: key) else { return nil }
    return Enrolment(
      busID: bus.busID, deviceID: device.deviceID, sources: device.sources, listVersion: members.durableVersion,
      listProof: settings.listProof(members.durableVersion, bus.key), addresses: bus.addresses, nextHubKey: bus.nextKey,
      nextDeviceKey: members.durableNextKey(of: device))
  }

  // MARK: Changes

  /// The paired devices.
  package var deviceList: DeviceList {
    DeviceList(devices: members.devices, version: members.version, isBehind: members.isBehind)
  }

  /// Changes a paired device.
  mutating func carryOut(
    _ order: DeviceOrder, of key: KeyFingerprint, in turn: inout Turn
  ) -> InquiryReply {
    switch order {
    case .forget:
      guard members.device(of: key) == nil else { return .refused("its key is valid: revoke it first") }
      let writes = members.forget(key)
      return writes.isEmpty ? .refused(Self.noDevice) : .durably(.done(nil), after: writes)
    case .revoke:
      guard members.device(of: key) != nil else { return .refused(Self.noDevice) }
      return .durably(.done(nil), after: revoke(key, in: &turn))
    case .sources(let sources):
      guard members.device(of: key) != nil else { return .refused(Self.noDevice) }
      guard !sources.isEmpty, sources.count <= PairedDevice.sourcesMax else {
        return .refused("a device has 1 to \(PairedDevice.sourcesMax) sources")
      }
      return .durably(.done(nil), after: members.setSources(sources, of: key))
    case .rename(let name):
      guard let device = members.device(of: key) else { return .refused(Self.noDevice) }
      if let reason = name.reasonNotToPair { return .refused(reason) }
      guard !arbiter.control.phase.isOn, !book.unjudged.values.contains(where: { $0.deviceID == device.deviceID })
      else {
        return .refused(
          "\(device.deviceID) is not renamed during a run, nor while commands of it wait: try again later")
      }
      guard name != settings.deviceID, members.holder(of: name).map({ $0.key == device.key }) ?? true,
        mail.devices[name].map({ $0.identity == .key(device.key) }) ?? true
      else { return .refused("\(name) is the name of another device") }
      closeSessions(of: [device.key], in: &turn)
      paces.forget(device.deviceID)
      return .durably(
        .done(nil), after: members.rename(device.key, to: name) + mail.rename(device.deviceID, to: name))
    }
  }

  static let noDevice = "no device is paired with that key"

  /// Takes back a key. Its connections end at once, before that is durable: nothing is sent to it any more.
  ///
  /// - Returns: the writes.
  mutating func revoke(_ key: KeyFingerprint, in turn: inout Turn) -> [StoreOperation] {
    guard let device = members.device(of: key) else { return [] }
    let writes = members.revoke(device.key)
    return writes + dropMember(device, in: &turn)
  }

  /// Ends everything that the hub has under way with a device whose key is not valid any more.
  mutating func dropMember(
    _ device: PairedDevice, in turn: inout Turn
  ) -> [StoreOperation] {
    paces.forget(device.deviceID)
    turn.act(.admit(admittedKeys))
    turn.act(.cutConnections)
    let keys = [device.key] + (device.nextKey.map { [$0] } ?? [])
    closeSessions(of: keys, in: &turn)
    // What has its verdict stands. The store ids and marks stay, so that an old command never counts again.
    let settlement = arbiter.reject(.forbidden) { $0.origin != .ownButton && $0.deviceID == device.deviceID }
    write(settlement, in: &turn)
    judgeLate(in: &turn)
    return keys.flatMap { mail.stores(ownedBy: .key($0)) }.flatMap { [verdicts.drop($0), mail.drop($0)] }
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

  private static let shutOut = "it subscribed to too many topics that do not exist: it is shut out for ten minutes"

  /// The keys of paired devices that may connect now.
  var admittedKeys: Set<KeyFingerprint> { members.admittedKeys.subtracting(suspensions.keys) }

  /// Notes a subscription that matches no topic. Too many of them shut the key out: its connections end, and with them
  /// the subscriptions.
  mutating func noteUnknownTopic(by identity: ConnectionIdentity, in turn: inout Turn) {
    guard case .key(let key) = identity, members.device(of: key) != nil,
      suspensions.note(key, at: monotonic(at: turn.now))
    else { return }
    turn.act(.forbade(identity, Self.shutOut))
    turn.act(.admit(admittedKeys))
    turn.act(.cutConnections)
    closeSessions(of: [key], in: &turn)
  }

  /// Lets in keys again whose time is over.
  mutating func endSuspensions(in turn: inout Turn) {
    if suspensions.end(at: monotonic(at: turn.now)) { turn.act(.admit(admittedKeys)) }
  }

  // MARK: Another key of a device

  /// Whether a key is the hub's own, earlier or next one, or none at all.
  func isOfHub(_ key: KeyFingerprint) -> Bool {
    key.bytes.allSatisfy { $0 == 0 } || [bus?.key, bus?.formerKey, bus?.nextKey].contains(key)
  }

  /// The key of the device that waits for the person's decision.
  private var candidateKey: KeyFingerprint? {
    if case .asking(let candidate) = pairing.stage { candidate.key } else { nil }
  }

  /// A device announces its next key. It holds the valid one, as its connection shows.
  mutating func announce(
    _ next: KeyFingerprint, by identity: ConnectionIdentity, on connection: ConnectionID, in turn: inout Turn
  ) {
    guard case .key(let key) = identity, let device = members.device(of: key) else {
      return forbid(identity, connection, "only a paired device announces a key", in: &turn)
    }
    guard !isOfHub(next), next != candidateKey else {
      return refuse(connection, .forbidden, "that key is another's: make another one", in: &turn)
    }
    guard device.nextKey != next else { return turn.write([], then: [.tellPaired(key, connection)]) }
    guard admits(.newKeys, identity, at: turn.now) else {
      return refuse(connection, .tooFast, Self.tooFast(.newKeys), in: &turn)
    }
    let writes = members.announce(next, of: key)
    guard !writes.isEmpty else {
      return refuse(connection, .forbidden, "that key is paired already: make another one", in: &turn)
    }
    turn.act(.admit(admittedKeys))
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
    turn.act(.admit(admittedKeys))
    turn.act(.cutConnections)
  }

  // MARK: Another key of the hub

  /// How long the hub waits for devices that do not know its next key: 30 days, in seconds.
  static let nextKeyPatience: Double = 30 * 86_400

  /// The hub announces another key, or has replaced its own at once, so that no device can connect any more.
  mutating func rotate(
    to identity: BusIdentity, isNow: Bool, _ number: UInt64, in turn: inout Turn
  ) {
    bus = identity
    knowingNextKey = []
    guard isNow else {
      // The devices are told in the welcomes of their next sessions.
      turn.act(.cutConnections)
      return give(.atOnce(.done(nil)), to: number, in: &turn)
    }
    var writes: [StoreOperation] = []
    for device in members.devices where !device.isRevoked { writes += revoke(device.key, in: &turn) }
    turn.act(.cutConnections)
    give(.durably(.done(nil), after: writes), to: number, in: &turn)
  }

  /// Notes whether a paired device keeps the hub's next key. When all do, or after 30 days, the hub uses it.
  private mutating func noteNextKey(
    _ hello: Hello, by identity: ConnectionIdentity, in turn: inout Turn
  ) {
    guard let bus, let next = bus.nextKey, case .key(let key) = identity, let device = members.device(of: key) else {
      return
    }
    if hello.nextHubKey == next { knowingNextKey.insert(device.key) }
    let isOver = incarnation.wallSeconds(at: turn.now) - bus.nextKeySince > Self.nextKeyPatience
    guard isOver || members.devices.allSatisfy({ $0.isRevoked || knowingNextKey.contains($0.key) }) else { return }
    turn.act(.useNextKey)
  }
}
