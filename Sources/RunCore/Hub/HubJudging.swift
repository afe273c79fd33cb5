// Judging: the arbiter decides about accepted presses, and the hub writes down what follows.
extension HubCore {
  /// The write that makes an accepted command a late one.
  static func isLate(_ id: CommandID) -> StoreOperation { .reclassify(id, .late) }

  /// Judges the presses that wait for no window.
  mutating func judgeLate(in turn: inout Turn) {
    let settlement = arbiter.judgeLate(at: turn.now, isPast: isPast)
    write(settlement, in: &turn)
  }

  /// Settles the open window as of a moment, if its deadline has come by then.
  mutating func settle(at moment: BusTime, in turn: inout Turn) {
    let settlement = arbiter.settle(at: moment, isPast: isPast)
    write(settlement, in: &turn)
  }

  /// Settles the windows that are due, one that opens behind a settled window included.
  mutating func settleDueWindows(in turn: inout Turn) {
    while let deadline = arbiter.deadline, deadline <= turn.now { settle(at: turn.now, in: &turn) }
  }

  private var isPast: (RunID) -> Bool { { [records] in records.knows($0) } }

  /// Releases the held presses of a stream that brings nothing more, and returns the writes for that. They are judged
  /// without their stop.
  mutating func abandon(_ stream: StreamID) -> [StoreOperation] {
    let fallen = arbiter.abandon(stream)
    book.release(fallen)
    return fallen.map(Self.isLate)
  }

  /// Writes what a settlement decided: one commit, one snapshot, all verdicts.
  mutating func write(_ settlement: Settlement, in turn: inout Turn) {
    guard !settlement.isEmpty else { return }
    let wasUnfinished = unfinished != nil
    var operations: [StoreOperation] = []
    var then: [Durable] = []
    var didTransit = false
    var didChange = false
    for line in settlement.lines {
      let entry = presentRun.entry(at: line.time, line.event)
      operations.append(.append(line.runID, entry))
      if case .transition(let transition) = line.event, transition.kind == .start, line.runID == arbiter.control.runID {
        presentRun.begin()
        if let setup = setupEntry(at: line.time) {
          operations.append(.append(line.runID, setup))
          presentRun.insert(setup)
        }
        // The start was accepted in the last incarnation: the time without a hub does not count for the run.
        if let unfinished, case .settling = unfinished.stage { presentRun.stopClock(at: unfinished.diedAt) }
      }
      if line.runID == arbiter.control.runID {
        presentRun.insert(entry)
        didChange = true
        if case .transition = line.event { didTransit = true }
      }
    }
    operations += leaveRecovery()
    for (alias, run) in settlement.aliases.sorted(by: { $0.key < $1.key }) {
      operations.append(.setAlias(alias, of: run))
    }
    for run in settlement.wholeRuns { then.append(.act(.keep(run))) }
    operations += settlement.windows.map(StoreOperation.settle)
    operations += settlement.admitted.map { .reclassify($0, .window) }
    for answer in settlement.answers {
      let press = answer.press
      let claimants = book.judge(answer.verdict, at: turn.now)
      operations.append(.judge(answer.verdict, answer.press, judgedAt: turn.now))
      then.append(.answer(Receipt(answer.verdict, at: turn.now), press))
      for store in stores(owed: press, and: claimants) {
        owe(answer.verdict, to: store, &operations, &then, at: turn.now)
      }
    }
    dateRuns(after: settlement, &operations)
    expectRecords(after: settlement, &operations, &then, at: turn.now)
    if didTransit {
      // The schedule begins anew with the commit of this transition.
      publisher.suspendTicks()
      then.append(.anchor)
    }
    if didChange {
      publishNow(operations, then: then, in: &turn)
    } else {
      turn.write(operations + forgetOldVerdicts(at: turn.now), then: then)
    }
    // Presses that waited for the decision about the run can be judged now.
    if wasUnfinished, unfinished == nil { judgeLate(in: &turn) }
  }

  /// The ledger entry with the setup that the runner chose for a new run; `nil` for the default setup.
  private mutating func setupEntry(at time: BusTime) -> LedgerEntry? {
    guard settings.metrics.setup != RunSetup() else { return nil }
    return presentRun.entry(at: time, .setup(settings.metrics.setup))
  }
}
