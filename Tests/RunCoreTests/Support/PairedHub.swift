import RunCore

extension MemberHistory {
  /// A list with one device, which may send commands of all usual sources.
  static func paired(_ byte: UInt8, as name: DeviceID, role: NodeRole? = nil) -> MemberHistory {
    var history = MemberHistory()
    history.devices = [.test(byte, name, role: role)]
    history.version = 1
    return history
  }
}

extension PairedDevice {
  /// A device whose key consists of one byte.
  static func test(
    _ byte: UInt8, _ name: DeviceID, role: NodeRole? = nil, sources: Set<ControlSource>? = nil
  ) -> PairedDevice {
    PairedDevice(
      key: .test(byte), deviceID: name, role: role ?? NodeRole(rawValue: name.rawValue),
      sources: sources ?? [.watch, .shell, ControlSource(rawValue: name.rawValue)], pairedAt: 0)
  }
}

extension KeyFingerprint {
  /// A key that consists of one byte.
  static func test(_ byte: UInt8) -> KeyFingerprint { KeyFingerprint(Array(repeating: byte, count: byteCount))! }
}

extension ConnectionIdentity {
  static func key(_ byte: UInt8) -> ConnectionIdentity { .key(.test(byte)) }
  static func candidate(_ byte: UInt8) -> ConnectionIdentity { .candidate(.test(byte)) }
}

extension HubStage {
  static let token: [UInt8] = Array(repeating: 9, count: PairingRequest.tokenByteCount)

  /// A hub that pairs devices, with these paired ones.
  static func pairing(
    _ devices: [PairedDevice] = [], history: HubHistory = HubHistory(), now: BusTime = .zero,
    together: TogetherDesk.Settings? = nil
  ) -> HubStage {
    var history = history
    if !devices.isEmpty {
      history.members.devices = devices
      history.members.version = UInt64(devices.count)
    }
    var stage = opened(history: history, now: now, together: together)
    _ = stage.feed(
      .identified(
        BusIdentity(
          busID: BusID(high: 8, low: 8), key: .test(0xee), addresses: ["tcp://192.168.1.7:7070"],
          pairingAddresses: ["tcp://192.168.1.7:7072"])))
    return stage
  }

  /// The proof of a version of the list, as this hub makes it: the version and the hub's key.
  static func proof(of version: UInt64, by hubKey: KeyFingerprint = .test(0xee)) -> ListProof? {
    ListProof((0..<8).map { UInt8(truncatingIfNeeded: version >> ($0 * 8)) } + hubKey.bytes.dropLast(8))
  }

  /// A paired device says hello.
  mutating func joins(
    _ name: String, key: UInt8, nonce: UInt64 = 1, listVersion: UInt64 = 0, proof: ListProof? = nil
  ) -> [String] {
    var hello = greeting(name, nonce: nonce)
    (hello.listVersion, hello.listProof) = (listVersion, proof)
    if nonce > 1 { hello.hub = Self.storeID }
    return says(name, .hello(hello), session: 0, by: .key(key)) + commitsAll()
  }

  /// A device asks to be paired.
  mutating func asksForPairing(
    _ name: String, candidate byte: UInt8, token: [UInt8] = HubStage.token, sources: Set<ControlSource> = [.watch]
  ) -> [String] {
    let request = PairingRequest(
      token: token, deviceID: DeviceID(name)!, role: NodeRole(rawValue: name), sources: sources)
    return says(name, .pair(request), session: 0, by: .candidate(byte)) + commitsAll()
  }

  /// The person at the hub gives an order.
  mutating func orders(_ order: PairingOrder) -> [String] { feed(.inquire(.pairing(order), 1)) + commitsAll() }

  /// The person at the hub changes a paired device.
  mutating func orders(_ order: DeviceOrder, key: UInt8) -> [String] {
    feed(.inquire(.orderDevice(.test(key), order), 1)) + commitsAll()
  }

  /// What the hub has made durable.
  var disk: HubDisk {
    var disk = HubDisk()
    disk.commit(firstMembers.devices.map(StoreOperation.pair))
    disk.commit([.setMemberVersion(firstMembers.version, heard: firstMembers.versionHeard)])
    disk.commit(durable)
    return disk
  }
}
