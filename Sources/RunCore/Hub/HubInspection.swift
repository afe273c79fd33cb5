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

/// The clocks of a run as its ledger gives them, with all that the hub has accepted.
package struct HubClocks: Sendable {
  /// Time from the start, pauses included.
  package let elapsed: BusDuration
  /// Time in which the run was running.
  package let active: BusDuration
  /// Whether auto-pause has stopped active time.
  package let isAutoPaused: Bool
  /// The goal of the run.
  package let goal: RunGoal?
  /// Whether the hub has captured a snapshot that it has not published, because its commit is not durable yet.
  package let isPublishing: Bool
}

extension HubCore {
  /// The clocks of the present run at a moment. Checks compare them with what a published snapshot says about it.
  package func clocks(at now: BusTime) -> HubClocks {
    let metrics = ledger.metrics(at: now)
    return HubClocks(
      elapsed: metrics.elapsed, active: metrics.active, isAutoPaused: metrics.isAutoPaused,
      goal: ledger.goal, isPublishing: run.isPublishing)
  }
}

extension HubCore {
  /// When the records that are expected are to be made. Only the reading of a run's journal postpones its record.
  package var recordsDue: [RunID: BusTime] { records.expected.all.mapValues(\.dueAt) }
}

// What always holds between two events. Each part states its own rules in `check()`.
extension HubCore {
  /// What is wrong with the hub by its own rules, whatever its peers send; empty when it is good.
  package func check() -> [String] {
    var wrong = commands.check() + run.check() + mail.check() + sessions.check() + together.check()
    if !commands.retries.keys.allSatisfy(sessions.openStores.contains)
      || !mail.deadlines.keys.allSatisfy(sessions.openStores.contains)
    {
      wrong.append("a store without an open session has a retry")
    }
    if let snapshot = run.published, snapshot.order.term > term { wrong.append("a later term is shown") }
    return wrong
  }

  /// Whether a debug build checks after each event that begins a commit: on a small bus that takes little time.
  var isSmall: Bool { sessions.sessions.count <= 16 && commands.unjudged.count <= 16 && mail.storeCount <= 16 }
}
