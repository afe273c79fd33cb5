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
    return [
      HubHolding(name: "sessions", count: sessions.sessions.count, max: SessionTable.sessionsMax),
      HubHolding(name: "devices", count: mail.devices.count, max: Self.devicesMax),
      HubHolding(name: "stores of devices", count: mail.storeCount, max: storesMax),
      HubHolding(name: "streams of verdicts", count: verdicts.count, max: storesMax),
      HubHolding(name: "marks", count: marks.count, max: 2 * storesMax),
      HubHolding(
        name: "bytes of values", count: mail.receivedValues.bytes,
        max: DeviceMail.valuePool + mail.storeCount * DeviceMail.valueShare),
      HubHolding(
        name: "commands without a verdict, its own excepted",
        count: book.foreignCount, max: CommandQueue.commandsMax),
      HubHolding(
        name: "held commands of runs without a stop", count: arbiter.unfinishedCount, max: HeldRuns.totalMax),
      HubHolding(
        name: "claims of one verdict", count: book.claimsOfOneMax, max: CommandBook.claimsMax),
      HubHolding(
        name: "connections that wait for one verdict", count: book.waitersOfOneMax, max: CommandBook.waitersMax),
      HubHolding(
        name: "answers to requests that wait for a commit", count: sessions.owedAnswers.total,
        max: OwedAnswers.totalMax),
      HubHolding(
        name: "writes that gather", count: rest.commits.gatheringCount, max: 2 * CommitQueue<Durable>.operationsMax),
    ]
  }
}
