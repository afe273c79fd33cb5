/// One bounded table of a hub: how many entries it holds, and how many it may hold.
package struct HubHolding: Sendable {
  /// What it is, in the plural.
  package let name: String
  /// How many there are.
  package let count: Int
  /// How many there may be.
  package let max: Int
}

extension HubCore {
  /// Every table of the hub that a member of the bus can fill, with its bound. Together they bound the hub's memory.
  package var holdings: [HubHolding] {
    // Stores with a session, stores of known devices, and stores that their devices have left for others.
    let storesMax = SessionTable.sessionsMax + Self.devicesMax + Self.absentMax
    return sessions.holdings + [
      HubHolding(name: "devices", count: mail.devices.count, max: Self.devicesMax),
      HubHolding(name: "stores of devices", count: mail.storeCount, max: storesMax),
      HubHolding(
        name: "marks", count: commands.markCount + run.markCount + mail.markCount, max: 2 * storesMax),
      HubHolding(
        name: "bytes of values", count: mail.receivedValues.bytes,
        max: DeviceMail.valuePool + mail.storeCount * DeviceMail.valueShare),
      HubHolding(
        name: "writes that gather", count: rest.commits.gatheringCount, max: 2 * CommitQueue<Durable>.operationsMax),
    ] + commands.holdings(storesMax: storesMax)
  }
}
