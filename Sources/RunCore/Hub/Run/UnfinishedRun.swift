/// A run that was on when the hub died, until its recovery is decided.
///
/// Until then the run's clock stands at the hub's death (``RunLedger/stopClock(at:)``). The decision makes the downtime
/// an entry of the ledger, because its end is known then.
///
/// - `settling` (presses that the last incarnation accepted are judged first) can go to: `asking`, `stopping`, over.
/// - `asking` (the app or a shell is to decide) can go to: `stopping`, over.
/// - `stopping` (the stop is pressed and its window has not settled) can go to: over.
struct UnfinishedRun: Sendable {
  enum Stage: Sendable {
    /// These presses of the last incarnation are not judged yet.
    case settling(Set<CommandID>)
    /// A decision is awaited since this moment of the present incarnation.
    case asking(RunID, since: BusTime)
    case stopping(RunID)
  }
  /// The last sign of life of the incarnation that had the run.
  let diedAt: BusTime
  /// When the present incarnation began.
  let backAt: BusTime
  var stage: Stage

  /// The last sign of life in a history: the clock mark, a transition, an entry, a press or a verdict, whichever is
  /// latest. `nil` for a store without a clock mark.
  static func death(of history: HubHistory, control: ControlState, ledger: RunLedger, now: BusTime) -> BusTime? {
    guard let mark = history.clock else { return nil }
    // An incarnation that asked and got no decision does not count: the hub died in the one before it.
    if let asked = control.runOn.flatMap({ history.unanswered[$0] }) { return min(asked, now) }
    let signs = [
      control.lastEffectiveAt, control.runOn == nil ? nil : ledger.entries.last?.time,
      history.accepted.map(\.press.arrivedAt).max(), history.verdicts.last?.judgedAt,
    ]
    return min(now, signs.compactMap { $0 }.reduce(mark.bus, max))
  }
}
