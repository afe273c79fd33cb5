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
    var bytes = 0
    // By index: iterating over the values would copy each courier, which is large.
    for place in couriers.values.indices { bytes += couriers.values[place].receivedBytes }
    // Stores with a session, stores of known devices, and stores that their devices have left for others.
    let storesMax = SessionTable.sessionsMax + Self.devicesMax + Self.absentMax
    return [
      HubHolding(name: "sessions", count: sessions.sessions.count, max: SessionTable.sessionsMax),
      HubHolding(name: "devices", count: devices.count, max: Self.devicesMax),
      HubHolding(name: "stores of devices", count: couriers.count, max: storesMax),
      HubHolding(name: "streams of verdicts", count: verdictStreams.count, max: storesMax),
      HubHolding(name: "marks", count: watermarks.count, max: 2 * storesMax),
      HubHolding(name: "bytes of values", count: bytes, max: Self.valuePool + couriers.count * Self.valueShare),
      HubHolding(
        name: "commands without a verdict, its own excepted",
        count: unjudged.count - queue.slots(of: .own), max: CommandQueue.commandsMax),
      HubHolding(
        name: "held commands of runs without a stop", count: arbiter.unfinishedCount, max: HeldRuns.totalMax),
      HubHolding(
        name: "claims of one verdict", count: claims.values.lazy.map(\.count).max() ?? 0, max: Self.claimsMax),
      HubHolding(name: "writes that gather", count: commits.gatheringCount, max: 2 * CommitQueue<Effect>.operationsMax),
    ]
  }
}
