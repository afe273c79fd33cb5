import DequeModule

/// Verdicts that senders may ask for again: those of two days, at most ``countMax``.
struct VerdictArchive: Sendable {
  /// One command every two seconds for two days; the oldest verdicts are forgotten first.
  static let countMax = 100_000
  private var verdicts: [CommandID: Verdict] = [:]
  private var order: Deque<(id: CommandID, judgedAt: BusTime)> = []

  init(_ history: [(verdict: Verdict, press: AcceptedCommand, judgedAt: BusTime)]) {
    for entry in history { keep(entry.verdict, judgedAt: entry.judgedAt) }
  }

  subscript(id: CommandID) -> Verdict? { verdicts[id] }

  mutating func keep(_ verdict: Verdict, judgedAt: BusTime) {
    if verdicts.updateValue(verdict, forKey: verdict.commandID) == nil {
      order.append((verdict.commandID, judgedAt))
    }
  }

  /// Forgets verdicts that are too old or too many.
  ///
  /// - Returns: the moment before which all verdicts are forgotten; `nil` if none was forgotten now.
  mutating func prune(at now: BusTime) -> BusTime? {
    let horizon = now - ControlHistory.verdictAge
    var forgotten: BusTime?
    while let oldest = order.first, oldest.judgedAt < horizon || order.count > Self.countMax {
      order.removeFirst()
      verdicts[oldest.id] = nil
      forgotten = oldest.judgedAt
    }
    // The moment is not later than the oldest verdict that is kept, because several verdicts can share one moment.
    guard let forgotten else { return nil }
    return order.first.map { min($0.judgedAt, forgotten + BusDuration(nanoseconds: 1)) } ?? forgotten
  }
}
