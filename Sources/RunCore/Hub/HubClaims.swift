// Which stores are owed the verdict of a command: the one that sent it first, and every other one that sent its id.
extension HubCore {
  /// Handles a known command that arrived on another stream. It does not count again, and its verdict is owed to that
  /// stream's sender as well. The claims of other stores stay.
  mutating func claim(_ id: CommandID, by mark: Mark, in turn: inout Turn) {
    let store = mark.stream.sender
    var operations = [mark.operation]
    var then = mark.then
    switch book.claim(id, by: store) {
    case .judged(let verdict): owe(verdict, to: store, &operations, &then, at: turn.now)
    case .added: operations.append(.claim(id, store))
    case .known: break
    }
    turn.write(operations, then: then)
  }

  /// The stores that are owed the verdict of a command, the sender's first.
  ///
  /// - Parameter others: the other stores that sent it.
  func stores(owed press: AcceptedCommand, and others: [StoreID]) -> [StoreID] {
    // A stream that the hub has forgotten has no mark, and nothing is owed to its store.
    let sender = press.stream.flatMap { marks.hasBegun($0) ? $0.sender : nil }
    return ([sender].compactMap { $0 } + others).filter { !isGivenUp($0, by: press.deviceID) }
  }

  /// Whether a store's device has moved to another store, so that the hub dropped what it owed to this one. If the
  /// store comes back, the hub tells it to begin anew. It then sends its commands again and receives their verdicts.
  private func isGivenUp(_ store: StoreID, by device: DeviceID) -> Bool {
    guard !mail.hasStore(store) else { return false }
    return mail.devices[device].map { $0.storeID != store } ?? false
  }

  /// Whether the device that pressed has a new store that sent this command again. The rest of the run can arrive from
  /// that store.
  func hasHeir(_ press: AcceptedCommand) -> Bool {
    mail.devices[press.deviceID].map { book.isClaimed(press.command.id, by: $0.storeID) } ?? false
  }
}
