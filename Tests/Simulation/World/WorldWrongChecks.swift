import RunCore

// Additional checks for honest members in a world with wrong members.
extension World {
  /// How long a sender may be refused as busy, from the first refusal to the last before something is accepted.
  private static let busyMax = BusDuration.seconds(60)
  private static let busyCountMax = 5

  /// What a wrong member receives is durable, as for everybody.
  mutating func checkWrong(_ frame: HubFrame) {
    switch frame.message {
    case .welcome(let welcome):
      check(welcome.state.snapshot)
      if welcome.storeID != hub.store.storeID { faults.append("a welcome names a store that is not durable") }
    case .receipt(let receipt): check(receipt)
    case .state(let message): check(message.snapshot)
    case .delivery(.verdicts(let transmissions)):
      for case let receipt? in transmissions.map(\.receipt) { check(receipt) }
    case .recordChange(let change):
      if change.number > hub.store.lastRecordChange { faults.append("a record leaves before it is durable") }
    case .refused, .delivery, .pong, .answer, .pairing, .room, .goodbye: break
    }
  }

  /// An honest sender that is refused as busy tries again and must be accepted before long.
  mutating func noteBusy(_ peer: Int?) {
    tally.count("honest sender refused")
    guard let peer else { return }
    let since = crowding[peer]?.since ?? now
    let count = (crowding[peer]?.count ?? 0) + 1
    crowding[peer] = (since, count)
    if count > Self.busyCountMax, now - since > Self.busyMax {
      faults.append("peer \(peer) is refused for \((now - since).seconds) s")
    }
    if hasPlaceOfItsOwn(peer) { faults.append("peer \(peer) is refused, and has a place of its own") }
  }

  /// Whether the peer has so few commands without a verdict that they fit into the queue slots reserved for it. A
  /// refused request may be one that it brought from the spool: copies of these also arrive when the spool is empty.
  private func hasPlaceOfItsOwn(_ peer: Int) -> Bool {
    guard wrong.harmed == nil, loss == .none, wrong.namesInvented == 0, spool.isEmpty else { return false }
    let waiting = presses.values.count { $0.peer == peer && $0.verdict == nil }
    let claimed = presses.contains { id, press in press.peer == peer && hub.store.claimCount(of: id) >= 8 }
    let owed = hub.store.delivery.owed(to: peers[peer].store.storeID, .verdicts)
    return waiting <= Self.ownPlaces && !claimed && owed < 1024 && answersWaiting < Self.answersMax
  }

  /// How many answers to requests wait for a commit of the hub.
  private var answersWaiting: Int {
    hub.core?.holdings.first { $0.name == "answers to requests that wait for a commit" }?.count ?? 0
  }

  private static let ownPlaces = 8
  /// While so many answers to one connection wait, the hub refuses its requests.
  private static let answersMax = 16

  /// An accepted or judged press ends the refusals of its sender.
  mutating func noteRoom(_ operations: [StoreOperation]) {
    checkNames(operations)
    for case .setTerm(let term) in operations {
      if let life = hub.lifeOfTerm[term], life != hub.life { hub.hasUsedTermAgain = true }
      hub.lifeOfTerm[term] = hub.life
    }
    guard !crowding.isEmpty else { return }
    for operation in operations {
      switch operation {
      case .accept(let press, _), .judge(_, let press, _):
        // A spooled command belongs to the device "script", whichever node brings it.
        if !press.deviceID.rawValue.hasPrefix("nobody") {
          for peer in peers.indices where peers[peer].name == press.deviceID || press.deviceID.rawValue == "script" {
            crowding[peer] = nil
          }
        }
      default: break
      }
    }
  }

  /// What the hub holds, in memory and on disk, stays within its bounds.
  mutating func checkHoldings() {
    guard let core = hub.core else { return }
    for holding in core.holdings where holding.count > holding.max {
      faults.append("the hub holds \(holding.count) \(holding.name), and \(holding.max) at most")
    }
    faults += hub.store.crowds
    if steps.isMultiple(of: Self.inventoryEvery) { faults += hub.store.hoards }
  }

  /// The name of an honest peer stays with the peer's identity once the hub has met that.
  private mutating func checkNames(_ operations: [StoreOperation]) {
    for case .meet(let device) in operations where device.storeID == hub.store.storeID {
      faults.append("the hub's store is used by \(device.deviceID) of \(device.identity)")
    }
    guard climate.hasIdentities else { return }
    if operations.contains(where: { if case .pair = $0 { true } else { false } }) { checkKeys() }
    for case .accept(let press, _) in operations where press.command.id.isWrong {
      guard let peer = peers.first(where: { $0.name == press.deviceID }), peer.identity != wrong.identity,
        hub.store.devices[press.deviceID]?.identity == peer.identity
      else { continue }
      faults.append("a wrong member pressed as \(press.deviceID) of \(peer.identity)")
    }
    for case .meet(let device) in operations {
      if let owner = peers.first(where: { $0.store.storeID == device.storeID }),
        !owner.identitiesEver.contains(device.identity)
      {
        faults.append("the store of \(owner.identity) is used by \(device.deviceID) of \(device.identity)")
      }
      guard let peer = peers.first(where: { $0.name == device.deviceID }),
        !peer.identitiesEver.contains(device.identity), hub.store.devices[device.deviceID]?.identity == peer.identity
      else { continue }
      faults.append("the name \(device.deviceID) of \(peer.identity) went to \(device.identity)")
    }
  }

  /// A key stands for one device, and never for the hub.
  private mutating func checkKeys() {
    let keys = hub.store.members.devices.flatMap(\.keys)
    if Set(keys).count < keys.count { faults.append("a key stands for two devices") }
    if keys.contains(where: { $0 == Self.bus.key || $0.bytes.allSatisfy { $0 == 0 } }) {
      faults.append("the hub's key, or none, is a device's")
    }
  }

  /// The full count is slow, so it is made only now and then.
  private static let inventoryEvery = 64

  /// The hub may refuse an honest device's value only if those who use its name have taken the room.
  mutating func noteRefusedValue(_ key: String, of index: Int) {
    tally.count("honest value refused")
    let name = peers[index].name
    let row = peers[index].store.delivery.latestSent[StoredDelivery.Place(device: nil, key: key)]
    let wanted = row.map { $0.key.utf8.count + $0.message.name.utf8.count + $0.message.body.count + 320 } ?? 0
    if wrong.harmed != index || !hub.store.hasNoRoom(for: name, wanted) {
      faults.append("the value of \(key) is refused, though there is room")
    }
  }
}
