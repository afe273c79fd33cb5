/// When the next journal may go, and what that was derived from.
struct JournalDue {
  struct Basis: Equatable {
    var edition = 0
    var present: RunID?
  }
  var basis = Basis()
  var at: BusTime?
}

// The journal of a run is needed as long as something of the run can come: for a day after it is over. Then its record is
// all that is kept of it, and what is measured for it later goes nowhere.
extension HubCore {
  /// Notes since when a run is over; what amends it later does not make that any later.
  mutating func endJournal(of run: RunID, at now: BusTime) -> StoreOperation? {
    guard records.journals[run] == nil, records.kept[run] == nil, records.removed[run] == nil else { return nil }
    records.journals[run] = now
    return .endJournal(run, at: now)
  }

  /// Readings of a run are taken in while it is on and for a day after it, unless its owner has removed it.
  func acceptsReadings(of run: RunID, at now: BusTime) -> Bool {
    !isOver(run) || records.journals[run].map { now - $0 <= ControlHistory.age } ?? false
  }

  /// When the next journal is of no more use: looked for again once something of it has changed, for there may be many.
  mutating func journalDeadline() -> BusTime? {
    let basis = JournalDue.Basis(edition: records.edition, present: arbiter.control.runID)
    if journalDue.basis != basis {
      var first: BusTime?
      for (run, endedAt) in records.journals where isJournalComplete(run) { first = BusTime.earliest(first, endedAt) }
      journalDue = JournalDue(
        basis: basis, at: first.map { $0 + ControlHistory.age + BusDuration(nanoseconds: 1) })
    }
    return journalDue.at
  }

  /// Drops the journals of runs that have been over for more than a day.
  mutating func dropJournals(at now: BusTime) {
    let due = records.journals.filter { isJournalComplete($0.key) && now - $0.value > ControlHistory.age }.keys.sorted()
    for run in due { records.journals[run] = nil }
    if !due.isEmpty { commits.add(due.map { dropJournal(of: $0) }, then: []) }
  }

  /// The other names of a run go with its readings.
  private mutating func dropJournal(of run: RunID) -> StoreOperation {
    arbiter.forgetAliases(of: run)
    pastReadings[run] = nil
    return .dropJournal(run)
  }

  /// What it held is in a record, or was not wanted. That of the last run is what the state shows, until the next begins.
  private func isJournalComplete(_ run: RunID) -> Bool {
    run != arbiter.control.runID && records.expected[run] == nil && records.reading != run
      && (records.kept[run] != nil || records.removed[run] != nil || records.discarded.contains(run))
  }

  /// The owner has removed a run: what was measured of it is gone at once, from the state as well when it was the last.
  mutating func eraseJournal(of run: RunID, at now: BusTime) {
    let isPresent = run == arbiter.control.runID
    guard records.journals.removeValue(forKey: run) != nil || isPresent else { return }
    let drop = dropJournal(of: run)
    guard isPresent else { return commits.add([drop], then: []) }
    let transitions = ledger.entries.filter { if case .transition = $0.event { true } else { false } }
    ledger = RunLedger(settings: settings.unchosenMetrics)
    ledger.insert(contentsOf: transitions)
    beginRoute()
    publishNow([drop], at: now)
  }
}
