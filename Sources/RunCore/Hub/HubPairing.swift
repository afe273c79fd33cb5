// Pairing: a device shows the token of an offer, and the person at the hub decides (docs/protocol.md, "Pairing").
extension HubCore {
  /// Opens pairing for a token.
  mutating func openPairing(_ token: [UInt8], _ number: UInt64, in turn: inout Turn) {
    guard let offer = members.openPairing(token, at: turn.now) else {
      return give(.refused(.pairsNobody), to: number, in: &turn)
    }
    turn.act(.listenForPairing(true))
    give(.atOnce(.pairing(PairingReport(stage: members.pairingStage, offer: offer))), to: number, in: &turn)
  }

  /// How far the pairing that was opened last has come.
  package var pairingStage: PairingStage { members.pairingStage }

  /// Does something that can end pairing; the port is closed then.
  @discardableResult
  mutating func changePairing<Result>(in turn: inout Turn, _ change: (inout Membership) -> Result) -> Result {
    let wasOpen = members.isPairing
    let result = change(&members)
    if wasOpen, !members.isPairing { turn.act(.listenForPairing(false)) }
    return result
  }

  /// A device asks to be paired. A key that is paired already is told so, with or without a token.
  mutating func receive(
    _ request: PairingRequest, by identity: ConnectionIdentity, on connection: ConnectionID, in turn: inout Turn
  ) {
    let wasOpen = members.isPairing
    switch members.present(request, by: identity, on: connection) {
    case .paired(let key): turn.write([], then: [.tellPaired(key, connection)])
    case .forbidden(let reason): forbid(identity, connection, reason, in: &turn)
    case .answered(.wait): answer(.waiting, on: connection, in: &turn)
    case .answered(.refuse(let reason)):
      turn.act(.forbade(identity, reason))
      answer(.refused(reason), on: connection, in: &turn)
    }
    if wasOpen, !members.isPairing { turn.act(.listenForPairing(false)) }
  }

  /// Carries out an order of the person at the hub.
  mutating func carryOut(
    _ order: PairingOrder, in turn: inout Turn
  ) -> InquiryReply {
    switch order {
    case .open: return .refused(.pairsNobody)
    case .status(let token):
      // A hub that no device can be paired with says so, before a person tries.
      guard members.pairsDevices else { return .refused(.pairsNobody) }
      return report(token.map(members.pairingStage(of:)) ?? members.pairingStage)
    case .close(let token):
      changePairing(in: &turn) { $0.closePairing(of: token) }
      return report(members.pairingStage(of: token))
    case .refuse(let key, let token):
      switch members.refuse(key, of: token) {
      case .failure(let refusal): return .refused(.invalid, refusal.reason)
      case .success(let connection):
        answer(.refused("the person at the hub refused"), on: connection, in: &turn)
        turn.act(.listenForPairing(false))
        return report(members.pairingStage)
      }
    case .admit(let key, let token, let name, let sources, let replaces):
      do throws(Membership.PairingRefusal) {
        let seconds = incarnation.wallSeconds(at: turn.now)
        let paired = try members.admit(key, of: token, as: name, sources, replaces: replaces, wallSeconds: seconds)
        welcome(paired, in: &turn)
        return .durably(.pairing(PairingReport(stage: members.pairingStage)))
      } catch {
        return .refused(.invalid, error.reason)
      }
    }
  }

  private func report(_ stage: PairingStage) -> InquiryReply { .atOnce(.pairing(PairingReport(stage: stage))) }

  /// Lets a device in that was paired. What that replaces ends in the same commit.
  private mutating func welcome(_ paired: Membership.Paired, in turn: inout Turn) {
    var writes = paired.writes
    let key = paired.device.key
    if let replaced = paired.replaced { writes += dropMember(replaced, in: &turn) }
    closeSessions(named: paired.device.deviceID, but: key, in: &turn)
    turn.act(.admit(members.admittedKeys))
    turn.write(writes, then: [.tellPaired(key, paired.connection), .act(.listenForPairing(false))])
  }

  /// Tells a device that its key is paired, once that is durable.
  func tellPaired(_ key: KeyFingerprint, on connection: ConnectionID, in turn: inout Turn) {
    guard let enrolment = members.enrolment(of: .key(key)) else {
      return answer(.refused("this key was taken back: pair the device again"), on: connection, in: &turn)
    }
    answer(.paired(enrolment), on: connection, in: &turn)
  }

  private func answer(_ answer: PairingAnswer, on connection: ConnectionID, in turn: inout Turn) {
    turn.act(.send(HubFrame(session: 0, message: .pairing(answer)), to: connection))
  }
}
