/// How many of one thing a hub holds, and how many it may hold at most.
package struct HubHolding: Sendable {
  /// What it is, in the plural.
  package let name: String
  /// How many there are.
  package let count: Int
  /// How many there may be.
  package let max: Int
}

extension HubCore {
  /// Every table of the hub that a member can fill, with its bound: what bounds the hub's memory.
  package var holdings: [HubHolding] {
    [
      HubHolding(name: "sessions", count: sessions.sessions.count, max: SessionTable.sessionsMax),
      HubHolding(
        name: "commands without a verdict, its own excepted",
        count: unjudged.count - queue.places(of: .own), max: CommandQueue.commandsMax),
      HubHolding(
        name: "held commands of runs without a stop", count: arbiter.unfinishedCount, max: HeldRuns.totalMax),
      HubHolding(name: "devices", count: devices.count, max: Self.devicesMax),
      HubHolding(name: "writes that gather", count: commits.gatheringCount, max: 2 * CommitQueue<Effect>.operationsMax),
    ]
  }
}
