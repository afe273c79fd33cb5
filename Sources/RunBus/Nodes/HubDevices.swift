public import RunCore

/// An offer to pair a device: what the device has to be told. The line is a secret until it is used.
public struct PairingInvitation: Sendable {
  /// The line that the device reads, for each address of the hub: `runbus://HOST:PORT/?k=…&t=…`. They differ in the host
  /// only.
  public let lines: [String]
  private let offer: PairingOffer
  /// Names the pairing.
  var token: [UInt8] { offer.token }

  init(_ offer: PairingOffer) {
    self.offer = offer
    lines = offer.addresses.map { address in
      PairingLine(authority: String(address.dropFirst("tcp://".count)), hubKey: offer.hubKey, token: offer.token).text
    }
  }

  /// The six digits that both sides show for a candidate.
  public func digits(of candidate: PairingCandidate) -> String {
    PairingDigits(hub: offer.hubKey, device: candidate.key, token: offer.token)?.description ?? ""
  }
}

/// The paired devices of a hub, and pairing; see ``Hub/devices``. An app asks its user before it admits a candidate, as
/// `busnode pair` does.
///
/// Its methods wait until the hub has begun. They throw `CancellationError` when the task is cancelled meanwhile,
/// ``RunBusError/Code/closed``, or the error that ended the hub, when it has ended, and ``RunBusError/Code/badInput``
/// when the hub has no listener for paired devices.
public struct HubDevices: Sendable {
  let node: any DrivenNode

  /// Opens pairing for two minutes, with a new token. One device can be paired with it. An earlier invitation that is
  /// still open ends as ``RunCore/PairingEnd/replaced``.
  ///
  /// ```swift
  /// let invitation = try await hub.devices.openPairing()
  /// show(invitation.lines[0])  // as text or as a QR code
  /// while case .open = try await hub.devices.stage(of: invitation) { try await Task.sleep(for: .milliseconds(300)) }
  /// guard case .asking(let candidate) = try await hub.devices.stage(of: invitation) else { return }
  /// if await ask("\(candidate.deviceID), \(invitation.digits(of: candidate))?") {
  ///   try await hub.devices.admit(candidate, of: invitation)
  /// }
  /// ```
  public func openPairing() async throws -> PairingInvitation {
    guard let offer = try await node.ask(.pairing(.open)).offer else { throw RunBusError(.unknownAnswer) }
    return PairingInvitation(offer)
  }

  /// How far the pairing of an invitation has come.
  public func stage(of invitation: PairingInvitation) async throws -> PairingStage {
    try await order(.status(of: invitation.token))
  }

  /// Pairs the candidate that waits.
  ///
  /// - Parameters:
  ///   - candidate: The candidate of ``RunCore/PairingStage/asking(_:)``.
  ///   - invitation: The invitation whose digits the person has compared.
  ///   - device: The name under which it is paired; `nil` for the one that it wants.
  ///   - sources: The sources whose commands it may send; `nil` for those that it wants.
  ///   - replaces: Whether another key that has the name is taken back.
  /// - Throws: ``RunBusError/Code/badInput`` when the candidate does not wait any more or the name is taken.
  public func admit(
    _ candidate: PairingCandidate, of invitation: PairingInvitation, as device: DeviceID? = nil,
    sources: Set<ControlSource>? = nil, replaces: Bool = false
  ) async throws {
    _ = try await order(
      .admit(
        candidate.key, of: invitation.token, as: device ?? candidate.deviceID, sources: sources ?? candidate.sources,
        replaces: replaces))
  }

  /// Refuses the candidate that waits, and ends pairing.
  public func refuse(_ candidate: PairingCandidate, of invitation: PairingInvitation) async throws {
    _ = try await order(.refuse(candidate.key, of: invitation.token))
  }

  /// Ends the pairing of an invitation.
  public func closePairing(of invitation: PairingInvitation) async throws {
    _ = try await order(.close(of: invitation.token))
  }

  private func order(_ order: PairingOrder) async throws -> PairingStage {
    try await node.ask(.pairing(order)).stage
  }

  /// The paired devices by name, the revoked ones included.
  public func paired() async throws -> [PairedDevice] { try await node.ask(.devices).devices }

  /// Takes back a device's key. Its connections end at once; those of other devices are back within two seconds. What
  /// the hub had judged stands; commands of the device without a verdict are rejected.
  public func revoke(_ key: KeyFingerprint) async throws {
    try await node.ask(.orderDevice(key, .revoke))
  }

  /// Removes a revoked device from the list. A command that it had sent never counts again.
  public func forget(_ key: KeyFingerprint) async throws {
    try await node.ask(.orderDevice(key, .forget))
  }

  /// Gives a paired device another name; not during a run.
  public func rename(_ key: KeyFingerprint, to name: DeviceID) async throws {
    try await node.ask(.orderDevice(key, .rename(name)))
  }

  /// Sets the sources whose commands a paired device may send.
  public func setSources(_ sources: Set<ControlSource>, of key: KeyFingerprint) async throws {
    try await node.ask(.orderDevice(key, .sources(sources)))
  }

  /// Confirms the list of paired devices after the hub was restored from an older copy. Until then it accepts no
  /// commands of paired devices. Look through ``paired()`` first, and revoke what is wrong.
  public func confirm() async throws { try await node.ask(.confirmDevices) }
}

extension Hub {
  /// The paired devices of this hub, and pairing.
  public nonisolated var devices: HubDevices { HubDevices(node: self) }
}
