/// When the next journal can be dropped, and the inputs from which that was computed.
struct JournalDue {
  struct Basis: Equatable {
    var edition = 0
    var present: RunID?
  }
  var basis = Basis()
  var at: BusTime?
}

// A run's journal is kept for a day after the run is over, because parts of the run may still arrive. After that only
// its record is kept, and later readings of it are dropped.
extension HubCore {
  /// Notes when a run ended. Later amendments do not extend the time for which its journal is kept.
  mutating func endJournal(of run: RunID, at now: BusTime) -> StoreOperation? {
    guard records.journals[run] == nil, records.kept[run] == nil, records.removed[run] == nil else { return nil }
    records.journals[run] = now
    return .endJournal(run, at: now)
  }

  /// Whether the hub accepts readings of a run: while it is on and for a day after it, unless its owner has removed it.
  func acceptsReadings(of run: RunID, at now: BusTime) -> Bool {
    !isOver(run) || records.journals[run].map { now - $0 <= ControlHistory.age } ?? false
  }

  /// When the next journal can be dropped. There may be many journals, so this is recomputed only after a change.
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

  /// Drops the journal of a run and the run's aliases, and returns the write for that.
  private mutating func dropJournal(of run: RunID) -> StoreOperation {
    arbiter.forgetAliases(of: run)
    pastReadings[run] = nil
    return .dropJournal(run)
  }

  /// Whether a run's journal is no longer needed: the run has a record, was removed or was discarded. The last run's
  /// journal is needed until the next run begins, because the state is computed from it.
  private func isJournalComplete(_ run: RunID) -> Bool {
    run != arbiter.control.runID && records.expected[run] == nil && records.reading != run
      && (records.kept[run] != nil || records.removed[run] != nil || records.discarded.contains(run))
  }

  /// Erases at once what was measured in a run that its owner has removed. If it was the last run, the state loses it
  /// as well.
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
