/// The hub's records at a peer. It fetches them one change after another, and decides when a question about them is
/// answered: once every change that the peer knows of has come, or after a while.
struct RecordCopies: Sendable {
  /// What the peer has to do, in order.
  enum Action: Sendable {
    /// Ask the hub.
    case fetch(RecordFetch)
    /// Commit these writes at once, and then carry out the effect.
    case write([StoreOperation], then: Effect?)
    case note(String)
  }

  /// What the copies do when a write is durable.
  enum Effect: Sendable {
    /// A change was written; the news for the app, if it is any.
    indirect case written(RecordNews?)
  }

  private var inbox: RecordInbox
  /// Questions that wait for changes on their way.
  private var questions = RecordQuestions()

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
  mutating func open(newest: UInt64, at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    Self.restart(unless: inbox.open(newest: newest)) + fetchNext(at: now, generator: &generator)
  }

  /// The hub states its last change within the session.
  mutating func note(newest: UInt64, at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    Self.restart(unless: inbox.note(newest: newest)) + fetchNext(at: now, generator: &generator)
  }

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
  mutating func fetchNext(at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    inbox.ask(at: now, generator: &generator).map { [.fetch($0)] } ?? []
  }

  /// Receives a change of the hub's records, or a part of one.
  mutating func receive(_ change: RecordChange, at now: BusTime, generator: inout SeededGenerator) -> [Action] {
    let outcome = inbox.receive(change)
    let through = inbox.hasPassedOver ? [] : [StoreOperation.setRecordsThrough(change.number)]
    switch outcome {
    case nil: return []
    case .ask: return fetchNext(at: now, generator: &generator)
    case .keep(let record, let isNews):
      let news = isNews ? RecordNews.kept(record.summary) : nil
      return [.write([.keepRecord(record, change: change.number)] + through, then: .written(news))]
    case .remove:
      let remove = StoreOperation.removeRecord(change.runID, version: change.version, change: change.number)
      return [.write([remove] + through, then: .written(.removed(change.runID)))]
    case .neverCame: return [.write(through, then: .written(nil))]
    case .unreadable:
      return [.note("a record of the hub's cannot be read by this version of RunBus: update it to get it")]
        + fetchNext(at: now, generator: &generator)
    }
  }

  /// Carries out the effect of a write that is durable now. The next change can be asked for.
  ///
  /// - Returns: the news for the app.
  mutating func perform(_ effect: Effect) -> RecordNews? {
    switch effect {
    case .written(let news):
      inbox.finishWriting()
      return news
    }
  }

  /// If the hub has lost changes, everything is fetched again.
  private static func restart(unless isContinued: Bool) -> [Action] {
    isContinued ? [] : [.write([.setRecordsThrough(0)], then: nil)]
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
  private func reply(to inquiry: Inquiry) -> InquiryReply {
    switch inquiry {
    case .records(let from): .durably(RecordSummary.page(of: inbox.kept.values, removed: inbox.removed, from: from))
    case .record(let run, let from): .part(of: run, from: from, in: inbox.kept)
    case .editRecord, .removeRecord, .putRecord: .refused("only the phone changes what is kept: ask there")
    case .peers, .outbox, .cancel, .quarantine, .retry, .discard, .report, .route, .series, .recover, .post, .devices,
      .orderDevice, .confirmDevices, .pairing, .rotateKey, .unknown:
      .refused("this is no question about records")
    }
  }
}
