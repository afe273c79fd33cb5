import RunCore

/// The owner of the hub in a simulated world, who pairs devices and takes keys back, and those who have no business with
/// the hub: holders of unknown keys, guessers of tokens.
struct WorldOwner {
  /// The keys that the hub lets in: its list as its transport has it. Empty while the hub is dead.
  var admitted: Set<KeyFingerprint> = []
  /// The honest peer whose key is taken back in this world; less is promised to it.
  var victim: Int?
  /// The victim's key was taken back, and it is not paired again.
  var isVictimOut = false
  /// The key with which the victim asks to be paired again, and its connection.
  var asking: (key: KeyFingerprint, connection: UInt64)?
  /// How many keys were made.
  var keyCount: UInt8 = 0x40
  var lastConnection: UInt64 = 0
  /// Until when a window can be judged late, because its last press was one of a key that was taken back.
  var windowsBrokenUntil = BusTime.zero

  static let token: [UInt8] = Array(repeating: 0x5e, count: PairingRequest.tokenByteCount)
  static let secondToken: [UInt8] = Array(repeating: 0x5f, count: PairingRequest.tokenByteCount)
  /// Connections of strangers are numbered from here, below those of wrong members.
  private static let connectionsFrom: UInt64 = 1 << 39

  static func isStranger(_ connection: UInt64) -> Bool {
    connection >= connectionsFrom && connection < 2 * connectionsFrom
  }

  mutating func connection() -> UInt64 {
    lastConnection += 1
    return Self.connectionsFrom + lastConnection
  }

  /// A key that nobody had before; keys are counted because a world's draws must not depend on them.
  mutating func newKey() -> KeyFingerprint {
    keyCount &+= 1
    return KeyFingerprint([keyCount] + Array(repeating: 0x77, count: KeyFingerprint.byteCount - 1))!
  }
}

extension World {
  /// What the owner and strangers do at a step. They draw from a line of their own.
  mutating func stepOwner() {
    guard climate.hasIdentities, !isHealed, hub.core != nil, isHungUntil(.hub) <= now else { return }
    var draw = WorldRandom(seed: seed, 7, UInt64(steps))
    let index = Int.random(in: peers.indices, using: &draw)
    switch Int.random(in: 0..<40, using: &draw) {
    case 0: rotateKey(of: index, isTwice: Bool.random(using: &draw))
    case 1 where owner.victim == nil || owner.victim == index: takeBack(index)
    case 2..<6: pairVictim()
    case 6: confirmList()
    case 7..<10: sendAsStranger(&draw)
    case 10: guessToken()
    case 11..<15: rename(index)
    case 15: openPairingTwice()
    default: break
    }
  }

  private func key(of index: Int) -> KeyFingerprint? {
    if case .key(let key) = peers[index].identity { key } else { nil }
  }

  /// A peer announces its next key, or one and another in its place. It uses the last once the hub knows it.
  private mutating func rotateKey(of index: Int, isTwice: Bool) {
    // A hub that loses its store does not know what it has said of a new key.
    guard key(of: index) != nil, peers[index].core != nil, peers[index].connection != nil, loss != .hub,
      owner.victim != index || !owner.isVictimOut
    else { return }
    tally.count("key announced")
    if isTwice { feedPeer(index, .announceKey(owner.newKey())) }
    feedPeer(index, .announceKey(owner.newKey()))
  }

  /// The hub knows the announced key: the peer connects with it.
  mutating func useNewKey(_ key: KeyFingerprint, _ index: Int) {
    tally.count("key changed")
    setKey(key, of: index)
  }

  private mutating func setKey(_ key: KeyFingerprint, of index: Int) {
    if case .key(let old) = peers[index].identity, let place = paired.devices.firstIndex(where: { $0.key == old }) {
      paired.devices[place].key = key
    }
    disconnect(index, isComing: false)
    peers[index].identity = .key(key)
    schedule(.linkUp(index), in: .milliseconds(50))
  }

  // MARK: Names

  /// The owner gives a device another name, or its first one again; the device itself does not notice.
  private mutating func rename(_ index: Int) {
    guard let key = key(of: index), hub.core != nil else { return }
    let (own, name) = (peers[index].ownName, peers[index].name)
    feedHub(.inquire(.orderDevice(key, .rename(name == own ? peers[index].otherName : own)), number()))
    noteNames()
    if peers[index].name != name { tally.count("device renamed") }
  }

  /// Learns which names the devices have on the hub, which a hub that dies too early has not kept.
  mutating func noteNames() {
    for device in hub.core?.deviceList.devices ?? [] where !device.isRevoked {
      for index in peers.indices {
        guard let key = key(of: index), key == device.key || key == device.nextKey else { continue }
        peers[index].name = device.deviceID
      }
    }
  }

  // MARK: Revocation

  private mutating func takeBack(_ index: Int) {
    guard let key = key(of: index), !owner.isVictimOut, loss == .none || loss == .peer(index) else { return }
    tally.count("key taken back")
    (owner.victim, owner.isVictimOut) = (index, true)
    owner.windowsBrokenUntil = now + .seconds(5)
    feedHub(.inquire(.orderDevice(key, .revoke), number()))
  }

  /// The victim is paired again with a new key: its owner has found it.
  mutating func pairVictim() {
    guard let index = owner.victim, owner.isVictimOut, hub.core != nil else { return }
    // Its key is valid again: the hub died before the revocation was durable.
    if let key = key(of: index), owner.admitted.contains(key) {
      owner.isVictimOut = false
      return schedule(.linkUp(index), in: .zero)
    }
    let name = peers[index].name
    if let asking = owner.asking {
      // It has not heard an answer: it asks again, perhaps with a key that is paired already.
      let request = PairingRequest(
        token: [], deviceID: peers[index].ownName, role: peers[index].role, sources: [.watch])
      say(
        .pair(request), by: owner.admitted.contains(asking.key) ? .key(asking.key) : .candidate(asking.key),
        on: asking.connection)
      guard owner.isVictimOut else { return }
    }
    let key = owner.newKey()
    owner.asking = (key, owner.connection())
    guard let connection = owner.asking?.connection else { return }
    feedHub(.offerPairing(token: WorldOwner.token, number()))
    let request = PairingRequest(
      token: WorldOwner.token, deviceID: peers[index].ownName, role: peers[index].role, sources: World.usualSources)
    say(.pair(request), by: .candidate(key), on: connection)
    owner.windowsBrokenUntil = now + .seconds(5)
    feedHub(
      .inquire(
        .pairing(.admit(key, of: WorldOwner.token, as: name, sources: World.usualSources, replaces: true)), number()))
  }

  /// Two people open pairing, one after the other. The first answers for the device of the second, and ends pairing.
  private mutating func openPairingTwice() {
    tally.count("pairing opened twice")
    let key = owner.newKey()
    feedHub(.offerPairing(token: WorldOwner.token, number()))
    feedHub(.offerPairing(token: WorldOwner.secondToken, number()))
    let request = PairingRequest(token: WorldOwner.secondToken, deviceID: "second", role: .watch, sources: [.watch])
    say(.pair(request), by: .candidate(key), on: owner.connection())
    feedHub(
      .inquire(
        .pairing(.admit(key, of: WorldOwner.token, as: "first", sources: World.usualSources, replaces: true)), number())
    )
    feedHub(.inquire(.pairing(.close(of: WorldOwner.token)), number()))
    guard let core = hub.core else { return }
    if core.deviceList.devices.contains(where: { $0.key == key }) {
      faults.append("a pairing has answered for the device of another one")
    }
    guard case .asking(let candidate) = core.pairingStage, candidate.key == key else {
      return faults.append("a pairing has ended another one")
    }
    feedHub(.inquire(.pairing(.refuse(key, of: WorldOwner.secondToken)), number()))
  }

  static let usualSources: Set<ControlSource> = [.phone, .watch, .liveActivity, .shell]

  /// The owner confirms a list that a device says is old.
  mutating func confirmList() {
    guard hub.core?.deviceList.isBehind == true else { return }
    tally.count("list confirmed")
    feedHub(.inquire(.confirmDevices, number()))
  }

  // MARK: Strangers

  private mutating func say(_ message: PeerMessage, by identity: ConnectionIdentity, on connection: UInt64) {
    let frame = PeerFrame(session: 0, sentAt: now, message: message)
    feedHub(.frame(route(connection), frame, by: identity))
  }

  /// Somebody with a key that is not paired, or at the pairing port, says what only members may say.
  private mutating func sendAsStranger(_ draw: inout WorldRandom) {
    tally.count("stranger")
    let key = KeyFingerprint(Array(repeating: 0xab, count: KeyFingerprint.byteCount))!
    let victim = peers[Int.random(in: peers.indices, using: &draw)]
    let command = Command(id: CommandID(high: 8, low: number()), kind: .stop, source: .watch)
    let hello = Hello(
      deviceID: victim.name, role: victim.role, nodeID: victim.nodeID,
      storeID: victim.store.storeID, nonce: draw.next(), termSeen: hub.store.term, listVersion: .max >> 2)
    let messages: [PeerMessage] = [
      .hello(hello), .query, .inquire(.outbox), .request(Request(.state)), .announceKey(key),
      .command(CommandTransmission(command: command, sequence: 1, age: .zero)),
      .request(Request(.command(CommandRequest(command: command, deviceID: victim.name, age: .zero)))),
    ]
    let identities: [ConnectionIdentity] = [.key(key), .candidate(key), .candidate(key)]
    for message in messages {
      say(message, by: identities[Int.random(in: 0...2, using: &draw)], on: owner.connection())
    }
  }

  private mutating func guessToken() {
    let key = KeyFingerprint(Array(repeating: 0xac, count: KeyFingerprint.byteCount))!
    let request = PairingRequest(
      token: Array(repeating: 1, count: PairingRequest.tokenByteCount), deviceID: "guesser", role: .watch,
      sources: [.watch])
    say(.pair(request), by: .candidate(key), on: owner.connection())
  }

  /// A frame to a stranger: nothing of the run, and nothing but a refusal.
  mutating func hearStranger(_ frame: HubFrame, on connection: UInt64) {
    if let asking = owner.asking, asking.connection == connection {
      guard case .pairing(let answer) = frame.message, case .paired = answer, let index = owner.victim else { return }
      if !hub.store.members.devices.contains(where: { $0.key == asking.key && !$0.isRevoked }) {
        faults.append("a key is said to be paired before that is durable")
      }
      tally.count("paired again")
      if case .paired(let enrolment) = answer { peers[index].enrolment = enrolment }
      (owner.isVictimOut, owner.asking) = (false, nil)
      return setKey(asking.key, of: index)
    }
    switch frame.message {
    case .refused, .pairing(.refused), .pairing(.waiting): break
    default: faults.append("a stranger is told \(frame.message)")
    }
  }

  // MARK: What paired devices know

  static let bus = BusIdentity(
    busID: BusID(high: 6, low: 6), key: KeyFingerprint(Array(repeating: 0xee, count: KeyFingerprint.byteCount))!,
    addresses: ["tcp://192.168.1.7:7070"], pairingAddresses: ["tcp://192.168.1.7:7072"])

  /// The proof of a version, as the hubs of the worlds make it. Wrong members do not know how: nothing in a world computes
  /// one but a hub.
  static func listProof(_ version: UInt64, _ hubKey: KeyFingerprint) -> ListProof? {
    var random = WorldRandom(seed: version, hubKey.bytes.reduce(0) { $0 &* 31 &+ UInt64($1) })
    return ListProof((0..<ListProof.byteCount).map { _ in UInt8(truncatingIfNeeded: random.next()) })
  }

  /// A hub that thinks itself restored from an older copy, in a world in which no store was lost, was made to by a
  /// version that it has never handed out.
  mutating func checkList() {
    guard loss == .none, hub.core?.deviceList.isBehind == true else { return }
    faults.append("the hub believes a version of the list that it has not handed out")
  }

  /// What a peer was told about its bus; before the first welcome that it is paired.
  func enrolment(of index: Int) -> Enrolment? {
    guard key(of: index) != nil else { return nil }
    return peers[index].enrolment
      ?? Enrolment(
        busID: Self.bus.busID, deviceID: peers[index].name, sources: Self.usualSources, listVersion: 0, addresses: [])
  }

  // MARK: Checks

  /// The hub's list as its transport has it.
  mutating func admit(_ keys: Set<KeyFingerprint>) { owner.admitted = keys }

  /// The transport closes all connections with keys. Those that are let in come back.
  mutating func cutConnections() {
    tally.count("connections cut")
    for index in peers.indices where key(of: index) != nil {
      disconnect(index, isComing: false)
      if isAdmitted(index) { schedule(.linkUp(index), in: milliseconds(20...500)) }
    }
  }

  /// Whether the hub lets a peer in.
  func isAdmitted(_ index: Int) -> Bool { key(of: index).map { owner.admitted.contains($0) } ?? true }

  /// Nothing but a refusal goes to a key that is not let in. A connection that was cut takes nothing.
  mutating func checkKey(of frame: HubFrame, to connection: UInt64) {
    guard peers.contains(where: { $0.connection == connection }), case .key(let key) = identities[connection],
      !owner.admitted.contains(key)
    else { return }
    switch frame.message {
    case .refused, .pairing(.refused): return
    default: break
    }
    faults.append("a key that was taken back is sent \(frame.message)")
  }

  /// A durable revocation leaves no command of the key without a verdict, and owes its stores nothing.
  mutating func checkRevocation(_ operations: [StoreOperation]) {
    for case .pair(let device) in operations where device.isRevoked {
      let waiting = hub.store.accepted.values.filter {
        $0.press.deviceID == device.deviceID && $0.press.origin != .ownButton
      }
      if !waiting.isEmpty { faults.append("\(waiting.count) commands of a revoked key wait for a verdict") }
      for (store, identity) in hub.store.owners where identity == .key(device.key) {
        if hub.store.delivery.owed(to: store, .verdicts) + hub.store.delivery.owed(to: store, .messages) > 0 {
          faults.append("something is owed to a revoked key")
        }
      }
    }
  }
}
