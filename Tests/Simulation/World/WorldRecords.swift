import RunCore

// Records in a simulated world: made by the hub, changed by the runner, fetched by every peer.
extension World {
  /// The runner gives a record a title, or removes one.
  mutating func keepHouse() {
    let runs = hub.store.records.kept.keys.sorted()
    guard hub.core != nil, let run = runs.randomElement(using: &random) else { return }
    let number = number()
    let inquiry: Inquiry = chance(3) ? .removeRecord(run) : .editRecord(run, title: "\(number)", note: nil)
    feedHub(.inquire(inquiry, number))
  }

  /// How long the first version may take: it is made in the commit after the stop, and disks may be slow.
  private static let recordMax = BusDuration.seconds(10)

  mutating func noteRecord(_ operation: StoreOperation) {
    switch operation {
    case .append(let run, let entry):
      guard case .transition(let transition) = entry.event, transition.kind == .stop else { return }
      if hub.store.records.kept[run] == nil, !hub.store.discarded.contains(run) { hub.awaited[run] = now }
    case .keepRecord(let record, _): hub.awaited[record.runID] = nil
    case .discard(let run), .forgetExpected(let run): hub.awaited[run] = nil
    default: break
    }
  }

  mutating func checkAwaited() {
    guard !wrong.members.isEmpty else { return }
    for (run, since) in hub.awaited where now - max(since, hub.isTroubledUntil) > Self.recordMax {
      faults.append("\(run) was stopped \((now - since).seconds) s ago and is no record")
    }
  }

  /// What comes while a record gathers does not postpone it: thousands of late parts would starve it.
  mutating func checkRecordsDue(after event: HubCore.Event, at hubTime: BusTime) {
    let due = hub.core?.recordsDue ?? [:]
    let hasRead = if case .journal = event { true } else { false }
    for (run, before) in hub.recordsDue where !hasRead && before > hubTime {
      if let after = due[run], after > before { faults.append("the record of \(run) is postponed by what came later") }
    }
    hub.recordsDue = due
  }

  /// A version that arrives at a peer must equal the hub's.
  mutating func note(_ record: RunRecord) {
    tally.count(record.summary.version == 1 ? "record at a peer" : "record anew at a peer")
    let known = hub.store.records.kept[record.runID]
    if known?.summary.version == record.summary.version, known != record, loss != .hub {
      faults.append("a peer keeps another version \(record.summary.version) of \(record.runID) than the hub")
    }
  }

  /// An app is told only of durable changes.
  mutating func check(_ news: RecordNews, at index: Int) {
    let records = peers[index].store.records.kept
    switch news {
    case .kept(let summary):
      if records[summary.runID]?.summary != summary { faults.append("peer \(index) tells of a record that it has not") }
    case .removed(let run):
      if records[run] != nil { faults.append("peer \(index) still has a record that it says is gone") }
    }
  }

  /// The first difference of two bodies.
  private static func difference(_ kept: RecordBody, _ folded: RecordBody) -> String {
    if kept.report.metrics != folded.report.metrics { return "\(kept.report.metrics), not \(folded.report.metrics)" }
    if kept.report != folded.report { return "\(kept.report), not \(folded.report)" }
    if kept.pauses != folded.pauses { return "\(kept.pauses), not \(folded.pauses)" }
    if kept.series != folded.series { return "\(kept.series), not \(folded.series)" }
    return "another route"
  }

  /// Whether every peer has received all changes of the hub's records.
  var haveAllRecords: Bool {
    !climate.limits.carriesRecords || peers.allSatisfy { $0.store.records.through >= hub.store.lastRecordChange }
  }

  /// The record of a run has the goal of the start that began it.
  private mutating func checkGoal(of run: RunID) {
    guard let kept = hub.store.records.kept[run] else { return }
    let start = hub.store.journal(of: run).lazy.compactMap { entry in
      if case .transition(let made) = entry.event, made.kind == .start { made.change.commandID } else { nil }
    }.first
    guard let start else { return }
    if kept.summary.goal != Self.goal(of: start) {
      faults.append("the record of \(run) has another goal than its start")
    }
    if kept.summary.goal != nil { tally.count("record with a goal") }
  }

  /// Every run that is over has a record that equals the fold of its journal, unless it was removed or a next version
  /// is still expected. Every peer has the hub's records.
  mutating func checkRecords() {
    let disk = hub.store.records
    // The runner's settings are entries of the run's own ledger.
    let settings = MetricsSettings()
    for run in hub.store.journals.keys.sorted()
    where disk.expected[run] == nil && disk.removed[run] == nil && !hub.store.discarded.contains(run) {
      var ledger = RunLedger(settings: settings)
      ledger.insert(contentsOf: hub.store.journal(of: run).sorted(by: LedgerEntry.precedes))
      checkGoal(of: run)
      let body = RecordBody.made(of: ledger, settings: settings)?.body
      if let kept = disk.kept[run]?.body, let body, kept != body {
        faults.append("the record of \(run) is not what its journal folds to: \(Self.difference(kept, body))")
      } else if disk.kept[run]?.body != body {
        faults.append("the record of \(run) is \(body == nil ? "there" : "missing")")
      }
    }
    // Change numbers of a term that was used twice mean different records to the hub and to a peer.
    guard climate.limits.carriesRecords, !hub.hasUsedTermAgain else { return }
    for (index, peer) in peers.enumerated() {
      for (run, record) in disk.kept where peer.store.records.kept[run] != record {
        faults.append("peer \(index) has not the record of \(run) that the hub has")
      }
      // Peers keep the records that a hub with a lost store has forgotten.
      for run in peer.store.records.kept.keys where loss != .hub && disk.kept[run] == nil {
        faults.append("peer \(index) keeps \(run), which the hub does not")
      }
    }
  }
}
