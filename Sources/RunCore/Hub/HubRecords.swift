// A run that is over becomes a record: at once, and as a new version when something of it comes later.
extension HubCore {
  /// What a settlement says of runs that are over.
  mutating func expectRecords(
    after settlement: Settlement, _ operations: inout [StoreOperation], _ then: inout [Effect], at now: BusTime
  ) {
    var isDue = false
    var seen: Set<RunID> = []
    for line in settlement.lines where isOver(line.runID) {
      var isStop = false
      if case .transition(let transition) = line.event { isStop = transition.kind == .stop }
      if isStop, let operation = endJournal(of: line.runID, at: now) { operations.append(operation) }
      guard !records.discarded.contains(line.runID), records.journals[line.runID] != nil else { continue }
      isDue = isDue || isStop
      guard isStop || seen.insert(line.runID).inserted else { continue }
      let isConflicted = settlement.wholeRuns.contains { $0.runID == line.runID && $0.isConflicted }
      let operation = records.expect(
        line.runID, isConflicted: isConflicted, dueAt: isStop ? now : now + recordsQuiet)
      if let operation { operations.append(operation) }
    }
    if isDue { then.append(.makeRecords) }
  }

  func isOver(_ run: RunID) -> Bool { run != arbiter.control.runID || arbiter.control.phase == .completed }

  /// A reading of a run that is over was taken in. The first says so for those that follow: they are written behind it.
  mutating func expectRecord(afterSampleOf run: RunID, at now: BusTime) -> StoreOperation? {
    guard isOver(run), !records.discarded.contains(run) else { return nil }
    let isExpected = records.expected[run] != nil
    let operation = records.expect(run, dueAt: now + recordsQuiet)
    return isExpected ? nil : operation
  }

  /// The last run was over before anybody expected its record: a store of before there were any.
  mutating func expectMissedRecord(at now: BusTime) -> [StoreOperation] {
    let control = arbiter.control
    guard control.phase == .completed, let run = control.runID, records.kept[run] == nil,
      records.expected[run] == nil, records.journals[run] != nil, !records.discarded.contains(run)
    else { return [] }
    return records.expect(run, dueAt: now).map { [$0] } ?? []
  }

  /// Makes the records that are due: the last run's from its ledger, others' from their journals, one after another.
  mutating func makeRecords(at now: BusTime) {
    guard records.reading == nil else { return }
    while let (run, expected) = records.nextDue(at: now) {
      if run == arbiter.control.runID {
        // What the ledger holds is durable with the record at the latest: a later life folds the same numbers.
        if !samples.operations.isEmpty { commitSamples(at: now) }
        ledger.foldAll()
        keepRecord(of: run, ledger, expected)
      } else {
        records.reading = run
        records.expected[run]?.hasChanged = false
        if !samples.operations.isEmpty { commitSamples(at: now) }
        // Behind all that was taken in before: the journal that is read is whole.
        return commits.add([], then: [.act(.readJournal(run))])
      }
    }
  }

  /// What is expected is due now.
  mutating func makeDueRecords(at now: BusTime) {
    records.expected = records.expected.mapValues {
      RecordKeeping.Expected(record: $0.record, dueAt: now, hasChanged: $0.hasChanged)
    }
    makeRecords(at: now)
  }

  /// The journal of a run was read.
  mutating func receiveJournal(of run: RunID, _ entries: [LedgerEntry], at now: BusTime) {
    guard records.reading == run else { return }
    records.reading = nil
    if let expected = records.expected[run] {
      if expected.hasChanged, records.kept[run] != nil {
        // More of it came meanwhile: the journal is read again when that has gathered.
        records.putOff(run, to: now + recordsQuiet)
      } else {
        keepRecord(of: run, RunLedger(settings: settings.unchosenMetrics, entries: entries), expected)
        // The first version waits for nothing: what came meanwhile makes the second.
        if expected.hasChanged, let again = records.expect(run, dueAt: now + recordsQuiet) {
          commits.add([again], then: [])
        }
      }
    }
    makeRecords(at: now)
  }

  private mutating func keepRecord(of run: RunID, _ past: RunLedger, _ expected: RecordKeeping.Expected) {
    records.expected[run] = nil
    guard let body = RecordBody(past, settings: settings.unchosenMetrics), let start = past.startedAt else {
      return commits.add([.forgetExpected(run)], then: [])
    }
    let known = records.kept[run]
    var summary = RecordSummary(
      runID: run, version: records.nextVersion(of: run), deviceID: past.starter ?? settings.deviceID,
      hubDeviceID: settings.deviceID, appVersion: settings.appVersion,
      // Of the first version: the wall clock may have been set since.
      startedAtUnixSeconds: known?.startedAtUnixSeconds ?? wallSeconds(at: start), elapsed: .zero, active: .zero,
      setup: past.setup, isConflicted: expected.record.isConflicted, title: known?.title ?? "",
      note: known?.note ?? "")
    summary.add(body.report.metrics)
    keep(RunRecord(summary: summary, body: body), then: [])
  }

  private mutating func keep(_ record: RunRecord, then: [Effect]) {
    records.kept[record.runID] = record.summary
    let change = records.change(record.runID)
    commits.add(
      [.keepRecord(record, change: change)], then: [.recordChanged(.kept(record.summary), change)] + then)
  }

  /// What the wall clock showed at a moment, by what it showed when this life began.
  private func wallSeconds(at time: BusTime) -> Double {
    wall.seconds + settings.clock.speed.real(fromBus: time - wall.bus).seconds
  }

  private var recordsQuiet: BusDuration { settings.clock.speed.bus(fromReal: RecordKeeping.quiet) }
}

// What a shell asks about records, and what it wants done with them.
extension HubCore {
  mutating func answerOfRecords(
    _ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]
  ) {
    switch inquiry {
    case .records(let from):
      commits.add([], then: [.act(.answer(RecordSummary.page(of: records.kept.values, from: from), number))])
    case .record(let run, let from):
      guard records.kept[run] != nil else { return actions.append(.answer(.failed(InquiryFailure.noRecord), number)) }
      commits.add([], then: [.act(.readRecord(run, from: max(0, from), .inquiry(number)))])
    case .editRecord(let run, let title, let note): edit(run, title: title, note: note, number, into: &actions)
    case .removeRecord(let run):
      guard let known = records.kept.removeValue(forKey: run) else {
        return actions.append(.answer(.failed(InquiryFailure.noRecord), number))
      }
      // What was taken in before goes with the rest, and leaves no expectation behind.
      if !samples.operations.isEmpty { commitSamples(at: now) }
      records.expected[run] = nil
      records.removed[run] = known.version + 1
      let change = records.change(run)
      commits.add(
        [.forgetExpected(run), .removeRecord(run, version: known.version + 1, change: change)],
        then: [.recordChanged(.removed(run), change)])
      eraseJournal(of: run, at: now)
      commits.add([], then: [.act(.answer(.done(nil), number))])
    case .putRecord(let upload): receive(upload, number, into: &actions)
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .recover, .post: break
    }
  }

  private mutating func edit(
    _ run: RunID, title: String?, note: String?, _ number: UInt64, into actions: inout [Action]
  ) {
    guard var summary = records.kept[run] else {
      return actions.append(.answer(.failed(InquiryFailure.noRecord), number))
    }
    summary.title = title ?? summary.title
    summary.note = note ?? summary.note
    guard summary.title.utf8.count <= RecordSummary.titleBytesMax, summary.note.utf8.count <= RecordSummary.noteBytesMax
    else { return actions.append(.answer(.failed("the title or the note is too long"), number)) }
    guard summary != records.kept[run] else { return commits.add([], then: [.act(.answer(.done(nil), number))]) }
    summary.version += 1
    records.kept[run] = summary
    let change = records.change(run)
    commits.add(
      [.editRecord(summary, change: change)],
      then: [.recordChanged(.kept(summary), change), .act(.answer(.done(nil), number))])
  }

  private mutating func receive(_ upload: RecordUpload, _ number: UInt64, into actions: inout [Action]) {
    if upload.from == 0 { records.upload = [] }
    guard upload.from == records.upload.count, upload.bytes.count <= RecordPart.bytesMax,
      upload.total <= RunRecord.bytesMax, upload.from + upload.bytes.count <= upload.total
    else {
      records.upload = []
      return actions.append(.answer(.failed("the parts of the record do not fit together"), number))
    }
    records.upload += upload.bytes
    guard records.upload.count == upload.total else {
      return actions.append(.answer(.taken(isKnown: false), number))
    }
    let bytes = records.upload
    records.upload = []
    guard var record = RunRecord(encoded: bytes) else {
      return actions.append(.answer(.failed("this is no record"), number))
    }
    if let flaw = record.flaw { return actions.append(.answer(.failed("this record cannot be kept: \(flaw)"), number)) }
    let run = record.runID
    // What is kept here, or still to be made here, knows better.
    let isToCome = run == arbiter.control.runID && records.removed[run] == nil
    guard records.kept[run] == nil, records.expected[run] == nil, !isToCome else {
      return commits.add([], then: [.act(.answer(.taken(isKnown: true), number))])
    }
    record.summary.version = max(record.summary.version, records.nextVersion(of: run))
    records.removed[run] = nil
    keep(record, then: [.act(.answer(.taken(isKnown: false), number))])
  }
}

extension RunLedger {
  /// What the runner chose for it.
  fileprivate var setup: RunSetup {
    for entry in entries { if case .setup(let setup) = entry.event { return setup } }
    return RunSetup()
  }

  /// The device that gave the start.
  fileprivate var starter: DeviceID? {
    for entry in entries {
      if case .transition(let transition) = entry.event, transition.kind == .start { return transition.change.deviceID }
    }
    return nil
  }
}
