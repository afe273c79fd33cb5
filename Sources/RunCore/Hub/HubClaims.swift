// Which stores are owed the verdict of a command: the one that sent it first, and every other one that sent its id.
extension HubCore {
  /// Normally at most two stores send one id: a device's store, and its new store after it lost the first. Further
  /// stores are refused and send the command again once it is judged.
  static let claimsMax = 8

  /// Whether one more store can wait for the verdict of a known command.
  func hasRoom(forClaimOf id: CommandID, by store: StoreID) -> Bool {
    guard let press = unjudged[id], press.stream.sender != store, let stores = claims[id] else { return true }
    return stores.count < Self.claimsMax || stores.contains(store)
  }

  /// Handles a known command that arrived on another stream. It does not count again, and its verdict is owed to that
  /// stream's sender as well. The claims of other stores stay.
  mutating func claim(_ id: CommandID, by mark: Mark, at now: BusTime) {
    let store = mark.stream.sender
    var operations = [mark.operation]
    var then = mark.effects
    if let verdict = archive[id] {
      owe(verdict, to: store, &operations, &then, at: now)
    } else if let press = unjudged[id], press.stream.sender != store, !claims[id, default: []].contains(store) {
      claims[id, default: []].append(store)
      operations.append(.claim(id, store))
    }
    commits.add(operations, then: then)
  }

  /// Removes the claims on a command and returns the stores that are owed its verdict, in the order in which they sent
  /// it.
  mutating func takeClaimants(of press: AcceptedCommand) -> [StoreID] {
    let stores = isNumbered(press.stream) ? [press.stream.sender] : []
    return (stores + (claims.removeValue(forKey: press.command.id) ?? [])).filter { !isGivenUp($0, by: press.deviceID) }
  }

  /// Whether a store's device has moved to another store, so that the hub dropped what it owed to this one. If the
  /// store comes back, the hub tells it to begin anew. It then sends its commands again and receives their verdicts.
  private func isGivenUp(_ store: StoreID, by device: DeviceID) -> Bool {
    guard couriers[store] == nil else { return false }
    return devices[device].map { $0.storeID != store } ?? false
  }

  /// Whether the device that pressed has a new store that sent this command again. The rest of the run can arrive from
  /// that store.
  func hasHeir(_ press: AcceptedCommand) -> Bool {
    guard let stores = claims[press.command.id], let heir = devices[press.deviceID]?.storeID else { return false }
    return stores.contains(heir)
  }
}
