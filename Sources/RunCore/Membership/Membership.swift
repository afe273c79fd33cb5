/// The paired devices of a hub: who may do what, and how fast, and how the list of them changes. It decides; the core
/// carries out what concerns the sessions, the mail and the commands of a device.
struct Membership: Sendable {
  private let hubName: DeviceID
  private let clock: BusClock
  private let listProof: @Sendable (_ version: UInt64, _ hubKey: KeyFingerprint) -> ListProof?
  /// The paired devices.
  private(set) var list: Members
  /// The hub's key and addresses; `nil` if it pairs no devices.
  private(set) var bus: BusIdentity?
  private var paces = Paces()
  private var suspensions = Suspensions()
  private var pairing = OpenPairing()
  /// The devices, by their keys, that have said in this incarnation that they keep the hub's next key.
  private var knowingNextKey: Set<KeyFingerprint> = []

  /// The list as the store kept it.
  init(
    _ history: MemberHistory, hubName: DeviceID, bus: BusIdentity?, clock: BusClock,
    listProof: @escaping @Sendable (UInt64, KeyFingerprint) -> ListProof?
  ) {
    list = Members(history)
    (self.hubName, self.bus, self.clock, self.listProof) = (hubName, bus, clock, listProof)
  }

  /// When it has something to do, bus time; `nil` if never.
  var deadline: BusTime? { BusTime.earliest(pairing.deadline, suspensions.nextEnd.map(clock.bus(at:))) }

  // MARK: Permission

  /// Whether a frame of an identity is handled at all.
  enum Entry: Hashable, Sendable {
    case allowed
    /// The first use of an announced key, which replaces that of the device.
    case withNextKey(PairedDevice)
    /// Refused, for a reason that a person reads.
    case forbidden(String)
  }

  /// Whether a frame of an identity is handled at all.
  func entry(of identity: ConnectionIdentity, isPairing: Bool) -> Entry {
    switch identity {
    case .localOwner, .link, .anyone: return .allowed
    case .candidate: return isPairing ? .allowed : .forbidden("this key is not paired: ask to be paired")
    case .key(let key):
      guard let device = list.device(of: key) else {
        return .forbidden("this key was taken back: pair the device again")
      }
      if suspensions.keys.contains(key) { return .forbidden("this key is shut out for ten minutes") }
      return device.nextKey == key ? .withNextKey(device) : .allowed
    }
  }

  /// Why a key may not join with a hello; `nil` if nothing of the list is against it.
  func reasonToForbid(_ hello: Hello, by identity: ConnectionIdentity) -> String? {
    if let reason = list.reasonToForbid(identity, name: hello.deviceID) { return reason }
    guard case .key(let key) = identity, let own = list.device(of: key) else { return nil }
    if own.hasName(hello.deviceID) {
      return own.role == hello.role ? nil : "\(own.deviceID) is paired as a \(own.role), not as a \(hello.role)"
    }
    // A shell of the paired machine, which looks on under a name of its own.
    return hello.role == .shell ? nil : "this key is paired as \(own.deviceID), not as \(hello.deviceID)"
  }

  /// The hello with the device that the sender counts as: a machine that was renamed may still use its former name.
  func counted(_ hello: Hello, by identity: ConnectionIdentity) -> Hello {
    guard case .key(let key) = identity, let own = list.device(of: key), own.hasName(hello.deviceID) else {
      return hello
    }
    var hello = hello
    hello.deviceID = own.deviceID
    return hello
  }

  /// What the holder of a key is told about its bus; `nil` for other identities.
  func enrolment(of identity: ConnectionIdentity) -> Enrolment? {
    guard let bus, case .key(let key) = identity, let device = list.device(of: key) else { return nil }
    return Enrolment(
      busID: bus.busID, deviceID: device.deviceID, sources: device.sources, listVersion: list.durableVersion,
      listProof: listProof(list.durableVersion, bus.key), addresses: bus.addresses, nextHubKey: bus.nextKey,
      nextDeviceKey: list.durableNextKey(of: device))
  }

  // MARK: Paces

  /// Whether a sender may do one thing more; always for those that are no paired device.
  mutating func admits(_ kind: PacedKind, _ identity: ConnectionIdentity, cost: Int = 1, at now: BusTime) -> Bool {
    guard case .key(let key) = identity, let device = list.device(of: key) else { return true }
    return paces.admits(kind, device.deviceID, cost: cost, at: clock.real(at: now))
  }

  /// The keys of paired devices that may connect now.
  var admittedKeys: Set<KeyFingerprint> { list.admittedKeys.subtracting(suspensions.keys) }

  /// Notes what a key burdens the transport with.
  ///
  /// - Returns: why the key is shut out from now on; `nil` if it is not.
  mutating func note(_ burden: ConnectionBurden, by identity: ConnectionIdentity, at now: BusTime) -> String? {
    guard case .key(let key) = identity, list.device(of: key) != nil,
      suspensions.note(burden, of: key, at: clock.real(at: now))
    else { return nil }
    return "\(burden.offence): it is shut out for ten minutes"
  }

  /// Lets in keys again whose time is over; returns whether there are some.
  mutating func endSuspensions(at now: BusTime) -> Bool { suspensions.end(at: clock.real(at: now)) }

  // MARK: The version of the list

  /// The list as it is told on the hub's own machine.
  var report: DeviceList { DeviceList(devices: list.devices, version: list.version, isBehind: list.isBehind) }

  /// A commit with all changes so far is on its way to the disk.
  mutating func beginCommit() { list.beginCommit() }

  /// That commit is durable; returns whether the devices are to be told of another version.
  mutating func endCommit() -> Bool { list.endCommit() }

  /// What a hello says of the list of devices.
  enum Heard: Hashable, Sendable {
    case nothingNew
    /// A higher version without a valid proof: a wrong device could state any.
    case unproven(String)
    /// A higher version that this hub has handed out: the list is a copy of an older one.
    case proven(String, StoreOperation)
  }

  /// Notes what a paired device states of the list of devices.
  mutating func hear(_ hello: Hello, by identity: ConnectionIdentity) -> Heard {
    guard case .key = identity, list.isNews(hello.listVersion) else { return .nothingNew }
    let version = "version \(hello.listVersion) of the list of devices, and this hub has \(list.version)"
    guard isProven(hello) else { return .unproven("\(hello.deviceID) states without a proof \(version): ignored") }
    return .proven("\(hello.deviceID) was told \(version)", list.hear(hello.listVersion))
  }

  /// Whether this hub has handed out the version that a hello states. A device that was away while the hub changed its
  /// key has a proof for the former one.
  private func isProven(_ hello: Hello) -> Bool {
    guard let bus, let proof = hello.listProof else { return false }
    return [bus.key, bus.formerKey].contains { $0.flatMap { listProof(hello.listVersion, $0) } == proof }
  }

  /// The owner confirms the list as it is.
  mutating func confirm() -> [StoreOperation] { list.confirm() }

  // MARK: Changes

  /// Takes back a key; the writes, none for a key that is not valid.
  mutating func revoke(_ key: KeyFingerprint) -> [StoreOperation] {
    if let device = list.device(of: key) { paces.forget(device.deviceID) }
    return list.revoke(key)
  }

  /// Removes a revoked device from the list.
  mutating func forget(_ key: KeyFingerprint) -> [StoreOperation] { list.forget(key) }

  /// Gives a device another name.
  mutating func rename(_ device: PairedDevice, to name: DeviceID) -> [StoreOperation] {
    paces.forget(device.deviceID)
    return list.rename(device.key, to: name)
  }

  /// Sets the sources of a device; a sentence if there are too few or too many.
  mutating func setSources(
    _ sources: Set<ControlSource>, of key: KeyFingerprint
  ) -> (writes: [StoreOperation], refusal: String?) {
    if let reason = Self.reasonToRefuse(sources) { return ([], reason) }
    return (list.setSources(sources, of: key), nil)
  }

  private static func reasonToRefuse(_ sources: Set<ControlSource>) -> String? {
    (1...PairedDevice.sourcesMax).contains(sources.count) ? nil : "a device has 1 to \(PairedDevice.sourcesMax) sources"
  }

  // MARK: Keys that replace others

  /// How long the hub waits for devices that do not know its next key: 30 days, in seconds.
  static let nextKeyPatience: Double = 30 * 86_400

  /// Whether a key is the hub's own, earlier or next one, or none at all: one with which nothing is secret.
  private func isOfHub(_ key: KeyFingerprint) -> Bool {
    key.isOfSmallOrder || [bus?.key, bus?.formerKey, bus?.nextKey].contains(key)
  }

  /// What became of the announcement of a key.
  enum Announcement: Hashable, Sendable {
    /// It is known already.
    case known
    /// It is refused, with a code and a sentence.
    case refused(Refusal.Code, String)
    case noted([StoreOperation])
  }

  /// A device announces its next key. It holds the valid one, as its connection shows.
  mutating func announce(_ next: KeyFingerprint, of device: PairedDevice, at now: BusTime) -> Announcement {
    if case .asking(let candidate) = pairing.stage, candidate.key == next {
      return .refused(.forbidden, Self.keyOfAnother)
    }
    guard !isOfHub(next) else { return .refused(.forbidden, Self.keyOfAnother) }
    guard device.nextKey != next else { return .known }
    guard paces.admits(.newKeys, device.deviceID, at: clock.real(at: now)) else {
      return .refused(.tooFast, PacedKind.newKeys.refusal)
    }
    let writes = list.announce(next, of: device.key)
    return writes.isEmpty ? .refused(.forbidden, "that key is paired already: make another one") : .noted(writes)
  }

  private static let keyOfAnother = "that key is another's: make another one"

  /// Replaces a device's key by the announced one, which was used.
  mutating func switchKey(to next: KeyFingerprint) -> [StoreOperation] { list.switchKey(to: next) }

  /// The hub's keys or addresses changed.
  mutating func identify(_ bus: BusIdentity) { self.bus = bus }

  /// The hub has another key, or announces one: the devices have to be told anew.
  mutating func rotate(to bus: BusIdentity) { (self.bus, knowingNextKey) = (bus, []) }

  /// Notes whether a paired device keeps the hub's next key.
  ///
  /// - Returns: whether the hub is to use that key, because all devices do, or after 30 days.
  mutating func noteNextKey(_ hello: Hello, by identity: ConnectionIdentity, wallSeconds: Double) -> Bool {
    guard let bus, let next = bus.nextKey, case .key(let key) = identity, let device = list.device(of: key) else {
      return false
    }
    if hello.nextHubKey == next { knowingNextKey.insert(device.key) }
    return wallSeconds - bus.nextKeySince > Self.nextKeyPatience
      || list.devices.allSatisfy { $0.isRevoked || knowingNextKey.contains($0.key) }
  }

  // MARK: Pairing

  /// How far the pairing that was opened last has come.
  var pairingStage: PairingStage { pairing.stage }

  /// How far the pairing of a token has come.
  func pairingStage(of token: [UInt8]) -> PairingStage { pairing.stage(of: token) }

  /// Opens pairing for a token; `nil` for a hub that pairs no devices.
  mutating func openPairing(_ token: [UInt8], at now: BusTime) -> PairingOffer? {
    guard let bus, !bus.pairingAddresses.isEmpty else { return nil }
    pairing.open(token: token, until: now + clock.speed.bus(fromReal: OpenPairing.openFor))
    return PairingOffer(hubKey: bus.key, token: token, addresses: bus.pairingAddresses)
  }

  /// Whether devices can be paired at all.
  var pairsDevices: Bool { bus.map { !$0.pairingAddresses.isEmpty } ?? false }

  /// Ends pairing, if it is open.
  mutating func closePairing(_ end: PairingEnd) { pairing.close(end) }

  /// The person ends the pairing of a token.
  mutating func closePairing(of token: [UInt8]) {
    if case .closed = pairing.stage(of: token) {} else { pairing.close(.closed) }
  }

  /// Ends pairing whose time is over.
  mutating func expirePairing(at now: BusTime) { if let due = pairing.deadline, due <= now { pairing.close(.expired) } }

  /// Whether it takes requests.
  var isPairing: Bool { pairing.isOpen }

  /// What a request to be paired is answered.
  enum PairingStep: Hashable, Sendable {
    /// The key is paired already.
    case paired(KeyFingerprint)
    /// The sender has no key of its own that could be paired.
    case forbidden(String)
    case answered(OpenPairing.Answer)
  }

  /// A device asks to be paired.
  mutating func present(
    _ request: PairingRequest, by identity: ConnectionIdentity, on connection: ConnectionID
  ) -> PairingStep {
    let key: KeyFingerprint
    switch identity {
    case .key(let own), .candidate(let own): key = own
    case .localOwner, .link, .anyone: return .forbidden("only the holder of a key can be paired")
    }
    if list.device(of: key) != nil { return .paired(key) }
    guard !isOfHub(key) else {
      return .forbidden("that key is the hub's own, or none: the device makes another one")
    }
    // The token is not used up: the device asks again under another name.
    if let reason = request.deviceID.reasonNotToPair { return .answered(.refuse(reason)) }
    let isNameTaken = list.holder(of: request.deviceID) != nil
    return .answered(pairing.present(request, by: key, isNameTaken: isNameTaken, on: connection))
  }

  /// Refuses the candidate of a pairing; its connection, or why that is not possible.
  mutating func refuse(_ key: KeyFingerprint, of token: [UInt8]) -> Result<ConnectionID, PairingRefusal> {
    pairing.decide(key, of: token, .refused).map { .success($0) } ?? .failure(nobodyAsks(token))
  }

  /// A device that was paired, with what that replaces.
  struct Paired: Sendable {
    let device: PairedDevice
    /// The device that had the name, and is no longer paired.
    let replaced: PairedDevice?
    let connection: ConnectionID
    let writes: [StoreOperation]
  }

  /// Why an order about pairing is refused, for a person.
  struct PairingRefusal: Error, Hashable {
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private func nobodyAsks(_ token: [UInt8]) -> PairingRefusal {
    if case .closed(.replaced) = pairing.stage(of: token) {
      return PairingRefusal("pairing was opened again meanwhile, with another line: this one is over")
    }
    return PairingRefusal("no device with that key asks to be paired")
  }

  /// Pairs the candidate of a pairing.
  mutating func admit(
    _ key: KeyFingerprint, of token: [UInt8], as name: DeviceID, _ sources: Set<ControlSource>, replaces: Bool,
    wallSeconds: Double
  ) throws(PairingRefusal) -> Paired {
    guard case .asking(let candidate) = pairing.stage(of: token), candidate.key == key else { throw nobodyAsks(token) }
    // While it waited, its key may have become that of a device.
    guard list.device(of: key) == nil, !isOfHub(key) else { throw PairingRefusal("its key stands for another device") }
    guard name != hubName else { throw PairingRefusal("\(name) is the name of the hub itself") }
    if let reason = name.reasonNotToPair ?? Self.reasonToRefuse(sources) { throw PairingRefusal(reason) }
    if let reason = report.reasonNotToPair(as: name, replaces: replaces) { throw PairingRefusal(reason) }
    let holder = list.holder(of: name)
    guard let connection = pairing.decide(key, of: token, .paired) else { throw nobodyAsks(token) }
    var device = PairedDevice(
      key: key, deviceID: name, role: candidate.role, sources: sources, pairedAt: wallSeconds)
    // The machine goes on to call itself what it wanted to be called.
    if candidate.deviceID != name { device.formerNames = [candidate.deviceID] }
    if let holder { paces.forget(holder.deviceID) }
    return Paired(device: device, replaced: holder, connection: connection, writes: list.pair(device))
  }
}
