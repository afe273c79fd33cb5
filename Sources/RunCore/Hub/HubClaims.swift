// Who is owed the verdict of a command: the store that it came from, and every other store that has sent its id.
extension HubCore {
  /// In good order two stores send one id: that of a device and the one that it came with after it had lost that. Any
  /// store beyond this has to send it again once the command is judged.
  static let claimsMax = 8

  /// Whether one more store can wait for the verdict of a command that is known.
  func hasRoom(forClaimOf id: CommandID, by store: StoreID) -> Bool {
    guard let press = unjudged[id], press.stream.sender != store, let stores = claims[id] else { return true }
    return stores.count < Self.claimsMax || stores.contains(store)
  }

  /// A command that is known came again by another stream: it does not count again, and its verdict goes to that stream's
  /// sender as well. Nobody who waits for it already is let down by that.
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

  /// The stores that a verdict is owed to, in the order in which they sent the command.
  mutating func takeClaimants(of press: AcceptedCommand) -> [StoreID] {
    let stores = isNumbered(press.stream) ? [press.stream.sender] : []
    return (stores + (claims.removeValue(forKey: press.command.id) ?? [])).filter { !isGivenUp($0, by: press.deviceID) }
  }

  /// A store that its device has left for another: what was owed to it is dropped. Should it come back after all, it is
  /// told to begin anew, sends its commands again, and hears what became of them.
  private func isGivenUp(_ store: StoreID, by device: DeviceID) -> Bool {
    guard couriers[store] == nil else { return false }
    return devices[device].map { $0.storeID != store } ?? false
  }

  /// The device that pressed has come with another store, which has sent this command again and can bring what follows.
  func hasHeir(_ press: AcceptedCommand) -> Bool {
    guard let stores = claims[press.command.id], let heir = devices[press.deviceID]?.storeID else { return false }
    return stores.contains(heir)
  }
}
