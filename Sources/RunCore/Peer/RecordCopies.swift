/// The hub's records at a peer. It fetches them one change after another, and decides when a question about them is
/// answered: once every change that the peer knows of has come, or after a while.
struct RecordCopies: Sendable {
  private var inbox: RecordInbox
  /// Questions that wait for changes on their way.
  private var questions = RecordQuestions()
  /// The order of the copies in a list, and the edition of which that is.
  private var list = (edition: 0, pages: RecordList())

  /// The copies that the store holds.
  ///
  /// - Parameters:
  ///   - removed: the runs whose copies were removed, with the versions of the removals.
  ///   - through: the number of the last change that is stored.
  init(_ records: [RecordSummary], removed: [RunID: UInt64] = [:], through: UInt64) {
    inbox = RecordInbox(records, removed: removed, through: through)
  }

  /// The summaries of the records that are kept here.
  var kept: [RunID: RecordSummary] { inbox.kept }
  /// When the oldest question must be answered.
  var answerAt: BusTime? { questions.deadline }
  /// When the hub is asked again.
  var retryAt: BusTime? { inbox.retryAt }
  /// Whether a question waits.
  var hasQuestions: Bool { !questions.isEmpty }

  // MARK: Fetching

  /// Begins a session with a hub whose last change has this number.
  mutating func open(newest: UInt64, over link: UInt64?, in turn: inout PeerCore.Turn) {
    if !inbox.open(newest: newest) { restart(in: &turn) }
    fetchNext(over: link, in: &turn)
  }

  /// The hub states its last change within the session.
  mutating func note(newest: UInt64, over link: UInt64?, in turn: inout PeerCore.Turn) {
    if !inbox.note(newest: newest) { restart(in: &turn) }
    fetchNext(over: link, in: &turn)
  }

  /// The hub has lost changes, so everything is fetched again.
  private func restart(in turn: inout PeerCore.Turn) { turn.write([.setRecordsThrough(0)]) }

  /// Ends the session.
  mutating func close() { inbox.close() }

  /// Begins again at change 0; see ``RecordInbox/renumber()``.
  ///
  /// - Returns: the write.
  mutating func renumber() -> StoreOperation {
    inbox.renumber()
    return .setRecordsThrough(0)
  }

  /// Asks for the next change, if one is missing and no answer is awaited.
  mutating func fetchNext(over link: UInt64?, in turn: inout PeerCore.Turn) {
    guard let fetch = inbox.ask(at: turn.now, generator: &turn.generator) else { return }
    turn.send(.fetchRecord(fetch), over: link)
  }

  /// Receives a change of the hub's records, or a part of one.
  mutating func receive(_ change: RecordChange, over link: UInt64?, in turn: inout PeerCore.Turn) {
    let outcome = inbox.receive(change)
    let through = inbox.hasPassedOver ? [] : [StoreOperation.setRecordsThrough(change.number)]
    switch outcome {
    case nil: break
    case .ask: fetchNext(over: link, in: &turn)
    case .keep(let record, let isNews):
      turn.write(
        [.keepRecord(record, change: change.number)] + through,
        then: [.recordChanged(isNews ? .kept(record.summary) : nil, change.number)])
    case .remove:
      let remove = StoreOperation.removeRecord(change.runID, version: change.version, change: change.number)
      turn.write([remove] + through, then: [.recordChanged(.removed(change.runID), change.number)])
    case .neverCame: turn.write(through, then: [.recordChanged(nil, change.number)])
    case .unreadable:
      turn.act(.note("a record of the hub's cannot be read by this version of RunBus: update it to get it"))
      fetchNext(over: link, in: &turn)
    }
  }

  /// A change is durable: asks for the next one.
  mutating func finishWriting(over link: UInt64?, in turn: inout PeerCore.Turn) {
    inbox.finishWriting()
    fetchNext(over: link, in: &turn)
  }

  // MARK: Answering

  /// Answers a question; `nil` when it waits.
  mutating func answer(_ inquiry: Inquiry, _ number: UInt64, at now: BusTime) -> InquiryReply? {
    guard inbox.isBehind, questions.add(inquiry, number, until: now + RecordQuestions.patience) else {
      return reply(to: inquiry)
    }
    return nil
  }

  /// The questions that need not wait any longer, with their answers.
  mutating func dueReplies(at now: BusTime) -> [(number: UInt64, reply: InquiryReply)] {
    var due: [(number: UInt64, reply: InquiryReply)] = []
    while let question = questions.takeDue(isComplete: !inbox.isBehind, at: now) {
      due.append((question.number, reply(to: question.inquiry)))
    }
    return due
  }

  /// Answers a shell, which may look at the copies and change nothing.
  private mutating func reply(to inquiry: Inquiry) -> InquiryReply {
    switch inquiry {
    case .records(let from): .durably(page(from: from))
    case .record(let run, let from): .part(of: run, from: from, in: inbox.kept)
    case .editRecord, .removeRecord, .putRecord: .refused(.notHere, "only the phone changes what is kept: ask there")
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .series, .recover, .post, .devices,
      .orderDevice, .confirmDevices, .pairing, .rotateKey, .backUp, .room, .messages, .unknown:
      .refused(.invalid, "this is no question about records")
    }
  }

  private mutating func page(from: Int) -> InquiryAnswer {
    if list.edition != inbox.edition {
      list = (inbox.edition, RecordList(of: inbox.kept.values, removed: inbox.removed))
    }
    return list.pages.page(of: inbox.kept, removed: inbox.removed, from: from)
  }
}
