// The hub's records at a peer, fetched one after another and shown to a shell beside it.
extension PeerCore {
  /// Notes the hub's last change and asks for what is missing. If the hub has lost changes, everything is fetched
  /// again.
  mutating func noteRecords(newest: UInt64, at now: BusTime, into actions: inout [Action]) {
    guard !settings.isOneShot else { return }
    if !records.note(newest: newest) { commits.add([.setRecordsThrough(0)], then: []) }
    askForRecords(at: now, into: &actions)
  }

  /// Begins to fetch records in a new session.
  mutating func openRecords(newest: UInt64, at now: BusTime, into actions: inout [Action]) {
    if !records.open(newest: newest) { commits.add([.setRecordsThrough(0)], then: []) }
    askForRecords(at: now, into: &actions)
  }

  mutating func askForRecords(at now: BusTime, into actions: inout [Action]) {
    guard let fetch = records.ask(at: now, generator: &generator) else { return }
    send(.fetchRecord(fetch), at: now, into: &actions)
  }

  /// Handles a change of the hub's records, or a part of one.
  mutating func receive(_ change: RecordChange, at now: BusTime, into actions: inout [Action]) {
    let through = StoreOperation.setRecordsThrough(change.number)
    switch records.receive(change) {
    case nil: break
    case .ask: askForRecords(at: now, into: &actions)
    case .keep(let record, let isNews):
      commits.add(
        [.keepRecord(record, change: change.number), through],
        then: [.recordWritten(isNews ? .kept(record.summary) : nil)])
    case .remove:
      commits.add(
        [.removeRecord(change.runID, version: change.version, change: change.number), through],
        then: [.recordWritten(.removed(change.runID))])
    case .neverCame: commits.add([through], then: [.recordWritten(nil)])
    case .unreadable:
      actions.append(.note("a record of the hub's cannot be read by this version of RunBus: update it to get it"))
    }
  }

  /// Answers a shell's question about records once every change that this peer knows of has come, or after a while.
  mutating func askedOfRecords(
    _ inquiry: Inquiry, _ number: UInt64, at now: BusTime, into actions: inout [Action]
  ) {
    guard records.isBehind, recordQuestions.count < RecordQuestions.waitingMax else {
      return answerOfRecords(inquiry, number, into: &actions)
    }
    recordQuestions.append((inquiry, number, until: now + RecordQuestions.patience))
  }

  /// Answers the questions that need not wait any longer.
  mutating func answerWaiting(at now: BusTime, into actions: inout [Action]) {
    while let first = recordQuestions.first, first.until <= now || !records.isBehind {
      recordQuestions.removeFirst()
      answerOfRecords(first.inquiry, first.number, into: &actions)
    }
  }

  /// Answers a shell, which may look at the peer's copies and change nothing.
  private mutating func answerOfRecords(_ inquiry: Inquiry, _ number: UInt64, into actions: inout [Action]) {
    switch inquiry {
    case .records(let from):
      let answer = RecordSummary.page(of: records.kept.values, from: from)
      commits.add([], then: [.act(.answer(answer, number))])
    case .record(let run, let from):
      guard records.kept[run] != nil else { return actions.append(.answer(.failed(InquiryFailure.noRecord), number)) }
      commits.add([], then: [.act(.readRecord(run, from: max(0, from), .inquiry(number)))])
    case .editRecord, .removeRecord, .putRecord:
      actions.append(.answer(.failed("only the phone changes what is kept: ask there"), number))
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .recover, .post: break
    }
  }
}
