/// The machines that are paired with this hub, and the rules for what the holder of a key may do.
///
/// The list has a version, which grows with each change. Paired devices repeat the highest version that they were told,
/// with the hub's proof of it. A hub that hears a higher one than its own, which it has proved, was restored from an older
/// copy, in which revoked keys may be valid.
struct Members: Sendable {
  /// The most paired devices, and the most revoked ones that stay listed; the oldest revoked one is dropped first. A
  /// runner has a handful.
  static let (devicesMax, revokedMax) = (64, 64)

  private(set) var version: UInt64
  /// The version that is durable: what devices are told survives a crash.
  private(set) var durableVersion: UInt64
  private var versionInFlight: UInt64
  private var versionHeard: UInt64
  private var byKey: [KeyFingerprint: PairedDevice] = [:]

  /// The list as the store kept it.
  init(_ history: MemberHistory) {
    version = history.version
    (durableVersion, versionInFlight) = (history.version, history.version)
    versionHeard = history.versionHeard
    for device in history.devices { byKey[device.key] = device }
    dropSharedKeys()
  }

  /// Forgets announced keys that stand for another device, too. Lists of earlier versions can have some.
  private mutating func dropSharedKeys() {
    let announced = byKey.values.compactMap(\.nextKey)
    for device in byKey.values {
      guard let next = device.nextKey, byKey[next] != nil || announced.count(where: { $0 == next }) > 1 else {
        continue
      }
      byKey[device.key]?.nextKey = nil
    }
  }

  /// The devices by name, the revoked ones included.
  var devices: [PairedDevice] {
    byKey.values.sorted {
      ($0.deviceID, $0.isRevoked ? 1 : 0, $0.pairedAt) < ($1.deviceID, $1.isRevoked ? 1 : 0, $1.pairedAt)
    }
  }

  /// The keys that are let in.
  var admittedKeys: Set<KeyFingerprint> { Set(byKey.values.flatMap(\.keys)) }

  /// The valid device of a key, its present or its next one; `nil` for a key that is not paired or was taken back.
  func device(of key: KeyFingerprint) -> PairedDevice? {
    if let device = byKey[key] { return device.isRevoked ? nil : device }
    return byKey.values.first { !$0.isRevoked && $0.nextKey == key }
  }

  /// The valid device that has a name now; `nil` if none has.
  func holder(of name: DeviceID) -> PairedDevice? { byKey.values.first { !$0.isRevoked && $0.deviceID == name } }

  /// Whether a name is or was that of a valid device, whose machine may still use it.
  private func isTaken(_ name: DeviceID) -> Bool { byKey.values.contains { !$0.isRevoked && $0.hasName(name) } }

  /// The name under which a sender counts that states the name of single commands, pages or screens. Lists of earlier
  /// versions can have a device of such a name, which then loses no command of others.
  func standIn(for name: DeviceID, by identity: ConnectionIdentity) -> DeviceID {
    guard name.isOfCommands, isTaken(name) else { return name }
    switch identity {
    case .key(let key) where device(of: key)?.hasName(name) == true: return name
    case .link(let own) where own == name: return name
    default: return .free(like: name, isTaken: isTaken)
    }
  }

  /// Whether a key stands for no device of the list, revoked ones and announced keys included.
  func isUnknown(_ key: KeyFingerprint) -> Bool {
    byKey[key] == nil && !byKey.values.contains { !$0.isRevoked && $0.nextKey == key }
  }

  /// Whether there is no room for one more device.
  var isFull: Bool { byKey.values.lazy.filter { !$0.isRevoked }.count >= Self.devicesMax }

  // MARK: Permission

  /// Why an identity may not use a device's name; `nil` if the list has nothing against it.
  func reasonToForbid(_ identity: ConnectionIdentity, name: DeviceID) -> String? {
    switch identity {
    case .candidate: return "this key is not paired"
    case .key(let key):
      guard let own = device(of: key) else { return "this key is not paired, or was taken back: pair the device again" }
      // A device that was renamed may still use its former name, unless another key has that name now.
      return own.hasName(name) || !isTaken(name) ? nil : "\(name) is paired with another key"
    case .localOwner, .link, .anyone:
      return !isTaken(name) ? nil : "\(name) is paired with a key: only the holder of the key may use the name"
    }
  }

  /// Whether an identity may send commands of a source.
  func mayUse(_ source: ControlSource, _ identity: ConnectionIdentity) -> Bool {
    switch identity {
    case .key(let key): device(of: key)?.sources.contains(source) ?? false
    case .localOwner, .link, .anyone: true
    case .candidate: false
    }
  }

  /// The device that a sender counts as: that of its key, else the one that it names.
  func counted(_ named: DeviceID, _ identity: ConnectionIdentity) -> DeviceID {
    guard case .key(let key) = identity else { return named }
    return device(of: key)?.deviceID ?? named
  }

  // MARK: The version

  /// Whether a paired device has proved a higher version than this list has. The hub then accepts no commands of keys
  /// until its owner confirms the list.
  var isBehind: Bool { versionHeard > version }

  /// The next key of a device, once that is durable.
  func durableNextKey(of device: PairedDevice) -> KeyFingerprint? { durableVersion == version ? device.nextKey : nil }

  /// A commit with all changes so far is on its way to the disk.
  mutating func beginCommit() { versionInFlight = version }

  /// That commit is durable.
  ///
  /// - Returns: whether the devices are to be told of another version.
  mutating func endCommit() -> Bool {
    defer { durableVersion = versionInFlight }
    return durableVersion != versionInFlight
  }

  /// Whether a stated version is higher than all that the hub knows.
  func isNews(_ version: UInt64) -> Bool { version > max(versionHeard, self.version) }

  /// Notes a version that a paired device has proved.
  ///
  /// - Returns: the write for that.
  mutating func hear(_ version: UInt64) -> StoreOperation {
    versionHeard = version
    return .setMemberVersion(self.version, heard: version)
  }

  /// The owner confirms the list as it is: its version rises above all that were proved.
  mutating func confirm() -> [StoreOperation] {
    version = max(version, versionHeard)
    return change([])
  }

  // MARK: Changes

  /// Pairs a device, and takes back the key that had its name.
  mutating func pair(_ device: PairedDevice) -> [StoreOperation] {
    var writes: [StoreOperation] = []
    // A machine that has had the name before goes on under its present one.
    for old in byKey.values where !old.isRevoked && old.key != device.key && old.deviceID == device.deviceID {
      writes += revoke(old)
    }
    return change(writes + [set(device)])
  }

  /// Takes back a key.
  mutating func revoke(_ key: KeyFingerprint) -> [StoreOperation] {
    guard let device = device(of: key) else { return [] }
    return change(revoke(device))
  }

  private mutating func revoke(_ device: PairedDevice) -> [StoreOperation] {
    var device = device
    device.isRevoked = true
    device.nextKey = nil
    var writes = [set(device)]
    let revoked = byKey.values.filter(\.isRevoked).sorted { ($0.pairedAt, $0.deviceID) < ($1.pairedAt, $1.deviceID) }
    for old in revoked.dropLast(Self.revokedMax) where old.key != device.key {
      byKey[old.key] = nil
      writes.append(.unpair(old.key))
    }
    return writes
  }

  /// Removes a revoked device from the list.
  mutating func forget(_ key: KeyFingerprint) -> [StoreOperation] {
    guard byKey[key]?.isRevoked == true else { return [] }
    byKey[key] = nil
    return change([.unpair(key)])
  }

  /// Gives a device another name.
  mutating func rename(_ key: KeyFingerprint, to name: DeviceID) -> [StoreOperation] {
    guard var device = device(of: key), device.deviceID != name else { return [] }
    device.formerNames.removeAll { $0 == name }
    device.formerNames = (device.formerNames + [device.deviceID]).suffix(PairedDevice.formerNamesMax)
    device.deviceID = name
    return change([set(device)])
  }

  /// Sets the sources of a device.
  mutating func setSources(_ sources: Set<ControlSource>, of key: KeyFingerprint) -> [StoreOperation] {
    guard var device = device(of: key), device.sources != sources else { return [] }
    device.sources = sources
    return change([set(device)])
  }

  /// Notes the key that is to replace a device's own.
  mutating func announce(_ next: KeyFingerprint, of key: KeyFingerprint) -> [StoreOperation] {
    guard var device = device(of: key), device.key == key, isUnknown(next) else {
      return []
    }
    device.nextKey = next
    return change([set(device)])
  }

  /// Replaces a device's key by the announced one, which was used.
  mutating func switchKey(to next: KeyFingerprint) -> [StoreOperation] {
    guard var device = byKey.values.first(where: { !$0.isRevoked && $0.nextKey == next }) else { return [] }
    let old = device.key
    byKey[old] = nil
    device.key = next
    device.nextKey = nil
    return change([.unpair(old), set(device)])
  }

  private mutating func set(_ device: PairedDevice) -> StoreOperation {
    byKey[device.key] = device
    return .pair(device)
  }

  private mutating func change(_ writes: [StoreOperation]) -> [StoreOperation] {
    version += 1
    return writes + [.setMemberVersion(version, heard: versionHeard)]
  }
}
