import DequeModule

/// Verdicts that senders may ask for again: those of two days, at most ``countMax``.
struct VerdictArchive: Sendable {
  /// A sender every two seconds for two days; the oldest go first.
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

  /// Forgets what is too old or too much; the moment before which everything was forgotten, if anything was.
  mutating func prune(at now: BusTime) -> BusTime? {
    let horizon = now - ControlHistory.verdictAge
    var forgotten: BusTime?
    while let oldest = order.first, oldest.judgedAt < horizon || order.count > Self.countMax {
      order.removeFirst()
      verdicts[oldest.id] = nil
      forgotten = oldest.judgedAt
    }
    // Never past what is still kept: several verdicts can share one moment.
    guard let forgotten else { return nil }
    return order.first.map { min($0.judgedAt, forgotten + BusDuration(nanoseconds: 1)) } ?? forgotten
  }
}
