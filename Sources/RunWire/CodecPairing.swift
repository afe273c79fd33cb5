#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
import RunCore

// Keys, pairing, and the list of paired devices.
extension Codec {
  // MARK: Their parts

  static func data(_ key: KeyFingerprint) -> Data { Data(key.bytes) }

  static func key(_ data: Data) throws(WireError) -> KeyFingerprint {
    guard let key = KeyFingerprint(Array(data)) else {
      throw .malformed("a key is \(data.count) bytes long, not \(KeyFingerprint.byteCount)")
    }
    return key
  }

  static func data(_ proof: ListProof) -> Data { Data(proof.bytes) }

  static func proof(_ data: Data) throws(WireError) -> ListProof {
    guard let proof = ListProof(data) else {
      throw .malformed("a proof is \(data.count) bytes long, not \(ListProof.byteCount)")
    }
    return proof
  }

  private static func words(_ sources: Set<ControlSource>) -> [String] { sources.map(\.rawValue).sorted() }

  private static func sources(_ words: [String]) throws(WireError) -> Set<ControlSource> {
    guard (1...PairedDevice.sourcesMax).contains(words.count) else {
      throw .malformed("a device has 1 to \(PairedDevice.sourcesMax) sources, not \(words.count)")
    }
    var sources: Set<ControlSource> = []
    for word in words { sources.insert(try source(word)) }
    return sources
  }

  private static func addresses(_ texts: [String]) throws(WireError) -> [String] {
    guard texts.count <= Enrolment.addressesMax else {
      throw .malformed("more than \(Enrolment.addressesMax) addresses")
    }
    var addresses: [String] = []
    for text in texts { addresses.append(try self.text(text, "address", bytesMax: endpointBytesMax)) }
    return addresses
  }

  // MARK: Pairing

  static func message(_ request: PairingRequest) -> WirePairingRequest {
    var message = WirePairingRequest()
    message.token = Data(request.token)
    message.deviceID = request.deviceID.rawValue
    message.role = request.role.rawValue
    message.sources = words(request.sources)
    return message
  }

  static func value(_ message: WirePairingRequest) throws(WireError) -> PairingRequest {
    guard message.token.isEmpty || message.token.count == PairingRequest.tokenByteCount else {
      throw .malformed("a token has \(PairingRequest.tokenByteCount) bytes")
    }
    return PairingRequest(
      token: Array(message.token), deviceID: try device(message.deviceID), role: try role(message.role),
      sources: try sources(message.sources))
  }

  static func message(announcing key: KeyFingerprint) -> WireAnnounceKey {
    var message = WireAnnounceKey()
    message.key = data(key)
    return message
  }

  static func message(_ enrolment: Enrolment) -> WireEnrolment {
    var message = WireEnrolment()
    message.busID = data(enrolment.busID)
    message.deviceID = enrolment.deviceID.rawValue
    message.sources = words(enrolment.sources)
    message.listVersion = enrolment.listVersion
    message.addresses = enrolment.addresses
    if let proof = enrolment.listProof { message.listProof = data(proof) }
    if let key = enrolment.nextHubKey { message.nextHubKey = data(key) }
    if let key = enrolment.nextDeviceKey { message.nextDeviceKey = data(key) }
    return message
  }

  static func value(_ message: WireEnrolment) throws(WireError) -> Enrolment {
    Enrolment(
      busID: try identifier(message.busID, "bus id"), deviceID: try device(message.deviceID),
      sources: try sources(message.sources), listVersion: try counter(message.listVersion, "version of the list"),
      listProof: message.hasListProof ? try proof(message.listProof) : nil, addresses: try addresses(message.addresses),
      nextHubKey: message.hasNextHubKey ? try key(message.nextHubKey) : nil,
      nextDeviceKey: message.hasNextDeviceKey ? try key(message.nextDeviceKey) : nil)
  }

  static func message(_ answer: PairingAnswer) -> WirePairingAnswer {
    var message = WirePairingAnswer()
    switch answer {
    case .waiting: message.answer = .waiting(WirePairingWaiting())
    case .paired(let enrolment): message.answer = .paired(self.message(enrolment))
    case .refused(let reason): message.answer = .refused(fitting(reason, bytesMax: messageBytesMax))
    }
    return message
  }

  static func value(_ message: WirePairingAnswer) throws(WireError) -> PairingAnswer {
    switch message.answer {
    case .waiting, nil: .waiting
    case .paired(let enrolment): .paired(try value(enrolment))
    case .refused(let reason): .refused(try text(reason, "refusal", bytesMax: messageBytesMax))
    }
  }

  // MARK: Orders of the hub's own machine

  static func message(_ order: DeviceOrder, of key: KeyFingerprint) -> WireDeviceOrder {
    var message = WireDeviceOrder()
    message.key = data(key)
    switch order {
    case .revoke: message.order = .revoke(WireEmpty())
    case .forget: message.order = .forget(WireEmpty())
    case .rename(let name): message.order = .rename(name.rawValue)
    case .sources(let sources):
      var list = WireSources()
      list.sources = words(sources)
      message.order = .sources(list)
    }
    return message
  }

  static func value(_ message: WireDeviceOrder) throws(WireError) -> Inquiry {
    let key = try key(message.key)
    switch message.order {
    case .revoke: return .orderDevice(key, .revoke)
    case .forget: return .orderDevice(key, .forget)
    case .rename(let name): return .orderDevice(key, .rename(try device(name)))
    case .sources(let list): return .orderDevice(key, .sources(try sources(list.sources)))
    case nil: return .unknown
    }
  }

  static func message(_ order: PairingOrder) -> WirePairingOrder {
    var message = WirePairingOrder()
    switch order {
    case .status(let token):
      message.order = .status(WireEmpty())
      if let token { message.token = Data(token) }
    case .open: message.order = .open(WireEmpty())
    case .close(let token):
      message.order = .close(WireEmpty())
      message.token = Data(token)
    case .refuse(let key, let token):
      message.order = .refuse(data(key))
      message.token = Data(token)
    case .admit(let key, let token, let device, let sources, let replaces):
      message.token = Data(token)
      var admission = WirePairingAdmission()
      admission.key = data(key)
      admission.deviceID = device.rawValue
      admission.sources = words(sources)
      admission.replaces = replaces
      message.order = .admit(admission)
    }
    return message
  }

  static func value(_ message: WirePairingOrder) throws(WireError) -> Inquiry {
    switch message.order {
    case .status: .pairing(.status(of: message.hasToken ? try token(message.token) : nil))
    case .open: .pairing(.open)
    case .close: .pairing(.close(of: try token(message.token)))
    case .refuse(let key): .pairing(.refuse(try self.key(key), of: try token(message.token)))
    case .admit(let admission):
      .pairing(
        .admit(
          try key(admission.key), of: try token(message.token), as: try device(admission.deviceID),
          sources: try sources(admission.sources),
          replaces: admission.replaces))
    case nil: .unknown
    }
  }

  // MARK: Answers on the hub's own machine

  static func message(_ list: DeviceList) -> WireDeviceList {
    var message = WireDeviceList()
    message.devices = list.devices.map(self.message)
    message.version = list.version
    message.behind = list.isBehind
    return message
  }

  static func value(_ message: WireDeviceList) throws(WireError) -> DeviceList {
    DeviceList(
      devices: try reports(message.devices, value), version: try counter(message.version, "version of the list"),
      isBehind: message.behind)
  }

  static func message(_ device: PairedDevice) -> WirePairedDevice {
    var message = WirePairedDevice()
    message.key = data(device.key)
    message.deviceID = device.deviceID.rawValue
    message.role = device.role.rawValue
    message.sources = words(device.sources)
    message.pairedAtUnixSeconds = device.pairedAt
    message.revoked = device.isRevoked
    message.formerNames = device.formerNames.map(\.rawValue)
    if let key = device.nextKey { message.nextKey = data(key) }
    return message
  }

  static func value(_ message: WirePairedDevice) throws(WireError) -> PairedDevice {
    var device = PairedDevice(
      key: try key(message.key), deviceID: try self.device(message.deviceID), role: try role(message.role),
      sources: try sources(message.sources), pairedAt: try finite(message.pairedAtUnixSeconds, "time of pairing"),
      isRevoked: message.revoked)
    guard message.formerNames.count <= PairedDevice.formerNamesMax else { throw .malformed("too many former names") }
    for name in message.formerNames { device.formerNames.append(try self.device(name)) }
    if message.hasNextKey { device.nextKey = try key(message.nextKey) }
    return device
  }

  static func message(_ report: PairingReport) -> WirePairingReport {
    var message = WirePairingReport()
    switch report.stage {
    case .closed(let end):
      message.stage = .closed
      message.end = end.rawValue
    case .open: message.stage = .open
    case .asking(let candidate):
      message.stage = .asking
      message.candidate = self.message(candidate)
    }
    if let offer = report.offer { message.offer = self.message(offer) }
    return message
  }

  static func value(_ message: WirePairingReport) throws(WireError) -> PairingReport {
    let stage: PairingStage
    switch message.stage {
    // The end of a later version says no more than that pairing is closed.
    case .closed: stage = .closed(PairingEnd(rawValue: message.end) ?? .closed)
    case .open: stage = .open
    case .asking: stage = .asking(try value(message.candidate))
    case .unspecified, .UNRECOGNIZED: throw .malformed("pairing has no known stage")
    }
    return PairingReport(stage: stage, offer: message.hasOffer ? try value(message.offer) : nil)
  }

  private static func message(_ candidate: PairingCandidate) -> WirePairingCandidate {
    var message = WirePairingCandidate()
    message.key = data(candidate.key)
    message.deviceID = candidate.deviceID.rawValue
    message.role = candidate.role.rawValue
    message.sources = words(candidate.sources)
    message.nameTaken = candidate.isNameTaken
    return message
  }

  private static func value(_ message: WirePairingCandidate) throws(WireError) -> PairingCandidate {
    PairingCandidate(
      key: try key(message.key), deviceID: try device(message.deviceID), role: try role(message.role),
      sources: try sources(message.sources), isNameTaken: message.nameTaken)
  }

  private static func message(_ offer: PairingOffer) -> WirePairingOffer {
    var message = WirePairingOffer()
    message.hubKey = data(offer.hubKey)
    message.token = Data(offer.token)
    message.addresses = offer.addresses
    return message
  }

  private static func value(_ message: WirePairingOffer) throws(WireError) -> PairingOffer {
    PairingOffer(
      hubKey: try key(message.hubKey), token: try token(message.token), addresses: try addresses(message.addresses))
  }

  private static func token(_ bytes: Data) throws(WireError) -> [UInt8] {
    guard bytes.count == PairingRequest.tokenByteCount else {
      throw .malformed("a token has \(PairingRequest.tokenByteCount) bytes")
    }
    return Array(bytes)
  }
}
