// A run's journal is kept for a day after the run is over, because parts of the run may still arrive. After that only
// its record is kept, and later readings of it are dropped.
extension HubCore {
  /// Drops the journals of runs that have been over for more than a day.
  mutating func dropJournals(in turn: inout Turn) {
    let due = records.takeJournals(present: commands.control.runID, at: turn.now)
    if !due.isEmpty { turn.write(due.map { dropJournal(of: $0) }, then: []) }
  }

  /// Drops the journal of a run and the run's aliases, and returns the write for that.
  private mutating func dropJournal(of run: RunID) -> StoreOperation {
    commands.forgetAliases(of: run)
    self.run.forgetReadings(of: run)
    return .dropJournal(run)
  }

  /// Erases at once what was measured in a run that its owner has removed. If it was the last run, the state loses it
  /// as well.
  mutating func eraseJournal(of run: RunID, in turn: inout Turn) {
    let isPresent = run == commands.control.runID
    guard records.forgetJournal(of: run) || isPresent else { return }
    let drop = dropJournal(of: run)
    guard isPresent else { return turn.write([drop], then: []) }
    self.run.erase()
    publishNow([drop], in: &turn)
  }
}
