/// The clocks of a run as its ledger gives them, with all that the hub has accepted.
package struct HubClocks: Sendable {
  /// Time from the start, pauses included.
  package let elapsed: BusDuration
  /// Time in which the run was running.
  package let active: BusDuration
  /// Whether auto-pause has stopped active time.
  package let isAutoPaused: Bool
  /// Whether the hub has captured a snapshot that it has not published, because its commit is not durable yet.
  package let isPublishing: Bool
}

extension HubCore {
  /// The clocks of the present run at a moment. Checks compare them with what a published snapshot says about it.
  package func clocks(at now: BusTime) -> HubClocks {
    let metrics = ledger.metrics(at: now)
    return HubClocks(
      elapsed: metrics.elapsed, active: metrics.active, isAutoPaused: metrics.isAutoPaused,
      isPublishing: run.isPublishing)
  }
}
