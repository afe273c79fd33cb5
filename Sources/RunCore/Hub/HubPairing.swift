// Pairing: a device shows the token of an offer, and the person at the hub decides (docs/protocol.md, "Pairing").
extension HubCore {
  /// Opens pairing for a token.
  mutating func openPairing(_ token: [UInt8], _ number: UInt64, in turn: inout Turn) {
    guard let bus, !bus.pairingAddresses.isEmpty else {
      return give(.refused(Self.pairsNobody), to: number, in: &turn)
    }
    pairing.open(token: token, until: turn.now + settings.clock.speed.bus(fromReal: PairingDesk.openFor))
    turn.act(.listenForPairing(true))
    let offer = PairingOffer(hubKey: bus.key, token: token, addresses: bus.pairingAddresses)
    give(.atOnce(.pairing(PairingReport(stage: pairing.stage, offer: offer))), to: number, in: &turn)
  }

  /// How far the pairing that was opened last has come.
  package var pairingStage: PairingStage { pairing.stage }

  /// Ends pairing.
  mutating func closePairing(_ end: PairingEnd, in turn: inout Turn) {
    guard pairing.isOpen else { return }
    pairing.close(end)
    turn.act(.listenForPairing(false))
  }

  /// A device asks to be paired. A key that is paired already is told so, with or without a token.
  mutating func receive(
    _ request: PairingRequest, by identity: ConnectionIdentity, on connection: ConnectionID, in turn: inout Turn
  ) {
    let key: KeyFingerprint
    switch identity {
    case .key(let own), .candidate(let own): key = own
    case .localOwner, .link, .anyone:
      return forbid(identity, connection, "only the holder of a key can be paired", in: &turn)
    }
    if members.device(of: key) != nil { return turn.write([], then: [.tellPaired(key, connection)]) }
    guard !isOfHub(key) else { return forbid(identity, connection, Self.keyOfHub, in: &turn) }
    // The token is not used up: the device asks again under another name.
    if let reason = request.deviceID.reasonNotToPair {
      turn.act(.forbade(identity, reason))
      return answer(.refused(reason), on: connection, in: &turn)
    }
    let wasOpen = pairing.isOpen
    let holder = members.holder(of: request.deviceID)
    switch pairing.present(request, by: key, isNameTaken: holder != nil, on: connection) {
    case .wait: answer(.waiting, on: connection, in: &turn)
    case .refuse(let reason):
      turn.act(.forbade(identity, reason))
      answer(.refused(reason), on: connection, in: &turn)
      if wasOpen, !pairing.isOpen { turn.act(.listenForPairing(false)) }
    }
  }

  /// Carries out an order of the person at the hub.
  mutating func carryOut(
    _ order: PairingOrder, in turn: inout Turn
  ) -> InquiryReply {
    switch order {
    case .open: return .refused(Self.pairsNobody)
    case .status(let token):
      // A hub that no device can be paired with says so, before a person tries.
      guard let bus, !bus.pairingAddresses.isEmpty else { return .refused(Self.pairsNobody) }
      return .atOnce(.pairing(PairingReport(stage: token.map(pairing.stage(of:)) ?? pairing.stage)))
    case .close(let token):
      if case .closed = pairing.stage(of: token) {} else { closePairing(.closed, in: &turn) }
      return .atOnce(.pairing(PairingReport(stage: pairing.stage(of: token))))
    case .refuse(let key, let token):
      guard let connection = pairing.decide(key, of: token, .refused) else { return .refused(nobodyAsks(token)) }
      answer(.refused("the person at the hub refused"), on: connection, in: &turn)
      turn.act(.listenForPairing(false))
      return .atOnce(.pairing(PairingReport(stage: pairing.stage)))
    case .admit(let key, let token, let name, let sources, let replaces):
      return admit(key, of: token, as: name, sources, replaces: replaces, in: &turn)
    }
  }

  static let keyOfHub = "that key is the hub's own, or none: the device makes another one"

  private func nobodyAsks(_ token: [UInt8]) -> String {
    if case .closed(.replaced) = pairing.stage(of: token) {
      return "pairing was opened again meanwhile, with another line: this one is over"
    }
    return "no device with that key asks to be paired"
  }

  /// Pairs the candidate. What that replaces ends in the same commit.
  private mutating func admit(
    _ key: KeyFingerprint, of token: [UInt8], as name: DeviceID, _ sources: Set<ControlSource>, replaces: Bool,
    in turn: inout Turn
  ) -> InquiryReply {
    guard case .asking(let candidate) = pairing.stage(of: token), candidate.key == key else {
      return .refused(nobodyAsks(token))
    }
    // While it waited, its key may have become that of a device.
    guard members.device(of: key) == nil, !isOfHub(key) else { return .refused("its key stands for another device") }
    guard name != settings.deviceID else { return .refused("\(name) is the name of the hub itself") }
    if let reason = name.reasonNotToPair { return .refused(reason) }
    guard !sources.isEmpty, sources.count <= PairedDevice.sourcesMax else {
      return .refused("a device has 1 to \(PairedDevice.sourcesMax) sources")
    }
    let holder = members.holder(of: name)
    guard holder == nil || replaces else { return .refused("\(name) is paired with another key") }
    guard holder != nil || !members.isFull else {
      return .refused("\(Members.devicesMax) devices are paired, which is the most: revoke one first")
    }
    guard let connection = pairing.decide(key, of: token, .paired) else { return .refused(nobodyAsks(token)) }
    var writes: [StoreOperation] = []
    var device = PairedDevice(
      key: key, deviceID: name, role: candidate.role, sources: sources, pairedAt: incarnation.wallSeconds(at: turn.now))
    // The machine goes on to call itself what it wanted to be called.
    if candidate.deviceID != name { device.formerNames = [candidate.deviceID] }
    writes += members.pair(device)
    if let holder { writes += dropMember(holder, in: &turn) }
    closeSessions(named: name, but: key, in: &turn)
    turn.act(.admit(admittedKeys))
    turn.write(writes, then: [.tellPaired(key, connection), .act(.listenForPairing(false))])
    return .durably(.pairing(PairingReport(stage: pairing.stage)))
  }

  /// Tells a device that its key is paired, once that is durable.
  func tellPaired(_ key: KeyFingerprint, on connection: ConnectionID, in turn: inout Turn) {
    guard let enrolment = enrolment(of: .key(key)) else {
      return answer(.refused("this key was taken back: pair the device again"), on: connection, in: &turn)
    }
    answer(.paired(enrolment), on: connection, in: &turn)
  }

  private func answer(_ answer: PairingAnswer, on connection: ConnectionID, in turn: inout Turn) {
    turn.act(.send(HubFrame(session: 0, message: .pairing(answer)), to: connection))
  }
}
