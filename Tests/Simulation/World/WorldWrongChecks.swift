import RunCore

// What holds for the honest in a world with wrong members, beside all that holds in every world.
extension World {
  /// From the first refusal for want of room to the last one before something is taken in.
  private static let busyMax = BusDuration.seconds(60)
  private static let busyCountMax = 5

  /// What a wrong member is shown is durable, as for everybody.
  mutating func checkWrong(_ frame: HubFrame) {
    switch frame.message {
    case .welcome(let welcome):
      check(welcome.state.snapshot)
      if welcome.storeID != hub.store.storeID { faults.append("a welcome names a store that is not durable") }
    case .receipt(let receipt): check(receipt)
    case .state(let message): check(message.snapshot)
    case .delivery(.verdicts(let transmissions)): for transmission in transmissions { check(transmission.receipt) }
    case .recordChange(let change):
      if change.number > hub.store.lastRecordChange { faults.append("a record leaves before it is durable") }
    case .refused, .delivery, .pong, .answer, .goodbye: break
    }
  }

  /// An honest sender is refused for want of room: it comes again, and is taken in before long.
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

  /// Whether so few of its commands can be without a verdict that they fit into the places that are kept for it.
  private func hasPlaceOfItsOwn(_ peer: Int) -> Bool {
    guard wrong.victim == nil, loss == .none, wrong.namesInvented == 0, spool.isEmpty else { return false }
    let waiting = presses.values.count { $0.peer == peer && $0.verdict == nil }
    let claimed = presses.contains { id, press in press.peer == peer && hub.store.claimCount(of: id) >= 8 }
    let owed = hub.store.delivery.owed(to: peers[peer].store.storeID, .verdicts)
    return waiting <= Self.ownPlaces && !claimed && owed < 1024
  }

  private static let ownPlaces = 8

  /// What it was refused for is taken in now.
  mutating func noteRoom(_ operations: [StoreOperation]) {
    guard !crowding.isEmpty else { return }
    for operation in operations {
      switch operation {
      case .accept(let press, _), .judge(_, let press, _):
        // A press from the spool is of a script, whoever brings it.
        if !press.deviceID.rawValue.hasPrefix("nobody") {
          for peer in peers.indices where peers[peer].name == press.deviceID || press.deviceID.rawValue == "script" {
            crowding[peer] = nil
          }
        }
      default: break
      }
    }
  }

  /// What the hub holds stays within its bounds, in its memory and on its disk.
  mutating func checkHoldings() {
    guard let core = hub.core else { return }
    for holding in core.holdings where holding.count > holding.max {
      faults.append("the hub holds \(holding.count) \(holding.name), and \(holding.max) at most")
    }
    faults += hub.store.crowds
    if steps.isMultiple(of: Self.inventoryEvery) { faults += hub.store.hoards }
  }

  /// Counting all that stays takes a while where there is much of it.
  private static let inventoryEvery = 64

  /// A value of an honest device is refused for want of room: the room is taken, by those who go by its name.
  mutating func noteRefusedValue(_ key: String, of index: Int) {
    tally.count("honest value refused")
    let name = peers[index].name
    let row = peers[index].store.delivery.latestSent[WorldDelivery.Place(device: nil, key: key)]
    let wanted = row.map { $0.key.utf8.count + $0.message.name.utf8.count + $0.message.body.count + 320 } ?? 0
    if wrong.victim != index || !hub.store.hasNoRoom(for: name, wanted) {
      faults.append("the value of \(key) is refused, though there is room")
    }
  }
}
