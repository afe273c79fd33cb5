// A run that is over becomes a record: soon, and as a new version when a part of the run arrives later.
extension HubCore {
  /// Makes the records that are due: the last run's from its ledger, others from their journals, one after another. That of
  /// a long run is made in pieces, one a turn (``makePiece(in:)``).
  mutating func makeRecords(in turn: inout Turn) {
    while records.mayBegin, let run = records.nextDue(at: turn.now)?.run {
      if run == commands.control.runID {
        records.beginMaking(run, settings: settings.metrics.unchosen)
        make(settings.recordPiece / 8, in: &turn)
      } else {
        records.beginReading(run)
        commitPendingSamples(in: &turn)
        // The read follows the commit of everything that was received before, so the journal is complete.
        return turn.write([], then: [.act(.readJournal(run))])
      }
    }
  }

  /// Makes all expected records now: for a caller that has nothing else to do.
  mutating func makeDueRecords(in turn: inout Turn) {
    records.hurry(at: turn.now)
    makeRecords(in: &turn)
  }

  /// Goes on with the record that is being made.
  mutating func makePiece(in turn: inout Turn) {
    make(settings.recordPiece, in: &turn)
    makeRecords(in: &turn)
  }

  /// Makes what is left of the present record: the hub ends.
  mutating func endMaking(in turn: inout Turn) {
    records.hasten()
    make(settings.recordPiece, in: &turn)
  }

  private mutating func make(_ work: Int, in turn: inout Turn) {
    guard let (run, made) = records.makePiece(work, of: ledger) else { return }
    guard let expected = records.expected[run] else { return }
    // Gathered samples are committed no later than the record that counts them, so a later incarnation computes the
    // same numbers.
    commitPendingSamples(in: &turn)
    keepRecord(of: run, made, expected, in: &turn)
    // The first version is made without delay. What came meanwhile makes the second.
    if expected.hasChanged, let again = records.expect(run, dueAt: records.versionDue(of: run, at: turn.now)) {
      turn.write([again], then: [])
    }
  }

  /// Makes the record of a run whose journal was read.
  mutating func receiveJournal(of run: RunID, _ entries: [LedgerEntry], in turn: inout Turn) {
    guard records.endReading(run) else { return }
    if let expected = records.expected[run] {
      if expected.hasChanged, records.kept[run] != nil {
        // More of the run came meanwhile: the journal is read again when that has gathered.
        records.putOff(run, to: records.versionDue(of: run, at: turn.now))
      } else {
        records.beginMaking(run, settings: settings.metrics.unchosen, entries: entries)
        make(settings.recordPiece / 8, in: &turn)
      }
    }
    makeRecords(in: &turn)
  }

  private mutating func keepRecord(
    of run: RunID, _ made: RecordMaker.Made?, _ expected: RecordKeeping.Expected, in turn: inout Turn
  ) {
    records.forgetExpected(run)
    guard let made else { return turn.write([.forgetExpected(run)], then: []) }
    let known = records.kept[run]
    let startedAt =
      known?.startedAtUnixSeconds ?? records.date(of: run) ?? incarnation.wallSeconds(at: made.startedAt)
    var summary = RecordSummary(
      runID: run, version: records.nextVersion(of: run), deviceID: made.starter ?? settings.deviceID,
      hubDeviceID: settings.deviceID, appVersion: settings.appVersion,
      // The start is that of the first version, because the wall clock may have been set since.
      startedAtUnixSeconds: startedAt, elapsed: .zero, active: .zero, setup: made.setup,
      goal: made.goal, isConflicted: expected.record.isConflicted,
      utcOffsetSeconds: known.map(\.utcOffsetSeconds) ?? settings.utcOffset(startedAt), bests: made.bests,
      title: known?.title ?? "", note: known?.note ?? "")
    summary.add(made.body.report.metrics)
    keep(RunRecord(summary: summary, body: made.body), then: [], in: &turn)
    amendTogether(run, .made, made, in: &turn)
  }

  private mutating func keep(_ record: RunRecord, then: [Durable], in turn: inout Turn) {
    let change = records.keep(record.summary)
    turn.write(
      [.keepRecord(record, change: change)], then: [.recordChanged(.kept(record.summary), change)] + then)
  }
}

// Inquiries of a shell about records, and the changes that it makes.
extension HubCore {
  mutating func answerOfRecords(
    _ inquiry: Inquiry, _ number: UInt64, in turn: inout Turn
  ) {
    switch inquiry {
    case .records(let from):
      give(.durably(records.page(from: from)), to: number, in: &turn)
    case .record(let run, let from): give(.part(of: run, from: from, in: records.kept), to: number, in: &turn)
    case .editRecord(let run, let title, let note): edit(run, title: title, note: note, number, in: &turn)
    case .removeRecord(let run):
      guard let (version, change) = records.remove(run) else {
        return give(.refused(.noRecord), to: number, in: &turn)
      }
      // Gathered samples are committed first, so that they are removed with the rest and leave no record expected.
      commitPendingSamples(in: &turn)
      turn.write(
        [.forgetExpected(run), .removeRecord(run, version: version, change: change)],
        then: [.recordChanged(.removed(run), change)])
      eraseJournal(of: run, in: &turn)
      amendTogether(run, .removed, in: &turn)
      give(.durably(.done(nil)), to: number, in: &turn)
    case .putRecord(let upload): receive(upload, number, in: &turn)
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .series, .recover, .post, .devices,
      .orderDevice, .confirmDevices, .pairing, .rotateKey, .backUp, .room, .messages, .unknown:
      break
    }
  }

  private mutating func edit(
    _ run: RunID, title: String?, note: String?, _ number: UInt64, in turn: inout Turn
  ) {
    guard var summary = records.kept[run] else {
      return give(.refused(.noRecord), to: number, in: &turn)
    }
    summary.title = title ?? summary.title
    summary.note = note ?? summary.note
    guard summary.title.utf8.count <= RecordSummary.titleBytesMax, summary.note.utf8.count <= RecordSummary.noteBytesMax
    else { return give(.refused(.invalid, "the title or the note is too long"), to: number, in: &turn) }
    guard summary != records.kept[run] else { return give(.durably(.done(nil)), to: number, in: &turn) }
    summary.version += 1
    let change = records.keep(summary)
    turn.write(
      [.editRecord(summary, change: change)],
      then: [.recordChanged(.kept(summary), change), .act(.answer(.done(nil), number))])
  }

  private mutating func receive(_ upload: RecordUpload, _ number: UInt64, in turn: inout Turn) {
    let bytes: [UInt8]
    switch records.receive(upload) {
    case .misfit: return give(.refused(.invalid, "the parts of the record do not fit together"), to: number, in: &turn)
    case .incomplete: return give(.atOnce(.taken(isKnown: false)), to: number, in: &turn)
    case .complete(let all): bytes = all
    }
    guard var record = RunRecord(encoded: bytes) else {
      return give(.refused(.invalid, "these bytes are not a record"), to: number, in: &turn)
    }
    if let flaw = record.flaw {
      return give(.refused(.invalid, "this record cannot be kept: \(flaw)"), to: number, in: &turn)
    }
    let run = record.runID
    // A record that is kept here, or will be made here, takes precedence.
    let isToCome = run == commands.control.runID && records.removal(of: run) == nil
    guard records.kept[run] == nil, records.expected[run] == nil, !isToCome else {
      return give(.durably(.taken(isKnown: true)), to: number, in: &turn)
    }
    record.summary.version = max(record.summary.version, records.nextVersion(of: run))
    keep(record, then: [.act(.answer(.taken(isKnown: false), number))], in: &turn)
  }
}
