extension RunLedger {
  /// The stretches of run time without active time, up to a moment: pauses by command, and gaps in which the hub was
  /// down. One that lasts ends at that moment.
  package func pauses(to end: BusTime) -> [Range<BusDuration>] {
    startedAt.map { Self.pauses(in: entries, from: $0, to: end) } ?? []
  }

  /// The same of entries in order, of which those of the time line count.
  static func pauses(in entries: [LedgerEntry], from start: BusTime, to end: BusTime) -> [Range<BusDuration>] {
    var pauses: [Range<BusDuration>] = []
    var pausedAt: BusTime?
    func add(from begin: BusTime, to last: BusTime) {
      let last = min(last, end)
      if last > begin { pauses.append(begin - start..<last - start) }
    }
    for entry in entries where entry.time >= start && entry.time <= end {
      switch entry.event {
      case .transition(let transition):
        switch transition.kind {
        case .pause: pausedAt = pausedAt ?? entry.time
        case .resume, .stop:
          if let begin = pausedAt { add(from: begin, to: entry.time) }
          pausedAt = nil
        case .start, .lap: break
        }
      case .gap(let span): if pausedAt == nil { add(from: entry.time, to: entry.time + span) }
      case .lap, .sample, .setup: break
      }
    }
    if let begin = pausedAt { add(from: begin, to: end) }
    return pauses
  }
}
