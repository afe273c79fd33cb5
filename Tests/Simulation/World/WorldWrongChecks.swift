import RunCore

// What holds for the honest in a world with wrong members, beside all that holds in every world.
extension World {
  /// From the first refusal for want of room to the last one before it is taken in.
  static let busyMax = BusDuration.seconds(30)

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

  /// An honest sender is refused for want of room: it comes again.
  mutating func noteBusy(_ peer: Int?) {
    tally.count("honest sender refused")
    let sender = peer.map { "peer \($0)" } ?? "a script"
    let since = refusedSince[sender] ?? now
    refusedSince[sender] = since
    if now - since > Self.busyMax { faults.append("\(sender) is refused for \((now - since).seconds) s") }
  }

  /// What it was refused for is taken in now.
  mutating func noteRoom(_ operations: [StoreOperation]) {
    guard !refusedSince.isEmpty else { return }
    for case .accept(let press, _) in operations {
      let peer = peers.firstIndex { $0.store.storeID == press.stream.sender }
      refusedSince[peer.map { "peer \($0)" } ?? "a script"] = nil
    }
    for case .judge(_, let press, _) in operations {
      let peer = peers.firstIndex { $0.store.storeID == press.stream.sender }
      refusedSince[peer.map { "peer \($0)" } ?? "a script"] = nil
    }
  }

  /// What the hub holds stays within its bounds.
  mutating func checkHoldings() {
    guard let core = hub.core else { return }
    for holding in core.holdings where holding.count > holding.max {
      faults.append("the hub holds \(holding.count) \(holding.name), and \(holding.max) at most")
    }
  }
}
