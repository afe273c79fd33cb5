// When a record is made: at once when a run is over, and anew when a part of the run arrives later.
extension RecordKeeping {
  /// Dates the runs that a settlement has started, and returns the writes for that. A record must not depend on what the
  /// wall clock is set to later.
  mutating func date(_ settlement: Settlement, wallSeconds: (BusTime) -> Double) -> [StoreOperation] {
    settlement.lines.compactMap { line in
      guard case .transition(let transition) = line.event, transition.kind == .start else { return nil }
      return date(line.runID, wallSeconds: wallSeconds(line.time))
    }
  }

  /// Expects records of the runs that a settlement has stopped or amended.
  ///
  /// - Returns: the writes for that, and whether a record is due at once.
  mutating func expect(
    after settlement: Settlement, _ control: ControlState, at now: BusTime
  ) -> (operations: [StoreOperation], isDue: Bool) {
    var operations: [StoreOperation] = []
    var isDue = false
    var seen: Set<RunID> = []
    for line in settlement.lines where control.isOver(line.runID) {
      var isStop = false
      if case .transition(let transition) = line.event { isStop = transition.kind == .stop }
      if isStop, let operation = endJournal(of: line.runID, at: now) { operations.append(operation) }
      guard !isDiscarded(line.runID), end(of: line.runID) != nil else { continue }
      isDue = isDue || isStop
      guard isStop || seen.insert(line.runID).inserted else { continue }
      let isConflicted = settlement.wholeRuns.contains { $0.runID == line.runID && $0.isConflicted }
      let operation = expect(
        line.runID, isConflicted: isConflicted, dueAt: isStop ? now : versionDue(of: line.runID, at: now))
      if let operation { operations.append(operation) }
    }
    return (operations, isDue)
  }

  /// Expects a new version of a record after a reading of a run that is over.
  ///
  /// - Returns: the write for that with the first reading only, because later readings are written behind it.
  mutating func expect(afterReadingOf run: RunID, _ control: ControlState, at now: BusTime) -> StoreOperation? {
    guard control.isOver(run), !isDiscarded(run) else { return nil }
    let isExpected = expected[run] != nil
    let operation = expect(run, dueAt: versionDue(of: run, at: now))
    return isExpected ? nil : operation
  }

  /// Expects the record of the last run if the store was written by a version that kept no records.
  mutating func expectMissed(_ control: ControlState, at now: BusTime) -> [StoreOperation] {
    guard let run = control.runID, control.isOver(run), kept[run] == nil,
      expected[run] == nil, end(of: run) != nil, !isDiscarded(run)
    else { return [] }
    return expect(run, dueAt: now).map { [$0] } ?? []
  }

  /// Whether a run takes readings: while it is on and for a day after it, unless its owner has removed it.
  func acceptsReadings(of run: RunID, _ control: ControlState, at now: BusTime) -> Bool {
    !control.isOver(run) || end(of: run).map { now - $0 <= ControlHistory.age } ?? false
  }

  /// When a part of a run that comes now has gathered with others, and makes a new version.
  func versionDue(of run: RunID, at now: BusTime) -> BusTime {
    let over = end(of: run).map { speed.real(fromBus: max(.zero, now - $0)) } ?? Self.quietMax
    return now + speed.bus(fromReal: min(max(over, Self.quietMin), Self.quietMax))
  }
}
